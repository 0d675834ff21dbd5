"""Rows of one statement of an object's SQL, read as they are asked for.

Not here: how a statement is run (``object_sql``) and what becomes of its values (``bindings``).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.storage.engine import FAILURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import apsw

    from tsumugi_emulator.durable.object_sql import Known, ObjectSql
    from tsumugi_emulator.storage.engine import Row

NO_RESULT = "Expected exactly one result from SQL query, but got no results."
SEVERAL_RESULTS = "Expected exactly one result from SQL query, but got multiple results."


class SqlCursor:
    """The first row is already stepped, and so is always the one after the last that was given.

    Every name is private: what users hold may be a subclass (``bindings.sdk_sql``), on which other
    names are JavaScript's.
    """

    __slots__ = (
        "_ahead", "_buffered", "_changes", "_execute", "_fetch", "_fetched", "_known", "_lent",
        "_open", "_params", "_source", "_sql", "_untouched",
    )  # fmt: skip

    _sql: ObjectSql
    _source: apsw.Cursor
    #: Methods of the source: looking them up costs a tenth of a short statement.
    _execute: Callable[..., Any]
    _fetch: Callable[[], Row | None]
    _known: Known
    _params: Sequence[Any]
    #: Rows its statement changed; None for what SQLite says, as long as it is the last one.
    _changes: int | None
    #: Rows given out.
    _fetched: int
    #: Whether there may be more.
    _open: bool
    #: Whether it is open, and SQLite was asked for nothing yet.
    _untouched: bool
    #: The row after those, once SQLite was asked for it.
    _ahead: Row | None
    #: Rows that SQLite gave already, after that one.
    _buffered: deque[Row] | None
    #: Whether others may refer to what it is about without referring to it.
    _lent: bool

    def _attach(self, source: apsw.Cursor) -> None:
        self._source = source
        self._execute, self._fetch = source.execute, source.fetchone

    def _detach(self) -> apsw.Cursor:
        """Its source, for another one to use; it has nothing more to give, so it needs none."""
        source = self._source
        del self._source, self._execute, self._fetch
        return source

    def _begin(self) -> None:
        """It has rows to give."""
        self._sql.spare = None
        self._fetched = 0
        self._open = self._untouched = True
        if self._known.buffers:
            self._buffer()
            self._count_changes()

    def _take(self) -> Row | None:
        """The next row, None at the end.

        Raises:
            Exception: a refusal: SQLite failed on the way to it, or to the one after it.
        """
        if not self._open:
            return None
        row = self._ahead
        if row is None:
            row = self._step()
            if row is None:
                self._finish()
                return None
        self._ahead = None
        self._fetched += 1
        self._ahead = self._step()
        if self._ahead is None:
            self._finish()
        return row

    def _take_each(self) -> Iterator[Row]:
        """The rows that are left, as they are asked for.

        Others may take some of them meanwhile.

        Raises:
            Exception: a refusal: SQLite failed on the way.
        """
        while self._open:
            row = self._ahead
            if row is None or self._buffered is not None:
                row = self._take()
                if row is None:
                    return
            else:  # as _take does, without a call for each row
                self._ahead = None
                self._fetched += 1
                try:
                    ahead = self._fetch()
                except FAILURES as error:
                    ahead = self._step_after(error)
                if ahead is None:
                    self._finish()
                self._ahead = ahead
            yield row

    def _step(self) -> Row | None:
        self._untouched = False
        if self._buffered is not None:
            return self._buffered.popleft() if self._buffered else None
        try:
            row: Row | None = self._fetch()
        except FAILURES as error:
            row = self._step_after(error)
        return row

    def _step_after(self, error: Exception) -> Row | None:
        """The next row after all, if it only holds a text that is no UTF-8."""
        if not isinstance(error, UnicodeDecodeError):
            raise self._sql.refused(error) from None
        self._buffer_any_text()
        return self._step()

    def _take_only(self) -> Row:
        """The row, if there is exactly one left.

        Raises:
            Exception: a refusal: there is none, or another one after it, or SQLite failed.
        """
        row, more = self._take(), self._take()
        if row is None or more is not None:
            raise self._not_only(row)
        return row

    def _take_only_after(self, error: Exception) -> Row:
        """The same, where SQLite failed, unless only because of a text that is no UTF-8."""
        if not isinstance(error, UnicodeDecodeError):
            raise self._sql.refused(error) from None
        self._buffer_any_text()
        return self._take_only()

    def _not_only(self, row: Row | None) -> Exception:
        """The refusal where there is not exactly one row; ``row`` is the first."""
        self._finish()
        return self._sql.refusal(NO_RESULT if row is None else SEVERAL_RESULTS)

    def _take_all(self) -> list[Row]:
        """All rows that are left.

        Raises:
            Exception: a refusal: SQLite failed on the way to them.
        """
        if not self._open:
            return []
        rows = [] if self._ahead is None else [self._ahead]
        try:
            rows += self._source.fetchall() if self._buffered is None else self._buffered
        except UnicodeDecodeError:
            self._buffer_any_text(given=self._fetched)
            rows = list(self._buffered or ())
        except FAILURES as error:
            raise self._sql.refused(error) from None
        self._fetched += len(rows)
        self._finish()
        return rows

    def _buffer(self) -> None:
        """Take all rows from SQLite, because an unfinished write could not be committed."""
        self._untouched = False
        try:
            self._buffered = deque(self._source.fetchall())
        except FAILURES as error:
            raise self._sql.refused(error) from None

    def _buffer_any_text(self, given: int | None = None) -> None:
        """Read again what is left: it holds a text that is no UTF-8.

        What is left comes after the rows that were given out, and after the one that waits, unless
        ``given`` says how many there are before it.
        """
        sql = self._sql
        if given is None:
            given = self._fetched + (self._ahead is not None)
        self._untouched = False
        self._buffered = deque(sql.rows_of_any_text(self)[given:])
        self._attach(sql.file.db.cursor())  # has nothing to give

    def _finish(self) -> None:
        self._open = self._untouched = False
        self._ahead = self._buffered = None
        if self._sql.spare is None and not self._lent:
            self._sql.spare = self

    def _lend(self) -> None:
        """It is not to be used again."""
        self._lent = True
        if self._sql.spare is self:
            self._count_changes()
            self._sql.spare = None

    def _count_changes(self) -> int:
        """Rows its statement changed."""
        if self._changes is None:
            self._changes = self._sql.changes()
        return self._changes

    @property
    def _rows_read(self) -> int:
        if self._open and self._ahead is None:
            self._ahead = self._step()
            if self._ahead is None:
                self._finish()
        if self._open:
            return self._fetched + 1 if self._sql.reads(self) else 0
        return self._sql.figures(self)[0]

    @property
    def _rows_written(self) -> int:
        return self._sql.figures(self)[1]
