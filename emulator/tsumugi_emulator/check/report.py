"""How findings are told: lines for people, JSON for tools, the page of all rules. Pure."""

from __future__ import annotations

import json
import os.path
from typing import TYPE_CHECKING

from tsumugi_emulator.check.findings import RULES, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tsumugi_emulator.check.findings import Finding

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}

#: What the first digit of a code says.
THEMES = {
    "0": "The check itself",
    "1": "Entrypoints and handlers",
    "2": "While importing",
    "3": "Imports",
    "4": "Values, options and JavaScript",
    "5": "Awaiting",
    "6": "Configuration",
    "7": "The platform",
}


def lines(findings: Iterable[Finding], *, cwd: Path, colour: bool = False) -> list[str]:
    """One entry of two lines for each finding: place, code and fault, then the next step."""
    return [_entry(finding, cwd, colour=colour) for finding in findings]


def _entry(finding: Finding, cwd: Path, *, colour: bool) -> str:
    place = f"{shown(finding.path, cwd)}:{finding.line}:{finding.column}"
    severity, code = str(finding.severity), finding.code
    if colour:
        place = f"\x1b[1m{place}\x1b[0m"
        severity = f"\x1b[{_COLOURS[finding.severity]}m{severity}\x1b[0m"
        code = f"\x1b[2m{code}\x1b[0m"
    return f"{place}: {severity} {code}: {finding.message}\n    {finding.next_step}"


def summary(findings: Sequence[Finding], files: int) -> str:
    """One line that counts."""
    counted = f"{files} file{'' if files == 1 else 's'}"
    if not findings:
        return f"Checked {counted}: nothing found."
    counts = [
        (severity, sum(finding.severity is severity for finding in findings))
        for severity in Severity
    ]
    told = [f"{count} {severity}{'' if count == 1 else 's'}" for severity, count in counts if count]
    return f"Checked {counted}: {', '.join(told)}."


def document(findings: Iterable[Finding], files: Iterable[str]) -> str:
    """JSON: ``{"findings": [...], "files": [...]}``; paths are absolute."""
    listed = [
        {
            "file": finding.path,
            "line": finding.line,
            "column": finding.column,
            "code": finding.code,
            "severity": str(finding.severity),
            "message": finding.message,
            "next_step": finding.next_step,
        }
        for finding in findings
    ]
    return json.dumps({"findings": listed, "files": sorted(files)}, indent=2, ensure_ascii=False)


def shown(path: str, cwd: Path) -> str:
    """Relative to ``cwd`` where that is not longer."""
    try:
        relative = os.path.relpath(path, cwd)
    except ValueError:  # another drive
        return path
    return relative if len(relative) <= len(path) else path


def catalogue() -> str:
    """docs/checks.md: every rule, by theme."""
    parts = [_INTRODUCTION]
    for digit, theme in THEMES.items():
        rules = [rule for code, rule in sorted(RULES.items()) if code[3] == digit]
        rows = [
            f"| {rule.code} | {rule.severity} | {rule.title} | {rule.production} |"
            for rule in rules
        ]
        parts.append(
            f"## {theme}\n\n| code | severity | what | what production does |\n"
            "|---|---|---|---|\n" + "\n".join(rows)
        )
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = """\
# What `tsumugi check` looks for

Each finding has a place, a code, a fault and a next step. An error will fail in production, a
warning probably will, a note is worth knowing. The exit code is 1 if there are errors, 2 if the
configuration cannot be read, else 0. `--json` prints the findings for tools.

A comment hides what you know better, on its line or, when it stands alone, on the next one:

```python
TOKEN = make_token()  # tsumugi: ignore[TSU201]
```

Only files that the main file imports are read. The same findings appear as warnings under
`tsumugi dev`, and keep the Worker from starting under `tsumugi dev --strict`.

This page is made from the rules themselves: `python -m tsumugi_emulator.check.catalogue`."""
