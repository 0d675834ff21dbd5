"""Rows of one statement of an object's SQL, read as they are asked for.

Not here: how a statement is run (``object_sql``) and what becomes of its values (``bindings``).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.storage.engine import FAILURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from tsumugi_emulator.durable.object_sql import Known, ObjectSql
    from tsumugi_emulator.storage.engine import Row

NO_RESULT = "Expected exactly one result from SQL query, but got no results."
SEVERAL_RESULTS = "Expected exactly one result from SQL query, but got multiple results."


class SqlError(Exception):
    """SQLite, or a rule of production, refused; the text is production's."""


class SqlCursor:
    """The first row is already stepped, and so is always the one after the last that was given.

    Every name is private: what users hold may be a subclass (``bindings.sdk_sql``), on which other
    names are JavaScript's.
    """

    __slots__ = (
        "_ahead", "_buffered", "_changes", "_fetched", "_known", "_lent", "_open", "_params",
        "_source", "_sql",
    )  # fmt: skip

    _sql: ObjectSql
    _source: apsw.Cursor
    _known: Known
    _params: Sequence[Any]
    #: Rows its statement changed.
    _changes: int
    #: Rows given out.
    _fetched: int
    #: Whether there may be more.
    _open: bool
    #: The row after those, once SQLite was asked for it.
    _ahead: Row | None
    #: Rows that SQLite gave already, after that one.
    _buffered: deque[Row] | None
    #: Whether others may refer to what it is about without referring to it.
    _lent: bool

    def _take(self) -> Row | None:
        """The next row, None at the end.

        Raises:
            SqlError: SQLite failed on the way to it, or to the one after it.
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
        try:  # as _step does, without a call for each row
            ahead = self._source.fetchone() if self._buffered is None else self._step()
        except FAILURES as error:
            ahead = self._step_after(error)
        if ahead is None:
            self._finish()
        self._ahead = ahead
        return row

    def _step(self) -> Row | None:
        if self._buffered is not None:
            return self._buffered.popleft() if self._buffered else None
        try:
            row: Row | None = self._source.fetchone()
        except FAILURES as error:
            row = self._step_after(error)
        return row

    def _step_after(self, error: Exception) -> Row | None:
        """The next row after all, if it only holds a text that is no UTF-8."""
        if not isinstance(error, UnicodeDecodeError):
            raise self._sql._refused(error) from error
        self._buffer_any_text()
        return self._step()

    def _take_only(self) -> Row:
        """The row, if there is exactly one left.

        Raises:
            SqlError: there is none, or another one after it, or SQLite failed on the way.
        """
        if self._open and self._ahead is None and self._buffered is None:
            # The usual case, without a call for each row.
            fetch = self._source.fetchone
            row: Row | None
            try:
                row = fetch()
                more = None if row is None else fetch()
            except UnicodeDecodeError:
                self._buffer_any_text()
                return self._take_only()
            except FAILURES as error:
                raise self._sql._refused(error) from error
            self._fetched += 1
            self._finish()
        else:
            row, more = self._take(), self._take()
        if row is None:
            raise SqlError(NO_RESULT)
        if more is not None:
            self._finish()
            raise SqlError(SEVERAL_RESULTS)
        return row

    def _take_all(self) -> list[Row]:
        """All rows that are left.

        Raises:
            SqlError: SQLite failed on the way to them.
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
            raise self._sql._refused(error) from error
        self._fetched += len(rows)
        self._finish()
        return rows

    def _buffer(self) -> None:
        """Take all rows from SQLite, because an unfinished write could not be committed."""
        try:
            self._buffered = deque(self._source.fetchall())
        except FAILURES as error:
            raise self._sql._refused(error) from error

    def _buffer_any_text(self, given: int | None = None) -> None:
        """Read again what is left: it holds a text that is no UTF-8.

        What is left comes after the rows that were given out, and after the one that waits, unless
        ``given`` says how many there are before it.
        """
        sql = self._sql
        if given is None:
            given = self._fetched + (self._ahead is not None)
        self._buffered = deque(sql._rows_of_any_text(self)[given:])
        self._source = sql._file.db.cursor()  # has nothing to give

    def _finish(self) -> None:
        self._open = False
        self._ahead = self._buffered = None
        if self._sql._spare is None and not self._lent:
            self._sql._spare = self

    def _lend(self) -> None:
        """It is not to be used again."""
        self._lent = True
        if self._sql._spare is self:
            self._sql._spare = None

    @property
    def _rows_read(self) -> int:
        if self._open and self._ahead is None:
            self._ahead = self._step()
            if self._ahead is None:
                self._finish()
        if self._open:
            return self._fetched + 1
        return max(self._fetched, self._sql.figures(self)[0])

    @property
    def _rows_written(self) -> int:
        return self._sql.figures(self)[1]
