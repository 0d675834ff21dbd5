"""``env.DB``: D1's client library. What a query does is ``storage.d1``; this is what it says.

Texts and type rules: python-workers-verified section 4, rows D1. ``prepare`` and ``bind`` check
and raise at once, everything else answers a promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.arguments import option
from tsumugi_emulator.bindings.d1_values import bound, js_rows, js_value
from tsumugi_emulator.bindings.operation import Operation
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.errors import JsException, js_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.strings import to_string, truthy
from tsumugi_emulator.javascript.to_python import for_sdk
from tsumugi_emulator.javascript.values import JsObject, JsProxy, PyProxy, jsnull
from tsumugi_emulator.storage.d1 import ONLY_COMMENTS, D1Error, Query
from tsumugi_emulator.storage.sql_text import ends_with_an_empty_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tsumugi_emulator.clock import Clock
    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.storage.d1 import D1Store, Result

SERVED_BY = "tsumugi.db"
_ANY_INSTANCE = frozenset({"", "first-primary", "first-unconstrained"})
_MISSING = object()


def prefixed(kind: str, message: str) -> JsException:
    """A D1 error: the prefix tells the kind, the cause holds the bare message."""
    return JsException("Error", f"{kind}: {message}", cause=js_error("Error", message))


class Session:
    """What a database and its prepared statements share: the store and the bookmark."""

    __slots__ = ("bookmark", "clock", "name", "open")

    def __init__(self, name: str, open_: Callable[[], D1Store], clock: Clock) -> None:
        self.name = name
        self.open = open_
        self.clock = clock
        self.bookmark: str | None = None

    def start(self, method: str, work: Callable[[], Any]) -> PyodideFuture:
        io_context.require()
        return Operation(work, f"env.{self.name}.{method}()")

    def run(self, queries: Sequence[Query]) -> list[Result]:
        """Every query or none.

        Raises:
            JsException: D1_ERROR with SQLite's message.
        """
        try:
            results = self.open().run(queries)
        except D1Error as error:
            raise prefixed("D1_ERROR", error.message) from None
        now_ms = self.clock.now_ms()
        bookmark = f"{now_ms >> 32:08x}-{now_ms & 0xFFFFFFFF:08x}-00000000-{0:032x}"
        self.bookmark = max(self.bookmark or "", bookmark)
        return results


@js_class("D1PreparedStatement", constructible=False)
class D1PreparedStatement(JsProxy):
    """Immutable: ``bind`` answers another statement."""

    __slots__ = ("_params", "_session", "_sql")

    def __init__(self, session: Session, sql: Any, params: tuple[Any, ...] = ()) -> None:
        self._session = session
        self._sql = sql
        self._params = params

    @staticmethod
    def _for_sdk(statement: D1PreparedStatement) -> Any:
        from tsumugi_emulator.bindings.sdk_d1 import wrapped

        return wrapped(statement)

    @js_method
    def bind(self, *values: Any) -> D1PreparedStatement:
        return self._with(map(_bound, values))

    def _with(self, params: Iterable[Any]) -> D1PreparedStatement:
        return D1PreparedStatement(self._session, self._sql, tuple(params))

    @js_method
    def run(self, *_rest: Any) -> PyodideFuture:
        return self._start("run")

    @js_method
    def all(self, *_rest: Any) -> PyodideFuture:
        return self._start("all")

    def _start(self, method: str, *, for_sdk: bool = False) -> PyodideFuture:
        """The promise of a result; ``for_sdk`` as the SDK would convert it, where that is known."""

        def work() -> Any:
            result = self._result()
            made = plain_result(result) if for_sdk else None
            return result_object(result) if made is None else made

        return self._session.start(f"prepare().{method}", work)

    @js_method
    def first(self, column: Any = None, *_rest: Any) -> PyodideFuture:
        return self._session.start("prepare().first", lambda: _first(self._result(), column))

    @js_method
    def raw(self, options: Any = None, *_rest: Any) -> PyodideFuture:
        with_names = options is not jsnull and truthy(option(options, "columnNames"))

        def work() -> JsArray:
            result = self._result()
            rows = [JsArray([js_value(value) for value in row]) for row in result.rows]
            names = [JsArray(list(result.columns))] if with_names else []
            return JsArray([*names, *rows])

        return self._session.start("prepare().raw", work)

    def _query(self) -> Query:
        if not isinstance(self._sql, str):
            raise prefixed("D1_ERROR", f"SQL must be a string, but got {to_string(self._sql)}.")
        if ";" in self._sql and ends_with_an_empty_statement(self._sql):
            raise prefixed("D1_ERROR", ONLY_COMMENTS)
        return Query(self._sql.strip() and self._sql, self._params)

    def _result(self) -> Result:
        return self._session.run([self._query()])[0]


class _Database(JsProxy):
    """What D1Database and D1DatabaseSession have in common."""

    __slots__ = ("_session",)

    _session: Session

    @js_method
    def prepare(self, sql: Any = None, *_rest: Any) -> D1PreparedStatement:
        return D1PreparedStatement(self._session, sql)

    @js_method
    def batch(self, statements: Any = _MISSING, *_rest: Any) -> PyodideFuture:
        session = self._session

        def work() -> JsArray:
            queries = [_query_of(item) for item in _sequence(statements)]
            return Results(session.run(queries))

        return session.start("batch", work)


@js_class("D1DatabaseSession", constructible=False)
class D1DatabaseSession(_Database):
    __slots__ = ()

    def __init__(self, session: Session) -> None:
        self._session = session

    @js_method
    def getBookmark(self) -> Any:
        bookmark = self._session.bookmark
        return jsnull if bookmark is None else bookmark


@js_class("D1Database", constructible=False)
class D1Database(_Database):
    """A binding. ``open_`` is called at each query and answers the same store."""

    __slots__ = ()

    def __init__(self, name: str, open_: Callable[[], D1Store], clock: Clock) -> None:
        self._session = Session(name, open_, clock)

    @js_method
    def withSession(self, constraint: Any = None, *_rest: Any) -> D1DatabaseSession:
        if constraint is not None and constraint is not jsnull and not isinstance(constraint, str):
            raise type_error("constraintOrBookmark?.trim is not a function")
        session = Session(self._session.name, self._session.open, self._session.clock)
        bookmark = constraint.strip() if isinstance(constraint, str) else ""
        session.bookmark = None if bookmark in _ANY_INSTANCE else bookmark
        return D1DatabaseSession(session)

    @js_method
    def exec(self, sql: Any = None, *_rest: Any) -> PyodideFuture:
        return self._session.start("exec", lambda: self._exec(sql))

    def _exec(self, sql: Any) -> JsObject:
        if sql is None:
            raise type_error("Cannot read properties of undefined (reading 'trim')")
        if not isinstance(sql, str):
            raise type_error("query.trim is not a function")
        lines = [line for line in sql.strip().split("\n") if line] or [""]
        try:
            results = self._session.open().run(
                [_exec_query(n, line) for n, line in enumerate(lines)]
            )
        except D1Error as error:
            message = f"Error in line {error.index + 1}: {lines[error.index]}: {error.message}"
            raise prefixed("D1_EXEC_ERROR", message) from None
        duration = int(sum(result.duration_ms for result in results))
        return JsObject({"count": len(results), "duration": duration})

    @js_method
    def dump(self, *_rest: Any) -> PyodideFuture:
        def refuse() -> Any:
            # Only alpha databases could be dumped; this is what the others answer.
            cause = js_error("Error", "Status 404")
            raise JsException("Error", "D1_DUMP_ERROR: Status + 404", cause=cause)

        return self._session.start("dump", refuse)


class Results(JsArray):
    """What a batch answers: an array that converts itself for the SDK while nobody changed it."""

    __slots__ = ("_made", "_results")

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results
        self._made: list[Any] | None = None

    @property
    def _items(self) -> list[Any]:
        if self._made is None:
            self._made = list(map(result_object, self._results))
        return self._made

    @_items.setter
    def _items(self, items: list[Any]) -> None:
        self._made = items

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> Any:
        if self._made is None and for_sdk(default_converter):
            plain = [plain_result(result) for result in self._results]
            if None not in plain:
                return plain
        return super().to_py(depth=depth, default_converter=default_converter)


def plain_result(result: Result) -> Any:
    """``D1Result`` as the SDK converts it; None if it has to convert it itself."""
    from tsumugi_emulator.bindings import sdk_d1

    return sdk_d1.plain_result(result, _meta(result))


def result_object(result: Result) -> JsObject:
    """``D1Result``."""
    rows = JsArray(js_rows(result.columns, result.rows))
    return JsObject({"success": True, "meta": JsObject(_meta(result)), "results": rows})


def _meta(result: Result) -> dict[str, Any]:
    return {
        "served_by": SERVED_BY,
        "duration": int(result.duration_ms),
        "changes": result.changes,
        "last_row_id": result.last_row_id,
        "changed_db": result.changed_db,
        "size_after": result.size_after,
        "rows_read": result.rows_read,
        "rows_written": result.rows_written,
    }


def _bound(value: Any) -> Any:
    try:
        return bound(value)
    except TypeError as error:
        raise prefixed("D1_TYPE_ERROR", str(error)) from None


def _exec_query(index: int, line: str) -> Query:
    if ";" in line and ends_with_an_empty_statement(line):
        raise D1Error(ONLY_COMMENTS, index)
    return Query(line)


def _first(result: Result, column: Any) -> Any:
    if not result.rows:
        return jsnull
    row = js_rows(result.columns, result.rows[:1])[0]
    if column is None:
        return row
    name = to_string(column)
    if name not in row._props:
        text = f"D1_COLUMN_NOTFOUND: Column not found ({name})"
        raise JsException("Error", text, cause=js_error("Error", "Column not found"))
    return row._props[name]


def _sequence(statements: Any) -> list[Any]:
    if statements is _MISSING:
        raise type_error("Cannot read properties of undefined (reading 'map')")
    if isinstance(statements, JsArray):
        return statements._items
    if statements is None or statements is jsnull:
        raise type_error(f"Cannot read properties of {to_string(statements)} (reading 'map')")
    raise type_error("statements.map is not a function")


def _query_of(item: Any) -> Query:
    if isinstance(item, D1PreparedStatement):
        return item._query()
    described = type(item._obj).__name__ if isinstance(item, PyProxy) else to_string(item)
    raise prefixed("D1_ERROR", f"batch() takes prepared statements, but got {described}.")
