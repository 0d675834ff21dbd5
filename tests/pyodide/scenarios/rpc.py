"""The SDK's one conversion table: python_to_rpc, python_from_rpc, JsDict."""

import copy
import pickle

import js
from pyodide.ffi import to_js
from workers import Blob, File, FormData, Request, Response, python_from_rpc, python_to_rpc
from workers.rpc import JsDict

from scenarios.to_js import VALUES


async def nothing():
    return None


async def scenario_python_to_rpc(record, env, host):
    for label, value in VALUES.items():
        record.outcome(label, lambda v=value: host.describe(python_to_rpc(v)))


async def scenario_python_to_rpc_nested(record, env, host):
    for label, value in VALUES.items():
        record.outcome(f"in a list: {label}", lambda v=value: host.describe(python_to_rpc([v])))
        record.outcome(
            f"in a dict: {label}", lambda v=value: host.describe(python_to_rpc({"k": v}))
        )
    record.outcome("deep None", lambda: host.describe(python_to_rpc({"a": [{"b": [None]}]})))
    record.outcome("deep tuple", lambda: host.describe(python_to_rpc({"a": [{"b": (1,)}]})))
    record.outcome("set of None", lambda: host.describe(python_to_rpc({None})))


async def scenario_python_to_rpc_of_objects(record, env, host):
    coroutine = nothing()
    record.outcome("coroutine", lambda: python_to_rpc(coroutine))
    record.outcome("coroutine in a list", lambda: python_to_rpc([coroutine]))
    coroutine.close()
    for label, make in {
        "Response": lambda: Response("x"),
        "Request": lambda: Request("https://example.com/"),
        "Blob": lambda: Blob(["a"]),
        "File": lambda: File(["a"], "a.txt"),
        "FormData": lambda: FormData({"a": "b"}),
        "binding": lambda: env.QUEUE,
        "env": lambda: env,
        "JsDict": lambda: JsDict(a=1),
        "js.Date": lambda: js.Date.new(0),
        "js.Map": lambda: js.Map.new(),
        "js.RegExp": lambda: js.RegExp.new("a"),
        "to_js dict": lambda: to_js({"a": 1}),
        "promise": lambda: js.Promise.resolve(1),
        "symbol": lambda: host.make("symbol"),
        "js function": lambda: host.make("function"),
        "js Response": lambda: js.Response.new("x"),
        "js error": lambda: js.Error.new("x"),
    }.items():
        record.outcome(label, lambda m=make: host.describe(python_to_rpc(m())))
        record.outcome(f"in a list: {label}", lambda m=make: host.describe(python_to_rpc([m()])))


async def scenario_python_from_rpc(record, env, host):
    for kind in (
        "object",
        "array",
        "numbers",
        "bigints",
        "strings",
        "map",
        "set",
        "date",
        "error",
        "typeError",
        "namedError",
        "domException",
        "bytes",
        "buffer",
        "floats",
        "words",
        "dataView",
        "symbol",
        "regexp",
        "function",
        "classInstance",
        "nullPrototype",
        "circular",
        "boxed",
        "frozen",
        "arrayLike",
        "url",
        "pythonNames",
        "method",
        "invalidDate",
        "mapOfObjects",
        "setOfObjects",
        "getter",
        "iterable",
        "queue",
    ):
        record.outcome(kind, lambda k=kind: python_from_rpc(host.make(k)))
    for label, make in {
        "None": lambda: None,
        "int": lambda: 5,
        "str": lambda: "s",
        "python dict": lambda: {"a": 1},
        "python object": object,
        "js.Response": lambda: js.Response.new("x"),
        "js.Request": lambda: js.Request.new("https://example.com/"),
        "js.Blob": lambda: js.Blob.new(to_js(["a"])),
        "js.File": lambda: js.File.new(to_js(["a"]), "a.txt"),
        "js.FormData": lambda: js.FormData.new(),
        "js.Headers": lambda: js.Headers.new(),
        "js.Number": lambda: js.Number.new(1),
        "null": lambda: host.make("object").nothing,
    }.items():
        record.outcome(label, lambda m=make: type(python_from_rpc(m())))
    nested = js.Object.new()
    nested.when = js.Date.new(0)
    nested.response = js.Response.new("x")
    nested.error = js.Error.new("m")
    nested.list = js.Array.of(js.Map.new(), js.Date.new(1))
    record.outcome("nested", lambda: python_from_rpc(nested)["when"])
    record.outcome("nested response", lambda: type(python_from_rpc(nested)["response"]))
    record.outcome("nested error", lambda: python_from_rpc(nested)["error"])
    record.outcome("nested list", lambda: python_from_rpc(nested)["list"])


async def scenario_round_trip(record, env, host):
    for label, value in VALUES.items():
        record.outcome(label, lambda v=value: python_from_rpc(host.echo(python_to_rpc(v))))


async def scenario_js_dict(record, env, host):
    value = python_from_rpc(host.make("object"))
    record("value", value)
    record("attribute", value.a)
    record("item", value["b"])
    record("nested attribute", value.nested.c)
    record.outcome("absent attribute", lambda: value.absent)
    record.outcome("absent item", lambda: value["absent"])
    record("get", value.get("absent", 1))
    record("null is None", value.nothing)
    value.added = 2
    record("set attribute is an item", value["added"])
    record.outcome("delete attribute", lambda: delattr(value, "added"))
    record("copy", value.copy())
    record("union", value | {"z": 1})
    record("deepcopy", copy.deepcopy(value))
    record("pickle", pickle.loads(pickle.dumps(value)))
    record("equals dict", JsDict(a=1) == {"a": 1})
    record("has to_py", hasattr(value, "to_py"))
    named = python_from_rpc(host.make("map"))
    record("map", named)
    clash = python_from_rpc(js.Object.fromEntries(to_js([["items", 1], ["x", 2]])))
    record("a method wins over a key", callable(clash.items))
    record("but not as an item", clash["items"])
