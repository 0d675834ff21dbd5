"""One D1 database: SQL in, rows and figures out. No JavaScript values, no error prefixes.

Production's limits and refusals apply (workerd's list of pragmas, functions and sizes). Each call
is atomic. ``rows_read`` and ``rows_written`` are estimates: ADR-0061 says how.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tsumugi_emulator.storage.files import connect
from tsumugi_emulator.storage.rules import LIMITS, TRANSACTION_TEXT, Rules
from tsumugi_emulator.storage.sql_text import Statement, error_offset, statements
from tsumugi_emulator.storage.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

#: What SQLite can hold, as Python has it.
type Value = int | float | str | bytes | None

#: Comments keep our own statements apart from the user's in the cache of compiled statements:
#: what is compiled is checked once.
_BEGIN = "BEGIN IMMEDIATE /* emulator */"
_COMMIT = "COMMIT /* emulator */"
_ROLLBACK = "ROLLBACK /* emulator */"
_PAGES = "PRAGMA page_count /* emulator */"
_SCHEMA = "PRAGMA schema_version /* emulator */"
_CHANGES_SCHEMA = frozenset({"CREATE", "DROP", "ALTER"})
#: Outside a transaction these would do what D1 does not let them do.
_IN_TRANSACTION = frozenset({"PRAGMA"})

NO_STATEMENT = "No SQL statements detected."
ONLY_COMMENTS = "SQL code did not contain a statement."
WRONG_BINDINGS = "Wrong number of parameter bindings for SQL query."


class D1Error(Exception):
    """A query was refused: SQLite's message with its place and code, as D1 words it."""

    def __init__(self, message: str, index: int = 0) -> None:
        super().__init__(message)
        self.message = message
        #: Which query of the call it was.
        self.index = index


class Query(NamedTuple):
    sql: str
    params: Sequence[Value] = ()


class Result(NamedTuple):
    columns: list[str]
    rows: list[tuple[Any, ...]]
    changes: int
    last_row_id: int
    changed_db: bool
    size_after: int
    rows_read: int
    rows_written: int
    duration_ms: float


class D1Store:
    """Use ``open``."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        db.execute("PRAGMA foreign_keys = ON")
        # A text that is not UTF-8 is data, not an error.
        db.text_factory = functools.partial(str, encoding="utf-8", errors="replace")
        for limit, value in LIMITS:
            db.setlimit(limit, value)
        self._page_bytes: int = db.execute("PRAGMA page_size").fetchone()[0]
        self._rules = Rules()
        self._usage = Usage(self._inner)
        db.set_authorizer(self._rules.check)

    @classmethod
    def open(cls, path: Path) -> D1Store:
        return cls(connect(path))

    def close(self) -> None:
        self._db.close()

    def run(self, queries: Sequence[Query]) -> list[Result]:
        """Run all or nothing; a query may hold several statements, its last one answers.

        Raises:
            D1Error: a query was refused, and nothing was changed.
        """
        if not queries:
            raise D1Error(NO_STATEMENT)
        parsed = [self._parse(query.sql, index) for index, query in enumerate(queries)]
        alone = len(parsed) == 1 and len(parsed[0]) == 1
        if alone and parsed[0][0].verb not in _IN_TRANSACTION:
            return [self._query(parsed[0], queries[0].params, 0)]
        with self._transaction():
            return [
                self._query(parts, query.params, index)
                for index, (parts, query) in enumerate(zip(parsed, queries, strict=True))
            ]

    def _parse(self, sql: str, index: int) -> tuple[Statement, ...]:
        if not sql:
            raise D1Error(NO_STATEMENT, index)
        parts = statements(sql)
        if not parts:
            raise D1Error(ONLY_COMMENTS, index)
        return parts

    def _query(self, parts: tuple[Statement, ...], params: Sequence[Value], index: int) -> Result:
        started = time.perf_counter()
        db, before = self._db, self._db.total_changes
        ddl = not _CHANGES_SCHEMA.isdisjoint([part.verb for part in parts])
        schema = self._inner(_SCHEMA)[0] if ddl else None
        read = written = 0
        for part in parts[:-1]:
            figures = self._statement(part, (), index)
            read, written = read + figures[2], written + figures[3]
        cursor, rows, now_read, now_written = self._statement(parts[-1], params, index)
        changes = db.total_changes - before
        if ddl:
            changed = schema != self._inner(_SCHEMA)[0]
            self._usage.forget()
        else:
            changed = changes > 0
        return Result(
            [column[0] for column in cursor.description or ()],
            rows,
            0 if parts[-1].verb in _CHANGES_SCHEMA else changes,
            cursor.lastrowid or 0,
            changed,
            self._size(),
            read + now_read,
            written + now_written + (ddl and changed),
            (time.perf_counter() - started) * 1000,
        )

    def _statement(
        self, part: Statement, params: Sequence[Value], index: int
    ) -> tuple[sqlite3.Cursor, list[Any], int, int]:
        if part.verb == "VACUUM":
            raise D1Error("cannot VACUUM from within a transaction: SQLITE_ERROR", index)
        values = part.values(params)
        if values is None:
            raise D1Error(self._compile_error(part.text) or WRONG_BINDINGS, index)
        before = self._db.total_changes
        try:
            cursor = self._db.execute(part.text, values)
            rows = cursor.fetchall()
        except (sqlite3.Error, ValueError, OverflowError, UnicodeError) as error:
            raise D1Error(self._explain(part.text, error), index) from error
        changes = self._db.total_changes - before
        read, written = self._usage.of(part, values, rows=len(rows), changes=changes)
        return cursor, rows, read, written

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._own(_BEGIN)
        try:
            yield
            self._own(_COMMIT)
        except BaseException as error:
            if self._db.in_transaction:
                self._own(_ROLLBACK)
            if isinstance(error, sqlite3.Error):
                raise D1Error(self._explain("", error)) from error
            raise

    def _size(self) -> int:
        # Asked after every query, and cheaper than a table function that multiplies.
        return int(self._inner(_PAGES)[0][0]) * self._page_bytes

    def _own(self, sql: str, values: Any = ()) -> list[Any]:
        self._rules.suspended = True
        try:
            return self._db.execute(sql, values).fetchall()
        finally:
            self._rules.suspended = False

    def _inner(self, sql: str, values: Any = ()) -> list[Any]:
        """A statement of our own between the user's; an empty answer if it fails."""
        try:
            return self._own(sql, values)
        except sqlite3.Error:
            return [(0,)]

    # -- Errors -----------------------------------------------------------------------------------

    def _explain(self, sql: str, error: Exception) -> str:
        if self._rules.take_refused_transaction():
            return TRANSACTION_TEXT
        message = str(error)
        if isinstance(error, sqlite3.ProgrammingError) and "bindings supplied" in message:
            return WRONG_BINDINGS
        code = getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR"
        offset = error_offset(sql, message, self._compile_message)
        place = "" if offset is None else f" at offset {offset}"
        primary = "_".join(code.split("_")[:2])
        extended = "" if primary == code else f" (extended: {code})"
        return f"{message}{place}: {primary}{extended}"

    def _compile_error(self, sql: str) -> str | None:
        """What is wrong with ``sql`` besides its values."""
        try:
            self._own(f"EXPLAIN {sql}")
        except sqlite3.ProgrammingError:
            return None  # it compiled: only values are missing
        except sqlite3.Error as error:
            return self._explain(sql, error)
        return None

    def _compile_message(self, sql: str) -> str | None:
        try:
            self._own(f"EXPLAIN {sql}")
        except sqlite3.Error as error:
            return str(error)
        return None
