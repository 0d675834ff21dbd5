"""JavaScript values on their way in: reading them, to_py, typed arrays and buffers."""

import js
from pyodide.ffi import JsProxy

KINDS = (
    "object",
    "array",
    "sparse",
    "numbers",
    "bigints",
    "strings",
    "map",
    "set",
    "date",
    "invalidDate",
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
    "boxed",
    "frozen",
    "arrayLike",
    "iterable",
    "url",
    "pythonNames",
    "promise",
)


async def scenario_to_py(record, env, host):
    for kind in KINDS:
        value = host.make(kind)
        record.outcome(kind, lambda v=value: v.to_py())
    for kind in ("mapOfObjects", "setOfObjects", "getter"):
        record.outcome(kind, lambda k=kind: host.make(k).to_py())


async def scenario_elements(record, env, host):
    for kind in ("numbers", "bigints", "strings", "array"):
        for index, value in enumerate(host.make(kind)):
            record(f"{kind}[{index}]", value)
            record(f"{kind}[{index}] in Python", host.make(kind).to_py()[index])


async def scenario_to_py_options(record, env, host):
    nested = host.make("object")
    for depth in (-1, 0, 1, 2):
        record.outcome(f"depth={depth}", lambda d=depth: nested.to_py(depth=d))
    seen = []

    def converter(value, convert, cache):
        seen.append(value.constructor.name)
        return "converted"

    holder = js.Array.of(
        host.make("date"),
        host.make("error"),
        host.make("classInstance"),
        host.make("regexp"),
        host.make("function"),
        host.make("symbol"),
        host.make("promise"),
        host.make("url"),
        host.make("nullPrototype"),
        host.make("bytes"),
        host.make("boxed"),
    )
    record.outcome("with a converter", lambda: holder.to_py(default_converter=converter))
    record("the converter saw", seen)
    record.outcome(
        "top level converter", lambda: host.make("date").to_py(default_converter=converter)
    )
    record.outcome(
        "converter that raises",
        lambda: host.make("date").to_py(default_converter=lambda v, c, k: 1 / 0),
    )
    record.outcome(
        "converter that converts",
        lambda: host.make("classInstance").to_py(
            default_converter=lambda v, convert, cache: convert(
                js.Object.assign(js.Object.new(), v)
            )
        ),
    )


async def scenario_circular(record, env, host):
    loop = host.make("circular").to_py()
    record("circular", loop)
    record("is itself", loop["self"] is loop)


async def scenario_nothing(record, env, host):
    import pyodide.ffi as ffi

    obj = host.make("object")
    record("null read", obj.nothing)
    record("null is None", obj.nothing is None)
    record("null is jsnull", obj.nothing is getattr(ffi, "jsnull", None))
    record("bool of null", bool(obj.nothing))
    record("js.undefined", js.undefined)
    record("jsnull", getattr(ffi, "jsnull", "absent"))
    record.outcome("type of jsnull", lambda: type(ffi.jsnull))
    record.outcome("jsnull again", lambda: type(ffi.jsnull)() is ffi.jsnull)
    record.outcome("jsnull attribute", lambda: ffi.jsnull.anything)
    record.outcome("jsnull equality", lambda: [ffi.jsnull == None, ffi.jsnull == ffi.jsnull])  # noqa: E711
    record.outcome("jsnull sent", lambda: host.describe(ffi.jsnull))
    record.outcome("None sent", lambda: host.describe(None))
    record.outcome("undefined sent", lambda: host.describe(js.undefined))
    record.outcome("to_py keeps null", lambda: obj.to_py()["nothing"])
    record.outcome("to_py of undefined", lambda: obj.to_py()["missing"])
    record.outcome("function without result", lambda: js.Array.new().forEach(lambda *_: None))
    record.outcome("null from a call", lambda: js.JSON.parse("null"))
    record.outcome("JSON with null", lambda: js.JSON.parse('{"a": null}').a)


async def scenario_numbers(record, env, host):
    for text in (
        "1",
        "1.0",
        "1.5",
        "-0",
        "1e3",
        "1e20",
        "1e400",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "-9007199254740991",
        "-9007199254740992",
        "2147483648",
        "4294967296",
        "0.1",
    ):
        record.outcome(f"parsed {text}", lambda t=text: js.JSON.parse(t))
    record("NaN", js.NaN)
    record("Infinity", js.Infinity)
    record.outcome("BigInt small", lambda: js.BigInt("5"))
    record.outcome("BigInt large", lambda: js.BigInt("123456789012345678901234567890"))
    record.outcome("BigInt type", lambda: type(js.BigInt("5")).__mro__)
    record.outcome("BigInt sent back", lambda: host.describe(js.BigInt("5")))
    record.outcome("BigInt plus one sent back", lambda: host.describe(js.BigInt("5") + 1))
    record.outcome("BigInt negated sent back", lambda: host.describe(-js.BigInt("5")))
    record.outcome("BigInt in a list", lambda: host.describe(js.Array.of(js.BigInt("5"))))
    record.outcome("boolean", lambda: js.JSON.parse("true"))
    record.outcome("boxed number", lambda: js.Number.new(5))


async def scenario_buffers(record, env, host):
    for kind in ("bytes", "buffer", "floats", "words", "dataView"):
        value = host.make(kind)
        for method in ("to_bytes", "to_memoryview", "to_py", "to_string"):
            record.outcome(f"{kind}.{method}", lambda v=value, m=method: getattr(v, m)())
        record.outcome(f"{kind}: bytes()", lambda v=value: bytes(v))
        record.outcome(f"{kind}: memoryview()", lambda v=value: memoryview(v))
    view = host.make("bytes").to_py()
    view[0] = 9
    record("memoryviews are writable copies", view)
    source = host.make("bytes")
    copy = source.to_py()
    copy[0] = 9
    record("the array is not changed", source[0])
    record.outcome("assign", lambda: source.assign(b"xyz"))
    record("assigned", host.describe(source))
    record.outcome("assign too long", lambda: source.assign(b"wxyz"))
    target = bytearray(3)
    record.outcome("assign_to", lambda: source.assign_to(target))
    record("assigned to", target)
    record.outcome("to_string bad encoding", lambda: host.make("bytes").to_string("utf-8"))
    record.outcome("to_bytes of an object", lambda: host.make("object").to_bytes())


async def scenario_objects(record, env, host):
    obj = host.make("object")
    record.outcome("object_keys", lambda: obj.object_keys())
    record.outcome("object_values", lambda: list(obj.object_values()))
    record.outcome("object_entries", lambda: obj.object_entries())
    record.outcome("entries as lists", lambda: [list(pair) for pair in obj.object_entries()])
    record.outcome("unpacked entries", lambda: dict(obj.object_entries()))
    record.outcome("keys of an array", lambda: list(host.make("array").object_keys()))
    record.outcome("Object.keys", lambda: list(js.Object.keys(obj)))
    record.outcome(
        "dir", lambda: [n for n in ("a", "nested", "to_py", "toString") if n in dir(obj)]
    )
    record.outcome("dir of own names", lambda: [n for n in dir(obj) if not n.startswith("_")][:40])
    record.outcome("as_py_json", lambda: obj.as_py_json())
    record.outcome("as_py_json item", lambda: obj.as_py_json()["nested"]["c"][1])
    record("to_py of a proxy inside", isinstance(host.make("classInstance").to_py(), JsProxy))
