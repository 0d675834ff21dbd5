"""``JSON.stringify`` and ``JSON.parse`` over JavaScript values, through orjson."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import orjson

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import ArrayBuffer, TypedArray
from tsumugi_emulator.javascript.convert import ordered
from tsumugi_emulator.javascript.crossing import iterate_python, python_to_js
from tsumugi_emulator.javascript.errors import JsException, js_error, type_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.json_errors import circular_structure, parse_failure
from tsumugi_emulator.javascript.json_render import prepared_float, render
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.values import (
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    JsSymbol,
    PyProxy,
    jsnull,
    normalize_number,
)

#: How many values lost their content in an encode so far (see ``loses``); read before and after.
LOSSES = [0]


def stringify(value: Any) -> str | None:
    """``JSON.stringify(value)``; None where JavaScript answers undefined.

    Raises:
        JsException: TypeError for a BigInt or a cycle.
    """
    encoded = encode(value)
    return None if encoded is None else encoded.decode()


def encode(value: Any) -> bytes | None:
    """UTF-8 bytes of ``JSON.stringify(value)``."""
    prepared = prepare(value)
    if prepared is None:
        return None
    try:
        return orjson.dumps(prepared[0])
    except orjson.JSONEncodeError:  # a lone surrogate, or nested too deeply for orjson
        return render(prepared[0]).encode()


def prepare(value: Any) -> tuple[Any] | None:
    """The tree to write, or None when the value has no JSON text.

    Raises:
        JsException: TypeError for a BigInt or a cycle.
    """
    if _without_text(value):
        return None
    try:
        return (_prepare(value),)
    except RecursionError:
        raise type_error(circular_structure(value)) from None


#: Types orjson writes as JavaScript does (by identity of the type, so no subclasses).
_AS_THEY_ARE = frozenset({str, int, bool})
#: Values that have no JSON text.
_WITHOUT_TEXT = (JsFunction, JsSymbol)


def _prepare(value: Any) -> Any:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is JsObject:
        return _object(value._props)
    if kind is JsArray:
        return _array(value._items)
    if kind is float:
        return prepared_float(value)
    if kind is JsBigInt:
        raise type_error("Do not know how to serialize a BigInt")
    return _hook(value)


def _object(props: dict[str, Any]) -> dict[str, Any]:
    for item in props.values():
        if type(item) not in _AS_THEY_ARE:
            break
    else:
        return props
    prepared = {}
    for key, item in props.items():
        if type(item) in _AS_THEY_ARE:
            prepared[key] = item
        elif not _without_text(item):
            prepared[key] = _prepare(item)
    return prepared


def _array(items: Sequence[Any]) -> list[Any]:
    return [item if type(item) in _AS_THEY_ARE else _prepared_item(item) for item in items]


def _prepared_item(value: Any) -> Any:
    return None if _without_text(value) else _prepare(value)


def _without_text(value: Any) -> bool:
    kind = type(value)
    if kind is JsObject or kind is JsArray:  # most: spare them the check below
        return False
    if kind is PyProxy:
        return callable(value._obj)
    return value is None or isinstance(value, _WITHOUT_TEXT)


def _hook(value: Any) -> Any:
    """Everything that is not a plain object, array or primitive."""
    if isinstance(value, JsNull):
        return None
    if loses(value):
        LOSSES[0] += 1
    if isinstance(value, PyProxy):
        return _python_object(value)
    if isinstance(value, JsException):
        return {}
    if isinstance(value, JsProxy):
        to_json = getattr(value, "toJSON", None)
        if isinstance(to_json, JsFunction):
            return _prepared_item(to_json())
        if isinstance(value, JsArray):
            return _array(value._items)
        return _object(value._entries())
    raise TypeError(f"not a JavaScript value: {type(value)}")


def loses(value: Any) -> bool:
    """Whether JSON turns ``value`` into ``{}`` or an object keyed by index."""
    if isinstance(value, PyProxy):
        obj = value._obj
        if callable(obj):
            return False
        return MODE.null_is_none or not isinstance(obj, (dict, Sequence))
    if isinstance(value, JsException | TypedArray | ArrayBuffer | JsMap | JsSet):
        return True
    if isinstance(value, JsProxy):
        plain = isinstance(value, JsObject | JsArray | JsFunction)
        return not plain and not hasattr(value, "toJSON") and not value._entries()
    return False


def _python_object(proxy: PyProxy) -> Any:
    """A Python object that leaked across: what JSON.stringify makes of Pyodide's proxy."""
    obj = proxy._unwrap()
    written = getattr(obj, "_json_in_javascript", None)
    if written is not None:  # it is in another process, where JavaScript has looked at it
        return orjson.Fragment(written)
    if MODE.null_is_none:
        return {}
    if isinstance(obj, dict):
        return _object({str(key): python_to_js(item) for key, item in obj.items()})
    if isinstance(obj, Sequence):
        return _array(list(iterate_python(proxy)))
    return {}


def parse(text: str | bytes) -> Any:
    """``JSON.parse(text)`` as JavaScript values.

    Raises:
        JsException: SyntaxError, when the text is not JSON.
    """
    return from_tree(parse_tree(text))


def parse_tree(text: str | bytes) -> Any:
    """The JSON document as plain Python values, numbers not yet JavaScript's."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _parse_loosely(text)


def _parse_loosely(text: str | bytes) -> Any:
    # orjson refuses lone surrogates; the standard library does not.
    source = text.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else text
    try:
        return json.loads(source, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise js_error("SyntaxError", parse_failure(source)) from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def from_tree(tree: Any) -> Any:
    """Plain parsed JSON as JavaScript values."""
    kind = type(tree)
    if kind is str or kind is bool:
        return tree
    if kind is int and -(2**53) < tree < 2**53:
        return tree
    if kind is dict:
        items = {k: v if type(v) is str else from_tree(v) for k, v in tree.items()}
        return ordered(JsObject(items))
    if tree is None:
        return jsnull
    if kind is list:
        return JsArray([from_tree(item) for item in tree])
    return number(tree)


def number(value: int | float) -> int | float:
    """A JSON number as a JavaScript double."""
    if type(value) is int and -(2**53) < value < 2**53:
        return value
    try:
        return normalize_number(float(value))
    except OverflowError:
        return math.inf if value > 0 else -math.inf
