"""``storage.sql`` as the SDK shows it, without its detours for plain values (ADR-0077, ADR-0241).

The SDK converts every argument and row to JavaScript and back, which costs several times what
SQLite does. These wrappers are the SDK's own class with two methods that skip the way there and
back where both ends are known; everything else, and every other value, takes the SDK's way.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.sdk_records import record_maker
from tsumugi_emulator.bindings.sql_storage import Cursor
from tsumugi_emulator.durable.object_sql import SqlCursor, SqlError
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.values import MAX_SAFE_INTEGER, normalize_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tsumugi_emulator.bindings.sql_storage import SqlStorage
    from tsumugi_emulator.storage.engine import Row


def wrapped(storage: SqlStorage) -> Any:
    """What ``ctx.storage.sql`` is in Python."""
    sql_class, cursor_class = _classes()
    storage._sql.use(cursor_class)
    made = sql_class(storage)
    made._run = storage._sql.exec
    return made


#: Stands for an argument that is not there.
_NO = object()


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


class _Sql:
    """``_BindingWrapper`` of a ``SqlStorage``."""

    __slots__ = ("_run",)

    _binding: SqlStorage
    _run: Callable[[str, Sequence[Any]], Any]
    #: The SDK's wrapper itself.
    _wrapper: Any

    def exec(
        self, query: Any = _NO, first: Any = _NO, second: Any = _NO, /, *others: Any, **options: Any
    ) -> Any:
        # Most statements have one value or two. These have names, and the commonest types are bound
        # in place: a tuple of all, a loop and a call for each would cost a fifth of an INSERT.
        params: Sequence[Any]
        try:
            if first is _NO or others:
                params = list(map(_plain, _given(first, second, *others)))
            elif second is _NO:
                params = (
                    first
                    if (kind := type(first)) is str
                    else first + 0.0
                    if kind is int and -1_000_000_000 < first < 1_000_000_000
                    else _plain(first),
                )
            else:
                params = (
                    first
                    if (kind := type(first)) is str
                    else first + 0.0
                    if kind is int and -1_000_000_000 < first < 1_000_000_000
                    else _plain(first),
                    second
                    if (kind := type(second)) is str
                    else second + 0.0
                    if kind is int and -1_000_000_000 < second < 1_000_000_000
                    else _plain(second),
                )
            if options or type(query) is not str:
                raise _NotPlain
            return self._run(query, params)
        except SqlError as error:
            raise js_error("Error", str(error)) from None
        except _NotPlain:
            given = _given(query, first, second, *others)
        return self._wrapper(self._binding).exec(*given, **options)


def _given(*values: Any) -> list[Any]:
    return [value for value in values if value is not _NO]


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
        try:
            rows = self._take_all()
        except SqlError as error:
            raise js_error("Error", str(error)) from None
        return list(map(self._record(), rows))

    def one(self) -> Any:
        try:
            row = self._take_only()
        except SqlError as error:
            raise js_error("Error", str(error)) from None
        return (self._known.record or self._record())(row)

    def raw(self) -> Any:
        return self._wrapper(self._binding).raw()

    def __iter__(self) -> Iterator[Any]:
        record, take = self._record(), self._take
        try:
            while (row := take()) is not None:
                yield record(row)
        except SqlError as error:
            raise js_error("Error", str(error)) from None


@cache
def _classes() -> tuple[type[Any], type[Any]]:
    """Made once the SDK can be imported; both are called what the SDK's is called."""
    from workers.rpc import _BindingWrapper

    def subclass(methods: type[Any]) -> type[Any]:
        members = {"__module__": _BindingWrapper.__module__, "_wrapper": _BindingWrapper}
        return type("_BindingWrapper", (methods, _BindingWrapper), members)

    return subclass(_Sql), subclass(_Cursor)
