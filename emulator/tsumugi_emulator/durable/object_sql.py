"""The user's SQL on an object's file: statements, cursors, and what production says goes wrong.

Values are what SQLite can hold; turning JavaScript values into them is ``bindings.sql_storage``.
A statement is looked at once: what is known about it is kept by its text (ADR-0241).
"""

from __future__ import annotations

from sys import getrefcount
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import apsw

from tsumugi_emulator.durable.sql_cursor import SqlCursor
from tsumugi_emulator.storage.engine import (
    FAILURES,
    ONLY_LAST_BINDS,
    WRONG_BINDINGS,
    explained,
    rows_of_any_text,
    steps_of,
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
    from tsumugi_emulator.storage.bytecode import Steps
    from tsumugi_emulator.storage.engine import Row
    from tsumugi_emulator.storage.sql_text import Statement

#: Outside of a transaction, where production never runs them, some of these mean something else.
_ALWAYS_WRITES = frozenset({"PRAGMA"})
_CHANGES_SCHEMA = frozenset({"CREATE", "DROP", "ALTER"})
_CHANGES_ROWS = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE", "WITH"})
#: Statements that are known by their text; a program that writes values into texts has many.
MAX_KNOWN = 512


def _references_here() -> int:
    """References to what is read from one attribute into one variable.

    Not the same in every Python: newer ones count fewer.
    """
    holder = SimpleNamespace(spare=object())
    cursor = holder.spare
    return getrefcount(cursor)


#: References to the spare cursor, where it is about to be used again and nobody has kept it.
NOBODY_ELSE = _references_here()

NO_STATEMENT = "SQL code did not contain a statement."


class Known:
    """What is known about a statement since it ran first."""

    __slots__ = (
        "answers", "buffers", "changes", "columns", "figures", "has_numbers", "record", "statement",
        "text", "writes",
    )  # fmt: skip

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.text = statement.text
        self.writes = False
        #: Rows it changes: 0, or None for SQLite to be asked each time.
        self.changes: int | None = 0
        #: Rows read and written, of what changes the schema.
        self.figures: tuple[int, int] | None = None
        #: Whether it answers rows, and their columns.
        self.answers = False
        #: Whether it does both: its rows are taken before it counts as written.
        self.buffers = False
        self.columns: tuple[str, ...] = ()
        #: Whether a column may be named by a number, which comes first in an object.
        self.has_numbers = False
        #: Makes what Python sees of a row (``bindings.sdk_sql``).
        self.record: Callable[[Row], Any] | None = None


class ObjectSql:
    def __init__(self, file: ObjectFile, refusal: Callable[[str], Exception]) -> None:
        """``refusal`` makes the error that tells users what SQLite, or production, refuses."""
        self.file = file
        self.refusal = refusal
        self._usage = Usage(self._ask)
        #: By the text that ``exec`` was given; always the same dictionary.
        self.known: dict[str, Known] = {}
        self._cursor_class: type[SqlCursor] = SqlCursor
        #: A cursor that has nothing more to give: the next statement uses it again, unless
        #: somebody kept it. How many rows its statement changed may not be known yet.
        self.spare: SqlCursor | None = None
        file.on_schema_change = self.forget
        file.before_own = self._count_changes

    def use(self, cursor_class: type[SqlCursor]) -> None:
        """Make cursors of this class from now on."""
        if cursor_class is not self._cursor_class:
            self._cursor_class = cursor_class
            self._count_changes()
            self.spare = None

    def forget(self) -> None:
        """The schema changed: columns and plans may be others."""
        self.known.clear()
        self._usage.forget()

    def exec(self, sql: str, params: Sequence[Any]) -> Any:
        """Run all statements; the cursor, of the class in use, reads the last one's rows.

        What runs again and again is also run by ``bindings.sdk_sql``, with fewer calls.

        Raises:
            Exception: a refusal: the text is production's.
        """
        known = self.known.get(sql)
        if known is None:
            return self._exec_unknown(sql, params)
        if known.writes and not self.file.writing:
            self.file.begin()
        cursor = self.spare
        if cursor is None or getrefcount(cursor) > NOBODY_ELSE:
            cursor = self.another_cursor()
        try:
            cursor._execute(known.text, params)
        except UnicodeEncodeError:
            return self.exec(sql, storable(params))
        except FAILURES as error:
            raise self.refused(error) from None
        cursor._known, cursor._params, cursor._changes = known, params, known.changes
        if known.answers:
            cursor._begin()
        return cursor

    def _exec_unknown(self, sql: str, params: Sequence[Any]) -> Any:
        if is_too_long(sql):
            raise self.refusal(TOO_LONG)
        parts = statements(sql)
        if not parts or (";" in sql and ends_with_an_empty_statement(sql)):
            raise self.refusal(NO_STATEMENT)
        written = 0
        for part in parts[:-1]:
            cursor = self._run(part, (), unbound=ONLY_LAST_BINDS)
            cursor._take_all()
            written += cursor._changes or 0
        cursor = self._run(parts[-1], params, unbound=WRONG_BINDINGS)
        cursor._changes = (cursor._changes or 0) + written
        if len(parts) == 1 and cursor._known.statement.verb not in _CHANGES_SCHEMA:
            if len(self.known) >= MAX_KNOWN:
                self.known.clear()
            self.known[sql] = cursor._known
        return cursor

    def _run(self, part: Statement, params: Sequence[Any], *, unbound: str) -> SqlCursor:
        """Run a statement and see what it is."""
        file = self.file
        known = Known(part)
        cursor = self.another_cursor()
        source = cursor._source

        def look(source: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
            known.columns = tuple(column[0] for column in source.get_description())
            known.answers = bool(known.columns)
            known.has_numbers = any(name[:1].isdigit() for name in known.columns)
            known.writes = part.verb in _ALWAYS_WRITES or not source.is_readonly
            known.buffers = known.answers and known.writes
            known.changes = None if known.writes and part.verb in _CHANGES_ROWS else 0
            if known.writes and not file.writing:
                file.begin()
            return True

        if part.verb in _CHANGES_SCHEMA:
            known.figures = self._usage.of_schema_change(part)
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
            raise self.refused(error, unbound=unbound) from None
        finally:
            source.exec_trace = None
        if part.verb in _CHANGES_SCHEMA:
            self.forget()
        cursor._known, cursor._params, cursor._changes = known, params, known.changes
        if known.answers:
            cursor._begin()
        self._count_changes()
        return cursor

    def another_cursor(self) -> SqlCursor:
        """A cursor nobody else has, as the spare one."""
        self._count_changes()
        spare = self.spare
        cursor = self._cursor_class()
        cursor._sql = self
        cursor._fetched, cursor._open, cursor._untouched, cursor._lent = 0, False, False, False
        cursor._ahead = cursor._buffered = None
        cursor._changes = 0
        cursor._attach(self.file.db.cursor() if spare is None else spare._detach())
        self.spare = cursor
        return cursor

    def _count_changes(self) -> None:
        """Of the last statement, before another one."""
        if self.spare is not None:
            self.spare._count_changes()

    def changes(self) -> int:
        """Rows that the last statement changed which changes rows."""
        return self.file.db.changes()

    @property
    def size_bytes(self) -> int:
        ((pages,),) = self.file.own("PRAGMA page_count")
        ((page_bytes,),) = self.file.own("PRAGMA page_size")
        return int(pages * page_bytes)

    def figures(self, cursor: SqlCursor) -> tuple[int, int]:
        """Rows read and written, as near as can be told (ADR-0272)."""
        known = cursor._known
        if known.figures is not None:
            return known.figures
        steps = None
        if not known.writes and self._usage.tells_by_steps(known.statement, cursor._params):
            steps = self._steps(cursor)
        return self._usage.of(
            known.statement,
            cursor._params,
            rows=cursor._fetched,
            changes=cursor._count_changes(),
            steps=steps,
        )

    def reads(self, cursor: SqlCursor) -> bool:
        return self._usage.reads(cursor._known.statement, cursor._params)

    def _steps(self, cursor: SqlCursor) -> Steps | None:
        """What it took: it runs once more, as far as it was read."""
        db = self.file.db
        profiles: list[dict[str, Any]] = []
        db.trace_v2(apsw.SQLITE_TRACE_PROFILE, profiles.append)
        try:
            again = db.cursor()
            again.execute(cursor._known.text, cursor._params)
            for _ in range(cursor._fetched + (not cursor._open)):
                if again.fetchone() is None:
                    break
            again.close(True)
        except FAILURES:
            return None
        finally:
            db.trace_v2(0, None)
        return steps_of(profiles)

    def _ask(self, sql: str, params: Sequence[Any] = ()) -> list[Any]:
        try:
            return self.file.own(sql, params)
        except FAILURES:
            return [(0,)]

    def refused(self, error: Exception, *, unbound: str = WRONG_BINDINGS) -> Exception:
        """The error as production words it; what the failure undid is taken note of."""
        self.file.look_again()
        return self.refusal(explained(error, self.file.rules, unbound=unbound))

    def rows_of_any_text(self, cursor: SqlCursor) -> list[Row]:
        rules, known = self.file.rules, cursor._known
        rules.suspended = True  # it was compiled under them before
        try:
            return rows_of_any_text(
                self.file.db, known.text, cursor._params, columns=len(known.columns)
            )
        except FAILURES as error:
            raise self.refused(error) from None
        finally:
            rules.suspended = False


__all__ = ["MAX_KNOWN", "NOBODY_ELSE", "Known", "ObjectSql", "SqlCursor"]
