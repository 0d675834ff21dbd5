"""Calls of a Worker's own entrypoints: the verified rows on RPC, within one process."""

from __future__ import annotations

from typing import Any

import pytest
from service_harness import NAMED, result_of, services_child


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("add(1, 2)", 3),
        ("sync()", "sync"),
        ("echo({'a': [1, None, 1.5, True, 'x']})", {"a": [1, None, 1.5, True, "x"]}),
        ("echo(1.0)", 1),
        ("show({1, 2})", "{1, 2}"),
        ("show({'a': {'b': None}})", "{'a': {'b': None}}"),
        ("show(2**60)", "1152921504606846976"),
        ("_priv()", 1),
        ("static()", 1),
        ("of_class()", "cm"),
        ("queue(5)", "queue of _BindingWrapper"),
        ("scheduled(1, 2, 3)", "scheduled"),
        ("add(1, b=2)", "Error: PythonError"),
    ],
)
def test_methods_take_and_give_what_rpc_carries(call: str, result: Any) -> None:
    found = result_of(f"return await outcome(self.env.NAMED.{call})")
    if isinstance(result, str) and result.startswith("Error: "):
        assert found.startswith(result)
    else:
        assert found == result


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("nope()", "TypeError: Method nope does not exist"),
        ("attr()", "TypeError: Method attr does not exist"),
        ("prop()", "TypeError: Method prop does not exist"),
        ("alarm()", "TypeError: 'alarm' is a reserved method and cannot be called over RPC."),
        ("dup()", "TypeError: 'dup' is a reserved method and cannot be called over RPC."),
        ("env()", 'TypeError: The RPC receiver does not implement the method "env".'),
        ("ctx()", 'TypeError: The RPC receiver does not implement the method "ctx".'),
    ],
)
def test_what_is_no_method_cannot_be_called(call: str, text: str) -> None:
    assert result_of(f"return await outcome(self.env.NAMED.{call})") == text


@pytest.mark.parametrize(
    ("call", "last_line"),
    [
        ("add(1)", "TypeError: Named.add() missing 1 required positional argument: 'b'"),
        ("add(1, 2, 3)", "TypeError: Named.add() takes 3 positional arguments but 4 were given"),
        ("scheduled(1)", "missing 2 required positional arguments: 'env' and 'ctx'"),
        ("boom()", "ValueError: bad value"),
        ("stop()", "CancelledError"),
        ("pair()", "TypeError: <class 'tuple'> cannot be sent over RPC."),
    ],
)
def test_what_goes_wrong_is_told_as_text_with_its_traceback(call: str, last_line: str) -> None:
    text = result_of(f"return await outcome(self.env.NAMED.{call})")
    assert text.startswith("Error: PythonError: Traceback (most recent call last):\n")
    assert text.rstrip().endswith(last_line)


def test_a_remote_error_says_so() -> None:
    main = """
try:
    await self.env.NAMED.boom()
except JsException as error:
    return [error.name, error.remote, error.message.splitlines()[-1]]
"""
    assert result_of(main) == ["Error", True, "ValueError: bad value"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("(1,)", "TypeError: <class 'tuple'> cannot be sent over RPC."),
        ("bytearray(b'x')", "TypeError: <class 'bytearray'> cannot be sent over RPC."),
        ("object()", "DataCloneError: Proxy could not be serialized because"),
        ("self.env.QUEUE", 'DataCloneError: Could not serialize object of type "WorkerQueue".'),
        ("'x' * 33554433", "Error: Serialized RPC arguments or return values are limited to 32MiB"),
    ],
)
def test_what_cannot_cross_is_refused_at_the_caller(value: str, text: str) -> None:
    main = f"""
try:
    pending = self.env.NAMED.echo({value})
except Exception as error:
    return f"{{type(error).__name__}}: {{error}}"
return await outcome(pending)
"""
    assert result_of(main).startswith(text)


def test_keywords_arrive_as_one_dictionary() -> None:
    assert result_of("return await self.env.NAMED.show(a=1)") == "{'a': 1}"


def test_each_call_has_an_instance_of_its_own() -> None:
    main = "return [await self.env.NAMED.count(), await self.env.NAMED.count()]"
    assert result_of(main) == [[1, 1], [1, 2]]


def test_calls_begin_in_order() -> None:
    source = """
seen = []

class Ordered(WorkerEntrypoint):
    async def note(self, number):
        seen.append(number)
"""
    main = """
await asyncio.gather(*(self.env.ORDERED.note(number) for number in range(10)))
return seen
"""
    assert result_of(main, source) == list(range(10))


class TestFunctions:
    def test_a_function_given_along_is_called_back(self) -> None:
        assert result_of("return await self.env.NAMED.call(lambda value: value * 2, 21)") == 42

    def test_an_async_function_is_awaited(self) -> None:
        main = """
async def double(value):
    await asyncio.sleep(0)
    return value * 2
return await self.env.NAMED.call(double, 21)
"""
        assert result_of(main) == 42

    def test_its_error_is_the_callers_again(self) -> None:
        main = """
def fail():
    raise KeyError("why")
return await outcome(self.env.NAMED.call(fail))
"""
        assert "KeyError: 'why'" in result_of(main)

    def test_the_callee_sees_a_stub(self) -> None:
        text = result_of("return await self.env.NAMED.show(lambda: 1)")
        assert text == "[object JsRpcStub]"

    def test_a_function_that_is_returned_keeps_its_call_alive(self) -> None:
        main = """
add = await self.env.NAMED.counter()
return [type(add).__name__, await add(2), await add(3)]
"""
        assert result_of(main) == ["_RpcStubWrapper", 2, 5]

    def test_nothing_is_kept_when_the_caller_has_ended(self) -> None:
        source = f"{NAMED}\n\nasync def main(self):\n    await self.env.NAMED.counter()\n"
        with services_child(source) as child:
            assert child.text() == "None"
            child.settle()

    def test_a_function_of_an_event_that_is_over_is_gone(self) -> None:
        source = """
kept = []

class Keeper(WorkerEntrypoint):
    async def keep(self, function):
        kept.append(function)

async def main(self):
    if not kept:
        await self.env.KEEPER.keep(lambda: 1)
        return "kept"
    return await outcome(kept[0]())
"""
        with services_child(source) as child:
            assert child.text() == "'kept'"
            child.settle()
            assert child.text() == "'Error: RPC stub used after being disposed.'"


def test_an_entrypoint_that_is_not_there_is_named() -> None:
    text = result_of("return await outcome(self.env.MISSING.add(1, 2))")
    assert text == (
        'Error: The Worker "test-worker" has no entrypoint "Missing" (it exports: default, Named).'
    )


def test_connecting_is_refused() -> None:
    main = """
try:
    self.env.NAMED.connect("x:1")
except JsException as error:
    return str(error)
"""
    assert result_of(main) == "TypeError: Incoming CONNECT on a worker not supported"
