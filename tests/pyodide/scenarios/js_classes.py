"""JavaScript's own classes used from Python: Object, Array, Map, Set, Date, JSON, typed arrays."""

import datetime

import js
import pyodide.ffi
from pyodide.ffi import to_js

#: Names some generation has; the emulator's own are among them.
NAMES_OF_FFI = """
ConversionError InternalError IN_BROWSER IN_PYODIDE JsArray JsAsyncGenerator JsAsyncIterable
JsAsyncIterator JsBigInt JsBuffer JsCallable JsCallableDoubleProxy JsDomElement JsDoubleProxy
JsException JsFetchResponse JsGenerator JsIterable JsIterator JsMap JsMutableMap JsNull
JsOnceCallable JsPromise JsProxy JsTypedArray JsWeakRef PyodideFuture PyodideTask ToJsConverter
can_run_sync create_once_callable create_proxy destroy_proxies jsnull register_js_module run_sync
to_js unregister_js_module
"""


async def scenario_names_of_ffi(record, env, host):
    for name in NAMES_OF_FFI.split():
        record(name, hasattr(pyodide.ffi, name))
    record("__all__", sorted(pyodide.ffi.__all__))


async def scenario_object(record, env, host):
    pairs = to_js([["a", 1], ["b", None]])
    record.outcome("fromEntries", lambda: host.describe(js.Object.fromEntries(pairs)))
    record.outcome(
        "fromEntries of a Python list", lambda: host.describe(js.Object.fromEntries([["a", 1]]))
    )
    record.outcome(
        "fromEntries of tuples", lambda: host.describe(js.Object.fromEntries([("a", 1)]))
    )
    record.outcome(
        "fromEntries of items", lambda: host.describe(js.Object.fromEntries({"a": 1}.items()))
    )
    record.outcome("fromEntries of a dict", lambda: host.describe(js.Object.fromEntries({"ab": 1})))
    record.outcome("new", lambda: host.describe(js.Object.new()))
    record.outcome("new with keywords", lambda: host.describe(js.Object.new(a=1)))
    record.outcome(
        "assign", lambda: host.describe(js.Object.assign(js.Object.new(), host.make("frozen")))
    )
    record.outcome("keys", lambda: js.Object.keys(host.make("object")).to_py())
    record.outcome("values", lambda: js.Object.values(host.make("frozen")).to_py())
    record.outcome("entries", lambda: js.Object.entries(host.make("frozen")).to_py())
    record.outcome("freeze", lambda: host.describe(js.Object.freeze(js.Object.new())))
    record.outcome("isFrozen", lambda: js.Object.isFrozen(host.make("frozen")))
    record.outcome("is", lambda: js.Object["is"](1, 1))
    record.outcome("hasOwn", lambda: js.Object.hasOwn(host.make("frozen"), "a"))
    record.outcome("hasOwnProperty", lambda: host.make("frozen").hasOwnProperty("a"))
    record.outcome("toString", lambda: host.make("frozen").toString())
    record.outcome("Reflect.get", lambda: js.Reflect.get(host.make("frozen"), "a"))
    record.outcome("Reflect.has", lambda: js.Reflect.has(host.make("frozen"), "b"))
    record.outcome("Reflect.ownKeys", lambda: list(js.Reflect.ownKeys(host.make("frozen"))))
    record.outcome("repr of the class", lambda: js.Object)
    record.outcome("name of the class", lambda: js.Object.name)


async def scenario_array(record, env, host):
    record.outcome("new", lambda: host.describe(js.Array.new()))
    record.outcome("new with length", lambda: js.Array.new(3).length)
    record.outcome("new with items", lambda: host.describe(js.Array.new(1, 2)))
    record.outcome("of", lambda: host.describe(js.Array.of(1, "a", None)))
    record.outcome("from_ a list", lambda: host.describe(js.Array.from_([1, 2])))
    record.outcome("from_ a generator", lambda: host.describe(js.Array.from_(x for x in (1, 2))))
    record.outcome("from_ a set", lambda: host.describe(js.Array.from_(host.make("set"))))
    record.outcome("from_ a string", lambda: host.describe(js.Array.from_("ab")))
    record.outcome(
        "from_ with a function", lambda: host.describe(js.Array.from_([1, 2], lambda x, i: x * 10))
    )
    record.outcome("isArray", lambda: [js.Array.isArray(js.Array.new()), js.Array.isArray([1])])
    array = js.Array.of(3, 1, 2)
    record.outcome("sort", lambda: host.describe(array.sort()))
    record.outcome("sort with a function", lambda: host.describe(array.sort(lambda a, b: b - a)))
    record.outcome("indexOf", lambda: array.indexOf(1))
    record.outcome("includes", lambda: array.includes(7))
    record.outcome("slice", lambda: host.describe(array.slice(1)))
    record.outcome("splice", lambda: host.describe(array.splice(0, 1)))
    record.outcome("concat", lambda: host.describe(array.concat(js.Array.of(9))))
    record.outcome("find", lambda: array.find(lambda x, *_: x == 1))
    record.outcome("find nothing", lambda: array.find(lambda x, *_: False))
    record.outcome("reduce", lambda: array.reduce(lambda total, x, *_: total + x, 0))
    record.outcome("some", lambda: array.some(lambda x, *_: x > 1))
    record.outcome("flat", lambda: host.describe(to_js([[1], [2]]).flat()))
    record.outcome("at", lambda: array.at(-1))
    record.outcome("unshift", lambda: array.unshift(0))
    record.outcome("shift", lambda: array.shift())
    record.outcome("set length", lambda: setattr(array, "length", 0))
    record.outcome("emptied", lambda: host.describe(array))
    record.outcome("entries", lambda: [list(pair) for pair in js.Array.of("x").entries()])


async def scenario_map_and_set(record, env, host):
    record.outcome("Map of pairs", lambda: host.describe(js.Map.new(to_js([["a", 1]]))))
    record.outcome("Map of a Python list", lambda: host.describe(js.Map.new([["a", 1]])))
    record.outcome("Map of items", lambda: host.describe(js.Map.new({"a": 1}.items())))
    mapping = js.Map.new()
    record.outcome("set returns", lambda: host.describe(mapping.set("k", 1)))
    record.outcome("get", lambda: mapping.get("k"))
    record.outcome("get absent", lambda: mapping.get("z"))
    record.outcome("has", lambda: mapping.has("k"))
    record.outcome("size", lambda: mapping.size)
    record.outcome("delete", lambda: mapping.delete("k"))
    record.outcome("forEach", lambda: mapping.forEach(lambda v, k, m: None))
    record.outcome("number keys", lambda: js.Map.new(to_js([[1, "one"]])).get(1))
    record.outcome("float key for int", lambda: js.Map.new(to_js([[1, "one"]])).get(1.0))
    values = js.Set.new(to_js([1, 2, 2]))
    record.outcome("Set size", lambda: values.size)
    record.outcome("Set add", lambda: host.describe(values.add(5)))
    record.outcome("Set has", lambda: values.has(5))
    record.outcome("Set iteration", lambda: list(values))
    record.outcome("Set of a Python set", lambda: host.describe(js.Set.new({1})))
    record.outcome("WeakMap", lambda: js.WeakMap.new())


async def scenario_date(record, env, host):
    date = js.Date.new("2026-01-02T03:04:05.678Z")
    record("repr", date)
    for method in (
        "getTime",
        "toISOString",
        "toJSON",
        "getFullYear",
        "getUTCHours",
        "toString",
        "valueOf",
        "getTimezoneOffset",
        "toUTCString",
        "getDay",
    ):
        record.outcome(method, lambda m=method: getattr(date, m)())
    record.outcome("from milliseconds", lambda: js.Date.new(0).toISOString())
    record.outcome("from a float", lambda: js.Date.new(1.9).getTime())
    record.outcome("from parts", lambda: js.Date.new(2026, 0, 2).toISOString())
    record.outcome("from a datetime", lambda: js.Date.new(datetime.datetime(2026, 1, 2)).getTime())
    record.outcome("invalid", lambda: js.Date.new("x").getTime())
    record.outcome("UTC", lambda: js.Date.UTC(2026, 0, 2))
    record.outcome("parse", lambda: js.Date.parse("2026-01-02"))
    record.outcome("now is an int", lambda: type(js.Date.now()))
    record.outcome("setting", lambda: date.setTime(5))
    record.outcome("less than", lambda: js.Date.new(0) < js.Date.new(1))
    record.outcome(
        "datetime from it",
        lambda: datetime.datetime.fromtimestamp(js.Date.new(0).getTime() / 1000, datetime.UTC),
    )


async def scenario_json(record, env, host):
    parsed = js.JSON.parse('{"a": [1, {"b": null}], "c": 1.0, "d": true}')
    record("parse", parsed)
    record("described", host.describe(parsed))
    record.outcome("to_py", parsed.to_py)
    record.outcome("attribute of parsed", lambda: parsed.a[1].b)
    for label, value in {
        "dict": {"a": 1},
        "list": [1, None],
        "str": "s",
        "int": 1,
        "None": None,
        "float": 1.0,
        "bytes": b"ab",
        "set": {1},
        "tuple": (1,),
        "big": 2**60,
        "nan": float("nan"),
        "datetime": datetime.datetime(2020, 1, 1),
    }.items():
        record.outcome(f"stringify {label}", lambda v=value: js.JSON.stringify(v))
        record.outcome(f"stringify to_js({label})", lambda v=value: js.JSON.stringify(to_js(v)))
    record.outcome("stringify an object", lambda: js.JSON.stringify(host.make("object")))
    record.outcome("stringify indented", lambda: js.JSON.stringify(host.make("frozen"), None, 2))
    record.outcome("stringify a map", lambda: js.JSON.stringify(host.make("map")))
    record.outcome("stringify a date", lambda: js.JSON.stringify(host.make("date")))
    record.outcome("stringify a function", lambda: js.JSON.stringify(host.make("function")))
    record.outcome("parse nothing", lambda: js.JSON.parse(""))
    record.outcome("parse with a reviver", lambda: js.JSON.parse("[1]", lambda k, v: v))


async def scenario_typed_arrays(record, env, host):
    record.outcome("new by length", lambda: host.describe(js.Uint8Array.new(3)))
    record.outcome("new of bytes", lambda: host.describe(js.Uint8Array.new(b"ab")))
    record.outcome("new of a list", lambda: host.describe(js.Uint8Array.new([1, 2])))
    record.outcome("new of to_js", lambda: host.describe(js.Uint8Array.new(to_js([1, 300]))))
    record.outcome("of", lambda: host.describe(js.Uint8Array.of(1, 2)))
    record.outcome("from_", lambda: host.describe(js.Uint8Array.from_([1, 2])))
    array = js.Uint8Array.new(to_js(b"abcd"))
    for name in ("length", "byteLength", "byteOffset", "BYTES_PER_ELEMENT"):
        record.outcome(name, lambda n=name: getattr(array, n))
    record.outcome("slice method", lambda: host.describe(array.slice(1, 3)))
    record.outcome("subarray", lambda: host.describe(array.subarray(1, 3)))
    record.outcome("python slice", lambda: array[1:3])
    record.outcome("set item", lambda: array.__setitem__(0, 120))
    record.outcome("after", lambda: array.to_bytes())
    record.outcome("set", lambda: array.set(to_js([1, 2])))
    record.outcome("after set", lambda: array.to_bytes())
    record.outcome("fill", lambda: host.describe(array.fill(7)))
    record.outcome("buffer", lambda: host.describe(array.buffer))
    record.outcome("buffer slice", lambda: array.buffer.slice(0, 2).to_bytes())
    record.outcome("ArrayBuffer", lambda: host.describe(js.ArrayBuffer.new(2)))
    record.outcome("DataView", lambda: js.DataView.new(array.buffer).getUint16(0))
    record.outcome("Float64Array", lambda: js.Float64Array.new(to_js([1.5])).to_py())
    record.outcome("TextEncoder", lambda: host.describe(js.TextEncoder.new().encode("é")))
    record.outcome("TextDecoder", lambda: js.TextDecoder.new().decode(to_js("é".encode())))
    record.outcome("btoa", lambda: js.btoa("ab"))
    record.outcome("atob", lambda: js.atob("YWI="))


async def scenario_other_globals(record, env, host):
    record.outcome("Math.max", lambda: js.Math.max(1, 2.5))
    record.outcome("Math.PI", lambda: js.Math.PI)
    record.outcome("Math.floor", lambda: js.Math.floor(1.9))
    record.outcome("Number", lambda: js.Number("1.0"))
    record.outcome("Number.MAX_SAFE_INTEGER", lambda: js.Number.MAX_SAFE_INTEGER)
    record.outcome("String", lambda: [js.String(1.0), js.String(None), js.String(True)])
    record.outcome("String of a list", lambda: js.String([1, 2]))
    record.outcome("Boolean", lambda: [js.Boolean(0), js.Boolean("")])
    record.outcome("parseInt", lambda: js.parseInt("12px"))
    record.outcome("isNaN", lambda: js.isNaN("x"))
    record.outcome("encodeURIComponent", lambda: js.encodeURIComponent("a b/é"))
    record.outcome("Symbol", lambda: js.Symbol("x"))
    record.outcome("Symbol.iterator", lambda: js.Symbol.iterator)
    record.outcome(
        "structuredClone", lambda: host.describe(js.structuredClone(host.make("object")))
    )
    record.outcome("structuredClone of a dict", lambda: js.structuredClone({"a": 1}))
    record.outcome(
        "structuredClone of to_js",
        lambda: host.describe(
            js.structuredClone(to_js({"a": 1}, dict_converter=js.Object.fromEntries))
        ),
    )
    record.outcome("RegExp", lambda: js.RegExp.new("a+").test("caat"))
    record.outcome("RegExp exec", lambda: list(js.RegExp.new("(a)(b)?").exec("xa")))
    record.outcome("RegExp no match", lambda: js.RegExp.new("z").exec("xa"))
    record.outcome("crypto.randomUUID", lambda: len(js.crypto.randomUUID()))
    record.outcome(
        "getRandomValues", lambda: js.crypto.getRandomValues(js.Uint8Array.new(4)).length
    )
    digest = await js.crypto.subtle.digest("SHA-256", to_js(b"a"))
    record("digest", digest.to_bytes().hex())
    for name in ("Error", "TypeError", "RangeError", "SyntaxError"):
        record.outcome(name, lambda n=name: getattr(js, n).new("m"))
    record.outcome(
        "console.log",
        lambda: js.console.log("a", 1, None, to_js([1, "b"]), host.make("object"), True, 1.0),
    )
    record.outcome("console.error", lambda: js.console.error("bad"))
    record.outcome("set a global", lambda: setattr(js, "madeHere", 5))
    record.outcome("read it", lambda: js.madeHere)
    record.outcome("delete it", lambda: delattr(js, "madeHere"))
    record.outcome("gone", lambda: js.madeHere)
    record.outcome("globalThis", lambda: js.globalThis.JSON.stringify(1))
    for name in ("null", "window", "document", "process", "Buffer", "require", "localStorage"):
        record.outcome(f"js.{name}", lambda n=name: getattr(js, n))
    for name in ("null", "window"):
        try:
            exec(f"from js import {name}")
        except ImportError as error:
            record(f"from js import {name}", str(error))
    record.outcome("AbortController", lambda: js.AbortController.new().signal.aborted)
    event_target = js.EventTarget.new()
    record.outcome("EventTarget", lambda: event_target.dispatchEvent(js.Event.new("x")))
    record.outcome("performance.now", lambda: type(js.performance.now()) in (int, float))
