"""env.QUEUE: send, sendBatch, metrics; what reaches the queue and what is refused."""

import asyncio
import datetime
import inspect

import js
from pyodide.ffi import to_js
from workers import Request, Response

from scenarios.to_js import VALUES


async def scenario_send_json(record, env, host):
    for label, value in VALUES.items():
        await record.settled(label, lambda v=value: env.QUEUE.send(v))
    for label, make in {
        "Request": lambda: Request("https://example.com/"),
        "Response": lambda: Response("x"),
        "env": lambda: env,
        "the queue": lambda: env.QUEUE,
        "js.Date": lambda: js.Date.new(0),
        "js.Map": lambda: js.Map.new(to_js([["a", 1]])),
        "to_js dict": lambda: to_js({"a": {"b": None}}),
        "to_js dict as object": lambda: to_js({"a": 1}, dict_converter=js.Object.fromEntries),
        "js.undefined": lambda: js.undefined,
        "symbol": lambda: host.make("symbol"),
    }.items():
        await record.settled(label, lambda m=make: env.QUEUE.send(m()))


async def scenario_send_nested(record, env, host):
    for label in (
        "None",
        "nan",
        "2**53",
        "bytes",
        "set",
        "tuple",
        "date",
        "naive datetime",
        "Decimal",
        "frozenset",
        "range",
        "deque",
        "function",
        "class",
        "exception",
        "dataclass",
        "1.0",
        "-0.0",
        "lone surrogate",
    ):
        await record.settled(
            f"in a dict: {label}", lambda v=VALUES[label]: env.QUEUE.send({"k": v})
        )
        await record.settled(f"in a list: {label}", lambda v=VALUES[label]: env.QUEUE.send([v]))


async def scenario_send_v8(record, env, host):
    for label, value in VALUES.items():
        await record.settled(label, lambda v=value: env.QUEUE.send(v, contentType="v8"))


async def scenario_send_text_and_bytes(record, env, host):
    for label in (
        "str",
        "empty str",
        "emoji",
        "None",
        "int",
        "True",
        "bytes",
        "dict",
        "list",
        "StrEnum",
        "2**64",
        "function",
    ):
        await record.settled(
            f"text: {label}", lambda v=VALUES[label]: env.QUEUE.send(v, contentType="text")
        )
    for label in (
        "bytes",
        "empty bytes",
        "memoryview",
        "sliced memoryview",
        "array h",
        "array d",
        "bytearray",
        "str",
        "None",
        "list",
    ):
        value = VALUES.get(label, VALUES["memoryview of words"])
        await record.settled(
            f"bytes: {label}", lambda v=value: env.QUEUE.send(v, contentType="bytes")
        )
    await record.settled(
        "bytes: ArrayBuffer", lambda: env.QUEUE.send(host.make("buffer"), contentType="bytes")
    )
    await record.settled(
        "bytes: DataView", lambda: env.QUEUE.send(host.make("dataView"), contentType="bytes")
    )


async def scenario_send_options(record, env, host):
    queue = env.QUEUE
    await record.settled("nothing", lambda: queue.send())
    for label, args, kwargs in (
        ("keywords", (), {"contentType": "text", "delaySeconds": 5}),
        ("a dict", ({"contentType": "text", "delaySeconds": 5},), {}),
        ("to_js", (to_js({"delaySeconds": 5}, dict_converter=js.Object.fromEntries),), {}),
        ("None", (None,), {}),
        ("a number", (600,), {}),
        ("a string", ("text",), {}),
        ("a list", ([1],), {}),
        ("a dict and keywords", ({"delaySeconds": 5},), {"contentType": "text"}),
        ("snake case", (), {"content_type": "text", "delay_seconds": 5}),
        ("unknown keyword", (), {"priority": 1}),
        ("unknown content type", (), {"contentType": "xml"}),
        ("numeric content type", (), {"contentType": 5}),
        ("contentType None", (), {"contentType": None}),
        ("contentType upper case", (), {"contentType": "JSON"}),
        ("contentType bool", (), {"contentType": True}),
    ):
        await record.settled(label, lambda a=args, k=kwargs: queue.send("body", *a, **k))
    for value in (
        0,
        1,
        1.9,
        -1,
        "1",
        "abc",
        "",
        None,
        True,
        [1],
        [1, 2],
        float("nan"),
        float("inf"),
        2**31 - 1,
        2**31,
        2**40,
        2**60,
        datetime.timedelta(seconds=5),
        {"a": 1},
    ):
        await record.settled(
            f"delaySeconds={value!r}", lambda v=value: queue.send("body", delaySeconds=v)
        )
    await record.settled("body as a keyword", lambda: queue.send(body={"a": 1}))
    await record.settled("message as a keyword", lambda: queue.send(message="x"))
    await record.settled("send_batch", lambda: queue.send_batch([]))
    result = queue.send("x")
    record("send returns", inspect.iscoroutine(result))
    answer = await result
    record("answer", answer)
    record("metrics", answer.metadata.metrics.backlogCount)
    await record.settled("metrics()", queue.metrics)
    await record.settled("gather", lambda: asyncio.gather(queue.send(1), queue.send(2)))


async def scenario_send_batch(record, env, host):
    queue = env.QUEUE
    await record.settled("nothing", lambda: queue.sendBatch())
    for label, messages in {
        "one": [{"body": 1}],
        "several": [
            {"body": {"a": None}},
            {"body": "t", "contentType": "text"},
            {"body": b"x", "contentType": "bytes", "delaySeconds": 3},
            {"body": datetime.datetime(2020, 1, 1), "contentType": "v8"},
        ],
        "empty": [],
        "tuple": ({"body": 1},),
        "dict": {"body": 1},
        "str": "ab",
        "None": None,
        "int": 5,
        "set": {1},
        "no body": [{"a": 1}],
        "body None": [{"body": None}],
        "number items": [1],
        "str items": ["a"],
        "None items": [None],
        "list items": [[1]],
        "tuple body": [{"body": (1,)}],
        "big body": [{"body": 2**60}],
        "one bad element": [{"body": 1}, {"body": 2**60}],
        "function body": [{"body": len}],
        "unknown content type": [{"body": 1, "contentType": "xml"}],
        "upper case content type": [{"body": 1, "contentType": "JSON"}],
        "bad delay": [{"body": 1, "delaySeconds": 2**40}],
        "nested options": [{"body": 1, "options": {"delaySeconds": 5}}],
        "snake case": [{"body": 1, "content_type": "text"}],
        "v8 clone failure": [{"body": object(), "contentType": "v8"}],
    }.items():
        await record.settled(label, lambda m=messages: queue.sendBatch(m))
    await record.settled("generator", lambda: queue.sendBatch({"body": i} for i in range(2)))
    await record.settled("generator of nothing", lambda: queue.sendBatch(x for x in ()))
    await record.settled("map", lambda: queue.sendBatch(map(lambda i: {"body": i}, [1])))  # noqa: C417
    await record.settled(
        "to_js", lambda: queue.sendBatch(to_js([{"body": 1}], dict_converter=js.Object.fromEntries))
    )
    await record.settled("delay for all", lambda: queue.sendBatch([{"body": 1}], delaySeconds=9))
    await record.settled(
        "options dict", lambda: queue.sendBatch([{"body": 1}], {"delaySeconds": 9})
    )
    await record.settled("options number", lambda: queue.sendBatch([{"body": 1}], 9))
    await record.settled("messages as a keyword", lambda: queue.sendBatch(messages=[{"body": 1}]))
    record("answer", await queue.sendBatch([{"body": 1}]))


async def scenario_raw_queue(record, env, host):
    queue = host.make("queue")
    record("raw", queue)
    for label in (
        "None",
        "int",
        "str",
        "dict",
        "list",
        "tuple",
        "bytes",
        "naive datetime",
        "object",
    ):
        await record.settled(label, lambda v=VALUES[label]: queue.send(v))
        await record.settled(
            f"{label} as v8", lambda v=VALUES[label]: queue.send(v, contentType="v8")
        )
    await record.settled("to_js dict", lambda: queue.send(to_js({"a": 1})))
    await record.settled("batch of dicts", lambda: queue.sendBatch([{"body": 1}]))
    await record.settled(
        "batch by to_js",
        lambda: queue.sendBatch(to_js([{"body": {"a": 1}}], dict_converter=js.Object.fromEntries)),
    )
    record("the answer is", type(await queue.send("x")))
