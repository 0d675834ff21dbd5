"""Tests in one process wait for a state or move a clock: they do not sleep."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
#: They run on a loop whose time jumps (``fake_time``).
WITH_A_TIME_OF_THEIR_OWN = TESTS / "unit" / "sdk" / "jobs"
FILES = sorted(
    path
    for part in ("unit", "property")
    for path in (TESTS / part).rglob("*.py")
    if WITH_A_TIME_OF_THEIR_OWN not in path.parents
)


def sleeps(source: str) -> list[int]:
    """The lines that let real time pass; ``asyncio.sleep(0)`` is a turn of the loop."""
    return sorted(
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("asyncio.sleep", "time.sleep")
        and [ast.unparse(argument) for argument in node.args] != ["0"]
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_no_time_passes_in_a_test(path: Path) -> None:
    assert sleeps(path.read_text()) == []


def test_a_sleep_is_found() -> None:
    assert sleeps("await asyncio.sleep(0.01)\ntime.sleep(1)\nawait asyncio.sleep(0)") == [1, 2]
