"""The emulator's twin of the Worker in JavaScript that host/python.mjs has: called over RPC."""

from __future__ import annotations

import asyncio


class RemotePort:
    """A ServicePort whose every call is logged with the values that arrived."""

    def __init__(self, calls, made):
        self._calls = calls
        self._made = made

    def call(self, target, method, args):
        from tsumugi_emulator.bindings.rpc_values import Answer, transfer
        from tsumugi_emulator.javascript import io_context
        from tsumugi_emulator.javascript.futures import PyodideFuture
        from tsumugi_emulator.javascript.promise import promise_of

        given = transfer(args)
        future = PyodideFuture(loop=asyncio.get_running_loop())
        answer = Answer(io_context.require(), future)

        async def run():
            try:
                result, error = await self._run(method, given), None
            except BaseException as raised:
                result, error = None, raised
            answer.settle(result, error)

        promise_of(run())
        return future

    def fetch(self, target, request):
        from tsumugi_emulator.javascript.promise import resolved
        from tsumugi_emulator.javascript.web.response import ResponseClass

        return resolved(ResponseClass.new(f"remote {request.method} {request.url}"))

    async def _run(self, name, args):
        from emulated_describe import describe
        from tsumugi_emulator.javascript.errors import type_error

        self._calls.add(f"remote {name} {', '.join(map(describe, args))}".strip())
        method = getattr(self, f"_{name}", None)
        if method is None:
            raise type_error(f'The RPC receiver does not implement the method "{name}".')
        result = method(*args)
        promised = asyncio.iscoroutine(result) or asyncio.isfuture(result)
        return await result if promised else result

    def _echo(self, *values):
        from tsumugi_emulator.javascript.arrays import JsArray

        return values[0] if len(values) == 1 else JsArray(list(values))

    def _give(self, name):
        return self._made[name]()

    def _raise(self, name):
        raise self._made[name]()

    async def _callBack(self, callback, *args):
        return await callback(*args)

    def _adder(self, base):
        from tsumugi_emulator.javascript.functions import JsFunction

        return JsFunction(lambda value: base + value, "", 1)
