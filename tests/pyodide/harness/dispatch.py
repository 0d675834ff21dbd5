"""Deliver an event to an entry-point class as the runtime's own Python side does: a new instance
for each event, converted arguments, a converted result."""

from __future__ import annotations

import inspect
import json

from pyodide.code import relaxed_call
from pyodide.ffi import create_proxy
from workers import python_from_rpc, python_to_rpc


async def invoke(instance, name, args, *, relaxed):
    method = getattr(instance, name, None)
    if method is None:
        raise TypeError(f"Method {name} does not exist")
    converted = [python_from_rpc(arg) for arg in args]
    result = relaxed_call(method, *converted) if relaxed else method(*converted)
    if inspect.isawaitable(result):
        result = await result
    return python_to_rpc(result)


def deliverer(cls, name, *, relaxed):
    async def deliver(ctx, env, *args):
        return await invoke(cls(ctx, env), name, args, relaxed=relaxed)

    return create_proxy(deliver)


async def run(instance, name, how, *args):
    """Call a method of an instance that lives on: an RPC method, `fetch`, or another handler,
    which gets its arguments as they are."""
    if how != "handle":
        return await invoke(instance, name, args, relaxed=how == "fetch")
    result = relaxed_call(getattr(instance, name), *args)
    if inspect.isawaitable(result):
        await result
    return None


class Host:
    """The JavaScript side as scenarios see it: its functions, and events sent from it."""

    def __init__(self, raw):
        self._raw = raw
        self._run = create_proxy(run)

    def __getattr__(self, name):
        return getattr(self._raw, name)

    def corpus(self):
        """The recipes of generated values."""
        return json.loads(self._raw.corpus())

    async def queue(self, cls, batch):
        """Deliver `batch`; what the queue service is told afterwards."""
        proxy = deliverer(cls, "queue", relaxed=False)
        return json.loads(await self._raw.runQueue(proxy, batch))

    async def fetch(self, cls, request):
        """Deliver a `js.Request`; the response as the client sees it."""
        proxy = deliverer(cls, "fetch", relaxed=True)
        return json.loads(await self._raw.runFetch(proxy, request))

    def bind_objects(self, **classes):
        """Durable Objects, by the name of their binding."""
        for name, cls in classes.items():
            self._raw.bindObject(name, create_proxy(cls), self._run)

    def bind_services(self, **classes):
        """Entrypoints of this Worker, by the name of a service binding to each."""
        for name, cls in classes.items():
            self._raw.bindService(name, create_proxy(cls), self._run)

    def bind_stores(self):
        """A new D1 database, KV namespace, R2 bucket and rate limit: DB, KV, R2, LIMIT."""
        self._raw.bindStores()

    async def alarm(self, binding, name, retry_count=0):
        """Run the alarm of an object that is due."""
        return json.loads(await self._raw.runAlarm(binding, name, retry_count))

    def records(self, binding, name):
        """What an object has stored, as JavaScript sees it."""
        return list(self._raw.records(binding, name))
