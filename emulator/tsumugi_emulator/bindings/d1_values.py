"""Values between JavaScript and D1: what ``bind`` accepts and what results hold. No SQL."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import ArrayBuffer, DataView, TypedArray, bytes_of
from tsumugi_emulator.javascript.convert import ordered
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import is_function
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import (
    MAX_SAFE_INTEGER,
    JsBigInt,
    JsNull,
    JsObject,
    JsSymbol,
    jsnull,
    normalize_number,
)
from tsumugi_emulator.javascript.web.unicode import raw_utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

_BYTE_VALUES = 256


def bound(value: Any) -> Any:
    """A JavaScript value as SQLite stores it: numbers and booleans are doubles.

    Raises:
        TypeError: D1 refuses values of this type; the text is D1's, without its prefix.
    """
    if isinstance(value, str):
        return value if value.isascii() else raw_utf8(value).decode("utf-8", "replace")
    if isinstance(value, JsBigInt):
        raise _refused("bigint", value)
    if isinstance(value, bool | int | float):
        number = float(value)
        return number if math.isfinite(number) else None
    if isinstance(value, JsNull):
        return None
    if isinstance(value, JsArray):
        return _bytes_of_array(value)
    if isinstance(value, TypedArray):
        return bytes(int(item) % _BYTE_VALUES for item in value._iterate())
    if isinstance(value, ArrayBuffer):
        return bytes_of(value)
    if isinstance(value, DataView):
        return b""  # it has no elements to copy
    raise _refused(_typeof(value), value)


def _bytes_of_array(array: JsArray) -> bytes:
    items = array._items
    if all(_is_byte(item) for item in items):
        return bytes(int(item) for item in items)
    raise _refused("object", array)


def _is_byte(item: Any) -> bool:
    number = isinstance(item, int | float) and not isinstance(item, bool | JsBigInt)
    return number and 0 <= item < _BYTE_VALUES


def _typeof(value: Any) -> str:
    if value is None:
        return "undefined"
    if is_function(value):
        return "function"
    return "object"


def _refused(kind: str, value: Any) -> Exception:
    if isinstance(value, JsSymbol):
        return type_error("Cannot convert a Symbol value to a string")
    return TypeError(f"Type '{kind}' not supported for value '{to_string(value)}'")


def js_value(value: Any) -> Any:
    """A column's value as results hold it: blobs are arrays of numbers, integers are doubles."""
    kind = type(value)
    if kind is str:
        return value
    if kind is int:
        return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else float(value)
    if value is None:
        return jsnull
    if kind is float:
        return normalize_number(value) if math.isfinite(value) else jsnull
    return JsArray(list(value))


def js_rows(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[JsObject]:
    """One object for each row; of columns with the same name the last one counts."""
    objects = [JsObject(dict(zip(columns, map(js_value, row), strict=True))) for row in rows]
    if any(column[:1].isdigit() for column in columns):
        return [ordered(row) for row in objects]
    return objects
