"""Fields that say which files are uploaded: ``rules``, ``python_modules`` and ``base_dir``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from tsumugi_emulator.config.model import Upload, UploadRule
from tsumugi_emulator.config.report import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from tsumugi_emulator.config.document import ValuePath
    from tsumugi_emulator.config.environments import Environment
    from tsumugi_emulator.config.report import Report

#: What a rule may make of a file, as wrangler names it, and what its listing calls that.
TYPES = {
    "ESModule": "esm",
    "CommonJS": "commonjs",
    "CompiledWasm": "compiled-wasm",
    "Text": "text",
    "Data": "buffer",
    "PythonModule": "python",
    "PythonRequirement": "python-requirement",
}


def read_upload(chosen: Environment, report: Report, *, directory: Path) -> Upload:
    """What the configuration adds to the files of a Python Worker that go up by themselves."""
    return Upload(
        rules=_read_rules(chosen, report),
        excluded=_read_excluded(chosen, report),
        base_dir=_read_base_dir(chosen, report, directory),
    )


def _read_rules(chosen: Environment, report: Report) -> tuple[UploadRule, ...]:
    field = chosen.get("rules")
    if field is None:
        return ()
    rules, at = field
    if not isinstance(rules, list):
        report.error(f'The field "rules" should be an array but got {quoted(rules)}.', at)
        return ()
    found = (_read_rule(rule, (*at, index), report) for index, rule in enumerate(rules))
    return tuple(rule for rule in found if rule is not None)


def _read_rule(rule: Any, at: ValuePath, report: Report) -> UploadRule | None:
    if not isinstance(rule, dict):
        report.error(f"A rule should be an object but got {quoted(rule)}.", at)
        return None
    kind, globs, fallthrough = rule.get("type"), rule.get("globs"), rule.get("fallthrough")
    if kind not in TYPES:
        known = ",".join(quoted(name) for name in TYPES)
        report.error(f'Expected "type" to be one of {known} but got {quoted(kind)}.', (*at, "type"))
        return None
    if not _are_texts(globs):
        report.error(
            f'Expected "globs" to be an array of strings but got {quoted(globs)}.', (*at, "globs")
        )
        return None
    if fallthrough is not None and not isinstance(fallthrough, bool):
        report.error(
            f'Expected "fallthrough" to be of type boolean but got {quoted(fallthrough)}.',
            (*at, "fallthrough"),
        )
        return None
    return UploadRule(type=kind, globs=tuple(globs), fallthrough=bool(fallthrough))


def _read_excluded(chosen: Environment, report: Report) -> tuple[str, ...]:
    field = chosen.get("python_modules")
    if field is None:
        return Upload().excluded
    value, at = field
    globs = value.get("exclude") if isinstance(value, dict) else None
    if not _are_texts(globs):
        report.error(
            'Expected "python_modules.exclude" to be an array of globs but got '
            f'{quoted(value)}: for example {{ "exclude": ["**/*.pyc"] }}.',
            at,
        )
        return Upload().excluded
    return tuple(globs)


def _read_base_dir(chosen: Environment, report: Report, directory: Path) -> Path | None:
    field = chosen.get("base_dir")
    if field is None:
        return None
    value, at = field
    if not isinstance(value, str):
        report.error(f'Expected "base_dir" to be of type string but got {quoted(value)}.', at)
        return None
    return directory / value


def _are_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
