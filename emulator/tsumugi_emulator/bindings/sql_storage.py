"""``storage.sql``: SQL on an object's file, with the runtime's binding rules and cursor.

Every number is bound as a double, a boolean as text, any other object as its text: traps of
production that D1 does not share (python-workers-verified 3.3). Statements run in ``durable``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.durable.object_sql import ObjectSql, SqlCursor
from tsumugi_emulator.javascript.arrays import JsArray, JsIterator
from tsumugi_emulator.javascript.buffers import ArrayBuffer, bytes_of
from tsumugi_emulator.javascript.convert import ordered
from tsumugi_emulator.javascript.errors import js_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.iterators import RuntimeIterator
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.structs import struct
from tsumugi_emulator.javascript.values import (
    MAX_SAFE_INTEGER,
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    PyProxy,
    jsnull,
    normalize_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.durable.object_file import ObjectFile


@js_class("SqlStorage", constructible=False)
class SqlStorage(JsProxy):
    __slots__ = ("_sql",)

    def __init__(self, file: ObjectFile) -> None:
        self._sql = ObjectSql(file, lambda text: js_error("Error", text))

    @js_method
    def exec(self, query: Any = None, *bindings: Any) -> Cursor:
        if query is None:
            raise type_error(
                "Failed to execute 'exec' on 'SqlStorage': parameter 1 is not of type 'String'."
            )
        params = [
            value
            if (kind := type(value)) is str
            else float(value)
            if kind is int
            else _bound(value)
            for value in bindings
        ]
        return Cursor(self._sql.exec(query if type(query) is str else to_string(query), params))

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> Any:
        """The SDK, which asks with a converter, gets a wrapper that spares it the detours."""
        if default_converter is None:
            return self
        from tsumugi_emulator.bindings.sdk_sql import wrapped

        return wrapped(self)

    @js_property
    def databaseSize(self) -> int:
        return self._sql.size_bytes


def _bound(value: Any) -> Any:
    """What SQLite stores for a JavaScript value."""
    if isinstance(value, JsBigInt):
        raise type_error("Cannot convert a BigInt value to a number")
    if value is None or isinstance(value, JsNull):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, str):
        return value
    if isinstance(value, JsProxy):
        data = bytes_of(value)
        return to_string(value) if data is None else data
    return str(value._unwrap()) if isinstance(value, PyProxy) else to_string(value)


@js_class("Cursor", constructible=False)
class Cursor(JsProxy):
    __slots__ = ("_rows",)

    def __init__(self, rows: SqlCursor) -> None:
        self._rows = rows

    def _names(self) -> tuple[str, ...]:
        return self._rows._known.columns

    def _object(self, row: tuple[Any, ...]) -> JsObject:
        made = JsObject(dict(zip(self._names(), map(_js, row), strict=True)))
        return ordered(made) if self._rows._known.has_numbers else made

    @js_method
    def toArray(self) -> JsArray:
        return JsArray(list(map(self._object, self._rows._take_all())))

    @js_method
    def one(self) -> JsObject:
        return self._object(self._rows._take_only())

    @js_method
    def next(self) -> JsObject:
        row = self._rows._take()
        if row is None:
            return struct({"done": True, "value": None})
        return JsObject({"done": False, "value": self._object(row)})

    @js_method
    def raw(self) -> JsIterator:
        return RawIterator(
            JsArray([_js(value) for value in row]) for row in self._rows._take_each()
        )

    @js_property
    def columnNames(self) -> JsArray:
        return JsArray(list(self._names()))

    @js_property
    def rowsRead(self) -> int:
        return self._rows._rows_read

    @js_property
    def rowsWritten(self) -> int:
        return self._rows._rows_written

    def _iterate(self) -> Iterator[JsObject]:
        return map(self._object, self._rows._take_each())

    def __iter__(self) -> Iterator[JsObject]:
        return self._iterate()


@js_class("RawIterator", constructible=False)
class RawIterator(RuntimeIterator):
    __slots__ = ()


def _js(value: Any) -> Any:
    """A value of SQLite as JavaScript reads it: integers as doubles, blobs as ArrayBuffers."""
    kind = type(value)
    if kind is str:
        return value
    if kind is int:
        return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else float(value)
    if kind is float:
        return normalize_number(value)
    return jsnull if value is None else ArrayBuffer(bytearray(value))
