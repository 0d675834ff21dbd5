"""The door to SQLite: one JSON text in, one JSON text out. Knows no table and no job.

Every statement has one parameter, ``?1``: a JSON text from which SQL takes its values
(``?1 ->> '$.now'``, ``json_each(?1, '$.rows')``). What reads answers one JSON text. So a statement
crosses to JavaScript twice however many rows it moves, and whole numbers stay whole (ADR-0120).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from tsumugi.jobs.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Characters of a bound text. SQLite takes 2 MB there, and a character is up to four bytes.
TEXT_LENGTH: Final = 400_000


class Storage(Protocol):
    """A SQLite database that belongs to one object."""

    def read(self, sql: str, given: str) -> str:
        """The one value of the one row."""
        ...

    def write(self, sql: str, given: str | None) -> None:
        """Run a statement that answers nothing; None: it has no parameter."""
        ...

    def transaction[T](self, work: Callable[[], T]) -> T:
        """All that ``work`` writes, or nothing if it raises. It must not wait for anything."""
        ...


class Sql:
    """Statements with Python values."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.transaction = storage.transaction

    def read(self, sql: str, **given: Any) -> Any:
        """What the JSON text that ``sql`` answers says."""
        return loads(self._storage.read(sql, dumps(given)))

    def define(self, sql: str) -> None:
        """A statement that defines a table or an index: the only kind without a parameter."""
        self._storage.write(sql, None)

    def write(self, sql: str, **given: Any) -> None:
        self._storage.write(sql, dumps(given))

    def read_rows(self, statement: str, rows: Sequence[Any], **given: Any) -> list[Any]:
        """What ``statement``, which answers an array, says about ``$.rows``, however many."""
        if not rows:
            return []
        text = dumps({**given, "rows": rows})
        if len(text) <= TEXT_LENGTH or len(rows) == 1:
            found: list[Any] = loads(self._storage.read(statement, text))
            return found
        half = len(rows) // 2
        first = self.read_rows(statement, rows[:half], **given)
        return first + self.read_rows(statement, rows[half:], **given)

    def write_rows(self, *statements: str, rows: Sequence[Any], **given: Any) -> None:
        """Run these with ``$.rows``, split up as the length of a text demands; none for no rows."""
        if not rows:
            return
        text = dumps({**given, "rows": rows})
        if len(text) <= TEXT_LENGTH or len(rows) == 1:
            for statement in statements:
                self._storage.write(statement, text)
            return
        half = len(rows) // 2
        self.write_rows(*statements, rows=rows[:half], **given)
        self.write_rows(*statements, rows=rows[half:], **given)
