"""A stub's methods give the same by the short way and by the SDK's own (ADR-0271)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest
from object_harness import objects_child

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import datetime


class Box(DurableObject):
    async def echo(self, *values):
        return list(values)

    def kinds(self, *values):
        return [type(value).__name__ for value in values]

    async def fail(self):
        raise ValueError("no")

    async def kept(self):
        self.list = [1]
        return self.list

    async def grown(self):
        return len(self.list)


async def made(call):
    try:
        result = await call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    items = result if isinstance(result, list) else [result]
    return repr([bytes(x) if isinstance(x, memoryview) else x for x in items])


async def by_both_ways(stub, name, values, options):
    raw = stub._binding.__getattr__(name)  # as JavaScript has it
    return [
        await made(lambda: getattr(stub, name)(*values, **options)),
        await made(lambda: stub._conver_and_invoke(raw, values, options)),
    ]


async def main(env):
    stub = env.BOX.getByName("a")
    {code}
"""


def returned(directory: Path, code: str) -> Any:
    with objects_child(PROGRAM.replace("{code}", code), directory) as child:
        return ast.literal_eval(child.text())


@pytest.mark.parametrize(
    "call",
    [
        '"echo", (1, -5, 2.0, 2.5, True, None, "text", 10**12, 2**60), {}',
        '"echo", ([1, {"a": None}], {"b": [2.0]}), {}',
        '"echo", (b"bytes", {1, 2}, datetime.datetime(2026, 1, 1)), {}',
        '"echo", (), {"keyword": 1}',
        '"echo", (object(),), {}',
        '"echo", ((1, 2),), {}',
        '"kinds", (1, 2.0, {"a": 1}, [], None), {}',
        '"fail", (), {}',
        '"missing", (1,), {}',
        '"alarm", (), {}',
        '"env", (), {}',
    ],
)
def test_both_ways_give_the_same(call: str, tmp_path: Path) -> None:
    short, long = returned(tmp_path, f"return await by_both_ways(stub, {call})")
    assert short == long


def test_a_result_is_a_copy(tmp_path: Path) -> None:
    code = """
    found = await stub.kept()
    found.append(2)
    return [found, await stub.grown()]
    """
    assert returned(tmp_path, code) == [[1, 2], 1]


def test_whoever_asks_past_the_sdk_gets_a_function_of_javascript(tmp_path: Path) -> None:
    code = """
    raw = stub._binding.echo
    return [type(raw).__name__, (await raw(1)).to_py(), type(stub.echo).__name__]
    """
    assert returned(tmp_path, code) == ["JsProxy", [1], "function"]
