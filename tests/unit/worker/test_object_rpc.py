"""Calling objects row by row (python-workers-verified 3.5 and 1.3), through the real SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from object_programs import called

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("stub.echo(1.0)", 1),
        ("stub.echo(None)", None),
        ("stub.echo({'a': [1, None, {'b': True}]})", {"a": [1, None, {"b": True}]}),
        ("stub.echo({1, 2})", {1, 2}),
        ("stub.echo(1, 2)", [1, 2]),
        ("stub.echo('ä' * 3)", "äää"),
        ("stub.sync()", "sync"),
        ("stub.give('none')", None),
        ("stub.arguments(1, b=2)", [1, {"b": 2}]),
        ("stub.kinds({}, [], b'x', {1}, 'a', 1, None)",
         ["JsDict", "list", "memoryview", "set", "str", "int", "NoneType"]),
        ("stub._private()", 1),
        ("stub.static()", "static"),
        ("stub.of_class()", "Callee"),
        ("stub.call_back(lambda v: v + 1, 1)", ["JsProxy", 2]),
        ("stub.ask(stub_of(env, 'other'), 5)", 5),
        ("stub.ask({'s': stub_of(env, 'other')}, 5)", 5),
    ],
)  # fmt: skip
def test_a_call_answers(call: str, expected: Any, tmp_path: Path) -> None:
    assert called(tmp_path, f"return await {call}") == expected


PROXY = (
    "DataCloneError: Proxy could not be serialized because it is not a valid RPC receiver type. "
    "The Proxy must emulate either a plain object or an RpcTarget, as indicated by the Proxy's "
    "prototype chain."
)


NOT_SERIALIZABLE = (
    'DataCloneError: Could not serialize object of type "{}". This type does not support '
    "serialization."
)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("stub.nope()", "TypeError: Method nope does not exist"),
        ("stub.attribute()", "TypeError: Method attribute does not exist"),
        ("stub.prop()", "TypeError: Method prop does not exist"),
        ("stub.env()", 'TypeError: The RPC receiver does not implement the method "env".'),
        ("stub.alarm()", "TypeError: 'alarm' is a reserved method and cannot be called over RPC."),
        ("stub.dup()", "TypeError: 'dup' is a reserved method and cannot be called over RPC."),
        ("stub.echo(Thing())", PROXY),
        ("stub.echo({'a': [Point(1)]})", PROXY),
        ("stub.echo(datetime.date(2020, 1, 1))", PROXY),
        ("stub.echo(decimal.Decimal(1))", PROXY),
        ("stub.echo(frozenset({1}))", PROXY),
        ("stub.echo(env)", PROXY),
        ("stub.echo(env.CALLEE.idFromName('x'))", NOT_SERIALIZABLE.format("DurableObjectId")),
        ("stub.echo(env.QUEUE)", NOT_SERIALIZABLE.format("WorkerQueue")),
    ],
)
def test_a_refusal_has_productions_text(call: str, expected: str, tmp_path: Path) -> None:
    assert called(tmp_path, f"return await outcome({call})") == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("stub.echo((1,))", "<class 'tuple'> cannot be sent over RPC."),
        ("stub.echo([(1,)])", "<class 'tuple'> cannot be sent over RPC."),
        ("stub.echo(bytearray(b'x'))", "<class 'bytearray'> cannot be sent over RPC."),
    ],
)
def test_what_python_refuses_is_refused_at_the_call(
    call: str, expected: str, tmp_path: Path
) -> None:
    code = f"""
        try:
            {call}
        except TypeError as error:
            return str(error)
    """
    assert called(tmp_path, code) == expected


@pytest.mark.parametrize(
    ("call", "last_line"),
    [
        ("stub.fails('value')", "ValueError: bad value"),
        ("stub.fails('base')", "BaseException: base"),
        ("stub.fails('cancelled')", "asyncio.exceptions.CancelledError"),
        ("stub.arguments(1, 2, 3)", "TypeError: Callee.arguments() takes from 2 to 3 positional"),
        ("stub.arguments()", "TypeError: Callee.arguments() missing 1 required positional"),
        ("stub.keyword_only(k=2)", "TypeError: Callee.keyword_only() takes 1 positional"),
        ("stub.give('tuple')", "TypeError: <class 'tuple'> cannot be sent over RPC."),
    ],
)
def test_an_exception_arrives_as_its_traceback(call: str, last_line: str, tmp_path: Path) -> None:
    code = f"""
        try:
            await {call}
        except JsException as error:
            lines = error.message.splitlines()
            return [type(error).__name__, error.name, error.remote, lines[0], lines[-1]]
    """
    kind, name, remote, first, last = called(tmp_path, code)
    assert (kind, name, remote) == ("JsException", "Error", True)
    assert first == "PythonError: Traceback (most recent call last):"
    assert last.startswith(last_line)


def test_an_error_of_javascript_that_python_lets_through_is_a_traceback(tmp_path: Path) -> None:
    code = "return [await outcome(stub.fails('js')), await outcome(stub.fails('storage'))]"
    parse, limit = called(tmp_path, code)
    assert parse.startswith("Error: PythonError: Traceback (most recent call last):")
    assert "pyodide.ffi.JsException: SyntaxError: " in parse
    assert limit.endswith("pyodide.ffi.JsException: TypeError: List limit must be positive.\n")


def test_what_an_object_returns_is_refused_like_an_argument(tmp_path: Path) -> None:
    got = called(tmp_path, "return await outcome(stub.give('object'))")
    assert got.endswith("as indicated by the Proxy's prototype chain.")


def test_more_than_32_mib_are_refused(tmp_path: Path) -> None:
    got = called(tmp_path, "return await outcome(stub.echo('x' * (32 * 1024 * 1024 + 1)))")
    assert got.startswith(
        "Error: Serialized RPC arguments or return values are limited to 32MiB, but the size of "
        "this value was: 33554"
    )


def test_calls_nobody_awaits_run_in_order(tmp_path: Path) -> None:
    code = """
        calls = [stub.append(n) for n in range(10)]
        return (await asyncio.gather(*calls))[-1]
    """
    assert called(tmp_path, code) == list(range(10))


def test_values_are_copies(tmp_path: Path) -> None:
    code = """
        given = {"a": [1]}
        got = await stub.echo(given)
        got["a"].append(2)
        return [given, got]
    """
    assert called(tmp_path, code) == [{"a": [1]}, {"a": [1, 2]}]


def test_a_function_an_object_returns_can_be_called(tmp_path: Path) -> None:
    code = """
        add = await stub.adder(1)
        return [type(add).__name__, await add(2)]
    """
    assert called(tmp_path, code) == ["_RpcStubWrapper", 3]
