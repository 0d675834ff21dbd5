"""Reads ``services`` and ``assets``: what the Worker calls, and the files served before it.

Pure: reports faults, in wrangler's words where it has some. Looks at no file.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.config.model import Assets, ServiceBinding
from tsumugi_emulator.config.report import quoted

if TYPE_CHECKING:
    from tsumugi_emulator.config.document import ValuePath
    from tsumugi_emulator.config.environments import Environment
    from tsumugi_emulator.config.report import Report

_SERVICE_FIELDS = frozenset({"binding", "service", "environment", "entrypoint", "props", "remote"})
_ASSETS_FIELDS = frozenset(
    {"binding", "directory", "html_handling", "not_found_handling", "run_worker_first"}
)
HTML_HANDLING = (
    "auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none",
)  # fmt: skip
NOT_FOUND_HANDLING = ("single-page-application", "404-page", "none")


def read_services(environment: Environment, report: Report) -> tuple[ServiceBinding, ...]:
    """The bindings of one environment; entries with faults are left out."""
    field = environment.get("services")
    if field is None or field[0] is None:
        return ()
    block, at = field
    label = environment.label("services")
    if not isinstance(block, list):
        report.error(f'The field "{label}" should be an array but got {quoted(block)}.', at)
        return ()
    read = (_read_service(e, f"{label}[{i}]", (*at, i), report) for i, e in enumerate(block))
    return tuple(binding for binding in read if binding is not None)


def _read_service(entry: Any, label: str, at: ValuePath, report: Report) -> ServiceBinding | None:
    if not isinstance(entry, dict):
        report.error(f'"{label}" bindings should be objects, but got {quoted(entry)}', at)
        return None
    report.unexpected(label, at, given=entry, known=_SERVICE_FIELDS)
    complete = True
    for key in ("binding", "service"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            report.error(
                f'"{label}" bindings should have a string "{key}" field but got {quoted(entry)}.',
                (*at, key),
            )
            complete = False
    for key in ("environment", "entrypoint"):
        if not isinstance(entry.get(key, ""), str):
            report.error(
                f'"{label}" bindings should have a string "{key}" field but got {quoted(entry)}.',
                (*at, key),
            )
            complete = False
    props = entry.get("props")
    if "props" in entry and not isinstance(props, dict):
        report.error(
            f'"{label}" bindings should have an object "props" field but got {quoted(entry)}.',
            (*at, "props"),
        )
        complete = False
    if not complete:
        return None
    service, environment = entry["service"], entry.get("environment")
    entrypoint = entry.get("entrypoint")
    return ServiceBinding(
        binding=entry["binding"],
        service=f"{service}-{environment}" if environment else service,
        entrypoint=None if entrypoint in ("", "default") else entrypoint,
        props=props,
    )


def read_assets(environment: Environment, report: Report, *, directory: Path) -> Assets | None:
    """``directory`` is that of the configuration file."""
    field = environment.get("assets")
    if field is None or field[0] is None:
        return None
    block, at = field
    if not isinstance(block, dict):
        report.error(f'Expected "assets" to be of type object but got {quoted(block)}.', at)
        return None
    report.unexpected("assets", at, given=block, known=_ASSETS_FIELDS)
    found = block.get("directory")
    if not isinstance(found, str) or not found:
        report.error(
            "The `assets` property in your configuration is missing the required `directory` "
            "property.",
            at,
        )
        return None
    binding = block.get("binding")
    if "binding" in block and (not isinstance(binding, str) or not binding):
        report.error(
            f'Expected "assets.binding" to be of type string but got {quoted(binding)}.',
            (*at, "binding"),
        )
        return None
    return Assets(
        directory=Path(os.path.normpath(directory / found)),
        binding=binding,
        html_handling=_one_of(block, "html_handling", HTML_HANDLING, at, report),
        not_found_handling=_one_of(block, "not_found_handling", NOT_FOUND_HANDLING, at, report),
        run_worker_first=_read_worker_first(block, at, report),
    )


def _one_of(
    block: dict[str, Any], key: str, allowed: tuple[str, ...], at: ValuePath, report: Report
) -> str:
    default = "auto-trailing-slash" if key == "html_handling" else "none"
    value = block.get(key, default)
    if value in allowed:
        return str(value)
    report.error(
        f'Expected "assets.{key}" field to be one of {quoted(list(allowed))} but got '
        f"{quoted(value)}.",
        (*at, key),
    )
    return default


def _read_worker_first(
    block: dict[str, Any], at: ValuePath, report: Report
) -> bool | tuple[str, ...]:
    value = block.get("run_worker_first", False)
    place = (*at, "run_worker_first")
    if isinstance(value, bool):
        return value
    if not isinstance(value, list) or not all(isinstance(rule, str) for rule in value):
        report.error(
            'The field "assets.run_worker_first" should be an array of strings or a boolean, but '
            f"got {quoted(value)}.",
            place,
        )
        return False
    if fault := _rules_fault(value):
        report.error(f"Invalid routes in assets.run_worker_first:\n{fault}", place)
    return tuple(value)


def _rules_fault(rules: list[str]) -> str | None:
    for rule in rules:
        if not rule.startswith(("/", "!/")):
            return f'"{rule}": rules must start with "/" or "!/".'
    if rules and all(rule.startswith("!") for rule in rules):
        return 'Only negative rules were provided; give at least one that does not start with "!".'
    return None
