"""The object that scenarios of calls call, what it gives and how it fails."""

import inspect

import js
from pyodide.ffi import to_js
from workers import DurableObject, Response

from scenarios.storage import VALUES
from scenarios.to_js import Point


class Callee(DurableObject):
    attribute = 5

    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.seen = []

    async def shown(self, *args):
        return [f"{type(arg).__name__} {shown(arg)}" for arg in args]

    async def echo(self, value):
        return value

    def sync(self):
        return "sync"

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

    async def give(self, label):
        return GIVEN[label]()

    async def fails(self, kind):
        raise FAILURES[kind]

    def fails_at_once(self, kind):
        raise FAILURES[kind]

    async def fails_in_javascript(self):
        js.JSON.parse("{")

    def fails_in_javascript_at_once(self):
        js.JSON.parse("{")

    async def fails_in_storage(self):
        await self.ctx.storage.list(limit=0)

    async def append(self, value):
        self.seen.append(value)
        return len(self.seen)

    async def call_back(self, function, *args):
        return [type(function).__name__, await function(*args)]

    async def call_back_raw(self, function, value):
        returned = function(value)
        return [type(returned).__name__, type(await returned).__name__]

    async def adder(self, a):
        return lambda b: a + b

    async def async_adder(self, a):
        async def add(b):
            return {"sum": a + b}

        return add

    async def ask(self, stub, *args):
        return [type(stub).__name__, await stub.echo(*args)]

    async def pass_on(self, stub):
        return stub

    async def give_stub(self):
        return self.env.THING.getByName("given")

    async def protocols(self, stub):
        said = []
        for label, action in PROTOCOLS.items():
            try:
                said.append(f"{label}: {action(stub)!r}")
            except Exception as error:
                said.append(f"{label}: {type(error).__name__} {error}")
        return said

    async def describe_stub(self, stub):
        return [type(stub).__name__, stub.constructor.name]

    async def end(self, reason=None):
        self.ctx.abort(reason)

    async def end_unnoticed(self):
        try:
            self.ctx.abort("caught")
        except Exception:
            return "caught"

    async def block_and_fail(self):
        async def fail():
            raise ValueError("blocked")

        await self.ctx.blockConcurrencyWhile(fail)
        return "went on"

    async def fetch(self, request):
        path = request.url.rpartition("/")[2]
        if path == "boom":
            raise ValueError("fetch boom")
        if path == "none":
            return None
        if path == "text":
            return "text"
        body = f"{request.method} {path} {await request.text()} {request.headers.get('x-a')}"
        return Response(body, status=201, headers={"x-b": "c"})


PROTOCOLS = {
    "iter": lambda stub: iter(stub) is stub,
    "next": next,
    "bool": bool,
    "callable": callable,
    "name": lambda stub: stub.constructor.name,
    "awaitable": inspect.isawaitable,
    "has then": lambda stub: hasattr(stub, "then"),
    "typeof": lambda stub: stub.typeof,
}


def shown(value):
    if isinstance(value, memoryview):
        return f"{value.format} {value.tolist()}"
    return sorted(map(repr, value)) if isinstance(value, set) else repr(value)


GIVEN = {
    **{label: lambda value=value: value for label, value in VALUES.items()},
    "coroutine": lambda: Callee.shown(None),
    "to_js": lambda: to_js({"a": 1}),
    "class": lambda: Point,
    "Response": lambda: Response("a"),
    "nested tuple": lambda: {"a": [(1,)]},
    "dict of object": lambda: {"a": Point(1)},
}


FAILURES = {
    "ValueError": ValueError("bad value"),
    "KeyError": KeyError("k"),
    "BaseException": BaseException("base"),
    "TypeError": TypeError("typed"),
    "Exception without text": Exception(),
    "ExceptionGroup": ExceptionGroup("several", [ValueError("one"), KeyError("two")]),
}
