"""Run the scenarios over the emulated boundary, in a process of its own:
`python emulated.py <python version> <flags,> <output> [scenario...]`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

SUITE = Path(__file__).parent
CORPUS = Path(os.environ.get("TSUMUGI_CORPUS", SUITE / "corpus.json"))
SERVICE_METRICS = (2, 34, 1_767_323_045_678)


class Calls:
    """Every call that reached the host, until the recorder takes them."""

    def __init__(self):
        self._entries = []

    def add(self, text):
        self._entries.append(text)

    def take(self):
        taken, self._entries[:] = json.dumps(self._entries), []
        return taken


class RecordingPort:
    """The queue service: remembers what it was given."""

    def __init__(self, calls):
        self._calls = calls
        self._sent = []

    def take_sent(self):
        """What was sent since this was asked last: body bytes and content types."""
        taken, self._sent = self._sent, []
        return taken

    def queue_send(self, request, answer):
        from tsumugi_emulator.bindings.port import Metrics

        self._sent += [(body, content_type) for body, content_type, _ in request.messages]
        parts = [self._message(*message) for message in request.messages]
        batch = "" if request.batch_delay_s is None else f" all delay {request.batch_delay_s}"
        self._calls.add(f"sent {'; '.join(parts)}{batch}")
        answer(Metrics(*SERVICE_METRICS), None)

    def queue_metrics(self, queue, answer):
        from tsumugi_emulator.bindings.port import Metrics

        self._calls.add("metrics")
        answer(Metrics(*SERVICE_METRICS), None)

    @staticmethod
    def _message(body, content_type, delay_s):
        from emulated_describe import describe
        from tsumugi_emulator.javascript import clone

        if content_type == "v8":
            text = describe(clone.deserialize(body))
        else:
            text = body.hex() if content_type == "bytes" else body.decode()
        return f"{content_type} {text}" + ("" if delay_s is None else f" delay {delay_s}")


def error_text(error):
    """`name: message` of what JavaScript catches; an exception of Python is a PythonError there."""
    from tsumugi_emulator.javascript.errors import JsException

    if not isinstance(error, JsException):
        return python_error_text(error)
    return f"{error.name}: {error.message}"


def python_error_text(error):
    """The same of what Python raised, be it JavaScript's own error."""
    from tsumugi_emulator.javascript.errors import python_error

    return python_error(error).toString()


class Functions:
    """What host/host.mjs offers, over the emulator's values. Each takes JavaScript values."""

    def __init__(self, calls, env, made, warn):
        from emulated_describe import describe

        self._calls = calls
        self._env = env
        self._made = made
        self._warn = warn
        self._describe = describe

    def describe(self, value=None):
        return self._describe(value)

    def take(self):
        return self._calls.take()

    def make(self, name):
        return self._made[name]()

    def echo(self, value=None):
        return value

    def args(self, *args):
        return ", ".join(map(self._describe, args))

    def call(self, callback, *args):
        from tsumugi_emulator.javascript.arrays import call_back

        return call_back(callback, *args)

    def callLater(self, callback, *args):
        from tsumugi_emulator.javascript.errors import JsException, python_error
        from tsumugi_emulator.javascript.promise import promise_of

        async def later():
            await asyncio.sleep(0.001)
            try:
                result = self.call(callback, *args)
                return await result if asyncio.isfuture(result) else result
            except JsException:
                raise
            except BaseException as error:
                raise python_error(error) from None

        return promise_of(later())

    def caught(self, callback):
        try:
            return f"returned {self._describe(self.call(callback))}"
        except BaseException as error:
            return f"PythonError {python_error_text(error)}"

    def raise_(self, name):
        raise self._made[name]()

    def raiseValue(self, value=None):
        from tsumugi_emulator.javascript.errors import thrown

        raise thrown(value)

    def reject(self, value=None):
        from tsumugi_emulator.javascript.promise import as_exception, rejected

        return rejected(as_exception(value))

    def rejectWith(self, name):
        from tsumugi_emulator.javascript.promise import rejected

        return rejected(self._made[name]())

    def later(self, value=None, ms=1):
        from tsumugi_emulator.javascript.promise import promise_of

        return promise_of(asyncio.sleep(ms / 1000, value))

    def never(self):
        from tsumugi_emulator.javascript.futures import PyodideFuture

        return PyodideFuture(loop=asyncio.get_running_loop())

    def cloned(self, value=None):
        from tsumugi_emulator.javascript.clone import structured_clone
        from tsumugi_emulator.javascript.errors import JsException

        try:
            return self._describe(structured_clone(value))
        except JsException as error:
            return error_text(error)

    def batch(self, bodies):
        from emulated_values import SENT_AT_MS
        from tsumugi_emulator.bindings.port import Metrics
        from tsumugi_emulator.bindings.queue_batch import QueueController, Settlement
        from tsumugi_emulator.javascript.arrays import iterate_js
        from tsumugi_emulator.javascript.io_context import IoContext

        values = list(iterate_js(bodies))
        messages = [(f"m{i}", SENT_AT_MS, 1, "json", b"null") for i in range(len(values))]
        settlement = Settlement(IoContext("queue", self._warn))
        batch = QueueController(settlement, "orders", messages, Metrics(0, 0, 0))
        for message, value in zip(batch.messages._items, values, strict=True):
            message._body = value
        return batch

    def corpus(self):
        return CORPUS.read_text(encoding="utf-8")

    def sentBatch(self):
        from emulated_values import SENT_AT_MS
        from tsumugi_emulator.bindings.port import Metrics
        from tsumugi_emulator.bindings.queue_batch import QueueController, Settlement
        from tsumugi_emulator.javascript.io_context import IoContext

        sent = self._env._props["QUEUE"]._port.take_sent()
        messages = [(f"m{i}", SENT_AT_MS, 1, kind, body) for i, (body, kind) in enumerate(sent)]
        settlement = Settlement(IoContext("queue", self._warn))
        return QueueController(settlement, "orders", messages, Metrics(0, 0, 0))

    def runQueue(self, deliver, batch):
        from tsumugi_emulator.javascript.promise import promise_of

        return promise_of(self._run_queue(deliver, batch))

    async def _run_queue(self, deliver, batch):
        settlement = batch._settlement
        failure = await self._event(settlement.event, deliver, batch, None, None)
        return json.dumps(
            {
                "outcome": "ok" if failure is None else "exception",
                "error": failure,
                "ackAll": settlement.ack_all,
                "retryAll": settlement.retry_all,
                "retryAllDelay": settlement.retry_all_delay_s,
                "acks": list(settlement.explicit_acks),
                "retries": [list(item) for item in settlement.retries.items()],
            }
        )

    def runFetch(self, deliver, request):
        from tsumugi_emulator.javascript.promise import promise_of

        return promise_of(self._run_fetch(deliver, request))

    async def _run_fetch(self, deliver, request):
        from tsumugi_emulator.javascript.io_context import IoContext
        from tsumugi_emulator.javascript.web.response import Response

        event = IoContext("fetch", self._warn)
        self._results = []
        failure = await self._event(event, deliver, request, None, None)
        if failure is not None:
            return json.dumps({"error": failure})
        response = self._results.pop()
        if not isinstance(response, Response):
            text = "Incorrect type for Promise: the Promise did not resolve to 'Response'."
            return json.dumps({"error": f"TypeError: {text}"})
        return json.dumps(
            {
                "status": response.status,
                "headers": [list(pair) for pair in response.headers],
                "body": await response.text(),
                "waitUntil": None,
            }
        )

    async def _event(self, event, deliver, *args):
        """Run a handler inside ``event``: the text of its failure, or of its waitUntil work's."""
        from tsumugi_emulator.javascript import io_context
        from tsumugi_emulator.javascript.arrays import call_back
        from tsumugi_emulator.javascript.wait_until import ExecutionContext

        async def inside():
            io_context.enter(event)
            ctx = ExecutionContext(event)
            result = await call_back(deliver, ctx, self._env, *args)
            self._results = [result]

        try:
            await asyncio.create_task(inside())
        except BaseException as error:
            return error_text(error)
        for held in event.wait_until:
            try:
                await held
            except BaseException as error:
                return error_text(error)
        return None


def make_service(calls):
    """A service binding: a Fetcher that answers, adds and echoes."""
    from emulated_describe import describe
    from tsumugi_emulator.javascript.arrays import JsArray
    from tsumugi_emulator.javascript.convert import to_js
    from tsumugi_emulator.javascript.functions import js_class, js_method
    from tsumugi_emulator.javascript.promise import promise_of, resolved
    from tsumugi_emulator.javascript.values import JsProxy
    from tsumugi_emulator.javascript.web.request import RequestClass
    from tsumugi_emulator.javascript.web.response import ResponseClass

    @js_class("Fetcher", constructible=False)
    class Fetcher(JsProxy):
        @js_method
        def fetch(self, source, init=None):
            return promise_of(self._fetch(source, init))

        async def _fetch(self, source, init):
            request = RequestClass.new(source, init)
            calls.add(f"fetch {request.method} {request.url} {await request.text()}")
            headers = to_js([["x-service", "yes"]])
            return ResponseClass.new("from the service", headers=headers)

        @js_method
        def add(self, a, b):
            calls.add(f"add {describe(a)} {describe(b)}")
            return resolved(a + b)

        @js_method
        def echo(self, *args):
            calls.add(f"echo {', '.join(map(describe, args))}")
            return resolved(args[0] if len(args) == 1 else JsArray(list(args)))

    return Fetcher()


def make_env(calls):
    from tsumugi_emulator.bindings.queue_producer import WorkerQueue
    from tsumugi_emulator.javascript.arrays import JsArray
    from tsumugi_emulator.javascript.values import JsObject, jsnull

    return JsObject(
        {
            "QUEUE": WorkerQueue("orders", RecordingPort(calls)),
            "SERVICE": make_service(calls),
            "TEXT": "a text",
            "NUMBER": 5,
            "JSON": JsObject({"a": 1, "list": JsArray([1, 2]), "nothing": jsnull}),
            "LIST": JsArray([1, "two"]),
            "NOTHING": jsnull,
        }
    )


def make_host(calls, env, warn, loop):
    from emulated_describe import describe
    from emulated_platform import Platform, platform_functions
    from emulated_values import makers
    from tsumugi_emulator.javascript.functions import JsFunction
    from tsumugi_emulator.javascript.values import JsObject

    made = makers(describe, env._props["QUEUE"])
    functions = Functions(calls, env, made, warn)
    found = {
        name.rstrip("_"): getattr(functions, name)
        for name in dir(functions)
        if not name.startswith("_")
    }
    platform = Platform(loop, env, calls, made, lambda _level, text: print(text, file=sys.stderr))
    found |= platform_functions(platform)
    props = {name: JsFunction(function, name) for name, function in found.items()}
    return JsObject(props | {"env": env}), platform


def route_console(calls):
    from tsumugi_emulator.javascript.web import console

    console.SINK[:] = [lambda level, text: calls.add(f"console.{level} {text}")]


def main():
    version, flags, output, *wanted = sys.argv[1:]
    os.environ["TZ"] = "UTC"
    time.tzset()
    sys.path.insert(0, str(SUITE))
    from tsumugi_emulator.javascript import install, io_context
    from tsumugi_emulator.worker.loop import WorkerLoop

    enabled = frozenset([*flags.split(","), "queues_json_messages"])
    calls = Calls()
    env = install(compatibility_flags=enabled, python_version=version)
    env._props.update(make_env(calls)._props)

    def warn(text):
        if text.startswith("Received a call to"):
            calls.add(f"warning {text}")

    route_console(calls)
    loop = WorkerLoop()
    asyncio.set_event_loop(loop)
    host, platform = make_host(calls, env, warn, loop)

    async def everything():
        io_context.enter(io_context.IoContext("fetch", warn))
        from harness.main import run

        return await run(host, json.dumps(wanted))

    Path(output).write_text(loop.run_until_complete(everything()), encoding="utf-8")
    platform.close()


if __name__ == "__main__":
    main()
