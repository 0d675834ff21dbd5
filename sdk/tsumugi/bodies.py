"""Bodies of messages, validated with pydantic. Pure: settles nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from tsumugi.settlement import Reject

if TYPE_CHECKING:
    from collections.abc import Callable

#: A log line names this many faults of a body; a wrong batch can have thousands.
MAX_FAULTS = 5


def parser_for(model: Any) -> Callable[[object], object]:
    """A function from a delivered body to a validated one, raising ``Reject`` with the reason."""
    adapter: TypeAdapter[object] = TypeAdapter(model)
    expected = getattr(model, "__name__", str(model))

    def parse(body: object) -> object:
        value = bytes(body) if isinstance(body, memoryview) else body
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            raise Reject(f"the body is not a valid {expected}: {faults_of(error)}") from error

    return parse


def faults_of(error: ValidationError) -> str:
    """Locations and rules, never input values: bodies carry personal data, logs should not."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [
        ": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"])))
        for fault in faults[:MAX_FAULTS]
    ]
    if len(faults) > MAX_FAULTS:
        lines.append(f"and {len(faults) - MAX_FAULTS} more")
    return "; ".join(lines)
