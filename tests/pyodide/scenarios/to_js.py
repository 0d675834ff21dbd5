"""Python values on their way out: to_js, and what a plain call passes."""

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import types
import uuid

import js
from pyodide.ffi import create_proxy, to_js


@dataclasses.dataclass
class Point:
    x: int = 1


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    HELLO = "hello"


class Whole(int):
    pass


class Text(str):
    __slots__ = ()


class Real(float):
    pass


class Items(list):
    pass


class Fields(dict):
    pass


class Plain:
    pass


Pair = collections.namedtuple("Pair", "a b")


def function(a, b=2):
    return a


async def coroutine_function():
    return 1


def generator():
    yield 1


UTC = datetime.UTC

VALUES = {
    "None": None,
    "True": True,
    "int": 5,
    "2**31": 2**31,
    "2**53-2": 2**53 - 2,
    "2**53-1": 2**53 - 1,
    "2**53": 2**53,
    "-(2**53-2)": -(2**53 - 2),
    "-(2**53-1)": -(2**53 - 1),
    "-(2**53)": -(2**53),
    "2**64": 2**64,
    "-2**70": -(2**70),
    "float": 1.5,
    "1.0": 1.0,
    "-0.0": -0.0,
    "1e20": 1e20,
    "float(2**53)": float(2**53),
    "nan": float("nan"),
    "inf": float("inf"),
    "complex": 1j,
    "str": "text",
    "empty str": "",
    "accents": "héllo",
    "wide": "日本語",
    "emoji": "a😀b",
    "nul": "a\0b",
    "lone surrogate": "a\ud83d",
    "surrogate pair in two": "\ud83d\ude00",
    "bytes": b"ab\xff",
    "empty bytes": b"",
    "bytearray": bytearray(b"ab"),
    "memoryview": memoryview(b"ab"),
    "memoryview of words": memoryview(array.array("h", [1, -1])),
    "sliced memoryview": memoryview(b"abcdef")[1:3],
    "strided memoryview": memoryview(b"abcdef")[::2],
    "array b": array.array("b", [1, -1]),
    "array B": array.array("B", [1, 255]),
    "array H": array.array("H", [1, 65535]),
    "array i": array.array("i", [1, -1]),
    "array I": array.array("I", [1]),
    "array q": array.array("q", [1]),
    "array f": array.array("f", [1.5]),
    "array d": array.array("d", [1.5]),
    "list": [1, "two", None, [3]],
    "empty list": [],
    "tuple": (1, "two", None),
    "namedtuple": Pair(1, 2),
    "set": {1},
    "empty set": set(),
    "frozenset": frozenset([1]),
    "set of tuple": {(1, 2)},
    "dict": {"a": 1, "b": None, "c": {"d": [1]}},
    "empty dict": {},
    "int keys": {1: "a", -1: "b"},
    "float key": {1.5: "a"},
    "bool key": {True: "a"},
    "None key": {None: "a"},
    "tuple key": {(1, 2): "a"},
    "bytes key": {b"a": 1},
    "enum key": {Colour.RED: 1},
    "str and int key": {"1": "a", 1: "b"},
    "__proto__ key": {"__proto__": 1},
    "OrderedDict": collections.OrderedDict(a=1),
    "defaultdict": collections.defaultdict(list, a=1),
    "Counter": collections.Counter("aab"),
    "ChainMap": collections.ChainMap({"a": 1}),
    "mappingproxy": types.MappingProxyType({"a": 1}),
    "deque": collections.deque([1, 2]),
    "UserDict": collections.UserDict(a=1),
    "UserList": collections.UserList([1]),
    "range": range(3),
    "dict keys": {"a": 1}.keys(),
    "dict items": {"a": 1}.items(),
    "naive datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, 678901),
    "aware datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
    "date": datetime.date(2020, 1, 2),
    "time": datetime.time(1, 2),
    "timedelta": datetime.timedelta(seconds=1),
    "Decimal": decimal.Decimal("1.5"),
    "Fraction": fractions.Fraction(1, 2),
    "UUID": uuid.UUID(int=1),
    "Path": pathlib.PurePosixPath("/a"),
    "Enum": Colour.RED,
    "IntEnum": Level.LOW,
    "StrEnum": Word.HELLO,
    "int subclass": Whole(5),
    "str subclass": Text("t"),
    "float subclass": Real(1.5),
    "list subclass": Items([1]),
    "dict subclass": Fields(a=1),
    "dataclass": Point(),
    "object": Plain(),
    "class": Plain,
    "function": function,
    "lambda": lambda: 1,
    "coroutine function": coroutine_function,
    "generator": generator(),
    "builtin": len,
    "module": types,
    "exception": ValueError("m"),
    "Ellipsis": ...,
    "SimpleNamespace": types.SimpleNamespace(a=1),
}


async def scenario_each_type(record, env, host):
    for label, value in VALUES.items():
        record.outcome(label, lambda v=value: host.describe(to_js(v)))


async def scenario_to_js_returns(record, env, host):
    for label in (
        "None",
        "int",
        "2**53",
        "2**64",
        "float",
        "1.0",
        "str",
        "lone surrogate",
        "bytes",
        "list",
        "dict",
        "set",
        "tuple",
        "object",
        "function",
        "Enum",
        "IntEnum",
        "StrEnum",
        "int subclass",
        "naive datetime",
        "exception",
        "memoryview",
        "bytearray",
    ):
        record.outcome(label, lambda v=VALUES[label]: to_js(v))


async def scenario_plain_call_arguments(record, env, host):
    for label, value in VALUES.items():
        record.outcome(label, lambda v=value: host.args(v))


async def scenario_nested_in_a_list(record, env, host):
    for label, value in VALUES.items():
        record.outcome(label, lambda v=value: host.describe(to_js([v])))


async def scenario_objects_from_entries(record, env, host):
    for label in (
        "dict",
        "int keys",
        "float key",
        "bool key",
        "None key",
        "tuple key",
        "bytes key",
        "enum key",
        "str and int key",
        "__proto__ key",
        "OrderedDict",
        "defaultdict",
        "dict subclass",
        "UserDict",
        "list",
    ):
        record.outcome(
            label,
            lambda v=VALUES[label]: host.describe(to_js(v, dict_converter=js.Object.fromEntries)),
        )
    record.outcome(
        "Map.new", lambda: host.describe(to_js({"a": {"b": 1}}, dict_converter=js.Map.new))
    )
    record.outcome(
        "python converter",
        lambda: host.describe(to_js({"a": 1}, dict_converter=lambda pairs: js.Array.from_(pairs))),
    )


async def scenario_options(record, env, host):
    nested = [[[1]], {"a": [1]}]
    for depth in (-1, 0, 1, 2):
        record.outcome(f"depth={depth}", lambda d=depth: host.describe(to_js(nested, depth=d)))
    for label in ("object", "date", "Decimal", "frozenset", "function", "class", "exception"):
        value = VALUES[label]
        record.outcome(f"no pyproxies: {label}", lambda v=value: to_js(v, create_pyproxies=False))
        record.outcome(
            f"no pyproxies, nested: {label}", lambda v=value: to_js([v], create_pyproxies=False)
        )
        seen = []
        record.outcome(
            f"default converter: {label}",
            lambda v=value, s=seen: host.describe(
                to_js(
                    [v],
                    default_converter=lambda o, convert, cache: s.append(type(o).__name__) or "x",
                )
            ),
        )
        record(f"default converter saw: {label}", seen)
    proxies = js.Array.new()
    to_js([Plain(), function], pyproxies=proxies)
    record("pyproxies collected", host.describe(proxies))
    record.outcome("pyproxies must be an array", lambda: to_js([Plain()], pyproxies=[]))
    record.outcome(
        "converter converts",
        lambda: host.describe(
            to_js([Point()], default_converter=lambda o, convert, cache: convert({"x": [o.x]}))
        ),
    )
    record.outcome(
        "converter raises",
        lambda: to_js([Point()], default_converter=lambda o, convert, cache: 1 / 0),
    )
    record.outcome(
        "converter returns None",
        lambda: host.describe(to_js([Point()], default_converter=lambda o, convert, cache: None)),
    )
    record.outcome(
        "converter returns a list",
        lambda: host.describe(to_js([Point()], default_converter=lambda o, convert, cache: [1])),
    )


async def scenario_cycles_and_sharing(record, env, host):
    loop = [1]
    loop.append(loop)
    record.outcome("circular list", lambda: host.describe(to_js(loop)))
    knot = {"a": 1}
    knot["self"] = knot
    record.outcome("circular dict", lambda: host.describe(to_js(knot)))
    record.outcome(
        "circular dict to objects",
        lambda: host.describe(to_js(knot, dict_converter=js.Object.fromEntries)),
    )
    before = {}
    before.update(self=before, after=1)
    record.outcome("keys after itself", lambda: host.describe(to_js(before)))
    listed = {}
    listed["list"] = [listed]
    record.outcome("in a list of its own", lambda: host.describe(to_js(listed)))
    record.outcome(
        "in a list of its own to objects",
        lambda: host.describe(to_js(listed, dict_converter=js.Object.fromEntries)),
    )
    shared = [1]
    twice = to_js([shared, shared])
    record("shared list stays shared", twice[0] == twice[1])


async def scenario_round_trips(record, env, host):
    for label, value in VALUES.items():
        record.outcome(label, lambda v=value: host.echo(to_js(v)))
    record("a list passed and returned is the list", host.echo(VALUES["list"]))
    record("and the very same one", host.echo(VALUES["list"]) is VALUES["list"])
    plain = Plain()
    record("an object passed and returned is the same", host.echo(plain) is plain)
    proxy = create_proxy(plain)
    record("create_proxy", proxy)
    record("create_proxy returned", host.echo(proxy))
    record.outcome("unwrap", lambda: proxy.unwrap() is plain)
    proxy.destroy()
    record.outcome("destroyed", lambda: host.echo(proxy))
    record.outcome("destroyed twice", proxy.destroy)
