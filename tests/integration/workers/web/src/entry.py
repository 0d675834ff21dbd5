"""One route for each thing HTTP can do to an emulator."""

import asyncio
import hashlib
import json
import os
import sys
from urllib.parse import parse_qs, urlsplit

from answers import ANSWER
from js import TransformStream
from pyodide.ffi import to_js
from workers import Response, WorkerEntrypoint, fetch

GATES = set()


async def gate(name):
    """Wait until another request opened the gate."""
    while name not in GATES:
        await asyncio.sleep(0.005)


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        handler = getattr(self, "on_" + (url.path.strip("/") or "index"), None)
        if handler is None:
            return Response("no such route", status=404)
        return await handler(request, query)

    async def on_index(self, request, query):
        return Response(ANSWER)

    async def on_pid(self, request, query):
        return Response(str(os.getpid()))

    async def on_open(self, request, query):
        GATES.add(query["gate"])
        return Response("open")

    async def on_wait(self, request, query):
        print("waiting for", query["gate"])
        try:
            await gate(query["gate"])
        except BaseException as error:
            print("stopped waiting:", type(error).__name__)
            raise
        return Response("the gate is open")

    async def on_wait_outside(self, request, query):
        print("waiting at the gate outside")
        await fetch(query["gate"])
        return Response(ANSWER)

    async def on_echo(self, request, query):
        body = await request.bytes()
        seen = {
            "method": str(request.method),
            "url": request.url,
            "headers": [[name, value] for name, value in request.headers.items()],
            "size": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        return Response(json.dumps(seen), headers={"content-type": "application/json"})

    async def on_length(self, request, query):
        return Response(str(len(await request.text())))

    async def on_big(self, request, query):
        return Response(b"0123456789abcdef" * (int(query["size"]) // 16))

    async def on_headers(self, request, query):
        return Response(
            "cookies",
            headers=[("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-one", "1")],
        )

    async def on_empty(self, request, query):
        return Response(None, status=204)

    async def on_stream(self, request, query):
        """Three chunks, each sent when its gate is open."""
        stream = TransformStream.new()
        writer = stream.writable.getWriter()

        async def pump():
            for number in ("one", "two", "three"):
                await gate(number)
                await writer.write(to_js(f"{number}\n".encode()))
            await writer.close()

        self.ctx.waitUntil(asyncio.ensure_future(pump()))
        return Response(stream.readable)

    async def on_halfway(self, request, query):
        """A chunk, and then nobody who would send another or close the stream."""
        stream = TransformStream.new()
        writer = stream.writable.getWriter()
        self.ctx.waitUntil(asyncio.ensure_future(writer.write(to_js(b"half"))))
        return Response(stream.readable)

    async def on_endless(self, request, query):
        stream = TransformStream.new()
        writer = stream.writable.getWriter()

        async def pump():
            try:
                while True:
                    await writer.write(to_js(b"x" * 65536))
            finally:
                print("endless response ended")

        self.ctx.waitUntil(asyncio.ensure_future(pump()))
        return Response(stream.readable)

    async def on_fail(self, request, query):
        raise ValueError("told to <fail>")

    async def on_exit(self, request, query):
        os._exit(3)

    async def on_sysexit(self, request, query):
        sys.exit(4)

    async def on_recursion(self, request, query):
        sys.setrecursionlimit(10**9)

        def deeper(depth):
            return [deeper(depth + 1)]

        return Response(str(deeper(0)))

    async def on_busy(self, request, query):
        print("busy from now on")
        while True:
            pass
