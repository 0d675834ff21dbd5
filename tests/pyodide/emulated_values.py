"""The emulator's twin of `made` in host/host.mjs: values that scenarios ask the host for.

What no part of the Workers platform hands to Python, and the emulator therefore has no way to
make, is `ABSENT`: differences.py names those kinds.
"""

from __future__ import annotations

import math

from tsumugi_emulator.javascript.arrays import JsArray, JsIterator
from tsumugi_emulator.javascript.buffers import TYPED_ARRAYS, ArrayBuffer, DataView
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import DOMException, JsException, range_error
from tsumugi_emulator.javascript.functions import JsFunction, js_class, js_method, js_property
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.promise import JsPromise, resolved
from tsumugi_emulator.javascript.regexp import RegExp
from tsumugi_emulator.javascript.standard import Object
from tsumugi_emulator.javascript.values import JsBigInt, JsObject, JsProxy, JsSymbol, jsnull

SENT_AT_MS = 1_767_323_045_678


@js_class("Point")
class Point(JsProxy):
    def __init__(self):
        self.x = 1

    @js_method
    def norm(self):
        return self.x

    def _to_string(self):
        return "[object Object]"

    def _entries(self):
        return {"x": self.x}


@js_class("Object", constructible=False)
class Getter(JsProxy):
    @js_property
    def bad(self):
        raise range_error("from the getter")

    @js_property
    def good(self):
        return 1


@js_class("Cursor", constructible=False)
class Cursor(JsProxy):
    def __init__(self):
        self._rows = [
            JsObject({"id": 1, "name": "a"}),
            JsObject({"id": 2, "name": jsnull}),
        ]
        self._at = 0

    @js_property
    def rowsRead(self):
        return self._at + 1

    @js_property
    def columnNames(self):
        return JsArray(["id", "name"])

    @js_method
    def next(self):
        if self._at == len(self._rows):
            return JsObject({"done": True})
        self._at += 1
        return JsObject({"done": False, "value": self._rows[self._at - 1]})

    @js_method
    def toArray(self):
        return JsArray(list(self))

    def __iter__(self):
        while self._at < len(self._rows):
            self._at += 1
            yield self._rows[self._at - 1]

    def _iterate(self):
        return iter(self)


def function(call, name, source):
    made = JsFunction(call, name, 2)
    SOURCES[id(made)] = (made, source)
    return made


SOURCES = {}


def circular():
    loop = JsObject({"a": 1})
    loop._props["self"] = loop
    return loop


def method():
    holder = JsObject({"base": 10})
    holder._props["add"] = JsFunction(lambda a, b=100, *_: holder._props["base"] + a + b, "add", 1)
    return holder


def named_error():
    error = JsException("Error", "custom")
    error.name = "CustomError"
    error.code = 7
    return error


def with_cause():
    return JsException("Error", "outer", cause=JsException("RangeError", "inner"))


def words():
    return TYPED_ARRAYS["Uint16Array"](ArrayBuffer(bytearray(b"\x01\x00\xff\xff")))


def floats():
    import struct

    return TYPED_ARRAYS["Float64Array"](ArrayBuffer(bytearray(struct.pack("<2d", 1.5, 2))))


def octets():
    return ArrayBuffer(bytearray([1, 2, 255]))


def plain_object():
    return JsObject(
        {
            "a": 1,
            "b": "two",
            "nested": JsObject({"c": JsArray([1, 2])}),
            "nothing": jsnull,
            "missing": None,
        }
    )


def python_names():
    return JsObject(
        {
            "class": 1, "get": 2, "items": 3, "from_": 4, "length": 5, "keys": 6, "to_py": 7,
            "constructor": 8, "with-dash": 9,
        }
    )  # fmt: skip


def numbers():
    return JsArray(
        [
            1, 1.5, -0.0, math.nan, math.inf, -math.inf, 2**53 - 1, float(2**53), -float(2**53),
            1e20, 2**31,
        ]
    )  # fmt: skip


def url():
    from tsumugi_emulator.javascript.web.url import URLClass

    return URLClass.new("https://example.com/p?q=1")


def plus(a=None, b=None, *_rest):
    return math.nan if a is None or b is None else a + b


def absent():
    return JsObject({})


def makers(describe, queue):
    total = JsObject({"2": 3})
    return {
        "object": plain_object,
        "array": lambda: JsArray([1, "two", jsnull, None, JsObject({"a": 1})]),
        "sparse": lambda: JsArray([1, 2, None]),
        "numbers": numbers,
        "bigints": lambda: JsArray([JsBigInt(n) for n in (0, 5, -5, 2**64)]),
        "strings": lambda: JsArray(["", "é", "\U0001f600", "\ud83d", "a\0b"]),
        "map": lambda: JsMap([("a", 1), (2, "two")]),
        "mapOfObjects": lambda: JsMap([(JsObject(), 1)]),
        "set": lambda: JsSet([1, "a"]),
        "setOfObjects": lambda: JsSet([JsObject()]),
        "date": lambda: JsDate(SENT_AT_MS),
        "invalidDate": lambda: JsDate(math.nan),
        "error": lambda: JsException("Error", "plain"),
        "typeError": lambda: JsException("TypeError", "typed"),
        "errorWithCause": with_cause,
        "errorWithoutMessage": lambda: JsException("Error", ""),
        "namedError": named_error,
        "domException": lambda: DOMException("cloned", "DataCloneError"),
        "bytes": lambda: TYPED_ARRAYS["Uint8Array"](octets()),
        "buffer": octets,
        "floats": floats,
        "words": words,
        "dataView": lambda: DataView(ArrayBuffer(bytearray([1, 2, 3])), 1),
        "symbol": lambda: JsSymbol("s"),
        "regexp": lambda: RegExp("a+", "g"),
        "function": lambda: JsFunction(plus, "plus", 2),
        "classInstance": Point,
        "nullPrototype": absent,
        "circular": circular,
        "promise": lambda: resolved(JsObject({"a": 1})),
        "holderOfPromise": lambda: JsObject({"promise": JsPromise(resolved(3))}),
        "arrayOfPromises": lambda: JsArray([JsPromise(resolved(1)), JsPromise(resolved(2))]),
        "thenable": absent,
        "boxed": lambda: JsArray([]),
        "frozen": lambda: Object.freeze(JsObject({"a": 1})),
        "getter": Getter,
        "pythonNames": python_names,
        "method": method,
        "options": lambda: JsObject(
            {"take": JsFunction(lambda *args: f"[{', '.join(map(describe, args))}]", "take")}
        ),
        "iterable": absent,
        "generator": lambda: JsIterator(iter([1, "got undefined"])),
        "asyncGenerator": absent,
        "arrayLike": lambda: JsObject({"0": "a", "1": "b", "length": 2}),
        "sized": lambda: JsObject({"size": 3}),
        "url": url,
        "cursor": Cursor,
        "queue": lambda: queue,
        "sum": lambda: total,
    }


__all__ = ["SENT_AT_MS", "makers"]
