"""What is public is listed, sorted, real and documented; nothing else is."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

SDK = Path(__file__).parents[2] / "sdk"
PUBLIC_MODULES = ["tsumugi", "tsumugi.testing"]


def sdk_modules() -> list[str]:
    return sorted(
        ".".join(path.relative_to(SDK).with_suffix("").parts).removesuffix(".__init__")
        for path in SDK.rglob("*.py")
    )


def constants_then_classes_then_functions(name: str) -> tuple[bool, bool, str]:
    return (not name.isupper(), not name[0].isupper(), name)


@pytest.mark.parametrize("module_name", PUBLIC_MODULES)
class TestAPublicModule:
    def test_lists_its_names_sorted(self, module_name: str) -> None:
        names = importlib.import_module(module_name).__all__
        assert names == sorted(set(names), key=constants_then_classes_then_functions)

    def test_has_every_name_it_lists(self, module_name: str) -> None:
        module = importlib.import_module(module_name)
        missing = [name for name in module.__all__ if not hasattr(module, name)]
        assert missing == []

    def test_lists_every_public_name_it_imports(self, module_name: str) -> None:
        module = importlib.import_module(module_name)
        tree = ast.parse(inspect.getsource(module))
        imported = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tsumugi")
            for alias in node.names
        }
        assert imported - set(module.__all__) == set()

    def test_documents_every_class_and_function_it_lists(self, module_name: str) -> None:
        module = importlib.import_module(module_name)
        undocumented = [
            name
            for name in module.__all__
            if callable(value := getattr(module, name)) and not inspect.getdoc(value)
        ]
        assert undocumented == []


def test_the_first_public_surface_is_this_one() -> None:
    # A name that leaves this list breaks somebody's Worker: say so in the changelog.
    assert set(importlib.import_module("tsumugi").__all__) >= {
        "Backoff",
        "Message",
        "MessageBatch",
        "Queue",
        "QueueConsumer",
        "Reject",
        "Retry",
        "consumes",
        "exponential_backoff",
    }


@pytest.mark.parametrize("module_name", sdk_modules())
def test_every_module_says_what_it_is_and_what_it_is_not(module_name: str) -> None:
    if module_name.endswith("_version"):
        return
    path = SDK.joinpath(*module_name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring, f"{module_name} has no docstring"
    assert docstring.splitlines()[0].endswith("."), f"{module_name}: one sentence on the first line"
