"""Calls of a Worker's own entrypoints: the verified rows on RPC, within one process."""

from __future__ import annotations

from typing import Any

import pytest
from service_harness import services_child

NAMED = """
class Named(WorkerEntrypoint):
    made = 0

    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        Named.made += 1
        self.own = 0

    async def add(self, a, b):
        return a + b

    async def show(self, value):
        return repr(value)

    async def echo(self, value):
        return value

    async def count(self):
        self.own += 1
        return [self.own, Named.made]

    def _priv(self):
        return 1

    @staticmethod
    def static():
        return 1

    @classmethod
    def of_class(cls):
        return "cm"

    attr = 5

    @property
    def prop(self):
        return 5

    def sync(self):
        return "sync"

    async def boom(self):
        raise ValueError("bad value")

    async def stop(self):
        raise asyncio.CancelledError

    async def pair(self):
        return (1, 2)

    async def call(self, function, *args):
        return await function(*args)

    async def counter(self):
        total = 0

        def add(by):
            nonlocal total
            total += by
            return total

        return add

    async def queue(self, batch):
        return "queue of " + type(batch).__name__

    async def scheduled(self, controller, env, ctx):
        return "scheduled"

    async def whoami(self):
        return self.ctx.props.who if hasattr(self.ctx.props, "who") else "nobody"

    async def fetch(self, request, env, ctx):
        return Response(f"{request.method.value} {request.url} {await request.text()} {env} {ctx}")
"""


def run(main: str, source: str = NAMED, **options: Any) -> Any:
    """What ``main(self)`` returns."""
    body = "\n".join(f"    {line}" for line in main.strip().splitlines())
    with services_child(f"{source}\n\nasync def main(self):\n{body}\n", **options) as child:
        text = child.text()
    try:
        return eval(text)
    except Exception:
        return text


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
    found = run(f"return await outcome(self.env.NAMED.{call})")
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
    assert run(f"return await outcome(self.env.NAMED.{call})") == text


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
    text = run(f"return await outcome(self.env.NAMED.{call})")
    assert text.startswith("Error: PythonError: Traceback (most recent call last):\n")
    assert text.rstrip().endswith(last_line)


def test_a_remote_error_says_so() -> None:
    main = """
try:
    await self.env.NAMED.boom()
except JsException as error:
    return [error.name, error.remote, error.message.splitlines()[-1]]
"""
    assert run(main) == ["Error", True, "ValueError: bad value"]


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
    assert run(main).startswith(text)


def test_keywords_arrive_as_one_dictionary() -> None:
    assert run("return await self.env.NAMED.show(a=1)") == "{'a': 1}"


def test_each_call_has_an_instance_of_its_own() -> None:
    main = "return [await self.env.NAMED.count(), await self.env.NAMED.count()]"
    assert run(main) == [[1, 1], [1, 2]]


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
    assert run(main, source) == list(range(10))


class TestFunctions:
    def test_a_function_given_along_is_called_back(self) -> None:
        assert run("return await self.env.NAMED.call(lambda value: value * 2, 21)") == 42

    def test_an_async_function_is_awaited(self) -> None:
        main = """
async def double(value):
    await asyncio.sleep(0)
    return value * 2
return await self.env.NAMED.call(double, 21)
"""
        assert run(main) == 42

    def test_its_error_is_the_callers_again(self) -> None:
        main = """
def fail():
    raise KeyError("why")
return await outcome(self.env.NAMED.call(fail))
"""
        assert "KeyError: 'why'" in run(main)

    def test_the_callee_sees_a_stub(self) -> None:
        text = run("return await self.env.NAMED.show(lambda: 1)")
        assert text == "[object JsRpcStub]"

    def test_a_function_that_is_returned_keeps_its_call_alive(self) -> None:
        main = """
add = await self.env.NAMED.counter()
return [type(add).__name__, await add(2), await add(3)]
"""
        assert run(main) == ["_RpcStubWrapper", 2, 5]

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


class TestFetch:
    def test_a_named_entrypoint_answers_requests(self) -> None:
        main = """
response = await self.env.NAMED.fetch("http://x.test/p", method="POST", body="hello")
return [response.status, await response.text()]
"""
        assert run(main) == [200, "POST http://x.test/p hello None None"]

    def test_a_request_object_can_be_passed_on(self) -> None:
        source = """
class Other(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("got " + await request.text(), status=201, headers={"x-a": "b"})

async def main(self):
    pass

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await self.env.OTHER.fetch(request)
"""
        with services_child(source) as child:
            answer = child.fetch("/", method="POST", body=b"body")
            assert (answer.status, answer.body) == (201, b"got body")
            assert ("x-a", "b") in answer.headers

    def test_a_body_that_is_made_as_it_is_read_streams_through(self) -> None:
        source = """
from js import ReadableStream

class Slow(WorkerEntrypoint):
    async def fetch(self, request):
        async def chunks():
            for number in range(3):
                await asyncio.sleep(0)
                yield f"{number};".encode()
        made = chunks()
        async def pull(controller):
            try:
                controller.enqueue(to_js(await anext(made)))
            except StopAsyncIteration:
                controller.close()
        stream = ReadableStream.new(to_js(
            {"pull": create_proxy(pull)}, dict_converter=__import__("js").Object.fromEntries))
        return Response(stream)

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await self.env.SLOW.fetch("http://x/")
"""
        with services_child(source) as child:
            assert child.text() == "0;1;2;"

    def test_no_response_is_an_error(self) -> None:
        source = """
class Bad(WorkerEntrypoint):
    async def fetch(self, request):
        return "text"

class Without(WorkerEntrypoint):
    pass
"""
        text = run("return await outcome(self.env.BAD.fetch('http://x/'))", source)
        assert text == (
            "AbortError: Incorrect type for Promise: the Promise did not resolve to 'Response'."
        )
        text = run("return await outcome(self.env.WITHOUT.fetch('http://x/'))", source)
        assert text == "AbortError: Method fetch does not exist"


class TestContext:
    def test_props_of_the_binding_are_the_callees(self) -> None:
        main = "return await self.env.NAMED.whoami()"
        assert run(main, props={"who": "me"}) == "me"
        assert run(main) == "nobody"

    def test_props_of_a_request_from_outside_are_empty(self) -> None:
        assert run("return list(self.ctx.props.object_keys())") == []

    def test_exports_has_every_entrypoint(self) -> None:
        main = "return sorted(self.ctx.exports.object_keys())"
        assert run(main) == ["Named", "default"]

    def test_exports_calls_without_the_sdk(self) -> None:
        main = """
named = self.ctx.exports.Named
return [
    await named.add(1, 2),
    await outcome(named.echo({"a": 1})),
    (await named.echo(to_js([1, 2]))).to_py(),
    named.constructor.name,
]
"""
        found = run(main)
        assert found[0] == 3
        assert found[1].startswith("DataCloneError: Proxy could not be serialized")
        assert found[2:] == [[1, 2], "LoopbackServiceStub"]

    def test_exports_can_be_given_props(self) -> None:
        main = """
from js import Object
options = to_js({"props": {"who": "it"}}, dict_converter=Object.fromEntries)
return await self.ctx.exports.Named(options).whoami()
"""
        assert run(main) == "it"

    def test_there_are_no_exports_without_the_flag(self) -> None:
        flags = frozenset({"python_no_global_handlers", "queues_json_messages"})
        assert run("return hasattr(self.ctx, 'exports')", flags=flags) is False


def test_an_entrypoint_that_is_not_there_is_named() -> None:
    text = run("return await outcome(self.env.MISSING.add(1, 2))")
    assert text == (
        'Error: The Worker "test-worker" has no entrypoint "Missing" (it exports: default, Named).'
    )


def test_a_service_cannot_be_called_while_importing() -> None:
    source = """
import workers
from js import Object

async def main(self):
    return await outcome(called)

called = None
"""
    with services_child(source) as child:
        from tsumugi_emulator.bindings.service import ServiceBinding, ServiceTarget

        binding = ServiceBinding(ServiceTarget("test-worker"), child.services)

        async def call() -> str:
            try:
                await binding.anything()
            except Exception as error:
                return str(error)
            return ""

        text = child.loop.run_until_complete(call())
    assert text.startswith("Error: Disallowed operation called within global scope.")


def test_connecting_is_refused() -> None:
    main = """
try:
    self.env.NAMED.connect("x:1")
except JsException as error:
    return str(error)
"""
    assert run(main) == "TypeError: Incoming CONNECT on a worker not supported"


def test_a_send_nobody_awaited_is_lost_with_the_call() -> None:
    source = """
class Sender(WorkerEntrypoint):
    async def last(self):
        asyncio.ensure_future(self.env.QUEUE.send("lost"))

    async def awaited(self):
        await self.env.QUEUE.send("sent")

async def main(self):
    await self.env.SENDER.last()
    await self.env.SENDER.awaited()
"""
    with services_child(source) as child:
        child.text()
        child.settle()
        assert child.messages_sent == [b'"sent"']


def test_wait_until_keeps_the_callees_event() -> None:
    source = """
done = []

class Later(WorkerEntrypoint):
    async def start(self):
        async def finish():
            await asyncio.sleep(0)
            done.append(1)
        self.ctx.waitUntil(finish())

async def main(self):
    await self.env.LATER.start()
    return len(done)
"""
    with services_child(source) as child:
        child.text()
        child.settle()
        assert child.program.module.done == [1]


def test_a_call_nobody_waits_for_ends_with_its_caller() -> None:
    source = """
ended = []

class Endless(WorkerEntrypoint):
    async def run(self):
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(1)

async def main(self):
    asyncio.ensure_future(self.env.ENDLESS.run())
    await asyncio.sleep(0.005)
"""
    with services_child(source) as child:
        child.text()
        child.settle()
        assert child.program.module.ended == [1]


def test_wait_until_can_be_imported() -> None:
    source = """
from workers import waitUntil

done = []

async def main(self):
    async def finish():
        done.append(await self.env.NAMED.add(1, 2))
    waitUntil(create_proxy(asyncio.ensure_future(finish())))
"""
    with services_child(source + NAMED) as child:
        child.text()
        child.settle()
        assert child.program.module.done == [3]
