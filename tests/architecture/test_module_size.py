"""Small enough to be read at a sitting: modules up to 400 lines, tests too; functions up to 40."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE_LINES = 400
FUNCTION_LINES = 40
MODULES = sorted(path for part in ("sdk", "emulator") for path in (ROOT / part).rglob("*.py"))
#: What npm brings is not ours.
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts)


def code_lines(function: ast.AST) -> int:
    """Lines of a function, without its docstring: explaining is not what makes code long."""
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


@pytest.mark.parametrize("path", [*MODULES, *TESTS], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MODULE_LINES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_its_functions_are_short(path: Path) -> None:
    too_long = {
        node.name: code_lines(node)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and code_lines(node) > FUNCTION_LINES
    }
    assert too_long == {}
