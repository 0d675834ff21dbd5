"""Generated values through every conversion: to_js, to_py, the SDK's two, a queue, storage, RPC."""

import js
from harness.recipes import build
from harness.shapes import has_cycle
from pyodide.ffi import JsDoubleProxy, JsProxy, to_js
from workers import DurableObject, WorkerEntrypoint, python_from_rpc, python_to_rpc

CONTENT_TYPES = ("json", "text", "bytes", "v8")
RECEIVED, WORK = [], []


class Keeper(DurableObject):
    async def run(self):
        await WORK.pop()(self.ctx.storage)

    async def shown(self, value):
        return deep(value)

    async def echo(self, value):
        return value


class Consumer(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        RECEIVED.extend(deep(message.body) for message in batch.messages)


def deep(value, outer=()):
    """Everything that Python can tell about a value, in one line."""
    if any(value is container for container in outer):
        return "<circular>"
    inside = (*outer, value)
    name = type(value).__name__
    if isinstance(value, dict):
        pairs = [f"{deep(key, inside)}: {deep(item, inside)}" for key, item in value.items()]
        return f"{name} {{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"{name} [{', '.join(deep(item, inside) for item in value)}]"
    if isinstance(value, set | frozenset):
        return f"{name} {{{', '.join(sorted(deep(item, inside) for item in value))}}}"
    if isinstance(value, memoryview):
        return f"memoryview {value.format} {value.tolist()}"
    return name if isinstance(value, JsProxy) else f"{name} {value!r}"


def attempted(record, label, action):
    """Record what `action()` returns or raises; of an endless recursion only that it was one."""

    def bounded():
        try:
            return action()
        except RecursionError:
            return "endless"

    record.outcome(label, bounded)


async def scenario_conversions(record, env, host):
    entries = js.Object.fromEntries
    for number, recipe in enumerate(host.corpus()):
        value = build(recipe)

        def said(channel, action, number=number):
            attempted(record, f"{number} {channel}", action)

        said("arg", lambda v=value: host.args(v))
        said("to_js", lambda v=value: host.describe(to_js(v)))
        said("to_js entries", lambda v=value: host.describe(to_js(v, dict_converter=entries)))
        if isinstance(value, JsProxy):
            said("to_py", lambda v=value: deep(v.to_py()))
        else:
            said("echo", lambda v=value: deep(host.echo(v)))
            said("to_js and back", lambda v=value: back(to_js(v)))
        if has_cycle(recipe):
            continue
        said("rpc", lambda v=value: host.describe(python_to_rpc(v)))
        said("rpc and back", lambda v=value: received(python_to_rpc(v)))
        said("from rpc", lambda v=value: deep(python_from_rpc(v)))


def received(value):
    return "a proxy" if isinstance(value, JsDoubleProxy) else deep(python_from_rpc(value))


def back(value):
    """What comes back of a converted value. A proxy of Python's own is not converted back."""
    if isinstance(value, JsDoubleProxy):
        return "a proxy"
    return deep(value.to_py()) if isinstance(value, JsProxy) else deep(value)


async def scenario_queues(record, env, host):
    for number, recipe in enumerate(host.corpus()):
        if has_cycle(recipe):
            continue
        value = build(recipe)
        for kind in CONTENT_TYPES:
            RECEIVED.clear()
            await record.settled(f"{number} send {kind}", sent(env, value, kind))
            await host.queue(Consumer, host.sentBatch())
            record(f"{number} received {kind}", list(RECEIVED))


async def sent(env, value, kind):
    await env.QUEUE.send(value, contentType=kind)


async def scenario_objects(record, env, host):
    host.bind_objects(KEEPER=Keeper)
    stub = env.KEEPER.getByName("one")

    async def keep(storage):
        for number, recipe in enumerate(host.corpus()):
            if has_cycle(recipe):
                continue
            value = build(recipe)
            await record.settled(f"{number} put", lambda v=value: storage.put("k", v))
            await record.settled(f"{number} get", got(storage))
            record.outcome(f"{number} kv", lambda v=value: kept(storage.kv, v))

    async def got(storage):
        return deep(await storage.get("k"))

    def kept(kv, value):
        kv.put("s", value)
        return deep(kv.get("s"))

    WORK.append(keep)
    await stub.run()
    for number, recipe in enumerate(host.corpus()):
        if has_cycle(recipe):
            continue
        value = build(recipe)
        await record.settled(f"{number} argument", lambda v=value: stub.shown(v))
        await record.settled(f"{number} result", lambda v=value: echoed(stub, v))


async def echoed(stub, value):
    return deep(await stub.echo(value))
