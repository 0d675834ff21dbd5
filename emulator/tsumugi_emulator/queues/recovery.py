"""What a store does before anything else: make up for how the last process ended. Decides nothing.

A batch pushed to a Worker ended with the process that pushed it. A puller lives elsewhere, and
keeps what it leased.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .schema import PLACE_BITS

if TYPE_CHECKING:
    import sqlite3

    from .lines import Line
    from .store import QueueStore

_PRUNE = """
DELETE FROM returned
 WHERE NOT EXISTS (SELECT 1 FROM ready WHERE ready.place = returned.place)
   AND NOT EXISTS (SELECT 1 FROM delayed
                    WHERE delayed.queue = returned.place >> ?
                      AND delayed.due_ms = returned.due_ms AND delayed.place = returned.place)
"""
_COUNT = """
SELECT count(*), coalesce(sum(length(body)), 0) FROM ready WHERE place BETWEEN ? AND ?
"""


def prune(db: sqlite3.Connection) -> None:
    """Forget where messages went that are gone from there."""
    db.execute(_PRUNE, (PLACE_BITS,))


def recover_leases(db: sqlite3.Connection, store: QueueStore) -> None:
    """Count the deliveries nobody reported on and return their messages to the line."""
    by_number = {line.number: line for line in store.lines()}
    for span in db.execute("SELECT first_place, last_place FROM leases").fetchall():
        line = by_number.get(span[0] >> PLACE_BITS)
        if line is None or span[0] <= line.purged_place:
            continue  # garbage
        store.touch(line)
        db.execute("UPDATE ready SET attempts = attempts + 1 WHERE place BETWEEN ? AND ?", span)
        count, size_bytes = db.execute(_COUNT, span).fetchone()
        line.add_ready(count=count, size_bytes=size_bytes, arrived_ms=0)
        if span[0] <= line.taken_place:
            _rejoin(db, line, span)
    db.execute("DELETE FROM leases")


def _rejoin(db: sqlite3.Connection, line: Line, span: tuple[int, int]) -> None:
    """Behind them stand messages that pullers hold: they cannot be the head of the line."""
    rows = db.execute("SELECT place FROM ready WHERE place BETWEEN ? AND ?", span).fetchall()
    moved = [(line.next_place(), line.joined_ms, place) for (place,) in rows]
    db.executemany("UPDATE ready SET place = ?, joined_ms = ? WHERE place = ?", moved)
    if line.has_returned:
        db.executemany(
            "UPDATE returned SET place = ? WHERE place = ?",
            [(place, old) for place, _, old in moved],
        )
