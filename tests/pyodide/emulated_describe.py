"""The emulator's twin of host/describe.mjs: say what a JavaScript value is, in one line."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

from tsumugi_emulator.bindings.rpc_property import RpcProperty
from tsumugi_emulator.bindings.rpc_values import RpcStub
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import ArrayBuffer, DataView, TypedArray
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.double_proxy import JsDoubleProxy
from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import (
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    JsSymbol,
    PyProxy,
)

SURROGATE = re.compile("[\ud800-\udfff]")


def quoted(text):
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    text = json.dumps(text, ensure_ascii=False)
    return SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def describe(value, seen=()):
    if isinstance(value, JsDoubleProxy):
        value = value._proxy
    primitive = describe_primitive(value)
    if primitive is not None:
        return primitive
    if isinstance(value, PyProxy):
        return f"PyProxy<{type(value._unwrap()).__name__}>"
    if isinstance(value, RpcStub | RpcProperty):
        return "RpcStub" if isinstance(value, RpcStub) else "RpcProperty"
    if isinstance(value, JsFunction):
        return f"function {value.name}".strip()
    if any(value is outer for outer in seen):
        return "<circular>"
    return describe_object(value, (*seen, value))


def describe_primitive(value):
    if isinstance(value, JsSymbol):
        return f"Symbol({value.description})"
    if isinstance(value, JsNull):
        return "null"
    if isinstance(value, PyodideFuture):
        return "PyProxy<PyodideFuture>"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, JsBigInt):
        return f"{int(value)}n"
    if isinstance(value, float) and value == 0 and str(value) == "-0.0":
        return "-0"
    if value is None or isinstance(value, bool | int | float):
        return to_string(value)
    return None


def describe_object(value, seen):
    def inner(item):
        return describe(item, seen)

    name = value._class_name() if isinstance(value, JsProxy) else f"? {type(value).__name__}"
    if isinstance(value, JsException):
        return f"{value.name}({quoted(str(value.message))})"
    if isinstance(value, JsArray):
        return f"[{', '.join(map(inner, value._items))}]"
    if isinstance(value, JsMap):
        pairs = (f"{inner(k)} => {inner(v)}" for k, v in value._data.values())
        return f"{name} {{{', '.join(pairs)}}}"
    if isinstance(value, JsSet):
        return f"Set {{{', '.join(map(inner, value._data.values()))}}}"
    text = described_whole(value, name, inner)
    if text is not None:
        return text
    entries = value._entries() if isinstance(value, JsProxy) else {}
    body = "{" + ", ".join(f"{quoted(key)}: {inner(item)}" for key, item in entries.items()) + "}"
    return body if isinstance(value, JsObject) and name == "Object" else f"{name} {body}"


def described_whole(value, name, inner):
    """Objects without properties of their own: buffers, dates, boxed primitives."""
    if isinstance(value, TypedArray):
        return f"{name} [{', '.join(map(inner, value._iterate()))}]"
    if isinstance(value, ArrayBuffer):
        return f"ArrayBuffer [{', '.join(map(str, value.to_bytes()))}]"
    if isinstance(value, DataView):
        return f"DataView {len(value.to_bytes())}"
    if isinstance(value, JsDate):
        return f"Date {moment(value._ms)}"
    if name in ("String", "Number", "Boolean"):
        return f"{name} object {to_string(value)}"
    return f"RegExp {to_string(value)}" if name == "RegExp" else None


def moment(ms):
    if isinstance(ms, float):
        return "invalid"
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    text = time.isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
