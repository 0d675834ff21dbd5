"""Runs the body of a request as a function of ``self`` and ``env``; answers with its ``repr``."""

import asyncio  # noqa: F401 - for the code of requests, as others below
import os
import textwrap

import workers  # noqa: F401
from pyodide.ffi import JsException
from workers import Response, WorkerEntrypoint, env as imported_env  # noqa: F401


async def outcome(awaitable):
    try:
        return await awaitable
    except JsException as error:
        return f"{error.name}: {error.message}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


async def traits(awaitable):
    """What the platform says of an error beside its text, and the text if it is its own."""
    try:
        await awaitable
    except JsException as error:
        names = ("remote", "retryable", "overloaded", "durableObjectReset")
        lost = [error.message] * (error.message == "Network connection lost.")
        return lost + [name for name in names if getattr(error, name, False)]


class Own(WorkerEntrypoint):
    async def pid(self):
        return os.getpid()

    async def take(self, value):
        return value


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = request.url.rpartition("/")[2]
        if path == "proxy":
            return await self.env.CALLEE.fetch(
                "http://callee/echo", method="POST", body=request.body
            )
        if path == "version":
            return Response(str(await self.env.CALLEE.version()))
        if path == "pid":
            return Response(str(os.getpid()))
        names = dict(globals())
        code = textwrap.indent(await request.text(), "    ")
        exec(f"async def main(self, env):\n{code}", names)
        return Response(repr(await names["main"](self, self.env)))
