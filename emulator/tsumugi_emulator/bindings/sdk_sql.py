"""``storage.sql`` as the SDK shows it, without its detours for plain values (ADR-0077).

The SDK converts every argument and row to JavaScript and back, which costs several times what
SQLite does. These wrappers are the SDK's own class with two methods that skip the way there and
back where both ends are known; everything else, and every other value, takes the SDK's way.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.sql_storage import Cursor, no_single_row
from tsumugi_emulator.durable.object_sql import SqlError
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.values import MAX_SAFE_INTEGER, normalize_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.bindings.sql_storage import SqlStorage
    from tsumugi_emulator.durable.object_sql import SqlCursor

_NOT_PLAIN = object()


def wrapped(storage: SqlStorage) -> Any:
    """What ``ctx.storage.sql`` is in Python."""
    return _sql_class()(storage)


def _plain(value: Any) -> Any:
    """What SQLite is given for a plain value, as ``sql_storage`` gives it."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is int:
        return float(value) if -MAX_SAFE_INTEGER < value < MAX_SAFE_INTEGER else _NOT_PLAIN
    if kind is float:
        return value + 0.0 if value == value else None  # JavaScript loses the sign of -0.0 here
    if kind is bool:
        return "true" if value else "false"
    return value if kind is bytes else _NOT_PLAIN


def _read(value: Any) -> Any:
    """What Python sees of a value of SQLite, as the SDK converts it."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is int:
        return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else float(value)
    if kind is float:
        return normalize_number(value)
    return memoryview(bytearray(value))


class _Sql:
    """``_BindingWrapper`` of a ``SqlStorage``."""

    _binding: SqlStorage
    #: The SDK's wrapper itself.
    _wrapper: Any
    #: The wrapper of a cursor.
    _cursor_class: Any

    def exec(self, *args: Any, **kwargs: Any) -> Any:
        params = [_plain(value) for value in args[1:]]
        if kwargs or not args or type(args[0]) is not str or _NOT_PLAIN in params:
            return self._wrapper(self._binding).exec(*args, **kwargs)
        try:
            rows = self._binding._sql.exec(args[0], params)
        except SqlError as error:
            raise js_error("Error", str(error)) from None
        made = object.__new__(self._cursor_class)
        made._rows = rows
        return made


class _Cursor:
    """``_BindingWrapper`` of a ``Cursor``, which is made when somebody needs it."""

    _rows: SqlCursor
    _wrapper: Any
    #: The SDK's ``JsDict``.
    _record: Any

    @property
    def _binding(self) -> Cursor:
        return Cursor(self._rows)

    def _take(self) -> tuple[Any, ...] | None:
        try:
            return self._rows.take()
        except SqlError as error:
            raise js_error("Error", str(error)) from None

    def toArray(self) -> list[Any]:
        try:
            found = self._rows.take_all()
        except SqlError as error:
            raise js_error("Error", str(error)) from None
        if self._rows.has_numbers:
            return [self._in_order(row) for row in found]
        record, columns = self._record, self._rows.columns
        return [record(zip(columns, map(_read, row), strict=True)) for row in found]

    def _in_order(self, row: tuple[Any, ...]) -> Any:
        """A record as JavaScript orders it: numbers first."""
        values = dict(zip(self._rows.columns, map(_read, row), strict=True))
        numbers = sorted((n for n in values if n.isdecimal() and str(int(n)) == n), key=int)
        return self._record({name: values[name] for name in numbers} | values)

    def _made(self, row: tuple[Any, ...]) -> Any:
        if self._rows.has_numbers:
            return self._in_order(row)
        return self._record(zip(self._rows.columns, map(_read, row), strict=True))

    def one(self) -> Any:
        first = self._take()
        if first is None or self._take() is not None:
            raise no_single_row(first)
        return self._made(first)

    def raw(self) -> Any:
        return self._wrapper(self._binding).raw()

    def __iter__(self) -> Iterator[Any]:
        while (row := self._take()) is not None:
            yield self._made(row)


@cache
def _sql_class() -> type[Any]:
    """Made once the SDK can be imported; both are called what the SDK's is called."""
    from workers.rpc import JsDict, _BindingWrapper

    def subclass(methods: type[Any], **members: Any) -> type[Any]:
        members["__module__"] = _BindingWrapper.__module__
        return type("_BindingWrapper", (methods, _BindingWrapper), members)

    cursor = subclass(_Cursor, _record=JsDict, _wrapper=_BindingWrapper)
    return subclass(_Sql, _cursor_class=cursor, _wrapper=_BindingWrapper)
