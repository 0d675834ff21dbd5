"""What another Worker calls."""

import asyncio
import os

from version import VERSION
from workers import DurableObject, Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = request.url.rpartition("/")[2]
        if path == "pid":
            return Response(str(os.getpid()))
        if path == "echo":
            return Response(request.body, headers={"x-callee": "echo"})
        if path == "ignore":
            return Response("not read")
        if path == "boom":
            raise ValueError("bad request")
        text = await request.text()
        return Response(f"{request.method.value} {text}", status=201, headers={"x-callee": "yes"})

    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            print("consumed", message.body["n"])

    async def version(self):
        return VERSION

    async def pid(self):
        return os.getpid()

    async def add(self, a, b):
        return a + b

    async def echo(self, value):
        return value

    async def show(self, value):
        return repr(value)

    async def boom(self):
        raise ValueError("bad value")

    async def pair(self):
        return (1, 2)

    async def slow(self):
        print("slow begins")
        try:
            await asyncio.sleep(3600)
        finally:
            print("slow ends")

    async def call(self, function, *args):
        return await function(*args)

    async def call_late(self, function):
        await asyncio.sleep(0.01)
        return await function("late")

    async def counter(self):
        total = 0

        def add(by):
            nonlocal total
            total += by
            return total

        return add

    async def own_object(self, name):
        """Call an object without a binding to its class."""
        namespace = self.ctx.exports.Counter
        return [namespace.constructor.name, await namespace.getByName(name).exported()]

    async def busy(self, times):
        """Call this Worker so often."""
        return [await self.ctx.exports.Named.whoami() for _ in range(times)]

    async def forward(self, counter):
        """Call an object by a stub that came along."""
        return await counter.bump(10)

    async def reply(self, text):
        return Response(text, headers={"x-rpc": "1"})

    async def read(self, response):
        return await response.text()


class Named(WorkerEntrypoint):
    async def whoami(self):
        return getattr(self.ctx.props, "who", "nobody")

    async def fetch(self, request):
        return Response("named")


class Counter(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.calls = 0

    async def bump(self, by):
        self.calls += 1
        total = (await self.ctx.storage.get("total") or 0) + by
        await self.ctx.storage.put("total", total)
        return total

    async def note(self, number):
        self.calls += 1
        return [self.calls, number]

    async def call(self, function):
        return await function(self.ctx.id.name)

    async def exported(self):
        return await self.ctx.exports.Named.whoami()

    async def reset(self):
        self.ctx.abort("on purpose")

    async def wake(self, delay_ms):
        import time

        await self.ctx.storage.setAlarm(int(time.time() * 1000) + delay_ms)

    async def alarm(self):
        print("alarm of", self.ctx.id.name)

    async def fetch(self, request):
        return Response(f"object {self.ctx.id.name}: {await request.text()}")
