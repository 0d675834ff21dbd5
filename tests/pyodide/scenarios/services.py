"""Service bindings: calling an entrypoint of this Worker, and a Worker written in JavaScript."""

import js
from pyodide.ffi import create_proxy, to_js
from workers import Request, Response, WorkerEntrypoint

from scenarios.storage import VALUES
from scenarios.to_js import Point

SEEN = []


class Calculator(WorkerEntrypoint):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.calls = 0

    async def add(self, a, b=10):
        return a + b

    def sync(self):
        return "sync"

    async def count(self):
        self.calls += 1
        return self.calls

    async def shown(self, *args):
        return [f"{type(arg).__name__} {arg!r}" for arg in args]

    async def around(self):
        return [type(self.ctx).__name__, self.ctx.constructor.name, type(self.env).__name__]

    async def fails(self):
        raise ValueError("in the service")

    async def later(self):
        async def work():
            SEEN.append("waited for")

        self.ctx.waitUntil(work())
        return "at once"

    async def call_back(self, function):
        return await function(1, {"a": 2} if False else 2)

    async def adder(self, base):
        return lambda value: base + value

    async def scheduled(self, *args):
        return len(args)

    async def queue(self, batch, *args):
        return type(batch).__name__

    async def fetch(self, request):
        path = request.url.rpartition("/")[2]
        if path == "boom":
            raise KeyError("boom")
        if path == "text":
            return "text"
        return Response(f"{request.method} {path} {await request.text()}", headers={"x-b": "c"})


class Silent(WorkerEntrypoint):
    async def named(self):
        return "named"


class NoSuper(WorkerEntrypoint):
    def __init__(self, ctx, env):
        self.kept = [type(ctx).__name__, type(env).__name__]

    async def attributes(self):
        return [*self.kept, hasattr(self, "env"), hasattr(self, "ctx")]


async def read(response):
    got = await response
    return [type(got).__name__, got.status, got.headers.get("x-b"), await got.text()]


async def scenario_calls(record, env, host):
    host.bind_services(CALC=Calculator, SILENT=Silent, NO_SUPER=NoSuper)
    calc = env.CALC
    record("type", type(calc))
    record("real name", calc._real_name)
    await record.settled("add", calc.add(1, 2))
    await record.settled("default", calc.add(1))
    await record.settled("keyword", calc.add(1, b=2))
    await record.settled("sync", calc.sync())
    await record.settled("too many", calc.add(1, 2, 3))
    await record.settled("one instance a call", calc.count())
    await record.settled("another", calc.count())
    await record.settled("around", calc.around())
    await record.settled("fails", calc.fails())
    await record.settled("waitUntil", calc.later())
    await record.settled("a turn", host.later(None, 5))
    record("waited", list(SEEN))
    await record.settled("missing", calc.nope())
    await record.settled("attribute", calc.calls())
    await record.settled("env", lambda: calc.env())
    await record.settled("reserved", lambda: calc.alarm())
    await record.settled("scheduled", calc.scheduled(1))
    await record.settled("queue", calc.queue(1))
    await record.settled("connect", lambda: calc.connect("example.com:80"))
    await record.settled("call back", calc.call_back(lambda a, b: a + b))
    add = await calc.adder(1)
    record("function", type(add))
    await record.settled("call it", add(2))
    await record.settled("without fetch", lambda: read(env.SILENT.fetch("https://x.example/")))
    await record.settled("named", env.SILENT.named())
    await record.settled("without super", env.NO_SUPER.attributes())
    for label in ("dict", "list", "None", "bytes", "set", "tuple", "naive datetime", "dataclass"):
        await record.settled(f"shown {label}", lambda v=VALUES[label]: calc.shown(v))


async def scenario_requests(record, env, host):
    host.bind_services(CALC=Calculator)
    calc, at = env.CALC, "https://service.example/"
    await record.settled("get", lambda: read(calc.fetch(f"{at}p")))
    await record.settled("post", lambda: read(calc.fetch(f"{at}p", method="POST", body="body")))
    await record.settled("js request", lambda: read(calc.fetch(js.Request.new(f"{at}r"))))
    await record.settled("Request", lambda: read(calc.fetch(Request(f"{at}r", method="PUT"))))
    await record.settled("throws", lambda: read(calc.fetch(f"{at}boom")))
    await record.settled("text", lambda: read(calc.fetch(f"{at}text")))
    await record.settled("bad url", lambda: read(calc.fetch("/x")))
    await record.settled("nothing", lambda: calc.fetch())


async def scenario_arguments_of_javascript(record, env, host):
    remote = env.REMOTE
    for label, value in VALUES.items():
        await record.settled(f"echo {label}", lambda v=value: remote.echo(v))
    for label, make in {
        "no arguments": lambda: remote.echo(),
        "two": lambda: remote.echo(1, None),
        "keyword": lambda: remote.echo(1, b=[None]),
        "to_js": lambda: remote.echo(to_js({"a": 1})),
        "class": lambda: remote.echo(Point),
        "nested function": lambda: remote.echo({"f": [lambda: 1]}),
        "Response": lambda: remote.echo(Response("a")),
        "Request": lambda: remote.echo(Request("https://example.com/")),
        "headers": lambda: remote.echo(js.Headers.new()),
        "queue": lambda: remote.echo(env.QUEUE),
        "env": lambda: remote.echo(env),
        "itself": lambda: remote.echo(remote),
        "missing": lambda: remote.nope(1),
        "call back": lambda: remote.callBack(lambda a: a + 1, 1),
        "call back with a dict": lambda: remote.callBack(lambda a: type(a).__name__, {"a": 1}),
        "call back async": lambda: remote.callBack(one_more, 1),
        "call back that fails": lambda: remote.callBack(failing, 1),
        "call back without a result": lambda: remote.callBack(lambda a: None, 1),
        "call back giving a dict": lambda: remote.callBack(lambda a: {"a": a}, 1),
        "call back giving to_js": lambda: remote.callBack(lambda a: to_js([a]), 1),
        "call back giving a tuple": lambda: remote.callBack(lambda a: (a,), 1),
        "proxy": lambda: remote.callBack(create_proxy(lambda a: a), 5),
    }.items():
        await record.settled(label, make)


async def one_more(value):
    return value + 1


def failing(value):
    raise KeyError("back")


async def scenario_results_of_javascript(record, env, host):
    remote = env.REMOTE
    for name in (
        "object", "array", "numbers", "bigints", "strings", "map", "mapOfObjects", "set",
        "setOfObjects", "date", "error", "typeError", "errorWithCause", "errorWithoutMessage",
        "namedError", "domException", "bytes", "buffer", "floats", "words", "dataView", "symbol",
        "regexp", "function", "frozen", "pythonNames", "arrayLike", "sized", "url", "queue",
        "promise", "holderOfPromise",
    ):  # fmt: skip
        await record.settled(f"give {name}", remote.give(name))
    for name in ("error", "typeError", "errorWithCause", "namedError", "domException"):
        await record.settled(f"raise {name}", remote.raise_(name))
        await record.settled(f"raise {name} by item", lambda n=name: remote["raise"](n))
    add = await remote.adder(1)
    record("function", type(add))
    await record.settled("call it", add(2))
    await record.settled("raw give", lambda: raw(remote._binding.give("object"), host))
    await record.settled("raw echo", lambda: raw(remote._binding.echo(to_js([1])), host))
    await record.settled("raw dict", lambda: raw(remote._binding.echo({"a": 1}), host))


async def raw(promise, host):
    kind = type(promise).__name__
    return [kind, host.describe(await promise)]
