"""Promises as awaitables: await, then, catch, finally_, timeouts, coroutines as promises."""

import asyncio
import inspect

import js
from pyodide.ffi import create_proxy, to_js

# Some promises never settle: give them up soon.
DEADLINE_S = 0.25


async def scenario_awaiting(record, env, host):
    await record.settled("resolve a number", js.Promise.resolve(1))
    await record.settled("resolve None", js.Promise.resolve(None))
    await record.settled("resolve an object", lambda: host.make("promise"))
    await record.settled("thenable", lambda: host.make("thenable"))
    await record.settled("later", lambda: host.later("late"))
    await record.settled("resolve a promise", lambda: js.Promise.resolve(js.Promise.resolve(2)))
    await record.settled("reject", lambda: host.rejectWith("error"))
    await record.settled("awaiting a number", lambda: host.echo(1))
    promise = host.later("twice")
    await record.settled("first await", promise)
    await record.settled("second await", promise)


async def scenario_what_a_promise_is(record, env, host):
    returned = host.later(1)
    record("from a call", type(returned))
    record("mro", [c.__qualname__ for c in type(returned).__mro__])
    record("awaitable", inspect.isawaitable(returned))
    record("coroutine", asyncio.iscoroutine(returned))
    record("future", asyncio.isfuture(returned))
    record("has then", hasattr(returned, "then"))
    record("done", returned.done())
    record("sent back to JavaScript", host.describe(returned))
    await returned
    record("done after", returned.done())
    record.outcome("result", returned.result)
    constructed = js.Promise.new(create_proxy(lambda resolve, reject: resolve(5)))
    record("from new", type(constructed))
    record("from new has then", hasattr(constructed, "then"))
    await record.settled("await it", constructed)
    holder = host.make("holderOfPromise")
    record("from an attribute", type(holder.promise))
    record("from an attribute has then", hasattr(holder.promise, "then"))
    await record.settled("await the attribute", lambda: holder.promise)
    array = host.make("arrayOfPromises")
    record("from an index", type(array[0]))
    await record.settled("await the index", lambda: array[0])
    record("to_py of it", type(array.to_py()[0]))


async def scenario_then_catch_finally(record, env, host):
    await record.settled("then", lambda: js.Promise.resolve(1).then(lambda x: x + 1))
    await record.settled(
        "then with two handlers",
        lambda: host.rejectWith("error").then(lambda x: "resolved", lambda e: f"rejected {e}"),
    )
    await record.settled(
        "then returning a coroutine",
        lambda: js.Promise.resolve(1).then(lambda x: host.later(x + 10)),
    )
    await record.settled("catch", lambda: host.rejectWith("error").catch(lambda e: str(e)))
    await record.settled(
        "catch gets", lambda: host.rejectWith("typeError").catch(lambda e: type(e))
    )
    seen = []
    await record.settled(
        "finally_", lambda: js.Promise.resolve(1).finally_(lambda: seen.append("finally"))
    )
    await record.settled(
        "finally_ after reject",
        lambda: host.rejectWith("error").finally_(lambda: seen.append("finally")),
    )
    record("finally ran", seen)
    record("then returns", type(js.Promise.resolve(1).then(lambda x: x)))

    async def double(x):
        await asyncio.sleep(0)
        return x * 2

    await record.settled("then with an async function", lambda: js.Promise.resolve(4).then(double))


async def scenario_combinators(record, env, host):
    def pair():
        return host.make("arrayOfPromises")

    await record.settled("Promise.all", lambda: js.Promise.all(pair()))
    await record.settled(
        "Promise.all of a Python list", lambda: js.Promise.all([js.Promise.resolve(1)])
    )
    await record.settled(
        "Promise.all of to_js", lambda: js.Promise.all(to_js([js.Promise.resolve(1), 2]))
    )
    await record.settled("Promise.race", lambda: js.Promise.race(pair()))
    await record.settled("Promise.any", lambda: js.Promise.any(pair()))
    settled = await js.Promise.allSettled(pair())
    record("Promise.allSettled", settled.to_py())
    await record.settled("gather", lambda: asyncio.gather(host.later(1), host.later(2)))
    await record.settled(
        "gather with exceptions",
        lambda: asyncio.gather(host.later(1), host.rejectWith("error"), return_exceptions=True),
    )
    await record.settled("wait_for", lambda: asyncio.wait_for(host.later("in time"), 1))
    await record.settled("wait_for too late", lambda: asyncio.wait_for(host.never(), 0.01))
    await record.settled(
        "create_task needs a coroutine", lambda: asyncio.create_task(host.later(1))
    )
    await record.settled("ensure_future", lambda: asyncio.ensure_future(host.later(1)))
    await record.settled("shield", lambda: asyncio.shield(host.later(1)))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(asyncio.sleep(0, "task"))
    record("task group", task.result())


async def scenario_python_awaitables_as_promises(record, env, host):
    async def answer():
        return {"a": 1}

    coroutine = answer()
    record("a coroutine in JavaScript", host.describe(coroutine))
    await record.settled("and it can still be awaited", coroutine)
    await record.settled("Promise.resolve of a coroutine", lambda: js.Promise.resolve(answer()))
    await record.settled("an async callback", lambda: host.call(answer))
    task = asyncio.create_task(answer())
    await record.settled("Promise.resolve of a task", lambda: js.Promise.resolve(task))
    record("the task is done", task.done())

    async def nested():
        return await host.later("nested")

    await record.settled("nested", lambda: host.call(nested))


async def scenario_executor(record, env, host):
    resolvers = js.Promise.withResolvers() if hasattr(js.Promise, "withResolvers") else None
    record("withResolvers", resolvers is not None)
    held = []

    def executor(resolve, reject):
        held.append((resolve, reject))

    promise = js.Promise.new(executor)
    resolve, _ = held[0]
    record("resolve is", type(resolve))
    resolve({"a": 1})
    await record.settled("resolved with a dict", promise)
    rejected = js.Promise.new(lambda resolve, reject: reject(ValueError("rejected")))
    await record.settled("rejected with a Python exception", rejected)
    rejected = js.Promise.new(lambda resolve, reject: reject("a text"))
    await record.settled("rejected with a text", rejected)


async def scenario_cancellation(record, env, host):
    future = host.later("value", 30)
    future.cancel()
    await record.settled("cancelled", future)
    task = asyncio.create_task(asyncio.sleep(1))
    await asyncio.sleep(0)
    task.cancel()
    await record.settled("cancelled task", task)

    async def waits():
        try:
            await host.never()
        except asyncio.CancelledError:
            record.note("the coroutine saw CancelledError")
            raise

    waiting = asyncio.create_task(waits())
    await asyncio.sleep(0)
    waiting.cancel()
    await record.settled("cancelled while waiting for JavaScript", waiting)
