"""Calling objects row by row (python-workers-verified 3.5 and 1.3), through the real SDK."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest
from object_harness import objects_child

if TYPE_CHECKING:
    from pathlib import Path

CALLEE = """
import datetime, decimal

class Point:
    def __init__(self, x):
        self.x = x

class Thing:
    pass

class Callee(DurableObject):
    attribute = 5
    log = []

    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.seen = []

    async def echo(self, *args):
        return args[0] if len(args) == 1 else list(args)

    def sync(self):
        return "sync"

    def where(self):
        return [self.ctx.id.name, self.ctx.id.jurisdiction]

    async def kinds(self, *args):
        return [type(arg).__name__ for arg in args]

    async def arguments(self, a, b=None):
        return [a, b]

    async def keyword_only(self, *, k=1):
        return k

    def _private(self):
        return 1

    @staticmethod
    def static():
        return "static"

    @classmethod
    def of_class(cls):
        return cls.__name__

    @property
    def prop(self):
        return 1

    async def give(self, what):
        return {
            "tuple": (1,), "object": Thing(), "dataclass": Point(1), "none": None,
            "range_error": None,
        }[what]

    async def fails(self, kind):
        if kind == "value":
            raise ValueError("bad value")
        if kind == "base":
            raise BaseException("base")
        if kind == "cancelled":
            raise asyncio.CancelledError()
        if kind == "js":
            import js
            js.JSON.parse("{")
        if kind == "storage":
            await self.ctx.storage.list(limit=0)

    async def append(self, n):
        self.seen.append(n)
        return list(self.seen)

    async def call_back(self, function, value):
        return [type(function).__name__, await function(value)]

    async def adder(self, a):
        return lambda b: a + b

    async def ask(self, stub, *args):
        return await stub["s"].echo(*args) if isinstance(stub, dict) else await stub.echo(*args)

    async def fetch(self, request):
        if request.url.endswith("/text"):
            return Response(f"{request.method} {await request.text()}", status=201)
        if request.url.endswith("/bad"):
            return "text"
        if request.url.endswith("/boom"):
            raise ValueError("fetch boom")
        if request.url.endswith("/stream"):
            return Response(request.js_object.body)
        return Response("hello")

def stub_of(env, name="a"):
    return env.CALLEE.getByName(name)

async def main(env):
    stub = stub_of(env)
{code}
"""


def called(directory: Path, code: str, *, strict: bool = False) -> Any:
    import textwrap

    body = textwrap.indent(textwrap.dedent(code), "    ")
    with objects_child(CALLEE.replace("{code}", body), directory, strict=strict) as child:
        text = child.text()
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


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


def test_a_stub_tells_its_id_and_name(tmp_path: Path) -> None:
    code = """
        object_id = env.CALLEE.idFromName("a")
        same = env.CALLEE.get(object_id)
        return [stub.name, stub.id.toString() == str(object_id), same.name,
                type(stub).__name__, type(stub.id).__name__]
    """
    assert called(tmp_path, code) == ["a", True, "a", "_FetcherWrapper", "_FetcherWrapper"]


OTHER_REQUEST = "Cannot perform I/O on behalf of a different request."
CACHED = """
    global kept
    if "kept" not in globals():
        kept = stub_of(env)
    return await outcome(kept.echo(1))
"""


def test_a_stub_kept_for_another_request_is_told(tmp_path: Path) -> None:
    with objects_child(CALLEE.replace("{code}", CACHED), tmp_path) as child:
        assert [child.text(), child.text()] == ["1", "1"]
        (warning,) = child.warnings
    assert OTHER_REQUEST in warning
    assert "(I/O type: OutgoingFactory)" in warning


def test_a_stub_kept_for_another_request_fails_when_strict(tmp_path: Path) -> None:
    with objects_child(CALLEE.replace("{code}", CACHED), tmp_path, strict=True) as child:
        assert child.text() == "1"
        assert OTHER_REQUEST in child.text()


def test_an_object_may_keep_a_stub(tmp_path: Path) -> None:
    keeper = """
class Keeper(DurableObject):
    async def ask(self):
        if not hasattr(self, "stub"):
            self.stub = stub_of(self.env)
        return await self.stub.append(1)

"""
    code = '    return [await env.KEEPER.getByName("k").ask() for _ in range(2)]'
    with objects_child(keeper + CALLEE.replace("{code}", code), tmp_path, strict=True) as child:
        assert child.text() == "[[1], [1, 1]]"


# -- fetch -----------------------------------------------------------------------------------------


def test_fetch_reaches_the_handler_with_method_and_body(tmp_path: Path) -> None:
    code = """
        answer = await stub.fetch("http://x/text", method="POST", body="hi")
        plain = await stub.fetch("http://x/")
        return [type(answer).__name__, answer.status, await answer.text(), await plain.text()]
    """
    assert called(tmp_path, code) == ["Response", 201, "POST hi", "hello"]


def test_fetch_fails_as_fetch_does(tmp_path: Path) -> None:
    code = """
        return [await outcome(stub.fetch("http://x/bad")), await outcome(stub.fetch("http://x/boom"))]
    """
    bad, boom = called(tmp_path, code)
    assert "Incorrect type for Promise: the Promise did not resolve to 'Response'." in bad
    assert "ValueError: fetch boom" in boom


def test_a_streamed_body_passes_through_an_object(tmp_path: Path) -> None:
    code = """
        import js
        parts = js.TransformStream.new()
        writer = parts.writable.getWriter()
        async def write():
            for piece in (b"one ", b"two"):
                await writer.write(to_js(piece))
            await writer.close()
        writing = asyncio.ensure_future(write())
        answer = await stub.fetch("http://x/stream", method="POST", body=parts.readable)
        text = await answer.text()
        await writing
        return text
    """
    assert called(tmp_path, code) == "one two"


# -- Namespaces ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "env.CALLEE.get('name')",
            "TypeError: Failed to execute 'get' on 'DurableObjectNamespace': parameter 1 is not of "
            "type 'DurableObjectId'.",
        ),
        (
            "env.CALLEE.idFromString('abc')",
            "TypeError: Invalid Durable Object ID: must be 64 hex digits",
        ),
        (
            "env.CALLEE.idFromString(str(env.OTHER.idFromName('a')))",
            "TypeError: Durable Object ID is not valid for this namespace.",
        ),
        (
            "env.CALLEE.getByName('a', routingMode='nearest')",
            "RangeError: unknown routingMode: nearest",
        ),
        (
            "env.CALLEE.jurisdiction('mars')",
            'TypeError: There is no jurisdiction "mars": use one of eu, fedramp, fedramp-high, us.',
        ),
        (
            "env.CALLEE.jurisdiction('eu').get(env.CALLEE.idFromName('a'))",
            "TypeError: get called on jurisdictional subnamespace with an ID from a different "
            "jurisdiction",
        ),
    ],
)
def test_a_namespace_refuses(call: str, expected: str, tmp_path: Path) -> None:
    code = f"""
        try:
            {call}
        except JsException as error:
            return str(error)
    """
    other = "class Other(DurableObject):\n    pass\n"
    import textwrap

    body = textwrap.indent(textwrap.dedent(code), "    ")
    with objects_child(other + CALLEE.replace("{code}", body), tmp_path) as child:
        assert ast.literal_eval(child.text()) == expected


def test_ids_have_names_texts_and_equality(tmp_path: Path) -> None:
    code = """
        ns = env.CALLEE
        named, unique, five = ns.idFromName("a"), ns.newUniqueId(), ns.idFromName(5)
        again = ns.idFromString(str(named))
        return [named.name, unique.name, five.name, again.name, again.equals(named),
                unique.equals(named), len(str(unique)), named.toString() == str(named)]
    """
    assert called(tmp_path, code) == ["a", None, "5", None, True, False, 64, True]


def test_a_jurisdiction_is_a_part_of_the_namespace(tmp_path: Path) -> None:
    code = """
        ns = env.CALLEE
        eu = ns.jurisdiction("eu")
        named, plain = eu.idFromName("a"), ns.idFromName("a")
        unique = ns.newUniqueId(jurisdiction="us")
        again = ns.idFromString(str(named))
        made = [named, plain, unique, eu.newUniqueId(), again]
        return [*[found.jurisdiction for found in made],
                named.equals(plain), named.name, eu.jurisdiction().idFromName("a").equals(plain),
                await eu.getByName("a").where(), await ns.get(again).where(),
                await ns.getByName("a").where()]
    """
    assert called(tmp_path, code) == [
        *("eu", None, "us", "eu", "eu", False, "a", True),
        *(["a", "eu"], ["a", "eu"], ["a", None]),
    ]


def test_a_stub_takes_a_location_hint(tmp_path: Path) -> None:
    code = """
        ns = env.CALLEE
        return await ns.get(ns.newUniqueId(), locationHint="weur").echo(1)
    """
    assert called(tmp_path, code) == 1
