"""Big values in pieces: a body is a list of chunks in one SQLite file. Knows no keys.

A body never changes once written. Chunks are laid out by offset, so that a range reads only what
it needs and parts are joined without copying them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

CHUNK_BYTES = 1024 * 1024
#: A body nobody refers to this long after it was begun was left behind by a process that died.
ABANDONED_MS = 24 * 3_600_000

_TABLES = (
    # AUTOINCREMENT: a number is never used again, so a reader cannot meet another body's chunks.
    "CREATE TABLE IF NOT EXISTS bodies"
    " (id INTEGER PRIMARY KEY AUTOINCREMENT, created_ms INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS layout (body INTEGER NOT NULL, start INTEGER NOT NULL,"
    " size INTEGER NOT NULL, chunk INTEGER NOT NULL, PRIMARY KEY (body, start)) WITHOUT ROWID",
)


class Piece(NamedTuple):
    """A part of one chunk."""

    chunk: int
    start: int
    end: int


class Bodies:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        for statement in _TABLES:
            db.execute(statement)

    def begin(self, *, now_ms: int) -> int:
        """A new, empty body's number."""
        cursor = self._db.execute("INSERT INTO bodies (created_ms) VALUES (?)", (now_ms,))
        return cursor.lastrowid or 0

    def append(self, body: int, data: bytes, *, at: int) -> None:
        for offset in range(0, len(data), CHUNK_BYTES):
            chunk = data[offset : offset + CHUNK_BYTES]
            number = self._db.execute("INSERT INTO chunks (data) VALUES (?)", (chunk,)).lastrowid
            self._db.execute(
                "INSERT INTO layout VALUES (?, ?, ?, ?)", (body, at + offset, len(chunk), number)
            )

    def join(self, bodies: Sequence[tuple[int, int]], *, now_ms: int) -> int:
        """One body of several (number, size), which are gone afterwards."""
        joined, at = self.begin(now_ms=now_ms), 0
        for body, size in bodies:
            self._db.execute(
                "UPDATE layout SET body = ?, start = start + ? WHERE body = ?", (joined, at, body)
            )
            self._db.execute("DELETE FROM bodies WHERE id = ?", (body,))
            at += size
        return joined

    def pieces(self, body: int, *, offset: int, length: int) -> list[Piece]:
        """What to read for ``length`` bytes from ``offset``."""
        end = offset + length
        rows = self._db.execute(
            "SELECT chunk, start, size FROM layout"
            " WHERE body = ? AND start < ? AND start + size > ? ORDER BY start",
            (body, end, offset),
        )
        return [
            Piece(chunk, max(0, offset - start), min(size, end - start))
            for chunk, start, size in rows
        ]

    def read(self, piece: Piece) -> bytes | None:
        """The bytes, or None if the body has been removed meanwhile."""
        row = self._db.execute("SELECT data FROM chunks WHERE id = ?", (piece.chunk,)).fetchone()
        if row is None:
            return None
        data: bytes = row[0]
        whole = piece.start == 0 and piece.end == len(data)
        return data if whole else data[piece.start : piece.end]

    def remove(self, body: int) -> None:
        self._db.execute(
            "DELETE FROM chunks WHERE id IN (SELECT chunk FROM layout WHERE body = ?)", (body,)
        )
        self._db.execute("DELETE FROM layout WHERE body = ?", (body,))
        self._db.execute("DELETE FROM bodies WHERE id = ?", (body,))

    def remove_abandoned(self, referrers: Sequence[str], *, now_ms: int) -> None:
        """Remove old bodies that none of the ``referrers`` (queries of numbers) names."""
        used = " UNION ALL ".join(referrers)
        rows = self._db.execute(
            f"SELECT id FROM bodies WHERE created_ms < ? AND id NOT IN ({used})",
            (now_ms - ABANDONED_MS,),
        ).fetchall()
        for (body,) in rows:
            self.remove(body)
