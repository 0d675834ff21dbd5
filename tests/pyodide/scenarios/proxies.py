"""What a JsProxy can and cannot do: attributes, items, iteration, length, truth, comparison."""

import copy
import operator
import pickle

import js
from pyodide.ffi import JsProxy

KINDS = (
    "object",
    "array",
    "numbers",
    "map",
    "set",
    "date",
    "error",
    "typeError",
    "bytes",
    "buffer",
    "words",
    "dataView",
    "symbol",
    "regexp",
    "function",
    "classInstance",
    "nullPrototype",
    "promise",
    "thenable",
    "frozen",
    "iterable",
    "generator",
    "asyncGenerator",
    "arrayLike",
    "sized",
    "url",
    "domException",
    "method",
)


async def scenario_type_and_text(record, env, host):
    for kind in KINDS:
        value = host.make(kind)
        record(kind, value)
        record.outcome(f"str({kind})", lambda v=value: str(v))
        record.outcome(f"{kind}.typeof", lambda v=value: v.typeof)
        record.outcome(f"{kind}.constructor.name", lambda v=value: v.constructor.name)
        record(f"isinstance({kind}, JsProxy)", isinstance(value, JsProxy))


async def scenario_bases(record, env, host):
    import pyodide.ffi as ffi

    # The remaining classes of pyodide.ffi answer True for every proxy.
    names = (
        "JsArray",
        "JsAsyncGenerator",
        "JsAsyncIterable",
        "JsAsyncIterator",
        "JsBuffer",
        "JsCallable",
        "JsException",
        "JsGenerator",
        "JsIterable",
        "JsIterator",
        "JsMap",
        "JsMutableMap",
        "JsPromise",
        "JsProxy",
        "JsTypedArray",
        "JsDoubleProxy",
    )
    for kind in KINDS:
        value = host.make(kind)
        found = [n for n in names if hasattr(ffi, n) and isinstance(value, getattr(ffi, n))]
        record(f"{kind} is a", found)


async def scenario_methods_python_adds(record, env, host):
    names = (
        "to_py",
        "to_bytes",
        "to_memoryview",
        "to_string",
        "to_file",
        "assign",
        "assign_to",
        "as_object_map",
        "as_py_json",
        "object_entries",
        "object_keys",
        "object_values",
        "then",
        "catch",
        "finally_",
        "new",
        "js_id",
        "typeof",
        "append",
        "extend",
        "insert",
        "pop",
        "push",
        "index",
        "count",
        "remove",
        "reverse",
        "clear",
        "get",
        "items",
        "keys",
        "values",
        "update",
        "setdefault",
        "send",
        "throw",
        "close",
        "asend",
        "__getitem__",
        "__setitem__",
        "__delitem__",
        "__len__",
        "__iter__",
        "__next__",
        "__aiter__",
        "__anext__",
        "__await__",
        "__call__",
        "__contains__",
        "__reversed__",
        "__add__",
    )
    for kind in KINDS:
        value = host.make(kind)
        record.outcome(f"{kind} has", lambda v=value: [n for n in names if hasattr(v, n)])


async def scenario_attributes(record, env, host):
    obj = host.make("object")
    record("present", obj.a)
    record("nested", obj.nested.c)
    record("null", obj.nothing)
    record.outcome("undefined", lambda: obj.missing)
    record.outcome("absent", lambda: obj.absent)
    record("hasattr present", hasattr(obj, "a"))
    record("hasattr null", hasattr(obj, "nothing"))
    record("hasattr undefined", hasattr(obj, "missing"))
    record("hasattr absent", hasattr(obj, "absent"))
    record("getattr default", getattr(obj, "absent", "fallback"))
    record("prototype method", callable(obj.hasOwnProperty))
    obj.added = [1]
    record("set attribute to a list", host.describe(obj.added) if obj.added is not None else None)
    obj.number = 5
    record("set attribute", obj.number)
    del obj.number
    record("deleted", hasattr(obj, "number"))
    record.outcome("delete absent", lambda: delattr(obj, "absent"))
    record.outcome("set on frozen", lambda: setattr(host.make("frozen"), "a", 2))
    record.outcome("getter that throws", lambda: host.make("getter").bad)
    record.outcome("hasattr of a getter that throws", lambda: hasattr(host.make("getter"), "bad"))
    record.outcome("getter", lambda: host.make("getter").good)
    record.outcome("attribute of an array", lambda: host.make("array").length)
    record.outcome("absent attribute of an array", lambda: host.make("array").absent)
    record.outcome("absent attribute of a function", lambda: host.make("function").absent)
    record.outcome("absent attribute of js", lambda: js.absentGlobal)
    record.outcome("private attribute", lambda: obj._private)
    record.outcome("dunder attribute", lambda: obj.__private__)


async def scenario_awkward_names(record, env, host):
    obj = host.make("pythonNames")
    for name in (
        "class",
        "class_",
        "get",
        "items",
        "from_",
        "from",
        "length",
        "keys",
        "to_py",
        "with-dash",
    ):
        record.outcome(f"getattr {name}", lambda n=name: getattr(obj, n))
    record.outcome("keyword without underscore", lambda: obj.class_)
    record.outcome("object_keys", lambda: list(obj.object_keys()))
    record.outcome("constructor", lambda: obj.constructor)
    record.outcome("Array.from_", lambda: js.Array.from_([1, 2]))


async def scenario_items(record, env, host):
    obj, array = host.make("object"), host.make("array")
    record.outcome("object['a']", lambda: obj["a"])
    record.outcome("object[0]", lambda: obj[0])
    record.outcome("object['a'] = 1", lambda: operator.setitem(obj, "a", 1))
    record.outcome("del object['a']", lambda: operator.delitem(obj, "a"))
    record.outcome("'a' in object", lambda: "a" in obj)
    for index in (0, 2, 3, -1, 5, -6):
        record.outcome(f"array[{index}]", lambda i=index: array[i])
    record.outcome("array['0']", lambda: array["0"])
    record.outcome("array[1.0]", lambda: array[1.0])
    record.outcome("array[True]", lambda: array[True])
    record.outcome("hole", lambda: host.make("sparse")[2])
    record.outcome("1 in array", lambda: 1 in array)
    record.outcome("'x' in array", lambda: "x" in array)
    mapping = host.make("map")
    record.outcome("map['a']", lambda: mapping["a"])
    record.outcome("map[2]", lambda: mapping[2])
    record.outcome("map['absent']", lambda: mapping["absent"])
    record.outcome("'a' in map", lambda: "a" in mapping)
    record.outcome("map['b'] = 5", lambda: operator.setitem(mapping, "b", 5))
    record.outcome("del map['b']", lambda: operator.delitem(mapping, "b"))
    record.outcome("del map['absent']", lambda: operator.delitem(mapping, "absent"))
    record.outcome("map.get", lambda: mapping.get("absent"))
    record.outcome("map.get with default", lambda: mapping.get("absent", 9))
    record.outcome("map after", lambda: host.describe(mapping))
    record.outcome("1 in set", lambda: 1 in host.make("set"))
    record.outcome("set[0]", lambda: host.make("set")[0])
    record.outcome("typed[0]", lambda: host.make("bytes")[0])
    record.outcome("typed[-1]", lambda: host.make("bytes")[-1])
    record.outcome("typed[9]", lambda: host.make("bytes")[9])
    record.outcome("buffer[0]", lambda: host.make("buffer")[0])
    record.outcome("arrayLike[0]", lambda: host.make("arrayLike")[0])
    record.outcome("function['name']", lambda: host.make("function")["name"])


async def scenario_array_as_sequence(record, env, host):
    def fresh():
        return js.Array.of(1, 2, 3, 4)

    record.outcome("slice", lambda: fresh()[1:3])
    record.outcome("slice described", lambda: host.describe(fresh()[1:3]))
    record.outcome("step slice", lambda: host.describe(fresh()[::2]))
    record.outcome("reverse slice", lambda: host.describe(fresh()[::-1]))
    for label, change in (
        ("assign item", lambda a: operator.setitem(a, 0, "x")),
        ("assign negative", lambda a: operator.setitem(a, -1, "x")),
        ("assign past the end", lambda a: operator.setitem(a, 9, "x")),
        ("assign slice", lambda a: operator.setitem(a, slice(1, 3), ["p", "q", "r"])),
        ("assign step slice", lambda a: operator.setitem(a, slice(0, 4, 2), ["p", "q"])),
        ("delete item", lambda a: operator.delitem(a, 0)),
        ("delete slice", lambda a: operator.delitem(a, slice(1, 3))),
        ("delete past the end", lambda a: operator.delitem(a, 9)),
        ("append", lambda a: a.append(5)),
        ("append a list", lambda a: a.append([5])),
        ("push", lambda a: a.push(5)),
        ("extend", lambda a: a.extend([5, 6])),
        ("insert", lambda a: a.insert(1, "i")),
        ("pop", lambda a: a.pop()),
        ("pop 0", lambda a: a.pop(0)),
        ("remove", lambda a: a.remove(2)),
        ("remove absent", lambda a: a.remove(22)),
        ("reverse", lambda a: a.reverse()),
        ("clear", lambda a: a.clear()),
        ("index", lambda a: a.index(3)),
        ("index absent", lambda a: a.index(33)),
        ("count", lambda a: a.count(3)),
        ("a + list", lambda a: a + [5]),  # noqa: RUF005
        ("a * 2", lambda a: a * 2),
        ("a += list", lambda a: operator.iadd(a, [5])),
        ("reversed", lambda a: list(reversed(a))),
        ("list", list),
        ("unpack", lambda a: (lambda *xs: xs)(*a)),
        ("join", lambda a: a.join("-")),
        ("sorted", lambda a: sorted(a, reverse=True)),
        ("sum", sum),
        ("equals a list", lambda a: a == [1, 2, 3, 4]),
        ("map", lambda a: host.describe(a.map(lambda x, *_: x * 2))),
        ("filter", lambda a: host.describe(a.filter(lambda x, *_: x > 2))),
        ("copy", lambda a: host.describe(copy.copy(a))),
    ):
        array = fresh()
        record.outcome(label, lambda a=array, c=change: c(a))
        record(f"{label}: after", host.describe(array))


async def scenario_iteration_and_length(record, env, host):
    for kind in KINDS:
        value = host.make(kind)
        record.outcome(f"len({kind})", lambda v=value: len(v))
        record.outcome(f"iter({kind})", lambda v=value: type(iter(v)).__qualname__)
        record.outcome(f"list({kind})", lambda v=value: list(v))
        record.outcome(f"bool({kind})", lambda v=value: bool(v))
        record.outcome(f"next({kind})", lambda v=value: next(v))
    record("bool of an empty object", bool(js.Object.new()))
    record("bool of an empty array", bool(js.Array.new()))
    record("bool of an empty map", bool(js.Map.new()))
    record("bool of an empty set", bool(js.Set.new()))
    record("bool of an empty typed array", bool(js.Uint8Array.new(0)))
    generator = host.make("generator")
    record.outcome("generator next", lambda: next(generator))
    record.outcome("generator send", lambda: generator.send("it"))
    record.outcome("generator end", lambda: next(generator))
    record.outcome("generator past the end", lambda: next(generator))
    record.outcome("dict(object)", lambda: dict(host.make("object")))
    record.outcome("dict(map)", lambda: dict(host.make("map")))
    record("async generator", [item async for item in host.make("asyncGenerator")])


async def scenario_map_methods(record, env, host):
    mapping = host.make("map")
    for name in ("keys", "values", "items", "entries"):
        record.outcome(name, lambda n=name: type(getattr(mapping, n)()).__qualname__)
        record.outcome(f"list {name}", lambda n=name: list(getattr(mapping, n)()))
    record.outcome("pop", lambda: mapping.pop("a"))
    record.outcome("pop absent", lambda: mapping.pop("a"))
    record.outcome("setdefault", lambda: mapping.setdefault("z", 1))
    record.outcome("update", lambda: mapping.update({"y": 2}))
    record.outcome("after", lambda: host.describe(mapping))
    record.outcome("as_object_map", lambda: host.make("object").as_object_map())
    keyed = host.make("object").as_object_map()
    record.outcome("as_object_map get", lambda: keyed["a"])
    record.outcome("as_object_map absent", lambda: keyed["absent"])
    record.outcome("as_object_map keys", lambda: list(keyed))
    record.outcome("as_object_map len", lambda: len(keyed))


async def scenario_comparison(record, env, host):
    one, other = host.make("object"), host.make("object")
    same = host.make("sum")
    record("same object", same == host.make("sum"))
    record("same object is", same is host.make("sum"))
    record("other object", one == other)
    record("not equal", one != other)
    record("with a dict", one == {})
    record.outcome("hash", lambda: hash(same) == hash(host.make("sum")))
    record.outcome("as a dict key", lambda: {same: 1}[host.make("sum")])
    record.outcome("less than", lambda: one < other)
    record.outcome("add", lambda: one + 1)
    record.outcome("call an object", lambda: one())
    record.outcome("call an array", lambda: host.make("array")())
    record.outcome("new an object", lambda: one.new())
    record.outcome("copy.copy", lambda: copy.copy(one))
    record.outcome("copy.deepcopy", lambda: copy.deepcopy(one))
    record.outcome("pickle", lambda: pickle.dumps(one))
    record.outcome("subclass", lambda: type("Sub", (JsProxy,), {}))
    record.outcome("instantiate", JsProxy)
    record.outcome("isinstance js class", lambda: isinstance(host.make("map"), js.Map))
    record.outcome(
        "instanceof through js", lambda: js.Map.prototype.isPrototypeOf(host.make("map"))
    )
    record.outcome("await an object", lambda: one.__await__())


async def scenario_calls(record, env, host):
    method = host.make("method")
    options = host.make("options")
    record("method", method.add(1, 2))
    record("default argument", method.add(1))
    detached = method.add
    record("a detached method stays bound", detached(1, 2))
    record("same method read twice", method.add == method.add)
    record("no arguments", options.take())
    record("too many arguments", host.make("function")(1, 2, 3))
    record("keyword arguments", options.take(1, b=2, c="x"))
    record("only keyword arguments", options.take(a=None))
    record("list argument", options.take([1], {"a": 1}, (1, 2), {1}))
    record("nested keyword", options.take(a={"b": 1}, c=[1]))
    record("None argument", options.take(None))
    record("function attributes", [detached.name, detached.length])
    record.outcome("apply", lambda: detached.apply(None, [1, 2]))
    record.outcome("call", lambda: detached.call(method, 1, 2))
    record.outcome("bind", lambda: detached.bind(method, 1)(2))
    record.outcome("throwing", lambda: host.call(lambda: host.make("getter").bad))
