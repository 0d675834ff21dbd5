"""Empty and delete queues at once, and their rows a few at a time. Asks nobody.

A purge moves two marks: everything up to them is gone for everybody. The rows are collected
afterwards, in the background, so that emptying two million messages does not stop the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .lines import first_place
from .schema import PLACE_BITS

if TYPE_CHECKING:
    import sqlite3

    from .store import QueueStore

_DELAYED_GARBAGE = """
DELETE FROM delayed WHERE (queue, due_ms, place) IN (
  SELECT queue, due_ms, place FROM delayed WHERE queue = ? AND place <= ? LIMIT ?)
"""
_LAST_OF_CHUNK = """
SELECT place FROM ready WHERE place BETWEEN ? AND ? ORDER BY place LIMIT 1 OFFSET ?
"""


class PurgeStatus(NamedTuple):
    #: None if there never was one.
    started_ms: int | None
    complete: bool


class Purges:
    def __init__(self, connection: sqlite3.Connection, store: QueueStore) -> None:
        self._db = connection
        self._store = store
        self._pending = self._is_garbage_left()

    def start(self, queue: str, *, now_ms: int) -> None:
        """Remove every message of the queue: delayed ones and those in flight as well."""
        line = self._store.line(queue)
        with self._store.transaction():
            self._store.touch(line)
            line.purge()
            self._db.execute("DELETE FROM pulls WHERE queue = ?", (line.number,))
            self._discard(line.number, line.last_place)
            self._db.execute(
                "UPDATE lines SET purge_started_ms = ? WHERE queue = ?", (now_ms, line.number)
            )

    def status(self, queue: str) -> PurgeStatus:
        number = self._store.line(queue).number
        (started_ms,) = self._db.execute(
            "SELECT purge_started_ms FROM lines WHERE queue = ?", (number,)
        ).fetchone()
        garbage = self._db.execute(
            "SELECT 1 FROM garbage WHERE first_place = ?", (first_place(number),)
        ).fetchone()
        return PurgeStatus(started_ms, garbage is None)

    def delete_queue(self, queue: str) -> None:
        """Remove the queue and all it holds. Its number is never given out again."""
        line = self._store.line(queue)
        number = (line.number,)
        with self._store.transaction():
            self._db.execute(
                "INSERT INTO facts VALUES ('last queue number', :n)"
                " ON CONFLICT DO UPDATE SET value = max(value, :n)",
                {"n": line.number},
            )
            self._discard(line.number, line.last_place)
            for table in ("pulls", "consumers", "lines"):
                self._db.execute(f"DELETE FROM {table} WHERE queue = ?", number)
            self._db.execute("DELETE FROM queues WHERE number = ?", number)
        self._store.forget(queue)

    def collect(self, *, limit: int) -> bool:
        """Delete up to ``limit`` rows that are garbage; whether there is more."""
        if not self._pending:
            return False
        with self._store.transaction():
            found = self._db.execute("SELECT first_place, last_place FROM garbage").fetchone()
            if found is None:
                self._pending = False
                return False
            first, last = found
            chunk = self._db.execute(_LAST_OF_CHUNK, (first, last, limit - 1)).fetchone()
            through = chunk[0] if chunk else last
            self._db.execute("DELETE FROM ready WHERE place BETWEEN ? AND ?", (first, through))
            values = (first >> PLACE_BITS, last, limit)
            delayed = self._db.execute(_DELAYED_GARBAGE, values).rowcount
            if chunk is None and delayed < limit:
                self._db.execute("DELETE FROM garbage WHERE first_place = ?", (first,))
            return True

    def _is_garbage_left(self) -> bool:
        return self._db.execute("SELECT 1 FROM garbage").fetchone() is not None

    def _discard(self, number: int, last_place: int) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO garbage VALUES (?, ?)", (first_place(number), last_place)
        )
        self._pending = True
