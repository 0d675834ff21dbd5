"""ECMAScript's own globals: Object, Array, Map, JSON, Math and the rest of ``from js import ...``.

Not here: what the web platform adds (``web``), which needs an event to run in.
"""

from __future__ import annotations

import math
import random
from typing import Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import TYPED_ARRAYS, ArrayBuffer, DataView, is_view
from tsumugi_emulator.javascript.convert import FROM_ENTRIES, is_index, ordered
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.double_proxy import PYPROXY_CONSTRUCTOR
from tsumugi_emulator.javascript.errors import ERROR_NAMES, JsException, error_class, type_error
from tsumugi_emulator.javascript.functions import JsClass, JsFunction
from tsumugi_emulator.javascript.iterators import element, iterate_js, same_value_zero
from tsumugi_emulator.javascript.json_global import json_parse, json_stringify
from tsumugi_emulator.javascript.maps import (
    JsLiteralMap,
    JsMap,
    JsSet,
    JsWeakMap,
    JsWeakRef,
    JsWeakSet,
)
from tsumugi_emulator.javascript.promise import JsPromise
from tsumugi_emulator.javascript.regexp import RegExp
from tsumugi_emulator.javascript.strings import to_number, to_string, truthy
from tsumugi_emulator.javascript.to_python import to_py
from tsumugi_emulator.javascript.uri import (
    decode_uri,
    decode_uri_component,
    encode_uri,
    encode_uri_component,
)
from tsumugi_emulator.javascript.values import (
    OBJECT_CONSTRUCTOR,
    JsBigInt,
    JsObject,
    JsProxy,
    JsSymbol,
    _set_props,
    jsnull,
)


def namespace(name: str, members: dict[str, Any]) -> JsObject:
    """A namespace object such as ``JSON``: functions become JavaScript functions."""
    obj = _Namespace({})
    for key, member in members.items():
        obj._props[key] = JsFunction(member, key) if callable(member) else member
    _names[id(obj)] = name
    return obj


_names: dict[int, str] = {}


class _Namespace(JsObject):
    __slots__ = ()

    def _class_name(self) -> str:
        return _names.get(id(self), "Object")


# -- Object ---------------------------------------------------------------------------------------


def _object_construct(value: Any = None) -> Any:
    return value if isinstance(value, JsProxy) else JsObject()


def _from_entries(entries: Any = None) -> JsObject:
    pairs = ((element(pair, 0), element(pair, 1)) for pair in iterate_js(entries))
    return ordered(JsObject({to_string(key): value for key, value in pairs}))


def _own(value: Any) -> dict[str, Any]:
    if value is None or value is jsnull:
        raise type_error("Cannot convert undefined or null to object")
    return value._entries() if isinstance(value, JsProxy) else {}


def _assign(target: Any, *sources: Any) -> Any:
    for source in sources:
        if isinstance(source, JsProxy):
            target._entries().update(source._entries())
    return ordered(target) if isinstance(target, JsObject) else target


class _FrozenProps(dict[str, Any]):
    """The properties of a frozen object."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self:
            raise type_error(f"Cannot assign to read only property '{name}' of object '#<Object>'")
        raise type_error(f"Cannot add property {name}, object is not extensible")

    def pop(self, name: str, *default: Any) -> Any:
        if name in self:
            raise type_error(f"Cannot delete property '{name}' of #<Object>")


def _freeze(value: Any = None) -> Any:
    if isinstance(value, JsObject):  # arrays and the rest stay as they are
        _set_props(value, _FrozenProps(value._props))
    return value


def _is_frozen(value: JsProxy) -> bool:
    return isinstance(value, JsObject) and isinstance(value._props, _FrozenProps)


def _make_object() -> JsClass:
    cls = JsClass("Object", _object_construct, lambda value: isinstance(value, JsProxy))
    cls._call = _object_construct
    statics: dict[str, Any] = {
        "fromEntries": _from_entries,
        "keys": lambda value=None: JsArray(list(_own(value))),
        "values": lambda value=None: JsArray(list(_own(value).values())),
        "entries": lambda value=None: JsArray([JsArray([k, v]) for k, v in _own(value).items()]),
        "assign": _assign,
        "is": lambda left=None, right=None: same_value_zero(left, right),
        "freeze": _freeze,
        "isFrozen": lambda value=None: not isinstance(value, JsProxy) or _is_frozen(value),
        "create": lambda proto=None, *rest: JsObject(),
        "hasOwn": lambda value=None, key=None: to_string(key) in _own(value),
        "getOwnPropertyNames": lambda value=None: JsArray(list(_own(value))),
    }
    for name, call in statics.items():
        setattr(cls, name, JsFunction(call, name))
    return cls


JsProxy.to_py = to_py
Object = _make_object()
OBJECT_CONSTRUCTOR[0] = Object
FROM_ENTRIES[0] = Object.fromEntries
JsLiteralMap.constructor = JsClass("LiteralMap", None)

Function = JsClass("Function", None, lambda value: isinstance(value, JsFunction))
JsFunction.constructor = Function
PYPROXY_CONSTRUCTOR[0] = JsClass("PyProxy", None)


# -- Primitive wrappers -----------------------------------------------------------------------


def _callable_class(name: str, convert: Any, statics: dict[str, Any] | None = None) -> JsClass:
    cls = JsClass(name, convert)
    cls._call = convert
    for key, member in (statics or {}).items():
        setattr(cls, key, JsFunction(member, key) if callable(member) else member)
    return cls


def _bigint(value: Any = None) -> JsBigInt:
    if isinstance(value, str):
        try:
            return JsBigInt(int(value, 0) if value.strip() else 0)
        except ValueError:
            raise JsException("SyntaxError", f"Cannot convert {value} to a BigInt") from None
    number = to_number(value)
    if isinstance(number, float):
        raise JsException(
            "RangeError",
            f"The number {to_string(number)} cannot be converted to a BigInt because it is not an "
            "integer",
        )
    return JsBigInt(value if isinstance(value, int) else number)


def _is_integer(value: Any = None) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool | JsBigInt)
    return is_number and float(value).is_integer()


def _is_safe_integer(value: Any = None) -> bool:
    return _is_integer(value) and abs(value) < 2**53


def _is_finite(value: Any = None) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


Number = _callable_class(
    "Number",
    lambda value=0: int(value) if isinstance(value, JsBigInt) else to_number(value),
    {
        "isInteger": _is_integer,
        "isSafeInteger": _is_safe_integer,
        "isFinite": _is_finite,
        "isNaN": lambda value=None: isinstance(value, float) and math.isnan(value),
        "parseFloat": lambda value=None: to_number(value),
        "parseInt": lambda value=None, base=10: _parse_int(value, base),
        "MAX_SAFE_INTEGER": 2**53 - 1,
        "MIN_SAFE_INTEGER": -(2**53 - 1),
        "EPSILON": 2.0**-52,
    },
)


def _parse_int(value: Any = None, base: Any = 10) -> int | float:
    text = to_string(value).strip()
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if base in (None, 0, 16) and digits.lower().startswith("0x"):
        digits, base = digits[2:], 16
    allowed = "0123456789abcdefghijklmnopqrstuvwxyz"[: base or 10]
    length = next((i for i, c in enumerate(digits.lower()) if c not in allowed), len(digits))
    return sign * int(digits[:length], base or 10) if length else math.nan


String = _callable_class(
    "String",
    lambda value="": to_string(value),
    {"fromCharCode": lambda *codes: "".join(chr(code & 0xFFFF) for code in codes)},
)
Boolean = _callable_class("Boolean", lambda value=None: truthy(value))
BigInt = _callable_class("BigInt", _bigint)
Symbol = _callable_class("Symbol", lambda text="": JsSymbol(to_string(text)))
for _name in ("iterator", "asyncIterator", "toStringTag", "toPrimitive", "hasInstance"):
    setattr(Symbol, _name, JsSymbol(f"Symbol.{_name}"))
JsSymbol.constructor = Symbol


# -- Namespaces -------------------------------------------------------------------------------

JSON = namespace("JSON", {"stringify": json_stringify, "parse": json_parse})

_MATH_FUNCTIONS = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "exp",
    "log2",
    "log10",
    "hypot",
)


def _rounded(round_: Any) -> Any:
    return lambda value=math.nan: round_(value) if math.isfinite(value) else value


Math = namespace(
    "Math",
    {
        **{name: getattr(math, name) for name in _MATH_FUNCTIONS},
        "PI": math.pi,
        "E": math.e,
        "abs": lambda value=math.nan: abs(to_number(value)),
        "floor": _rounded(math.floor),
        "ceil": _rounded(math.ceil),
        "trunc": _rounded(math.trunc),
        "round": _rounded(lambda value: math.floor(value + 0.5)),
        "sqrt": lambda value=math.nan: math.sqrt(value) if value >= 0 else math.nan,
        "cbrt": math.cbrt,
        "log": lambda value=math.nan: math.log(value) if value > 0 else math.nan,
        "pow": lambda base=math.nan, power=math.nan: base**power,
        "sign": lambda value=math.nan: (value > 0) - (value < 0),
        "max": lambda *values: max(values, default=-math.inf),
        "min": lambda *values: min(values, default=math.inf),
        "random": lambda: random.random(),  # what Math.random is
    },
)


def _reflect_set(target: Any = None, key: Any = None, value: Any = None) -> bool:
    if not isinstance(target, JsProxy):
        raise type_error("Reflect.set called on non-object")
    name = to_string(key)
    if isinstance(target, JsArray) and is_index(name):
        items, index = target._items, int(name)
        items.extend([None] * (index + 1 - len(items)))
        items[index] = value
        return True
    if not isinstance(target, JsObject):
        setattr(target, name, value)
        return True
    try:
        target._entries()[name] = value
    except JsException:
        return False  # it is frozen
    ordered(target)
    return True


def _reflect_delete(target: Any = None, key: Any = None) -> bool:
    if not isinstance(target, JsProxy):
        raise type_error("Reflect.deleteProperty called on non-object")
    name = to_string(key)
    if not isinstance(target, JsArray):
        frozen = _is_frozen(target) and name in target._entries()
        if not frozen:
            target._entries().pop(name, None)
        return not frozen
    if is_index(name) and int(name) < len(target._items):
        target._items[int(name)] = None  # a hole reads as undefined
    return True


Reflect = namespace(
    "Reflect",
    {
        "ownKeys": lambda value=None: JsArray(list(_own(value))),
        "has": lambda value=None, key=None: to_string(key) in _own(value),
        "get": lambda value=None, key=None: value._get(to_string(key)),
        "set": _reflect_set,
        "deleteProperty": _reflect_delete,
    },
)

ArrayBuffer.constructor.isView = JsFunction(is_view, "isView")


def ecmascript_globals() -> dict[str, Any]:
    """Names of ``js`` that every JavaScript engine has."""
    return {
        "Object": Object,
        "Function": Function,
        "Array": JsArray.constructor,
        "Map": JsMap.constructor,
        "Set": JsSet.constructor,
        "WeakMap": JsWeakMap.constructor,
        "WeakRef": JsWeakRef.constructor,
        "WeakSet": JsWeakSet.constructor,
        "Date": JsDate.constructor,
        "Promise": JsPromise.constructor,
        "ArrayBuffer": ArrayBuffer.constructor,
        "DataView": DataView.constructor,
        "Number": Number,
        "String": String,
        "Boolean": Boolean,
        "BigInt": BigInt,
        "Symbol": Symbol,
        "JSON": JSON,
        "Math": Math,
        "Reflect": Reflect,
        "RegExp": RegExp.constructor,
        "decodeURI": JsFunction(decode_uri, "decodeURI"),
        "decodeURIComponent": JsFunction(decode_uri_component, "decodeURIComponent"),
        "encodeURI": JsFunction(encode_uri, "encodeURI"),
        "encodeURIComponent": JsFunction(encode_uri_component, "encodeURIComponent"),
        "parseInt": JsFunction(_parse_int, "parseInt"),
        "parseFloat": JsFunction(lambda value=None: to_number(value), "parseFloat"),
        "isNaN": JsFunction(lambda value=None: to_number(value) != to_number(value), "isNaN"),
        "undefined": None,
        "NaN": math.nan,
        "Infinity": math.inf,
        **{name: error_class(name) for name in ERROR_NAMES},
        **{name: kind.constructor for name, kind in TYPED_ARRAYS.items()},
    }
