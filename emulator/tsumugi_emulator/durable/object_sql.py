"""The user's SQL on an object's file: statements, cursors, and what production says goes wrong.

Values are what SQLite can hold; turning JavaScript values into them is ``bindings.sql_storage``.
A statement is looked at once: what is known about it is kept by its text (ADR-0241).
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

import apsw

from tsumugi_emulator.durable.sql_cursor import SqlCursor, SqlError
from tsumugi_emulator.storage.engine import (
    FAILURES,
    ONLY_LAST_BINDS,
    WRONG_BINDINGS,
    explained,
    rows_of_any_text,
    storable,
)
from tsumugi_emulator.storage.sql_text import (
    TOO_LONG,
    ends_with_an_empty_statement,
    is_too_long,
    statements,
)
from tsumugi_emulator.storage.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tsumugi_emulator.durable.object_file import ObjectFile
    from tsumugi_emulator.storage.engine import Row
    from tsumugi_emulator.storage.sql_text import Statement

#: Outside of a transaction, where production never runs them, some of these mean something else.
_ALWAYS_WRITES = frozenset({"PRAGMA"})
_CHANGES_SCHEMA = frozenset({"CREATE", "DROP", "ALTER"})
#: Statements that are known by their text; a program that writes values into texts has many.
MAX_KNOWN = 512
#: Who refers to a cursor in ``ObjectSql.exec`` that nobody else does.
_NOBODY_ELSE = 3

NO_STATEMENT = "SQL code did not contain a statement."


class Known:
    """What is known about a statement since it ran first."""

    __slots__ = ("answers", "columns", "has_numbers", "record", "statement", "text", "writes")

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.text = statement.text
        self.writes = False
        #: Whether it answers rows, and their columns.
        self.answers = False
        self.columns: tuple[str, ...] = ()
        #: Whether a column may be named by a number, which comes first in an object.
        self.has_numbers = False
        #: Makes what Python sees of a row (``bindings.sdk_sql``).
        self.record: Callable[[Row], Any] | None = None


class ObjectSql:
    def __init__(self, file: ObjectFile) -> None:
        self._file = file
        self._usage = Usage(self._ask)
        self._known: dict[str, Known] = {}
        self._cursor_class: type[SqlCursor] = SqlCursor
        #: A cursor that has nothing more to give: the next statement uses it again, unless
        #: somebody kept it.
        self._spare: SqlCursor | None = None
        self._total_changes: Callable[[], int]
        file.on_schema_change = self.forget

    def use(self, cursor_class: type[SqlCursor]) -> None:
        """Make cursors of this class from now on."""
        if cursor_class is not self._cursor_class:
            self._cursor_class = cursor_class
            self._spare = None

    def forget(self) -> None:
        """The schema changed: columns and plans may be others."""
        self._known.clear()
        self._usage.forget()

    def exec(self, sql: str, params: Sequence[Any]) -> Any:
        """Run all statements; the cursor, of the class in use, reads the last one's rows.

        Raises:
            SqlError: a statement was refused.
        """
        known = self._known.get(sql)
        if known is None:
            return self._exec_unknown(sql, params)
        file = self._file
        if known.writes and not file.writing:
            file.begin()
        cursor = self._spare
        if cursor is None or getrefcount(cursor) > _NOBODY_ELSE:
            cursor = self._another_cursor()
        try:
            cursor._source.execute(known.text, params)
        except UnicodeEncodeError:
            return self.exec(sql, storable(params))
        except FAILURES as error:
            raise self._refused(error) from error
        cursor._known = known
        cursor._params = params
        if known.answers:
            self._spare = None
            cursor._changes = cursor._fetched = 0
            cursor._open = True
            if known.writes:
                cursor._buffer()
        elif known.writes:
            total = self._total_changes()
            cursor._changes = total - file.changes
            file.changes = total
        return cursor

    def _exec_unknown(self, sql: str, params: Sequence[Any]) -> Any:
        if is_too_long(sql):
            raise SqlError(TOO_LONG)
        parts = statements(sql)
        if not parts or (";" in sql and ends_with_an_empty_statement(sql)):
            raise SqlError(NO_STATEMENT)
        written = 0
        for part in parts[:-1]:
            cursor = self._run(part, (), unbound=ONLY_LAST_BINDS)
            cursor._take_all()
            written += cursor._changes
        cursor = self._run(parts[-1], params, unbound=WRONG_BINDINGS)
        cursor._changes += written
        if len(parts) == 1 and cursor._known.statement.verb not in _CHANGES_SCHEMA:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[sql] = cursor._known
        return cursor

    def _run(self, part: Statement, params: Sequence[Any], *, unbound: str) -> SqlCursor:
        """Run a statement and see what it is."""
        file = self._file
        known = Known(part)
        cursor = self._another_cursor()
        source = cursor._source

        def look(source: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
            known.columns = tuple(column[0] for column in source.get_description())
            known.answers = bool(known.columns)
            known.has_numbers = any(name[:1].isdigit() for name in known.columns)
            known.writes = part.verb in _ALWAYS_WRITES or not source.is_readonly
            if known.writes and not file.writing:
                file.begin()
            return True

        if part.verb in _ALWAYS_WRITES and not file.writing:
            file.begin()  # some of them are done when they are compiled
        source.exec_trace = look
        try:
            # Compiled anew: an older one might have the columns of an older schema.
            try:
                source.execute(part.text, params, can_cache=False)
            except UnicodeEncodeError:
                source.execute(part.text, storable(params), can_cache=False)
        except FAILURES as error:
            raise self._refused(error, unbound=unbound) from error
        finally:
            source.exec_trace = None
        if part.verb in _CHANGES_SCHEMA:
            self.forget()
        cursor._known, cursor._params = known, params
        cursor._changes = self._changed() if known.writes else 0
        if known.answers:
            self._spare = None
            cursor._fetched, cursor._open = 0, True
            if known.writes:
                cursor._buffer()
        return cursor

    def _another_cursor(self) -> SqlCursor:
        """A cursor nobody else has, as the spare one."""
        spare = self._spare
        cursor = self._cursor_class()
        cursor._sql = self
        cursor._fetched, cursor._open, cursor._lent = 0, False, False
        cursor._ahead = cursor._buffered = None
        if spare is None:
            db = self._file.db
            cursor._source = db.cursor()
            self._total_changes = db.total_changes
        else:  # it has nothing more to give, so it needs none
            cursor._source = spare._source
            del spare._source
        self._spare = cursor
        return cursor

    def _changed(self) -> int:
        """Rows changed since this was asked last."""
        before, now = self._file.changes, self._total_changes()
        self._file.changes = now
        return now - before

    @property
    def size_bytes(self) -> int:
        ((pages,),) = self._file.own("PRAGMA page_count")
        ((page_bytes,),) = self._file.own("PRAGMA page_size")
        return int(pages * page_bytes)

    def figures(self, cursor: SqlCursor) -> tuple[int, int]:
        """Rows read and written, estimated from the statement's plan (ADR-0061)."""
        return self._usage.of(
            cursor._known.statement, cursor._params, rows=cursor._fetched, changes=cursor._changes
        )

    def _ask(self, sql: str, params: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._file.own(sql, params)
        except apsw.Error:
            return [(0,)]

    def _refused(self, error: Exception, *, unbound: str = WRONG_BINDINGS) -> SqlError:
        """The error as production words it; what the failure undid is taken note of."""
        self._file.look_again()
        return SqlError(explained(error, self._file.rules, unbound=unbound))

    def _rows_of_any_text(self, cursor: SqlCursor) -> list[Row]:
        rules, known = self._file.rules, cursor._known
        rules.suspended = True  # it was compiled under them before
        try:
            return rows_of_any_text(
                self._file.db, known.text, cursor._params, columns=len(known.columns)
            )
        except FAILURES as error:
            raise self._refused(error) from error
        finally:
            rules.suspended = False


__all__ = ["MAX_KNOWN", "Known", "ObjectSql", "SqlCursor", "SqlError"]
