"""What is wrong with a configuration, and how it is told. Finds nothing wrong itself.

The text follows wrangler's layout: one heading for each file and severity, then one item for
each fault, so that people and tools that read wrangler's output can read ours.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


#: The code of what concerns this machine only: `tsumugi check` leaves it out.
NOT_DEPLOYED = "not deployed"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One fault, told so that it can be found and mended."""

    severity: Severity
    message: str
    path: Path | None = None
    #: Counted from 1.
    line: int | None = None
    column: int | None = None
    #: The part of the file it belongs to, such as ``"env.staging" environment configuration``.
    section: str | None = None
    #: The rule of `tsumugi check` that this is, where it has one of its own, or ``NOT_DEPLOYED``.
    code: str | None = None

    def __str__(self) -> str:
        place = f"{_location(self, cwd=None)}: " if self.path else ""
        return f"{place}{self.severity}: {self.message}"


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)


def render(
    diagnostics: Sequence[Diagnostic], *, cwd: Path | None = None, colour: bool = False
) -> str:
    """One block for each file and severity, in order of first appearance, errors last.

    Errors come last because the last lines are what a terminal still shows. Paths are relative
    to ``cwd``; without it only file names are shown. Empty when there is nothing to tell.
    """
    groups: dict[tuple[Severity, Path | None], list[Diagnostic]] = {}
    for severity in (Severity.WARNING, Severity.ERROR):
        for diagnostic in diagnostics:
            if diagnostic.severity is severity:
                groups.setdefault((severity, diagnostic.path), []).append(diagnostic)
    blocks: list[str] = []
    for (severity, path), group in groups.items():
        if path is None:
            blocks += [_heading(severity, item.message, colour=colour) for item in group]
        else:
            heading = f"Processing {_shown(path, cwd)} configuration:"
            body = "\n".join(_items(group, cwd))
            blocks.append(f"{_heading(severity, heading, colour=colour)}\n\n{body}")
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _heading(severity: Severity, text: str, *, colour: bool) -> str:
    is_error = severity is Severity.ERROR
    mark, label = ("✘", "[ERROR]") if is_error else ("▲", "[WARNING]")
    first, *rest = text.split("\n")
    if colour:
        code = 31 if is_error else 33
        heading = f"\x1b[{code}m{mark} \x1b[1m{label}\x1b[0m \x1b[1m{first}\x1b[0m"
    else:
        heading = f"{mark} {label} {first}"
    return "\n".join([heading, *(f"  {line}" if line else "" for line in rest)])


def _items(group: Sequence[Diagnostic], cwd: Path | None) -> Iterable[str]:
    section: str | None = None
    for item in sorted(group, key=lambda item: item.section or ""):
        if item.section != section:
            section = item.section
            yield f"    - {section}"
        yield _item(item, cwd, indent="      " if section else "    ")


def _item(item: Diagnostic, cwd: Path | None, *, indent: str) -> str:
    first, *rest = item.message.split("\n")
    if item.line is not None:
        rest.append(_location(item, cwd))
    lines = [f"{indent}- {first}", *(f"{indent}  {line}" if line else "" for line in rest)]
    return "\n".join(lines)


def _location(diagnostic: Diagnostic, cwd: Path | None) -> str:
    parts = [_shown(diagnostic.path, cwd) if diagnostic.path else ""]
    if diagnostic.line is not None:
        parts.append(str(diagnostic.line))
        if diagnostic.column is not None:
            parts.append(str(diagnostic.column))
    return ":".join(parts)


def _shown(path: Path, cwd: Path | None) -> str:
    if cwd is None:
        return path.name
    try:
        return os.path.relpath(path, cwd)
    except ValueError:  # another drive
        return str(path)
