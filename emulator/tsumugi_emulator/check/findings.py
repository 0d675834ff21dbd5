"""What a check says: rules with stable codes, and findings. Looks for nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Severity(StrEnum):
    #: Will fail in production.
    ERROR = "error"
    #: Will probably fail or do something else than it seems to.
    WARNING = "warning"
    #: Worth knowing; may well be meant.
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault that is looked for. The code is stable: people write it into their files."""

    code: str
    severity: Severity
    #: What is wrong, as a heading.
    title: str
    #: What production does about it.
    production: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault at one place."""

    code: str
    severity: Severity
    #: An absolute path.
    path: str
    #: Both counted from 1; columns count characters.
    line: int
    column: int
    #: One line that names the fault.
    message: str
    #: One line that says what to do.
    next_step: str


class DuplicateCodeError(Exception):
    """Two rules claim one code; a fault of this package."""


#: Every rule by its code, in the order of definition.
RULES: dict[str, Rule] = {}


def define(code: str, severity: Severity, title: str, production: str) -> Rule:
    """Register a rule.

    Raises:
        DuplicateCodeError: the code is taken.
    """
    if code in RULES:
        raise DuplicateCodeError(f"{code} is both {RULES[code].title!r} and {title!r}")
    rule = RULES[code] = Rule(code, severity, title, production)
    return rule


def error(code: str, title: str, production: str) -> Rule:
    return define(code, Severity.ERROR, title, production)


def warning(code: str, title: str, production: str) -> Rule:
    return define(code, Severity.WARNING, title, production)


def note(code: str, title: str, production: str) -> Rule:
    return define(code, Severity.NOTE, title, production)


def has_errors(findings: Iterable[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By file, then by place; the same fault at the same place only once."""
    return sorted(
        dict.fromkeys(findings), key=lambda f: (f.path, f.line, f.column, f.code, f.message)
    )
