"""The batch a queue handler receives: its attributes, bodies, acknowledgements, signatures."""

import asyncio
import datetime

import js
from pyodide.ffi import to_js
from workers import WorkerEntrypoint, handler


def bodies(*values):
    return to_js(list(values), dict_converter=js.Object.fromEntries)


def worker(action):
    class Default(WorkerEntrypoint):
        async def queue(self, batch, env, ctx):
            result = action(self, batch)
            if hasattr(result, "__await__"):
                await result

    return Default


async def scenario_the_batch(record, env, host):
    def look(self, batch):
        record("batch", type(batch))
        record("queue", batch.queue)
        record("messages", type(batch.messages))
        record("same list", batch.messages is batch.messages)
        record("metadata", batch.metadata)
        record("metrics", batch.metadata.metrics.backlogCount)
        record.outcome("len", lambda: len(batch))
        record.outcome("iter", lambda: list(batch))
        record.outcome("index", lambda: batch[0])
        record.outcome("item", lambda: batch["queue"])
        record.outcome("bool", lambda: bool(batch))
        record.outcome("ack_all", lambda: batch.ack_all)
        record.outcome("retry_all", lambda: batch.retry_all())
        record.outcome("absent", lambda: batch.absent)
        message = batch.messages[0]
        record("message", type(message))
        for name in ("id", "attempts", "timestamp", "body"):
            record(name, getattr(message, name))
        record("body is cached", message.body is message.body)
        message.body["added"] = 1
        record("changes persist", batch.messages[0].body)
        record.outcome("absent", lambda: message.absent)
        record.outcome("to_py", lambda: message.body.to_py())
        record.outcome("timestamp.getTime", lambda: message.timestamp.getTime())
        record.outcome(
            "compare with aware", lambda: message.timestamp < datetime.datetime.now(datetime.UTC)
        )
        record.outcome("set attempts", lambda: setattr(message, "attempts", 9))
        record("attempts now", message.attempts)
        record.outcome("len of a message", lambda: len(message))
        record.outcome("iterate a message", lambda: list(message))
        record("self", [type(self.env).__name__, type(self.ctx).__name__])

    record("told", await host.queue(worker(look), host.batch(bodies({"a": 1}))))


async def scenario_bodies(record, env, host):
    def look(self, batch):
        for message in batch.messages:
            record(message.id, message.body)

    batch = host.batch(
        js.Array.of(
            host.make("object"),
            host.make("array"),
            host.make("map"),
            host.make("set"),
            host.make("date"),
            host.make("bytes"),
            host.make("buffer"),
            host.make("error"),
            host.make("object").nothing,
            js.undefined,
            "text",
            "",
            1,
            1.5,
            True,
            host.make("bigints"),
            host.make("floats"),
        )
    )
    record("told", await host.queue(worker(look), batch))


ACKNOWLEDGEMENTS = (
    ("nothing", lambda b, m: None),
    ("ack", lambda b, m: m[0].ack()),
    ("ack twice", lambda b, m: [m[0].ack(), m[0].ack()]),
    ("retry", lambda b, m: m[0].retry()),
    ("retry with a delay", lambda b, m: m[0].retry(delaySeconds=60)),
    ("retry with a dict", lambda b, m: m[0].retry({"delaySeconds": 60})),
    ("retry with an empty dict", lambda b, m: m[0].retry({})),
    ("retry with None", lambda b, m: m[0].retry(None)),
    ("retry with a number", lambda b, m: m[0].retry(60)),
    ("retry with a string", lambda b, m: m[0].retry("60")),
    ("retry with a tuple", lambda b, m: m[0].retry((60,))),
    ("retry in snake case", lambda b, m: m[0].retry(delay_seconds=60)),
    ("retry None delay", lambda b, m: m[0].retry(delaySeconds=None)),
    ("retry negative", lambda b, m: m[0].retry(delaySeconds=-1)),
    ("retry text delay", lambda b, m: m[0].retry(delaySeconds="x")),
    ("retry float", lambda b, m: m[0].retry(delaySeconds=1.9)),
    ("retry timedelta", lambda b, m: m[0].retry(delaySeconds=datetime.timedelta(seconds=5))),
    ("retry too large", lambda b, m: m[0].retry(delaySeconds=2**40)),
    ("retry big int", lambda b, m: m[0].retry(delaySeconds=2**60)),
    ("the last retry wins", lambda b, m: [m[0].retry(delaySeconds=1), m[0].retry(delaySeconds=3)]),
    ("and may clear the delay", lambda b, m: [m[0].retry(delaySeconds=3), m[0].retry()]),
    ("ack then retry", lambda b, m: [m[0].ack(), m[0].retry()]),
    ("retry then ack", lambda b, m: [m[0].retry(), m[0].ack()]),
    ("ackAll", lambda b, m: b.ackAll()),
    ("retryAll", lambda b, m: b.retryAll()),
    ("retryAll with a delay", lambda b, m: b.retryAll(delaySeconds=9)),
    ("retryAll with a number", lambda b, m: b.retryAll(1)),
    ("retryAll keeps its delay", lambda b, m: [b.retryAll(delaySeconds=1), b.retryAll()]),
    ("ackAll then retry", lambda b, m: [b.ackAll(), m[0].retry()]),
    ("ackAll then ack", lambda b, m: [b.ackAll(), m[0].ack()]),
    ("ackAll then retryAll", lambda b, m: [b.ackAll(), b.retryAll()]),
    ("retryAll then ackAll", lambda b, m: [b.retryAll(), b.ackAll()]),
    ("retryAll then ack", lambda b, m: [b.retryAll(), m[0].ack()]),
    ("retryAll then retry", lambda b, m: [b.retryAll(delaySeconds=1), m[0].retry()]),
    ("retry then ackAll", lambda b, m: [m[0].retry(delaySeconds=2), b.ackAll()]),
    ("ack then retryAll", lambda b, m: [m[0].ack(), b.retryAll()]),
    ("one each", lambda b, m: [m[0].ack(), m[1].retry(delaySeconds=4)]),
)


async def scenario_acknowledgements(record, env, host):
    for label, action in ACKNOWLEDGEMENTS:

        def act(self, batch, label=label, action=action):
            record.outcome(label, lambda: action(batch, batch.messages))

        told = await host.queue(worker(act), host.batch(bodies(1, 2)))
        record(f"{label}: told", told)


async def scenario_awaiting_an_acknowledgement(record, env, host):
    async def act(self, batch):
        await record.settled("await ack()", lambda: batch.messages[0].ack())
        await batch.messages[1].retry()

    record("told", await host.queue(worker(act), host.batch(bodies(1, 2))))


async def scenario_failures(record, env, host):
    class Fatal(BaseException):
        pass

    def fail(error):
        def act(self, batch):
            batch.messages[0].ack()
            batch.messages[1].retry(delaySeconds=5)
            raise error

        return act

    for error in (
        ValueError("boom"),
        KeyError("k"),
        Fatal("f"),
        ExceptionGroup("g", [ValueError()]),
    ):
        told = await host.queue(worker(fail(error)), host.batch(bodies(1, 2)))
        record(type(error).__name__, told)

    async def js_failure(self, batch):
        await self.env.QUEUE.send(2**60)

    record("JsException", await host.queue(worker(js_failure), host.batch(bodies(1))))
    record("waits", await host.queue(worker(lambda self, b: host.later(1)), host.batch(bodies(1))))


async def deliver_each(record, host, *classes):
    for cls in classes:
        told = await host.queue(cls, host.batch(bodies(1)))
        record(f"{cls.__name__}: told", [told["outcome"], told["error"]])


async def scenario_accepted_signatures(record, env, host):
    class ThreePositional(WorkerEntrypoint):
        async def queue(self, batch, env, ctx):
            record("three", [type(batch).__name__, env, ctx])

    class Defaults(WorkerEntrypoint):
        async def queue(self, batch, env="env", ctx="ctx", extra="extra"):
            record("defaults", [env, ctx, extra])

    class Star(WorkerEntrypoint):
        async def queue(self, batch, *args):
            record("star", args)

    class Sync(WorkerEntrypoint):
        def queue(self, batch, env, ctx):
            record("sync", batch.queue)

    class PositionalOnly(WorkerEntrypoint):
        async def queue(self, batch, /, *rest):
            record("positional only", rest)

    class Inherited(ThreePositional):
        async def queue(self, batch, env, ctx):
            await super().queue(batch, env, ctx)

    await deliver_each(
        record, host, ThreePositional, Defaults, Star, Sync, PositionalOnly, Inherited
    )


async def scenario_refused_signatures(record, env, host):
    class One(WorkerEntrypoint):
        async def queue(self, batch):
            record.note("ran")

    class Two(WorkerEntrypoint):
        async def queue(self, batch, env):
            record.note("ran")

    class None_(WorkerEntrypoint):
        async def queue(self):
            record.note("ran")

    class Keywords(WorkerEntrypoint):
        async def queue(self, batch, **kwargs):
            record.note("ran")

    class Static(WorkerEntrypoint):
        @staticmethod
        async def queue(batch, env, ctx):
            record.note("ran")

    await deliver_each(record, host, One, Two, None_, Keywords, Static)


async def scenario_odd_handlers(record, env, host):
    class Generator(WorkerEntrypoint):
        async def queue(self, batch, env, ctx):
            record.note("ran")
            yield 1

    class Missing(WorkerEntrypoint):
        pass

    class NotCallable(WorkerEntrypoint):
        queue = None

    class ReturnsTuple(WorkerEntrypoint):
        async def queue(self, batch, env, ctx):
            return (1, 2)

    class ReturnsDict(WorkerEntrypoint):
        async def queue(self, batch, env, ctx):
            return {"a": 1}

    await deliver_each(record, host, Generator, Missing, NotCallable, ReturnsTuple, ReturnsDict)


async def scenario_own_init(record, env, host):
    class OwnInit(WorkerEntrypoint):
        def __init__(self, ctx, env):
            super().__init__(ctx, env)
            self.seen = type(env).__name__

        async def queue(self, batch, env, ctx):
            record("own init", [self.seen, type(self.env).__name__])

    class NoSuperInit(WorkerEntrypoint):
        def __init__(self, ctx, env):
            pass

        async def queue(self, batch, env, ctx):
            record("no super().__init__", [hasattr(self, "env"), hasattr(self, "ctx")])

    await deliver_each(record, host, OwnInit, NoSuperInit)


async def scenario_wait_until(record, env, host):
    async def work(fails):
        await host.later(1)
        record.note("worked")
        if fails:
            raise ValueError("in waitUntil")

    for label, action in (
        ("coroutine", lambda self, b: self.ctx.waitUntil(work(False))),
        ("failing coroutine", lambda self, b: self.ctx.waitUntil(work(True))),
        (
            "task",
            lambda self, b: self.ctx.waitUntil(asyncio.ensure_future(work(False))),
        ),
        ("send", lambda self, b: self.ctx.waitUntil(self.env.QUEUE.send("later"))),
        ("number", lambda self, b: self.ctx.waitUntil(5)),
    ):

        def act(self, batch, label=label, action=action):
            record.outcome(label, lambda: action(self, batch))

        record(f"{label}: told", await host.queue(worker(act), host.batch(bodies(1))))


async def scenario_legacy_handler(record, env, host):
    @handler
    async def on_queue(batch, env=None, ctx=None):
        record("batch", batch)
        record("env", type(env))
        record("messages", batch.messages)
        record("body", batch.messages[0].body)
        record.outcome("item", lambda: batch.messages[0].body["a"])
        record.outcome("to_py", lambda: batch.messages[0].body.to_py())
        record.outcome("timestamp", lambda: batch.messages[0].timestamp)
        record.outcome("retry with a dict", lambda: batch.messages[0].retry({"delaySeconds": 5}))
        record.outcome("retry with a keyword", lambda: batch.messages[0].retry(delaySeconds=6))
        record.outcome("retry with a number", lambda: batch.messages[0].retry(6))
        record.outcome("snake case", lambda: batch.messages[0].retry(delay_seconds=7))

    await on_queue(host.batch(bodies({"a": 1})), host.env)
