"""The user's SQL on an object's file: statements, cursors, and what production says goes wrong.

Values are what SQLite can hold; turning JavaScript values into them is ``bindings.sql_storage``.
"""

from __future__ import annotations

import re
import sqlite3
from collections import deque
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.storage.rules import TRANSACTION_TEXT
from tsumugi_emulator.storage.sql_text import (
    error_offset,
    holds_an_empty_statement,
    statements,
)
from tsumugi_emulator.storage.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.durable.object_file import ObjectFile
    from tsumugi_emulator.storage.sql_text import Statement

#: Statements that read only, so that no transaction is opened for them. Not pragmas: some mean
#: something else outside of a transaction, where production never runs them.
_READS = frozenset({"SELECT", "VALUES", "EXPLAIN"})
_CHANGES_SCHEMA = frozenset({"CREATE", "DROP", "ALTER"})

NO_STATEMENT = "SQL code did not contain a statement."
WRONG_BINDINGS = "Wrong number of parameter bindings for SQL query."
ONLY_LAST_BINDS = (
    "When executing multiple SQL statements in a single call, only the last statement can have "
    "parameters."
)


class SqlError(Exception):
    """SQLite, or a rule of production, refused; the text is production's."""


class ObjectSql:
    def __init__(self, file: ObjectFile) -> None:
        self._file = file
        self._usage = Usage(self._ask)

    def exec(self, sql: str, params: Sequence[Any]) -> SqlCursor:
        """Run all statements; the cursor reads the last one's rows.

        Raises:
            SqlError: a statement was refused.
        """
        parts = statements(sql)
        if ";" in sql and holds_an_empty_statement(sql):
            raise SqlError(NO_STATEMENT)
        if len(parts) == 1:
            return self._run(parts[0], params, unbound=WRONG_BINDINGS)
        if not parts:
            raise SqlError(NO_STATEMENT)
        written = 0
        for part in parts[:-1]:
            cursor = self._run(part, (), unbound=ONLY_LAST_BINDS)
            self._drain(cursor.source, part.text)
            written += cursor.changes
        cursor = self._run(parts[-1], params, unbound=WRONG_BINDINGS)
        cursor.changes += written
        return cursor

    @property
    def size_bytes(self) -> int:
        ((pages,),) = self._file.own("PRAGMA page_count")
        ((page_bytes,),) = self._file.own("PRAGMA page_size")
        return int(pages * page_bytes)

    def _run(self, part: Statement, params: Sequence[Any], *, unbound: str) -> SqlCursor:
        file = self._file
        db = file.db
        writes = part.verb not in _READS
        if writes:
            file.begin()
            if part.verb in _CHANGES_SCHEMA:
                self._usage.forget()
        values = part.values(params)
        if values is None:
            message = self._compile_error(part.text)
            raise (
                SqlError(unbound)
                if message is None
                else self.explained(part.text, sqlite3.OperationalError(message))
            )
        before = db.total_changes
        try:
            try:
                source = db.execute(part.text, values)
            except UnicodeEncodeError:
                source = db.execute(part.text, _storable(values))
        except (sqlite3.Error, ValueError, OverflowError, UnicodeError) as error:
            raise self.explained(part.text, error, unbound=unbound) from error
        cursor = SqlCursor(self, part, values, source, db.total_changes - before)
        if writes and source.description is not None:
            cursor.buffer()  # an unfinished write could not be committed
        return cursor

    def _drain(self, source: sqlite3.Cursor, sql: str) -> None:
        try:
            source.fetchall()
        except sqlite3.Error as error:
            raise self.explained(sql, error) from error

    def figures(self, cursor: SqlCursor) -> tuple[int, int]:
        """Rows read and written, estimated from the statement's plan (ADR-0061)."""
        return self._usage.of(
            cursor.statement, cursor.params, rows=cursor.fetched, changes=cursor.changes
        )

    def _ask(self, sql: str, params: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._file.own(sql, params)
        except sqlite3.Error:
            return [(0,)]

    def explained(self, sql: str, error: Exception, *, unbound: str = WRONG_BINDINGS) -> SqlError:
        """The error as production words it."""
        if self._file.rules.take_refused_transaction():
            return SqlError(TRANSACTION_TEXT)
        message = str(error)
        if isinstance(error, sqlite3.ProgrammingError) and "bindings supplied" in message:
            return SqlError(unbound)
        code = getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR"
        offset = error_offset(sql, message, self._compile_error)
        place = "" if offset is None else f" at offset {offset}"
        primary = "_".join(code.split("_")[:2])
        extended = "" if primary == code else f" (extended: {code})"
        return SqlError(f"{message}{place}: {primary}{extended}")

    def _compile_error(self, sql: str) -> str | None:
        try:
            self._file.own(f"EXPLAIN {sql}")
        except sqlite3.ProgrammingError:
            return None  # it compiled: only values are missing
        except sqlite3.Error as error:
            return str(error)
        return None


def _storable(values: Any) -> Any:
    """Texts with halves of characters, as they are read back: the runtime stores their bytes."""
    if isinstance(values, dict):
        return {key: _whole(value) for key, value in values.items()}
    return [_whole(value) for value in values]


def _whole(value: Any) -> Any:
    if type(value) is not str:
        return value
    joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return _HALF.sub("\ufffd\ufffd\ufffd", joined)


_HALF = re.compile("[\ud800-\udfff]")


class SqlCursor:
    """Rows of one statement, read as they are asked for. The first is already stepped."""

    #: Class attributes until they change: most cursors are made, read once and forgotten.
    fetched = 0
    done = False
    #: A row taken from SQLite and not yet given out.
    _head: tuple[Any, ...] | None = None
    _buffered: deque[tuple[Any, ...]] | None = None
    _columns: list[str] | None = None
    _has_numbers: bool | None = None

    def __init__(
        self,
        sql: ObjectSql,
        statement: Statement,
        params: Any,
        source: sqlite3.Cursor,
        changes: int,
    ) -> None:
        self._sql = sql
        self.statement = statement
        self.params = params
        self.source = source
        self.changes = changes

    @property
    def columns(self) -> list[str]:
        found = self._columns
        if found is None:
            found = self._columns = [column[0] for column in self.source.description or ()]
        return found

    @property
    def has_numbers(self) -> bool:
        """Whether a column may be named by a number, which comes first in an object."""
        found = self._has_numbers
        if found is None:
            found = self._has_numbers = any(name[:1].isdigit() for name in self.columns)
        return found

    def take(self) -> tuple[Any, ...] | None:
        """The next row, None at the end.

        Raises:
            SqlError: SQLite failed on the way to it.
        """
        row: tuple[Any, ...] | None = self._head
        if row is not None:
            self._head = None
            return row
        try:
            row = self._fetch()
        except sqlite3.Error as error:
            raise self._sql.explained(self.statement.text, error) from error
        if row is None:
            self.done = True
        else:
            self.fetched += 1
        return row

    def buffer(self) -> None:
        """Take all rows from SQLite, to be given out as before."""
        self._buffered = deque(self.take_all())
        self.fetched, self.done = 0, False

    def _fetch(self) -> tuple[Any, ...] | None:
        if self._buffered is not None:
            return self._buffered.popleft() if self._buffered else None
        row: tuple[Any, ...] | None = self.source.fetchone()
        return row

    def take_all(self) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]]
        try:
            rows = self.source.fetchall() if self._buffered is None else list(self._buffered)
        except sqlite3.Error as error:
            raise self._sql.explained(self.statement.text, error) from error
        self._buffered = None if self._buffered is None else deque()
        self.fetched += len(rows)
        self.done = True
        if self._head is not None:
            rows.insert(0, self._head)
            self._head = None
        return rows

    @property
    def rows_read(self) -> int:
        if self._head is None and not self.done:
            self._head = self.take()  # the row after the one that was given out is stepped too
        return max(self.fetched, self._sql.figures(self)[0]) if self.done else self.fetched

    @property
    def rows_written(self) -> int:
        return self._sql.figures(self)[1]
