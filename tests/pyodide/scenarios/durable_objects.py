"""Calling Durable Objects: namespaces, ids, stubs, arguments and results, exceptions, lives."""

import js
from pyodide.ffi import create_proxy, to_js
from workers import DurableObject, Response

from scenarios._callee import FAILURES, GIVEN, Callee
from scenarios.storage import VALUES
from scenarios.to_js import Point


class Broken(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        raise ValueError("constructor")

    async def echo(self, value):
        return value


class Prepared(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.ready = False
        ctx.blockConcurrencyWhile(self.prepare)

    async def prepare(self):
        await self.ctx.storage.put("prepared", 1)
        self.ready = True

    async def is_ready(self):
        return self.ready


class Bare(DurableObject):
    def __init__(self, ctx, env):
        self.kept = (type(ctx).__name__, type(env).__name__)

    async def attributes(self):
        return [list(self.kept), hasattr(self, "env"), hasattr(self, "ctx")]


class Derived(Callee):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.extra = type(self.env).__name__

    async def attributes(self):
        return [self.extra, type(self.ctx).__name__]


async def scenario_namespaces_and_ids(record, env, host):
    host.bind_objects(THING=Callee, OTHER=Bare)
    ns = env.THING
    record("namespace", ns)
    named = ns.idFromName("a")
    record("type of an id", type(named))
    record("constructor of an id", named.constructor.name)
    record("name", named.name)
    record("length", len(named.toString()))
    record("str", str(named) == named.toString())
    record.outcome("equal", lambda: named.equals(ns.idFromName("a")))
    record.outcome("not equal", lambda: named.equals(ns.idFromName("b")))
    record.outcome("python equality", lambda: named == ns.idFromName("a"))
    record.outcome("equals a text", lambda: named.equals("a"))
    record.outcome("equals nothing", lambda: named.equals())
    record.outcome("from string", lambda: ns.idFromString(str(named)).equals(named))
    record.outcome("from string has a name", lambda: ns.idFromString(str(named)).name)
    record.outcome("unique", lambda: ns.newUniqueId().name)
    record.outcome("unique of a jurisdiction", lambda: ns.newUniqueId(jurisdiction="eu"))
    record.outcome("by a number", lambda: ns.idFromName(5).name)
    record.outcome("by None", lambda: ns.idFromName(None).name)
    record.outcome("by nothing", lambda: ns.idFromName())
    record.outcome("by a bad text", lambda: ns.idFromString("abc"))
    record.outcome(
        "by another namespace's", lambda: ns.idFromString(str(env.OTHER.idFromName("a")))
    )
    record.outcome("by a number as text", lambda: ns.idFromString(5))
    record.outcome("jurisdiction", lambda: ns.jurisdiction("eu"))
    record.outcome("no jurisdiction", lambda: type(ns.jurisdiction()))
    record.outcome("get", lambda: type(ns.get(named)))
    record.outcome("get with a hint", lambda: type(ns.get(named, locationHint="weur")))
    record.outcome("get with options", lambda: type(ns.get(named, to_js({"locationHint": "weur"}))))
    record.outcome("get by a text", lambda: ns.get("a"))
    record.outcome("get nothing", lambda: ns.get())
    record.outcome("get with a text as options", lambda: ns.get(named, "weur"))
    record.outcome("by name", lambda: type(ns.getByName("a")))
    record.outcome("by no name", lambda: ns.getByName())
    record.outcome("snake case", lambda: ns.get_by_name("a"))
    record.outcome("unknown", lambda: ns.nothing)
    await record.settled("await a stub", lambda: ns.getByName("a"))


async def scenario_stubs(record, env, host):
    host.bind_objects(THING=Callee)
    stub = env.THING.getByName("a")
    record("type", type(stub))
    record("real name", stub._real_name)
    record("id", type(stub.id))
    record.outcome("text of the id", lambda: len(stub.id.toString()))
    record.outcome("name of the id", lambda: stub.id.name)
    record("name", stub.name)
    record("bool", bool(stub))
    record.outcome("length", lambda: len(stub))
    record.outcome("any name", lambda: callable(stub.anything_at_all))
    record.outcome("private name", lambda: callable(stub._private))
    record.outcome("very private name", lambda: callable(getattr(stub, "__private")))
    record.outcome("dunder name", lambda: callable(stub.__private__))
    record("has", hasattr(stub, "whatever"))
    record.outcome("item", lambda: callable(stub["echo"]))
    raw = stub._binding
    record("raw", type(raw).__name__)
    record("raw constructor", raw.constructor.name)
    record.outcome("raw method", lambda: type(raw.echo).__name__)
    record.outcome("raw method's constructor", lambda: raw.echo.constructor.name)
    record.outcome("typeof", lambda: raw.typeof)
    record.outcome("raw then", lambda: raw.then)
    record.outcome("raw has then", lambda: hasattr(raw, "then"))
    record.outcome("raw fetch", lambda: type(raw.fetch).__name__)
    call = raw.sync()
    record("raw call", type(call).__name__)
    await record.settled("raw result", call)
    raw_dict = raw.echo({"a": 1})
    await record.settled("raw dict argument", raw_dict)
    await record.settled("raw to_js argument", raw.echo(to_js([1, 2])))
    await record.settled("raw keyword", lambda: raw.arguments(1, b=2))


async def scenario_arguments(record, env, host):
    host.bind_objects(THING=Callee)
    stub = env.THING.getByName("a")
    for label, value in VALUES.items():
        await record.settled(f"argument {label}", lambda v=value: stub.shown(v))
        await record.settled(f"inside {label}", lambda v=value: stub.shown({"k": [v]}))
    await record.settled("none", stub.shown())
    await record.settled("several", stub.shown(1, None, "a"))
    await record.settled("keyword", stub.arguments(1, b=2))
    await record.settled("only keywords", stub.arguments(a=1, b=2))
    await record.settled("keyword-only", stub.keyword_only(k=2))
    await record.settled("too many", stub.arguments(1, 2, 3))
    await record.settled("too few", stub.arguments())
    await record.settled("class", lambda: stub.shown(Point))
    await record.settled("to_js", stub.shown(to_js({"a": 1})))
    await record.settled("binding", lambda: stub.shown(env.QUEUE))
    await record.settled("env", lambda: stub.shown(env))
    await record.settled("id", lambda: stub.shown(env.THING.idFromName("a")))
    await record.settled("namespace", lambda: stub.shown(env.THING))
    await record.settled("js.Headers", lambda: stub.shown(js.Headers.new()))
    await record.settled("js.URL", lambda: stub.shown(js.URL.new("https://example.com/")))
    await record.settled("Response", lambda: stub.describe_stub(Response("a")))
    await record.settled("exception", lambda: stub.shown(ValueError("m")))
    await record.settled("js error", lambda: stub.shown(js.RangeError.new("m")))
    await record.settled("symbol", lambda: stub.shown(host.make("symbol")))
    await record.settled("promise", lambda: stub.shown(host.make("promise")))


async def scenario_results(record, env, host):
    host.bind_objects(THING=Callee)
    stub = env.THING.getByName("a")
    for label in GIVEN:
        await record.settled(f"result {label}", stub.give(label))
    for call in ("sync", "_private", "static", "of_class"):
        await record.settled(call, getattr(stub, call)())
    for name in ("attribute", "prop", "nope", "env", "ctx", "seen", "alarm", "dup",
                 "webSocketMessage", "__init__", "queue", "scheduled"):  # fmt: skip
        await record.settled(f"not a method: {name}", lambda n=name: getattr(stub, n)())


async def scenario_functions_and_stubs(record, env, host):
    host.bind_objects(THING=Callee)
    stub = env.THING.getByName("a")

    async def twice(value):
        return {"twice": value * 2}

    def fails(value):
        raise KeyError("back")

    async def fails_later(value):
        raise KeyError("later")

    await record.settled("lambda", stub.call_back(lambda value: value + 1, 1))
    await record.settled("coroutine function", stub.call_back(twice, 2))
    await record.settled("rpc result of one", stub.call_back(lambda v: to_js([v]), 3))
    await record.settled("raw", stub.call_back_raw(lambda v: to_js([v]), 3))
    await record.settled("dict argument", stub.call_back(lambda v: type(v).__name__, {"a": 1}))
    await record.settled("that fails", stub.call_back(fails, 1))
    await record.settled("that fails later", stub.call_back(fails_later, 1))
    await record.settled("proxy", stub.call_back(create_proxy(lambda v: v), 5))
    await record.settled("method", stub.call_back("text".replace, "t", "T"))
    await record.settled("javascript's", stub.call_back(host.make("function"), 5))
    add = await stub.adder(1)
    record("function", type(add))
    record("function has a length", hasattr(add, "length"))
    await record.settled("call", add(2))
    await record.settled("call again", add(3))
    await record.settled("call with text", add("a"))
    later = await stub.async_adder(1)
    await record.settled("call async", later(2))
    other = env.THING.getByName("other")
    await record.settled("stub", stub.describe_stub(other))
    await record.settled("stub in a dict", stub.shown({"stub": 1}))
    await record.settled("call a stub", stub.ask(other, 5))
    await record.settled("call a stub with a dict", stub.ask(other, {"a": [1]}))
    await record.settled("pass a stub on", stub.pass_on(other))
    await record.settled("pass a dict with a stub on", stub.pass_on({"stub": other}))
    await record.settled("protocols", stub.protocols(other))
    await record.settled("protocols of a function", stub.protocols(lambda: 1))
    returned = await stub.give_stub()
    record("returned stub", type(returned))
    record("returned stub's name", returned._real_name)
    record.outcome("its id", lambda: type(returned.id).__name__)
    await record.settled("call it", returned.echo(6))
    record.outcome("iterate a stub", lambda: list(other))
    await record.settled("service", stub.describe_stub(env.REMOTE))
    await record.settled("call a service", stub.ask(env.REMOTE, 5))


async def scenario_exceptions(record, env, host):
    host.bind_objects(THING=Callee)
    for kind in FAILURES:
        stub = env.THING.getByName("a")
        await record.settled(kind, stub.fails(kind))
        await record.settled(f"{kind} at once", stub.fails_at_once(kind))
    stub = env.THING.getByName("a")
    await record.settled("javascript", stub.fails_in_javascript())
    await record.settled("javascript at once", stub.fails_in_javascript_at_once())
    await record.settled("storage", stub.fails_in_storage())
    try:
        await stub.fails("ValueError")
    except Exception as error:
        record("class", type(error))
        record("name", error.name)
        record("remote", error.remote)
        record("stack", type(error.stack))
        record("in javascript", error.constructor.name)
        record.outcome("other attribute", lambda e=error: e.durableObjectReset)
    await record.settled("still works", stub.sync())


async def scenario_lives(record, env, host):
    host.bind_objects(THING=Callee, BROKEN=Broken, PREPARED=Prepared, BARE=Bare, DERIVED=Derived)
    stub = env.THING.getByName("a")
    await record.settled("first", stub.append(1))
    await record.settled("second", stub.append(2))
    await record.settled("another object", env.THING.getByName("b").append(1))
    await record.settled("abort", stub.end("why"))
    await record.settled("the same stub", stub.append(3))
    await record.settled("a new stub", env.THING.getByName("a").append(1))
    await record.settled("abort without a reason", env.THING.getByName("a").end())
    await record.settled("abort cannot be caught", env.THING.getByName("a").end_unnoticed())
    blocking = env.THING.getByName("a")
    await record.settled("fails while blocking", blocking.block_and_fail())
    await record.settled("the same stub again", blocking.append(1))
    await record.settled("fresh again", env.THING.getByName("a").append(1))
    host.evict("THING")
    await record.settled("after eviction", env.THING.getByName("a").append(1))
    await record.settled("constructor fails", env.BROKEN.getByName("a").echo(1))
    await record.settled("constructor fails again", env.BROKEN.getByName("a").echo(1))
    await record.settled("prepared", env.PREPARED.getByName("a").is_ready())
    record("prepared records", host.records("PREPARED", "a"))
    await record.settled("bare", env.BARE.getByName("a").attributes())
    await record.settled("derived", env.DERIVED.getByName("a").attributes())
    await record.settled("derived inherits", env.DERIVED.getByName("a").echo(1))
    calls = [env.THING.getByName("order").append(n) for n in range(5)]
    record("in order", [await call for call in calls])


async def scenario_requests(record, env, host):
    host.bind_objects(THING=Callee, BARE=Bare)
    stub = env.THING.getByName("a")

    async def read(response):
        got = await response
        return [type(got).__name__, got.status, got.headers.get("x-b"), await got.text()]

    at = "https://object.example/"
    await record.settled("get", lambda: read(stub.fetch(f"{at}path")))
    await record.settled(
        "post", lambda: read(stub.fetch(f"{at}p", method="POST", body="body", headers={"x-a": "1"}))
    )
    await record.settled("request", lambda: read(stub.fetch(js.Request.new(f"{at}r"))))
    await record.settled("throws", lambda: read(stub.fetch(f"{at}boom")))
    await record.settled("None", lambda: read(stub.fetch(f"{at}none")))
    await record.settled("text", lambda: read(stub.fetch(f"{at}text")))
    await record.settled("bad url", lambda: read(stub.fetch("/x")))
    await record.settled("no fetch", lambda: read(env.BARE.getByName("a").fetch(at)))
    await record.settled("raw", lambda: read_raw(stub._binding.fetch(f"{at}raw")))


async def read_raw(promise):
    response = await promise
    return [response.constructor.name, response.status, await response.text()]
