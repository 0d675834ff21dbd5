"""What Python can reach of RPC's promise pipelining, and what a stub that was lent allows.

Rules: ADR-0230. Locally a result that has not arrived is a coroutine or a future, as with Pyodide.
"""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from object_harness import objects_child
from service_harness import services_child

if TYPE_CHECKING:
    from pathlib import Path

CALLEE = """
kept = []

class Callee(DurableObject):
    attribute = 5

    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.count = 0

    async def add(self, n):
        self.count += n
        return self.count

    async def keep(self, function, how="as it is"):
        kept.append(function.dup() if how == "dup" else function)
        return await function(1)

    async def use(self):
        return await outcome(kept[-1](2))

    async def give_back(self, function):
        return function

    async def names(self, function):
        return [hasattr(function, "anything"), type(function.anything).__name__,
                await outcome(function.anything()), await outcome(function.anything)]

async def main(env):
    stub = env.CALLEE.getByName("a")
    raw = stub._binding
{code}
"""
MISSING = 'TypeError: The RPC receiver does not implement the method "{}".'
RESERVED = "TypeError: '{}' is a reserved method and cannot be called over RPC."
DISPOSED = "RPC stub used after being disposed."


def answered(directory: Path, code: str, *, strict: bool = False) -> tuple[Any, list[str]]:
    """What the program returns, and what it was warned of."""
    program = CALLEE.replace("{code}", textwrap.indent(textwrap.dedent(code), "    "))
    with objects_child(program, directory, strict=strict) as child:
        text, warnings = child.text(), child.warnings
    try:
        return ast.literal_eval(text), warnings
    except (ValueError, SyntaxError):
        return text, warnings


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("promise.other", "'coroutine' object has no attribute 'other'"),
        ("stub.add.other", "'function' object has no attribute 'other'"),
        ("raw.add(1).other", "'PyodideFuture' object has no attribute 'other'"),
    ],
)
def test_a_result_that_has_not_arrived_has_no_properties(
    expression: str, expected: str, tmp_path: Path
) -> None:
    code = f"""
        promise = stub.add(1)
        try:
            {expression}
        except AttributeError as error:
            await promise
            return str(error)
    """
    assert answered(tmp_path, code)[0] == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("stub['add'](3)", 3),
        ("raw.add(3)", 3),
        ("stub['add'].other()", MISSING.format("other")),
        ("raw.add.other.deeper()", MISSING.format("other")),
        ("raw.add.other", MISSING.format("other")),
        ("raw.env.other()", MISSING.format("env")),
        ("raw.alarm.other()", RESERVED.format("alarm")),
        ("raw.add.fetch()", RESERVED.format("fetch")),
    ],
)  # fmt: skip
def test_a_name_is_a_method_and_has_no_names_of_its_own(
    call: str, expected: Any, tmp_path: Path
) -> None:
    assert answered(tmp_path, f"return await outcome({call})")[0] == expected


def test_a_name_that_is_read_is_a_function_to_call_later(tmp_path: Path) -> None:
    code = """
        add, nope = await raw.add, await raw.nope
        return [type(add).__name__, repr(add), await add(2), await add(3), await outcome(nope())]
    """
    assert answered(tmp_path, code)[0] == [
        "JsProxy", "[object JsRpcStub]", 2, 5, "TypeError: Method nope does not exist",
    ]  # fmt: skip


def test_then_reads_a_name_too(tmp_path: Path) -> None:
    code = "return await raw.add.then(lambda add: add(4))"
    assert answered(tmp_path, code)[0] == 4


def test_a_name_cannot_be_sent(tmp_path: Path) -> None:
    text, _ = answered(tmp_path, "return await outcome(stub.add(raw.add))")
    assert text == (
        'DataCloneError: Could not serialize object of type "RpcProperty". This type does not '
        "support serialization."
    )


def test_every_name_of_a_function_exists_and_none_answers(tmp_path: Path) -> None:
    names, _ = answered(tmp_path, "return await stub.names(lambda: 1)")
    assert names == [True, "JsProxy", MISSING.format("anything"), MISSING.format("anything")]


def test_an_entrypoints_method_can_be_read_in_ctx_exports() -> None:
    source = """
class Named(WorkerEntrypoint):
    async def double(self, n):
        return n * 2

async def main(self):
    raw = self.ctx.exports.Named
    double = await raw.double
    return [await raw.double(2), await double(4), await outcome(raw.double.other())]
"""
    with services_child(source) as child:
        assert ast.literal_eval(child.text()) == [4, 8, MISSING.format("other")]


# -- Functions that were lent ----------------------------------------------------------------------


def test_a_function_is_lent_until_the_call_ends(tmp_path: Path) -> None:
    code = """
        first = await stub.keep(lambda n: n + 1)
        return [first, await stub.use(), await stub.use()]
    """
    got, warnings = answered(tmp_path, code)
    assert got == [2, 3, 3]
    (warning,) = warnings
    assert DISPOSED in warning
    assert "function.dup()" in warning


def test_using_a_lent_function_later_fails_when_strict(tmp_path: Path) -> None:
    code = """
        return [await stub.keep(lambda n: n + 1), await stub.use()]
    """
    got, warnings = answered(tmp_path, code, strict=True)
    assert got == [2, f"Error: {DISPOSED}"]
    assert warnings == []


def test_a_duplicate_of_a_lent_function_stays(tmp_path: Path) -> None:
    code = """
        return [await stub.keep(lambda n: n + 1, "dup"), await stub.use()]
    """
    assert answered(tmp_path, code, strict=True) == ([2, 3], [])


def test_a_lent_function_can_be_returned(tmp_path: Path) -> None:
    code = """
        back = await stub.give_back(lambda n: n * 10)
        return await back(7)
    """
    assert answered(tmp_path, code, strict=True) == (70, [])
