"""The env wrapper and _BindingWrapper: what is wrapped, cached, indexable, iterable."""

import asyncio
import inspect

import js
import workers
from pyodide.ffi import to_js
from workers.rpc import _BindingWrapper, _EnvWrapper


async def scenario_env(record, env, host):
    for name in ("QUEUE", "SERVICE", "TEXT", "NUMBER", "JSON", "LIST", "NOTHING", "ABSENT"):
        record.outcome(name, lambda n=name: type(getattr(env, n)))
    record("text", env.TEXT)
    record("number", env.NUMBER)
    record("JSON attribute", env.JSON.a)
    record("JSON list", env.JSON.list)
    record("JSON null", env.JSON.nothing)
    record.outcome("JSON item", lambda: env.JSON["a"])
    record("list item", env.LIST[1])
    record("null variable", env.NOTHING)
    record.outcome("item", lambda: env["TEXT"])
    record.outcome("in", lambda: "TEXT" in env)
    record.outcome("iter", lambda: list(env))
    record.outcome("len", lambda: len(env))
    record.outcome("bool", lambda: bool(env))
    record.outcome("getattr default", lambda: getattr(env, "ABSENT", "fallback"))
    record.outcome("hasattr", lambda: [hasattr(env, "TEXT"), hasattr(env, "ABSENT")])
    record.outcome("cached", lambda: env.QUEUE is env.QUEUE)
    record.outcome("set", lambda: setattr(env, "EXTRA", 1))
    record.outcome("read what was set", lambda: env.EXTRA)
    record("idempotent", _EnvWrapper(env) is env)
    record("workers.env", type(workers.env))
    record("a new one every time", workers.env is workers.env)
    record("workers.env variable", workers.env.TEXT)
    record.outcome("workers.absent", lambda: workers.absent)
    record.outcome("to_py of a JSON variable", lambda: env.JSON.to_py())


async def scenario_attributes_of_a_binding(record, env, host):
    queue = env.QUEUE
    record("send", callable(queue.send))
    record("cached", queue.send is queue.send)
    record.outcome("absent", lambda: queue.absent)
    record.outcome("hasattr", lambda: [hasattr(queue, "send"), hasattr(queue, "send_batch")])
    record.outcome("item", lambda: type(queue["send"]))
    record.outcome("index", lambda: queue[0])
    record.outcome("len", lambda: len(queue))
    record.outcome("iter", lambda: list(queue))
    record.outcome("bool", lambda: bool(queue))
    record.outcome("call", lambda: queue())
    record.outcome("constructor", lambda: queue.constructor)
    record("repr", queue)
    record("idempotent", _BindingWrapper(queue) is queue)
    record.outcome("await", lambda: queue.__await__)


async def scenario_cursor(record, env, host):
    cursor = _BindingWrapper(host.make("cursor"))
    record("rows read", cursor.rowsRead)
    record("column names", cursor.columnNames)
    record("same list", cursor.columnNames is cursor.columnNames)
    record.outcome("next()", cursor.next)
    record("rows read is cached", cursor.rowsRead)
    record("but not as an item", cursor["rowsRead"])
    record.outcome("the rest", lambda: list(cursor))
    record.outcome("next at the end", cursor.next)
    record.outcome("python next", lambda: next(cursor))
    record.outcome("len", lambda: len(cursor))
    record.outcome("bool", lambda: bool(cursor))
    rows = _BindingWrapper(host.make("cursor")).toArray()
    record("toArray", rows)
    record("row", [rows[0].id, rows[0]["name"], rows[1].name])
    record.outcome("await it", lambda: inspect.isawaitable(cursor))


async def scenario_wrapped_containers(record, env, host):
    array = _BindingWrapper(host.make("array"))
    record.outcome("len", lambda: len(array))
    record.outcome("index", lambda: array[4])
    record.outcome("null item", lambda: array[2])
    record.outcome("past the end", lambda: array[9])
    record.outcome("iterate", lambda: list(array))
    record.outcome("length", lambda: array.length)
    mapping = _BindingWrapper(host.make("map"))
    record.outcome("map iterate", lambda: list(mapping))
    record.outcome("map get", lambda: mapping.get("a"))
    record.outcome("map item", lambda: mapping["size"])
    record.outcome("map absent item", lambda: mapping["absent"])
    thing = _BindingWrapper(host.make("object"))
    record.outcome("nested", lambda: thing.nested)
    record.outcome("null", lambda: thing.nothing)
    record.outcome("set attribute", lambda: setattr(thing, "a", 9))
    record.outcome("read it", lambda: thing.a)
    record.outcome("the object keeps its own", lambda: thing._binding.a)
    headers = _BindingWrapper(js.Headers.new(to_js([["a", "b"]])))
    record.outcome("headers get", lambda: headers.get("a"))


async def scenario_calls_through_a_binding(record, env, host):
    service = env.SERVICE
    record("type", type(service))
    await record.settled("add", lambda: service.add(1, 2))
    for label, args, kwargs in (
        ("none", (), {}),
        ("one", (1,), {}),
        ("a dict", ({"a": None},), {}),
        ("keywords", (1,), {"b": 2, "c": None}),
        ("only keywords", (), {"b": [1]}),
        ("None", (None,), {}),
        ("bytes", (b"ab",), {}),
        ("a set", ({1},), {}),
        ("a function", (len,), {}),
        ("a binding", (env.QUEUE,), {}),
        ("a tuple", ((1,),), {}),
    ):
        await record.settled(f"echo {label}", lambda a=args, k=kwargs: service.echo(*a, **k))
    result = service.add(1, 2)
    record("the result is a coroutine", inspect.iscoroutine(result))
    await record.settled("awaited once", result)
    await record.settled("awaited twice", result)
    await record.settled("absent method", lambda: service.absent())
    await record.settled("gather", lambda: asyncio.gather(service.add(1, 2), service.add(3, 4)))
    await record.settled("task", lambda: asyncio.create_task(service.add(5, 6)))
    await record.settled("timeout", lambda: asyncio.wait_for(service.add(7, 8), 1))


async def scenario_fetch_through_a_binding(record, env, host):
    response = await env.SERVICE.fetch("https://service.example/path")
    record("response", response)
    record("status", response.status)
    record("header", response.headers["x-service"])
    record("text", await response.text())
    await record.settled(
        "post", lambda: env.SERVICE.fetch("https://service.example/", method="POST", body="data")
    )
    await record.settled(
        "with a Request",
        lambda: env.SERVICE.fetch(
            workers.Request("https://service.example/r", method="PUT", body="b")
        ),
    )
    await record.settled("bad address", lambda: env.SERVICE.fetch("/relative"))
