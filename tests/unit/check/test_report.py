from __future__ import annotations

import json
from pathlib import Path

from tsumugi_emulator.check import report
from tsumugi_emulator.check.findings import Finding, Severity, has_errors, in_order

FAULT = Finding(
    code="TSU101",
    severity=Severity.ERROR,
    path="/project/src/entry.py",
    line=3,
    column=5,
    message="It fails.",
    next_step="Mend it.",
)
HINT = Finding(
    code="TSU502",
    severity=Severity.WARNING,
    path="/project/src/a.py",
    line=1,
    column=1,
    message="It may fail.",
    next_step="Look at it.",
)


def test_a_finding_is_a_place_a_code_a_fault_and_a_step() -> None:
    assert report.lines([FAULT], cwd=Path("/project")) == [
        "src/entry.py:3:5: error TSU101: It fails.\n    Mend it."
    ]


def test_a_place_far_away_is_named_in_full() -> None:
    (line,) = report.lines([FAULT], cwd=Path("/a/very/deep/place"))
    assert line.startswith("/project/src/entry.py:3:5:")


def test_colours_are_only_decoration() -> None:
    (coloured,) = report.lines([FAULT], cwd=Path("/project"), colour=True)
    plain = coloured
    for code in ("1", "31", "2", "0"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert [plain] == report.lines([FAULT], cwd=Path("/project"))


def test_the_last_line_counts() -> None:
    assert report.summary([], 1) == "Checked 1 file: nothing found."
    assert report.summary([FAULT, HINT, FAULT], 2) == "Checked 2 files: 2 errors, 1 warning."


def test_tools_read_json() -> None:
    told = json.loads(report.document([FAULT], ["/project/src/entry.py"]))
    assert told == {
        "findings": [
            {
                "file": "/project/src/entry.py",
                "line": 3,
                "column": 5,
                "code": "TSU101",
                "severity": "error",
                "message": "It fails.",
                "next_step": "Mend it.",
            }
        ],
        "files": ["/project/src/entry.py"],
    }


def test_findings_are_ordered_by_place_and_told_once() -> None:
    assert in_order([FAULT, HINT, FAULT]) == [HINT, FAULT]


def test_only_errors_are_errors() -> None:
    assert has_errors([HINT, FAULT])
    assert not has_errors([HINT])
