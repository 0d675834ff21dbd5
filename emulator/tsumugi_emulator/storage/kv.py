"""One KV namespace: values with metadata and expiry. No JavaScript values, no error texts.

Keys are bytes, since KV orders and limits them by their UTF-8. An expired entry is never seen;
it is removed when its namespace is opened and while others are written.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.storage.files import connect

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

    from tsumugi_emulator.clock import Clock

_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
  key BLOB NOT NULL UNIQUE,
  value BLOB NOT NULL,
  metadata TEXT,        -- JSON
  expires_s INTEGER     -- seconds since the epoch
)
"""
_EXPIRY = "CREATE INDEX IF NOT EXISTS expiring ON entries (expires_s) WHERE expires_s IS NOT NULL"
_ALIVE = "(expires_s IS NULL OR expires_s > ?)"
#: Expired entries removed with each write: enough to keep up, too few to be noticed.
SWEEP = 20


class Entry(NamedTuple):
    value: bytes
    metadata: str | None


class Listed(NamedTuple):
    key: bytes
    metadata: str | None
    expires_s: int | None


class Page(NamedTuple):
    entries: list[Listed]
    #: Where to go on; None after the last page.
    cursor: str | None


class KvStore:
    """Use ``open``."""

    def __init__(self, db: sqlite3.Connection, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        db.execute(_TABLE)
        db.execute(_EXPIRY)
        self._db.execute("DELETE FROM entries WHERE expires_s <= ?", (self._now_s(),))

    @classmethod
    def open(cls, path: Path, *, clock: Clock) -> KvStore:
        return cls(connect(path), clock)

    def close(self) -> None:
        self._db.close()

    def get(self, key: bytes) -> Entry | None:
        row = self._db.execute(
            f"SELECT value, metadata FROM entries WHERE key = ? AND {_ALIVE}",
            (key, self._now_s()),
        ).fetchone()
        return None if row is None else Entry._make(row)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Entry]:
        """Those that exist."""
        marks = ",".join("?" * len(keys))
        rows = self._db.execute(
            f"SELECT key, value, metadata FROM entries WHERE key IN ({marks}) AND {_ALIVE}",
            (*keys, self._now_s()),
        )
        return {key: Entry(value, metadata) for key, value, metadata in rows}

    def put(self, key: bytes, value: bytes, *, metadata: str | None, expires_s: int | None) -> None:
        """Durable when it returns."""
        self._db.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
            " value = excluded.value, metadata = excluded.metadata,"
            " expires_s = excluded.expires_s",
            (key, value, metadata, expires_s),
        )
        self._db.execute(
            "DELETE FROM entries WHERE rowid IN"
            " (SELECT rowid FROM entries WHERE expires_s <= ? LIMIT ?)",
            (self._now_s(), SWEEP),
        )

    def delete(self, key: bytes) -> None:
        self._db.execute("DELETE FROM entries WHERE key = ?", (key,))

    def list(self, *, prefix: bytes, limit: int, cursor: str | None) -> Page:
        """Keys in byte order, after the cursor; a cursor that is none starts from the front."""
        after = _decode(cursor)
        conditions, values = [_ALIVE], [self._now_s()]
        bounds = [("key >= ?", prefix), ("key > ?", after), ("key < ?", successor(prefix))]
        for condition, bound in bounds:
            if bound:
                conditions.append(condition)
                values.append(bound)  # type: ignore[arg-type]  # bytes beside the time
        rows = self._db.execute(
            f"SELECT key, metadata, expires_s FROM entries WHERE {' AND '.join(conditions)}"
            " ORDER BY key LIMIT ?",
            (*values, limit + 1),
        ).fetchall()
        entries = [Listed._make(row) for row in rows[:limit]]
        more = len(rows) > limit
        return Page(entries, base64.b64encode(entries[-1].key).decode() if more else None)

    def _now_s(self) -> int:
        return self._clock.now_ms() // 1000


def successor(prefix: bytes) -> bytes | None:
    """The first key after all that start with ``prefix``; None if there is no such key."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None


def _decode(cursor: str | None) -> bytes | None:
    try:
        return base64.b64decode(cursor or "", validate=True) or None
    except (binascii.Error, ValueError):
        return None
