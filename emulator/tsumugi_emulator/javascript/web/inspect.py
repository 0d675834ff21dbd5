"""How ``console.log`` shows a value: Node's format for plain values, ``repr`` for Python's own."""

from __future__ import annotations

import re
from typing import Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import ArrayBuffer, DataView, TypedArray
from tsumugi_emulator.javascript.date import JsDate, iso_string
from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.javascript.functions import JsClass, JsFunction, js_property
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.promise import JsPromise
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import (
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    JsSymbol,
    PyProxy,
)

#: Node's defaults: nesting shown, elements shown, characters on one line.
MAX_DEPTH = 2
MAX_ITEMS = 100
LINE_WIDTH = 80
#: What Node keeps free on a line before it counts.
LINE_RESERVE = 10

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")


def inspect(value: Any) -> str:
    """The text of a value inside another one, or of an argument that is not a string."""
    return _show(value, 0, ())


def quote(text: str) -> str:
    mark = "'" if "'" not in text else '"' if '"' not in text else "`" if "`" not in text else "'"
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    escaped = escaped.replace("\t", "\\t")
    return f"{mark}{escaped.replace(mark, chr(92) + mark)}{mark}"


def _show(value: Any, depth: int, above: tuple[int, ...]) -> str:
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool | JsNull):
        return to_string(value)
    if isinstance(value, JsBigInt):
        return f"{to_string(value)}n"
    if isinstance(value, int | float):
        return "-0" if value == 0 and str(value) == "-0.0" else to_string(value)
    if isinstance(value, JsSymbol):
        return repr(value)
    if isinstance(value, PyProxy):
        return _python(value)
    if isinstance(value, JsPromise | PyodideFuture):
        return "Promise { <pending> }"
    if isinstance(value, JsProxy):
        return _object(value, depth, above)
    return repr(value)


def _python(proxy: PyProxy) -> str:
    try:
        return repr(proxy._unwrap())
    except JsException:
        return "<destroyed Python proxy>"


def _object(value: JsProxy, depth: int, above: tuple[int, ...]) -> str:
    if id(value) in above:
        return "[Circular *1]"
    if isinstance(value, JsException):
        return value.stack if depth == 0 else f"[{value.stack}]"
    if isinstance(value, JsClass):
        return f"[class {value.name}]" if value.name else "[class (anonymous)]"
    if isinstance(value, JsFunction):
        return f"[Function: {value.name}]" if value.name else "[Function (anonymous)]"
    if isinstance(value, JsDate):
        return "Invalid Date" if isinstance(value._ms, float) else iso_string(value)
    return _container(value, depth, (*above, id(value)))


def _container(value: JsProxy, depth: int, above: tuple[int, ...]) -> str:
    prefix, opening, closing = _frame(value)
    if depth > MAX_DEPTH:
        return f"[{value._class_name()}]"

    def show(item: Any) -> str:
        return _show(item, depth + 1, above)

    parts = _parts(value, show)
    if not parts:
        return f"{prefix}{opening}{closing}"
    return _layout(parts, prefix, opening, closing, indent=2 * depth)


def _frame(value: JsProxy) -> tuple[str, str, str]:
    """What stands before the content, and the brackets around it."""
    if isinstance(value, JsArray):
        return "", "[", "]"
    if isinstance(value, TypedArray):
        return f"{value._class_name()}({len(value)}) ", "[", "]"
    if isinstance(value, JsMap | JsSet):
        return f"{value._class_name()}({len(value)}) ", "{", "}"
    name = value._class_name()
    return ("" if name == "Object" else f"{name} "), "{", "}"


def _parts(value: JsProxy, show: Any) -> list[str]:
    if isinstance(value, JsArray):
        return _limited(value._items, show)
    if isinstance(value, TypedArray):
        return _limited(list(value._iterate()), show)
    if isinstance(value, JsMap):
        return [f"{show(key)} => {show(item)}" for key, item in value._data.values()]
    if isinstance(value, JsSet):
        return [show(item) for item in value._data.values()]
    if isinstance(value, ArrayBuffer | DataView):
        content = bytes(value._view()[:50]).hex(" ")
        return [f"[Uint8Contents]: <{content}>", f"byteLength: {len(value._view())}"]
    if isinstance(value, JsObject):
        return [f"{_key(key)}: {show(item)}" for key, item in value._props.items()]
    iterate = getattr(type(value), "_iterate", None)
    if iterate is not None:
        return [f"{show(pair._items[0])} => {show(pair._items[1])}" for pair in iterate(value)]
    return [f"{name}: {show(item)}" for name, item in _accessors(value)]


def _limited(items: list[Any], show: Any) -> list[str]:
    parts = [show(item) for item in items[:MAX_ITEMS]]
    left = len(items) - MAX_ITEMS
    if left > 0:
        parts.append(f"... {left} more item{'s' if left > 1 else ''}")
    return parts


#: Showing these would touch a stream or make an object.
_HIDDEN = frozenset({"body", "signal", "searchParams"})


def _accessors(value: JsProxy) -> list[tuple[str, Any]]:
    """A host object's accessors and what they say."""
    found: dict[str, Any] = {}
    for base in reversed(type(value).__mro__):
        for name, attribute in vars(base).items():
            if isinstance(attribute, js_property) and name not in _HIDDEN:
                found[name] = attribute.getter(value)
    return list(found.items())


def _key(name: str) -> str:
    return name if _IDENTIFIER.match(name) else quote(name)


def _layout(parts: list[str], prefix: str, opening: str, closing: str, *, indent: int) -> str:
    """One line when it fits, otherwise one part on each."""
    start = len(parts) + indent + len(prefix) + len(opening) + LINE_RESERVE
    length = sum(map(len, parts)) + len(parts) + start
    if length <= LINE_WIDTH and not any("\n" in part for part in parts):
        return f"{prefix}{opening} {', '.join(parts)} {closing}"
    margin = "\n" + " " * (indent + 2)
    end = "\n" + " " * indent
    return f"{prefix}{opening}{margin}{(',' + margin).join(parts)}{end}{closing}"
