"""The options of ack, retry and send, checked as the runtime should have. Pure.

The runtime ignores an option it does not know and bends a wrong value (``"abc"`` is 0 seconds),
so a slip is found in production, late. Here it is found in the test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi.backoff import MAX_DELAY_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CONTENT_TYPES = ("bytes", "json", "text", "v8")


def checked_options(
    call: str, allowed: Iterable[str], positional: object, named: Mapping[str, object]
) -> dict[str, Any]:
    """The options of ``call``, given as one dict or as keyword arguments.

    Raises ``TypeError`` for an unknown name or a wrong type, ``ValueError`` for a delay out of
    range, each saying what production would do instead.
    """
    if positional is not None and not isinstance(positional, dict):
        raise TypeError(
            f"{call}: options are keyword arguments, such as delaySeconds=60, "
            f"not {positional!r} (production raises TypeError as well)"
        )
    options = {**(positional or {}), **named}
    for name, value in options.items():
        if name not in allowed:
            raise TypeError(_unknown(call, name, allowed))
        if name == "delaySeconds":
            _check_delay(call, value)
        elif value not in _CONTENT_TYPES:
            raise TypeError(f"{call}: Unsupported queue message content type: {value}")
    return options


def _unknown(call: str, name: str, allowed: Iterable[str]) -> str:
    first, *rest = name.split("_")
    camel = first + "".join(map(str.capitalize, rest))
    if camel != name and camel in allowed:
        return (
            f"{call}: write {camel}=, not {name}=: production ignores {name} without an error, "
            "because names cross to JavaScript as they are"
        )
    return (
        f"{call}: unknown option {name!r}, which production would ignore "
        f"(known: {', '.join(allowed)})"
    )


def _check_delay(call: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(
            f"{call}: delaySeconds is a whole number of seconds, not {value!r}: leave it out for "
            "the queue's default, which production would not apply here"
        )
    if not 0 <= value <= MAX_DELAY_S:
        raise ValueError(f"{call}: delaySeconds must be 0 to {MAX_DELAY_S}, not {value}")
