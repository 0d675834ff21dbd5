"""`ctx.storage` of a Durable Object: records, the synchronous interface, transactions."""

import datetime

import js
from pyodide.ffi import create_proxy, to_js
from workers import DurableObject

from scenarios.to_js import VALUES as EVERY_VALUE

# 64-bit arrays damage the memory of Pyodide 0.26; what they are is asked in to_js.
VALUES = {label: value for label, value in EVERY_VALUE.items() if label != "array q"}


class Box(DurableObject):
    """Runs what a scenario hands over, with itself as the argument, and keeps the outcome."""

    async def run(self, name):
        await WORK[name](self)

    async def alarm(self):
        pass


WORK = {}


async def inside(record, env, host, work):
    """Record what `work(box, storage)` says from inside an object of its own."""

    async def run(box):
        await work(record, box, box.ctx.storage)

    name = work.__name__
    WORK[name] = run
    host.bind_objects(BOX=Box)
    await env.BOX.getByName(name).run(name)
    for row in host.records("BOX", name):
        key, _, value = row.partition(" = ")
        record(f"record {key}", value)


async def scenario_values(record, env, host):
    async def values(record, box, storage):
        for label, value in VALUES.items():
            await record.settled(f"put {label}", lambda v=value, k=label: storage.put(k, v))
            await record.settled(f"get {label}", lambda k=label: storage.get(k))

    await inside(record, env, host, values)


async def scenario_synchronous_values(record, env, host):
    async def synchronous(record, box, storage):
        kv = storage.kv
        for label, value in VALUES.items():
            record.outcome(f"put {label}", lambda v=value, k=label: kv.put(k, v))
            record.outcome(f"get {label}", lambda k=label: kv.get(k))

    await inside(record, env, host, synchronous)


async def scenario_keys_and_options(record, env, host):
    async def keys(record, box, storage):
        await record.settled("put pairs", storage.put({"b": 2, "a": [1, None], "c": None}))
        await record.settled("put with options", storage.put("d", 4, allowUnconfirmed=True))
        await record.settled("put with an options dict", storage.put("e", 5, {"noCache": True}))
        await record.settled("put a number key", storage.put(5, "five"))
        await record.settled("put a None key", storage.put(None, "none"))
        await record.settled("put a float key", storage.put(1.0, "one"))
        await record.settled("put an empty key", storage.put("", 0))
        await record.settled("put without a value", lambda: storage.put("k"))
        await record.settled("put nothing", lambda: storage.put())
        await record.settled("put an empty dict", storage.put({}))
        await record.settled("missing", storage.get("missing"))
        await record.settled("get nothing", lambda: storage.get())
        await record.settled("several", storage.get(["b", "missing", "a"]))
        await record.settled("a tuple of keys", lambda: storage.get(("b", "a")))
        await record.settled("a set of keys", lambda: storage.get({"b"}))
        await record.settled("no keys", storage.get([]))
        await record.settled("list", storage.list())
        await record.settled("prefix", storage.list(prefix="a"))
        await record.settled("range", storage.list(start="b", end="d"))
        await record.settled("after", storage.list(startAfter="b"))
        await record.settled("snake case", storage.list(start_after="b", limit=1))
        await record.settled("backwards", storage.list(reverse=True, limit=2))
        await record.settled("options dict", storage.list({"prefix": "b"}))
        await record.settled("start None", storage.list(start=None))
        await record.settled("limit 0", lambda: storage.list(limit=0))
        await record.settled("limit text", lambda: storage.list(limit="1"))
        await record.settled("both starts", lambda: storage.list(start="a", startAfter="b"))
        await record.settled("a text as options", lambda: storage.list("b"))
        await record.settled("delete", storage.delete("a"))
        await record.settled("delete again", storage.delete("a"))
        await record.settled("delete several", storage.delete(["b", "c", "zz"]))
        await record.settled("the rest", storage.list())
        await record.settled("delete all", storage.deleteAll())
        await record.settled("nothing left", storage.list())

    await inside(record, env, host, keys)


async def scenario_wrappers(record, env, host):
    async def wrappers(record, box, storage):
        record("ctx", box.ctx)
        record("env", type(box.env))
        record("storage", type(storage))
        record("sql", type(storage.sql))
        record("kv", type(storage.kv))
        record("kv is kept", storage.kv is storage.kv)
        record("storage is kept", box.ctx.storage is storage)
        record.outcome("real name", lambda: storage._real_name)
        record.outcome("unknown attribute", lambda: storage.unknown)
        record.outcome("length", lambda: len(storage))
        record.outcome("item", lambda: type(storage["kv"]))
        record.outcome("iterate", lambda: list(storage))
        record("raw id", type(box.ctx.id).__name__)
        record("id name", box.ctx.id.name)
        record("id is its text", str(box.ctx.id) == box.ctx.id.toString())
        record("id length", len(str(box.ctx.id)))
        record.outcome("props", lambda: host.describe(box.ctx.props))
        record.outcome("nothing of ctx", lambda: box.ctx.nothing)

    await inside(record, env, host, wrappers)


async def scenario_synchronous_calls(record, env, host):
    async def calls(record, box, storage):
        kv = storage.kv
        record("put", kv.put("a", {"x": [1]}))
        record("put None", kv.put("n", None))
        record("get", kv.get("a"))
        record("get None", kv.get("n"))
        record("missing", kv.get("missing"))
        record.outcome("put without a value", lambda: kv.put("k"))
        record.outcome("get nothing", lambda: kv.get())
        listed = kv.list()
        record("type of list", type(listed))
        record.outcome("real name of list", lambda: listed._real_name)
        record("pairs", list(listed))
        record("pairs again", list(listed))
        record("prefix", list(kv.list(prefix="n")))
        record("backwards", list(kv.list(reverse=True, limit=1)))
        record("next", kv.list().next())
        record.outcome("python next", lambda: next(kv.list()))
        record("delete", kv.delete("a"))
        record("delete again", kv.delete("a"))

    await inside(record, env, host, calls)


async def scenario_raw_storage(record, env, host):
    """The binding beneath the wrapper, as code for older SDKs uses it."""

    async def raw(record, box, storage):
        raw = box.ctx._ctx.storage
        record("type", type(raw).__name__)
        await record.settled("put", raw.put("a", 1))
        await record.settled("put a dict", lambda: raw.put("b", {"x": 1}))
        await record.settled("put to_js", raw.put("c", to_js({"x": 1})))
        await record.settled("put None", lambda: raw.put("d", None))
        await record.settled("get", raw.get("a"))
        await record.settled("get missing", raw.get("zz"))
        got = raw.get("c")
        record("type of a promise", type(got).__name__)
        try:
            record("get to_js", host.describe(await got))
        except Exception as error:
            record("get to_js", repr(error))
        record("list", host.describe(await raw.list()))
        record("sync", host.describe(raw.kv.get("a")))
        record("sync missing", host.describe(raw.kv.get("zz")))

    await inside(record, env, host, raw)


async def scenario_transactions(record, env, host):
    async def transactions(record, box, storage):
        async def works(txn):
            record("transaction", type(txn).__name__)
            await record.settled("txn.put", txn.put("n", 1))
            await record.settled("txn.put text", txn.put("t", "text"))
            await record.settled("txn.put to_js", txn.put("j", to_js({"a": 1})))
            for label, value in {
                "dict": {"a": 1}, "list": [1], "bytes": b"x", "None": None,
                "datetime": datetime.datetime(2020, 1, 2), "tuple": (1,), "object": object(),
            }.items():  # fmt: skip
                await record.settled(f"txn.put {label}", lambda v=value: txn.put("x", v))
            await record.settled("txn.put with options", txn.put("o", 1, allowUnconfirmed=True))
            await record.settled("txn.get", txn.get("n"))
            await record.settled("txn.get missing", txn.get("zz"))
            record("txn.get object", host.describe(await txn.get("j")))
            record("txn.list", host.describe(await txn.list()))
            record("txn.list prefix", host.describe(await txn.list(prefix="n")))
            await record.settled("txn.delete", txn.delete("n"))
            await record.settled("txn.getAlarm", txn.getAlarm())
            return {"a": (1, "x")}

        record("result", await storage.transaction(works))
        await record.settled("list after it", storage.list())

        async def fails(txn):
            await txn.put("lost", 1)
            await storage.put("lost too", 1)
            raise KeyError("txkey")

        await record.settled("that fails", storage.transaction(fails))
        await record.settled("nothing kept", storage.get(["lost", "lost too"]))

        async def rolls_back(txn):
            await txn.put("lost", 1)
            txn.rollback()
            await record.settled("put after rollback", lambda: txn.put("lost", 2))

        await record.settled("that rolls back", storage.transaction(rolls_back))
        await record.settled("nothing kept again", storage.get("lost"))
        await record.settled("a sync callback", storage.transaction(lambda txn: 5))
        await record.settled("no argument", storage.transaction(lambda: 5))
        await record.settled("no function", lambda: storage.transaction(5))
        await record.settled("a coroutine", lambda: storage.transaction(works(None)))
        await record.settled("raises from JavaScript", storage.transaction(throwing))

    async def throwing(txn):
        js.JSON.parse("{")

    await inside(record, env, host, transactions)


async def scenario_transaction_sync(record, env, host):
    async def synchronous(record, box, storage):
        kv = storage.kv

        def works():
            kv.put("a", 1)
            return (1, {"x": None})

        def fails():
            kv.put("a", 2)
            raise KeyError("x")

        async def waits():
            kv.put("b", 1)
            raise KeyError("late")

        class Stop(BaseException):
            pass

        def stops():
            kv.put("a", 3)
            raise Stop("now")

        record.outcome("result", lambda: storage.transactionSync(works))
        record.outcome(
            "nested", lambda: storage.transactionSync(lambda: storage.transactionSync(works))
        )
        record.outcome("that fails", lambda: storage.transactionSync(fails))
        record.outcome("a BaseException", lambda: storage.transactionSync(stops))
        record("kept", kv.get("a"))
        record.outcome(
            "JavaScript's error", lambda: storage.transactionSync(lambda: js.JSON.parse("{"))
        )
        record.outcome(
            "an SQL error", lambda: storage.transactionSync(lambda: storage.sql.exec("SELEC"))
        )
        record.outcome("an argument", lambda: storage.transactionSync(lambda x: x))
        record.outcome("no function", lambda: storage.transactionSync(5))
        await record.settled("an async function", lambda: storage.transactionSync(waits))
        record("kept of it", kv.get("b"))

    await inside(record, env, host, synchronous)


async def scenario_blocking(record, env, host):
    async def blocking(record, box, storage):
        async def dictionary():
            await storage.put("k", 1)
            return {"a": (1, None)}

        block = box.ctx.blockConcurrencyWhile
        await record.settled("a dict", block(dictionary))
        await record.settled("a sync function", block(lambda: 5))
        coroutine = dictionary()
        record.outcome("a coroutine", lambda: block(coroutine))
        coroutine.close()
        record.outcome("a number", lambda: block(5))
        record.outcome("nothing", lambda: block())
        await record.settled("a proxy", block(create_proxy(dictionary)))

    await inside(record, env, host, blocking)
