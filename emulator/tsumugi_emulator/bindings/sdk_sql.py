"""``storage.sql`` as the SDK shows it, without its detours for plain values (ADR-0077, ADR-0241).

The SDK converts every argument and row to JavaScript and back, which costs several times what
SQLite does. These wrappers are the SDK's own class with two methods that skip the way there and
back where both ends are known; everything else, and every other value, takes the SDK's way.
"""

from __future__ import annotations

import contextlib
from functools import cache
from sys import getrefcount
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.sdk_records import record_maker
from tsumugi_emulator.bindings.sql_storage import Cursor
from tsumugi_emulator.durable.object_sql import NOBODY_ELSE, SqlCursor
from tsumugi_emulator.javascript.values import MAX_SAFE_INTEGER, normalize_number
from tsumugi_emulator.storage.engine import FAILURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tsumugi_emulator.bindings.sql_storage import SqlStorage
    from tsumugi_emulator.durable.object_sql import Known, ObjectSql
    from tsumugi_emulator.storage.engine import Row


def wrapped(storage: SqlStorage) -> Any:
    """What ``ctx.storage.sql`` is in Python."""
    sql_class, cursor_class = _classes()
    sql = storage._sql
    sql.use(cursor_class)
    made = sql_class(storage)
    made._sql, made._known = sql, sql.known
    return made


class _NotPlain(Exception):
    """Take the SDK's way."""


def _plain(value: Any) -> Any:
    """What SQLite is given for a plain value, as ``sql_storage`` gives it.

    Raises:
        _NotPlain: it is none.
    """
    kind = type(value)
    if kind is str or value is None or kind is bytes:
        return value
    if kind is int and -MAX_SAFE_INTEGER < value < MAX_SAFE_INTEGER:
        return float(value)
    if kind is float:
        return value + 0.0 if value == value else None  # JavaScript loses the sign of -0.0 here
    if kind is bool:
        return "true" if value else "false"
    raise _NotPlain


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


#: Stands for an argument that is not there.
_NO = object()


class _Sql:
    """``_BindingWrapper`` of a ``SqlStorage``."""

    __slots__ = ("_known", "_sql")

    _binding: SqlStorage
    _sql: ObjectSql
    #: ``ObjectSql.known``.
    _known: dict[str, Known]
    #: The SDK's wrapper itself.
    _wrapper: Any

    def exec(
        self, query: Any = _NO, first: Any = _NO, second: Any = _NO, /, *others: Any, **options: Any
    ) -> Any:
        # The usual case, a statement that ran before and a value or two, in one function: what the
        # SDK and ``ObjectSql.exec`` do with calls, tuples and loops would take a third longer.
        known = self._known.get(query) if type(query) is str else None
        if known is None or known.buffers or first is _NO or others or options:
            return self._exec_any(query, first, second, others, options)
        try:
            params: tuple[Any, ...] = (
                first if (kind := type(first)) is str else first + 0.0
                if kind is int and -(2**30) < first < 2**30 else _plain(first),
            ) if second is _NO else (
                first if (kind := type(first)) is str else first + 0.0
                if kind is int and -(2**30) < first < 2**30 else _plain(first),
                second if (kind := type(second)) is str else second + 0.0
                if kind is int and -(2**30) < second < 2**30 else _plain(second),
            )  # fmt: skip
        except _NotPlain:
            return self._exec_any(query, first, second, others, options)
        sql = self._sql
        if known.writes and not sql.file.writing:
            sql.file.begin()
        cursor = sql.spare
        if cursor is None or getrefcount(cursor) > NOBODY_ELSE:
            cursor = sql.another_cursor()
        try:
            cursor._execute(known.text, params)
        except UnicodeEncodeError:
            return self._exec_any(query, first, second, others, options)
        except FAILURES as error:
            raise sql.refused(error) from None
        cursor._known = known
        cursor._params = params
        cursor._changes = known.changes
        if known.answers:
            sql.spare = None
            cursor._fetched = 0
            cursor._open = cursor._untouched = True
        return cursor

    def _exec_any(
        self, query: Any, first: Any, second: Any, others: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        given = [value for value in (first, second, *others) if value is not _NO]
        if not options and type(query) is str:
            with contextlib.suppress(_NotPlain):
                return self._sql.exec(query, list(map(_plain, given)))
        if query is not _NO:
            given.insert(0, query)
        return self._wrapper(self._binding).exec(*given, **options)


class _Cursor(SqlCursor):
    """``_BindingWrapper`` of a ``Cursor``, which is made when somebody needs it."""

    __slots__ = ()
    # The SDK's wrapper wants to be given what it wraps.
    __new__ = object.__new__
    __init__ = object.__init__

    _wrapper: Any

    @property
    def _binding(self) -> Cursor:
        self._lend()  # the SDK keeps on it what it asks the binding for
        return Cursor(self)

    def _record(self) -> Callable[[Row], Any]:
        known = self._known
        if known.record is None:
            known.record = record_maker(known.columns, _read)
        return known.record

    def toArray(self) -> list[Any]:
        return list(map(self._record(), self._take_all()))

    def one(self) -> Any:
        record = self._known.record or self._record()
        if not self._untouched:
            return record(self._take_only())
        # The usual case, in one function.
        try:
            row = self._fetch()
            more = None if row is None else self._fetch()
        except FAILURES as error:
            return record(self._take_only_after(error))
        self._fetched = 1
        self._open = self._untouched = False
        if row is None or more is not None:
            raise self._not_only(row)
        if self._sql.spare is None and not self._lent:
            self._sql.spare = self
        return record(row)

    def raw(self) -> Any:
        return self._wrapper(self._binding).raw()

    def __iter__(self) -> Iterator[Any]:
        return map(self._record(), self._take_each())


@cache
def _classes() -> tuple[type[Any], type[Any]]:
    """Made once the SDK can be imported; both are called what the SDK's is called."""
    from workers.rpc import _BindingWrapper

    def subclass(methods: type[Any]) -> type[Any]:
        members = {"__module__": _BindingWrapper.__module__, "_wrapper": _BindingWrapper}
        return type("_BindingWrapper", (methods, _BindingWrapper), members)

    return subclass(_Sql), subclass(_Cursor)
