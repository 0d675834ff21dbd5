"""Python functions given to JavaScript: borrowed, kept, called later, called with what."""

import asyncio
import functools

import js
import pyodide.ffi as ffi
from pyodide.ffi import create_once_callable, create_proxy, destroy_proxies, to_js


async def scenario_arguments_and_results(record, env, host):
    record("echo", host.call(lambda x: x, 1))
    record("returns a dict", host.call(lambda: {"a": 1}))
    record("returns a list", host.call(lambda: [1]))
    record("returns a tuple", host.call(lambda: (1, 2)))
    record("returns None", host.call(lambda: None))
    record("returns a float", host.call(lambda: 1.0))
    record("JavaScript sees a dict", host.caught(lambda: {"a": 1}))
    record("JavaScript sees None", host.caught(lambda: None))
    record("JavaScript sees bytes", host.caught(lambda: b"a"))
    record("JavaScript sees a big int", host.caught(lambda: 2**60))
    got = []
    host.call(lambda *args: got.extend(args), host.make("object"), None, [1], "s", js.Array.of(1))
    record("arguments", got)
    record("a method", host.call([3, 1].index, 1))
    record("a partial", host.call(functools.partial(lambda a, b: a - b, 5), 3))
    record("a class", host.call(dict))
    record("a builtin", host.call(max, 1, 2))

    class Callable:
        def __call__(self, x):
            return x + 1

    record("a callable object", host.call(Callable(), 1))
    record.outcome("not callable", lambda: host.call([1]))
    record("default arguments", host.call(lambda a, b=5: a + b, 1))
    record("keyword only", host.call(lambda a, *, b=5: a + b, 1))


async def scenario_borrowed_proxies(record, env, host):
    calls = []
    await record.settled(
        "a bare function kept by JavaScript", lambda: host.callLater(lambda: calls.append("bare"))
    )
    proxy = create_proxy(lambda: calls.append("proxy"))
    await record.settled("create_proxy", lambda: host.callLater(proxy))
    await record.settled("create_proxy again", lambda: host.callLater(proxy))
    proxy.destroy()
    await record.settled("destroyed", lambda: host.callLater(proxy))
    once = create_once_callable(lambda: calls.append("once"))
    record("once callable", type(once))
    await record.settled("once", lambda: host.callLater(once))
    await record.settled("once again", lambda: host.callLater(once))
    record.outcome("once destroyed", lambda: once.destroy())
    await record.settled(
        "to_js of a function", lambda: host.callLater(to_js(lambda: calls.append("to_js")))
    )
    record("calls", calls)


async def scenario_timers(record, env, host):
    calls = []
    js.setTimeout(lambda: calls.append("bare"), 1)
    kept = create_proxy(lambda *args: calls.append(args))
    record("setTimeout returns", type(js.setTimeout(kept, 1, "an argument", 2)))
    cancelled = js.setTimeout(kept, 1, "cancelled")
    js.clearTimeout(cancelled)
    js.queueMicrotask(create_once_callable(lambda: calls.append("microtask")))
    await asyncio.sleep(0.02)
    record("ran", calls)
    kept.destroy()
    ticks = []
    ticking = create_proxy(lambda: ticks.append(1))
    timer = js.setInterval(ticking, 1)
    await asyncio.sleep(0.02)
    js.clearInterval(timer)
    record("interval ticked more than once", len(ticks) > 1)
    ticking.destroy()


async def scenario_proxies_of_objects(record, env, host):
    value = {"a": 1}
    proxy = create_proxy(value)
    record("type", type(proxy))
    record("repr", proxy)
    record("described", host.describe(proxy))
    record("typeof", proxy.typeof)
    record.outcome("type property", lambda: proxy.type)
    record.outcome("item", lambda: proxy["a"])
    record.outcome("get", lambda: proxy.get("a"))
    record.outcome("toString", lambda: proxy.toString())
    record.outcome("toJs", lambda: proxy.toJs())
    record.outcome("copy", lambda: proxy.copy())
    record.outcome("constructor", lambda: proxy.constructor.name)
    record.outcome("unwrap", lambda: proxy.unwrap())
    record.outcome("isinstance", lambda: isinstance(proxy, ffi.JsDoubleProxy))
    proxy.destroy()
    record.outcome("repr after destroy", lambda: repr(proxy))
    record.outcome("item after destroy", lambda: proxy["a"])
    record.outcome("unwrap after destroy", lambda: proxy.unwrap())
    function = create_proxy(lambda x: x)
    record.outcome("call the proxy", lambda: function(5))
    record("callable", callable(function))
    function.destroy()
    record.outcome("call after destroy", lambda: function(5))
    record.outcome("proxy of an int", lambda: create_proxy(5))
    record.outcome("proxy of a str", lambda: create_proxy("s"))
    record.outcome("proxy of None", lambda: create_proxy(None))
    proxies = js.Array.of(create_proxy([1]), create_proxy([2]))
    destroy_proxies(proxies)
    record.outcome("destroy_proxies", lambda: proxies.at(0))
    record.outcome("destroy_proxies of a list", lambda: destroy_proxies([1]))


async def scenario_python_objects_in_javascript_containers(record, env, host):
    array = js.Array.of([1], {"a": 1})
    record.outcome("array of python objects", lambda: array.at(0))
    holder = js.Object.new()
    holder.value = {"a": 1}
    record.outcome("attribute", lambda: holder.value)
    holder.function = lambda x: x * 2
    record.outcome("function attribute", lambda: holder.function(4))
    mapping = js.Map.new()
    mapping.set("k", [1, 2])
    record.outcome("in a map", lambda: mapping.get("k"))
    record.outcome("to_py of the holder", lambda: holder.to_py()["value"])
    record.outcome("clone of the holder", lambda: host.cloned(holder))


async def scenario_borrowing_rules(record, env, host):
    kept = js.Array.new()
    kept.push([1])
    record.outcome("push keeps a borrowed list", lambda: kept.at(0))
    kept.append([2])
    record.outcome("append keeps a list", lambda: kept[1])
    mapping = js.Map.new()
    mapping["k"] = [3]
    record.outcome("item assignment keeps a list", lambda: mapping["k"])
    promise = js.Promise.resolve([4])
    await record.settled("resolve a list", promise)
    await record.settled(
        "then with a function", lambda: js.Promise.resolve(1).then(lambda x: {"x": x})
    )
    record.outcome("return keeps it", lambda: host.echo({"a": [1]}))
