"""Reads ``vars`` and ``secrets`` and decides which source of a variable wins. Reads no files.

Later sources win: ``vars`` in the configuration, then .dev.vars or .env files, then ``--var``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tsumugi_emulator.config.diagnostics import NOT_DEPLOYED
from tsumugi_emulator.config.report import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi_emulator.config.document import ValuePath
    from tsumugi_emulator.config.environments import Environment
    from tsumugi_emulator.config.model import JsonValue
    from tsumugi_emulator.config.report import Report


class Variables(NamedTuple):
    values: dict[str, JsonValue]
    #: Names whose value came from outside the configuration file.
    secret_names: frozenset[str]


class RequiredSecrets(NamedTuple):
    """``secrets.required``: the only names taken from outside the configuration file."""

    names: tuple[str, ...]
    at: ValuePath


def read_vars(environment: Environment, report: Report) -> dict[str, JsonValue]:
    field = environment.get("vars")
    if field is None:
        return {}
    values, at = field
    label = environment.label("vars")
    if not isinstance(values, dict):
        report.error(f'The field "{label}" should be an object but got {quoted(values)}.', at)
        return {}
    for name, value in values.items():
        fault = _not_json(value)
        if fault:
            report.error(f'The field "{label}.{name}" {fault}', (*at, name))
    return values


def read_required_secrets(environment: Environment, report: Report) -> RequiredSecrets | None:
    """The names in ``secrets.required``; None if the configuration does not declare them."""
    field = environment.get("secrets")
    if field is None:
        return None
    block, at = field
    label = environment.label("secrets")
    if not isinstance(block, dict):
        report.error(f'The field "{label}" should be an object but got {quoted(block)}.', at)
        return None
    report.unexpected(label, at, given=block, known=("required",))
    required: Any = block.get("required")
    if required is None:
        return None
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        report.error(
            f'Expected "{label}.required" to be of type string array but got {quoted(required)}.',
            (*at, "required"),
        )
        return None
    return RequiredSecrets(tuple(required), (*at, "required"))


def merge(
    configured: Mapping[str, JsonValue],
    *,
    from_files: Mapping[str, str],
    from_options: Mapping[str, str],
    environ: Mapping[str, str],
    required: RequiredSecrets | None,
) -> Variables:
    """All variables. Declared secrets are taken from files, or else from the process."""
    if required is None:
        taken = dict(from_files)
    else:
        known = {**environ, **from_files}
        taken = {name: known[name] for name in required.names if name in known}
    return Variables(
        values={**configured, **taken, **from_options},
        secret_names=frozenset({*taken, *from_options}),
    )


def report_missing_secrets(
    variables: Variables, required: RequiredSecrets | None, report: Report
) -> None:
    if required is None:
        return
    missing = [name for name in required.names if name not in variables.values]
    if missing:
        report.warning(
            f"Missing required secrets: {', '.join(missing)}. Add them to .dev.vars, .env, or set "
            "as environment variables.",
            required.at,
            code=NOT_DEPLOYED,
        )


def _not_json(value: Any) -> str | None:
    """Why TOML's value cannot be a variable; JSON's always can."""
    if value is None or isinstance(value, bool | int | str):
        return None
    if isinstance(value, float):
        finite = value - value == 0
        return (
            None if finite else f"is {value}, which JSON cannot hold. Please use a string instead."
        )
    if isinstance(value, dict):
        return next((fault for item in value.values() if (fault := _not_json(item))), None)
    if isinstance(value, list):
        return next((fault for item in value if (fault := _not_json(item))), None)
    return (
        "is a TOML date, which is not supported. Please use a string instead, e.g. "
        f'"{value.isoformat()}".'
    )
