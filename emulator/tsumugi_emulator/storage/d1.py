"""One D1 database: SQL in, rows and figures out. No JavaScript values, no error prefixes.

Production's limits and refusals apply (workerd's list of pragmas, functions and sizes). Each call
is atomic. ``rows_read`` and ``rows_written`` are near to production's: ADR-0272 says how.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from tsumugi_emulator.storage.engine import (
    FAILURES,
    ONLY_LAST_BINDS,
    WRONG_BINDINGS,
    explained,
    open_database,
    rows_of_any_text,
    steps_of,
)
from tsumugi_emulator.storage.files import BUSY_TIMEOUT_S
from tsumugi_emulator.storage.rules import Rules
from tsumugi_emulator.storage.sql_text import TOO_LONG, Statement, is_too_long, statements
from tsumugi_emulator.storage.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tsumugi_emulator.storage.engine import Row

#: What SQLite can hold, as Python has it.
type Value = int | float | str | bytes | None

#: Comments keep our own statements apart from the user's in the cache of compiled statements:
#: what is compiled is checked once.
_SETTINGS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "temp_store = MEMORY",
    "foreign_keys = ON",
)
_BEGIN = "BEGIN IMMEDIATE /* emulator */"
_COMMIT = "COMMIT /* emulator */"
_ROLLBACK = "ROLLBACK /* emulator */"
_PAGES = "PRAGMA page_count /* emulator */"
_SCHEMA = "PRAGMA schema_version /* emulator */"
_CHANGES_SCHEMA = frozenset({"CREATE", "DROP", "ALTER"})
#: Outside a transaction these would do what D1 does not let them do.
_IN_TRANSACTION = frozenset({"PRAGMA"})

#: Texts remembered; a program that writes values into them has many.
MAX_KNOWN = 512

NO_STATEMENT = "No SQL statements detected."
ONLY_COMMENTS = "SQL code did not contain a statement."


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


class _Ran(NamedTuple):
    """What came of one statement."""

    columns: list[str]
    rows: list[Row]
    read: int
    written: int


class D1Store:
    """Use ``open``."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        #: Runs the emulator's own statements, and the user's.
        self._inside, self._cursor = db.cursor(), db.cursor()
        for pragma in _SETTINGS:
            self._inside.execute(f"PRAGMA {pragma}")
        settings: list[Row] = self._inside.execute("PRAGMA page_size").fetchall()
        self._page_bytes: int = settings[0][0]
        self._rules = Rules()
        self._usage = Usage(self._inner)
        #: Texts of statements that answer no rows, whatever the schema.
        self._answerless: set[str] = set()
        db.authorizer = self._rules.check

    @classmethod
    def open(cls, path: Path) -> D1Store:
        db = open_database(path)
        db.set_busy_timeout(int(BUSY_TIMEOUT_S * 1_000))
        return cls(db)

    def close(self) -> None:
        self._db.close(True)

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
        if is_too_long(sql):
            raise D1Error(TOO_LONG, index)
        parts = statements(sql)
        if not parts:
            raise D1Error(ONLY_COMMENTS, index)
        return parts

    def _query(self, parts: tuple[Statement, ...], params: Sequence[Value], index: int) -> Result:
        started = time.perf_counter()
        db, before = self._db, self._db.total_changes()
        ddl = not _CHANGES_SCHEMA.isdisjoint([part.verb for part in parts])
        schema = self._inner(_SCHEMA)[0] if ddl else None
        read = written = 0
        for part in parts[:-1]:
            ran = self._statement(part, (), index, unbound=ONLY_LAST_BINDS)
            read, written = read + ran.read, written + ran.written
        last = self._statement(parts[-1], params, index)
        changes = db.total_changes() - before
        if ddl:
            changed = schema != self._inner(_SCHEMA)[0]
            self._usage.forget()
        else:
            changed = changes > 0
        return Result(
            last.columns,
            last.rows,
            0 if parts[-1].verb in _CHANGES_SCHEMA else changes,
            db.last_insert_rowid(),
            changed,
            self._size(),
            read + last.read,
            written + last.written,
            (time.perf_counter() - started) * 1000,
        )

    def _statement(
        self,
        part: Statement,
        params: Sequence[Value],
        index: int,
        *,
        unbound: str = WRONG_BINDINGS,
    ) -> _Ran:
        if part.verb == "VACUUM":
            raise D1Error("cannot VACUUM from within a transaction: SQLITE_ERROR", index)
        db, cursor, text = self._db, self._cursor, part.text
        columns: list[str] = []
        before = db.total_changes()
        ahead = self._usage.of_schema_change(part) if part.verb in _CHANGES_SCHEMA else None
        profiles: list[dict[str, Any]] = []
        is_traced = self._usage.tells_by_steps(part, params)
        if is_traced:
            db.trace_v2(apsw.SQLITE_TRACE_PROFILE, profiles.append)
        try:
            cursor.execute(text, params)
            if text not in self._answerless:
                columns = self._columns(text, params)
                if not columns:
                    self._remember_answerless(text)
            rows = cursor.fetchall()
        except UnicodeDecodeError:
            rows = self._rows_of_any_text(text, params, columns, index)
        except FAILURES as error:
            raise D1Error(explained(error, self._rules, unbound=unbound), index) from error
        finally:
            if is_traced:
                db.trace_v2(0, None)
        read, written = ahead or self._usage.of(
            part,
            params,
            rows=len(rows),
            changes=db.changes() if db.total_changes() > before else 0,
            steps=steps_of(profiles),
        )
        return _Ran(columns, rows, read, written)

    def _columns(self, text: str, params: Sequence[Value]) -> list[str]:
        """Names of what the statement that has just begun answers.

        Not remembered: another process may change the schema.
        """
        try:
            return [column[0] for column in self._cursor.get_description()]
        except apsw.ExecutionCompleteError:
            return self._compiled_columns(text, params)

    def _compiled_columns(self, text: str, params: Sequence[Value]) -> list[str]:
        """The same of a statement that gave no row: it is compiled, and not run again."""
        columns: list[str] = []

        def look(cursor: apsw.Cursor, _sql: str, _params: Any) -> bool:
            columns.extend(column[0] for column in cursor.get_description())
            return False

        cursor = self._db.cursor()
        cursor.exec_trace = look
        # What cannot be compiled twice, as CREATE TABLE, answers nothing.
        with contextlib.suppress(apsw.Error):
            cursor.execute(text, params, can_cache=False)
        return columns

    def _remember_answerless(self, text: str) -> None:
        if len(self._answerless) >= MAX_KNOWN:
            self._answerless.clear()
        self._answerless.add(text)

    def _rows_of_any_text(
        self, text: str, params: Sequence[Value], columns: list[str], index: int
    ) -> list[Row]:
        self._rules.suspended = True  # it was compiled under them before
        try:
            return rows_of_any_text(self._db, text, params, columns=len(columns))
        except FAILURES as error:
            raise D1Error(explained(error, self._rules), index) from error
        finally:
            self._rules.suspended = False

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._own(_BEGIN)
        try:
            yield
            self._own(_COMMIT)
        except BaseException as error:
            if self._db.in_transaction:
                self._own(_ROLLBACK)
            if isinstance(error, apsw.Error):
                raise D1Error(explained(error, self._rules)) from error
            raise

    def _size(self) -> int:
        # Asked after every query, and cheaper than a table function that multiplies.
        return int(self._inner(_PAGES)[0][0]) * self._page_bytes

    def _own(self, sql: str, values: Any = ()) -> list[Any]:
        self._rules.suspended = True
        try:
            return self._inside.execute(sql, values).fetchall()
        finally:
            self._rules.suspended = False

    def _inner(self, sql: str, values: Any = ()) -> list[Any]:
        """A statement of our own between the user's; an empty answer if it fails."""
        try:
            return self._own(sql, values)
        except FAILURES:
            return [(0,)]
