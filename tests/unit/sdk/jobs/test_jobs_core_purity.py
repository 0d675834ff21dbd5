"""The core imports itself and pure standard library, and reads no clock and no chance."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CORE = Path(__file__).parents[4] / "sdk" / "tsumugi" / "jobs" / "core"
PURE = {
    "__future__",
    "collections",
    "dataclasses",
    "enum",
    "heapq",
    "itertools",
    "re",
    "types",
    "typing",
}
PLATFORM = ("cloudflare", "durable object", "d1", "env.", "wrangler", "workerd")


def imported(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def impure(source: str) -> set[str]:
    return {
        name
        for name in imported(source)
        if name.partition(".")[0] not in PURE and not name.startswith("tsumugi.jobs.core.")
    }


@pytest.mark.parametrize("path", sorted(CORE.glob("*.py")), ids=lambda path: path.stem)
class TestAModuleOfTheCore:
    def test_imports_nothing_impure(self, path: Path) -> None:
        assert impure(path.read_text()) == set()

    def test_names_no_platform(self, path: Path) -> None:
        text = path.read_text().lower()
        assert [word for word in PLATFORM if word in text] == []


@pytest.mark.parametrize(
    "offence",
    ["import time", "from random import random", "import tsumugi", "from tsumugi import queues"],
)
def test_an_offender_is_caught(offence: str) -> None:
    assert impure(offence)
