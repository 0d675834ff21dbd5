"""Classes that several tests of Durable Objects run."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from object_harness import objects_child, value_of

if TYPE_CHECKING:
    from pathlib import Path

#: A class that tells what becomes of its instances.
BOX = """
class Box(DurableObject):
    made = 0

    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        Box.made += 1
        self.number = Box.made

    async def which(self):
        return self.number

    async def who(self):
        return [self.ctx.id.name, str(self.ctx.id)]

    async def abort(self, reason=None):
        await self.ctx.storage.put("before", 1)
        self.ctx.abort(reason) if reason else self.ctx.abort()

    async def blocked_failure(self):
        async def fail():
            raise ValueError("inside")
        await self.ctx.blockConcurrencyWhile(fail)
        await self.ctx.storage.put("after", 1)

    async def stored(self):
        return await self.ctx.storage.list()

    async def slow(self):
        await asyncio.sleep(0.01)
        return "slow"

    async def block(self, value):
        return await self.ctx.blockConcurrencyWhile(value)

    async def try_block(self):
        texts = []
        async def nothing():
            pass
        coroutine = nothing()
        for value in (coroutine, 5):
            try:
                self.ctx.blockConcurrencyWhile(value)
            except JsException as error:
                texts.append(str(error))
        coroutine.close()
        return texts

    async def results(self):
        block = self.ctx.blockConcurrencyWhile
        async def pair():
            return (1, {"a": 2})
        return repr([await block(pair), await block(lambda: {"b": (1,)})])
"""


#: ``traits(call)``: what the error of a call says of its object.
TRAITS = """
async def traits(awaitable):
    try:
        await awaitable
    except JsException as error:
        names = ("remote", "retryable", "overloaded", "durableObjectReset")
        return [name for name in names if getattr(error, name, False)]
"""


#: An object with something of each kind to call.
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


def called(directory: Path, code: str, *, beside: str = "") -> Any:
    """What ``code`` returns; ``stub`` is an object's of ``Callee``."""
    body = textwrap.indent(textwrap.dedent(code), "    ")
    with objects_child(beside + CALLEE.replace("{code}", body), directory) as child:
        return value_of(child.text())
