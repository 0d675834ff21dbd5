"""All alarms of all objects by due time, in one SQLite file. Decides nothing and reads no clock.

The object's own record is the truth; a row here is due at the same time or earlier, never later,
so that no alarm is missed whenever a process dies. Who runs a row checks it against the object.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

INDEX_FILE = "alarms.sqlite"
#: Children of several Workers, old and new, and the supervisor write; each for microseconds.
BUSY_TIMEOUT_S = 10.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS alarms (
  namespace TEXT NOT NULL,
  object_id TEXT NOT NULL,
  due_ms INTEGER NOT NULL,
  scheduled_ms INTEGER NOT NULL,
  retry_count INTEGER NOT NULL,
  PRIMARY KEY (namespace, object_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS alarms_by_due ON alarms (due_ms);
"""
_ANNOUNCE = """
INSERT INTO alarms VALUES (?, ?, ?, ?, 0)
ON CONFLICT DO UPDATE SET due_ms = min(due_ms, excluded.due_ms)
"""
_PUT = "INSERT OR REPLACE INTO alarms VALUES (?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM alarms WHERE namespace = ? AND object_id = ?"
_POSTPONE = """
UPDATE alarms SET due_ms = ?, retry_count = ?
 WHERE namespace = ? AND object_id = ? AND due_ms = ? AND retry_count = ?
"""


class DueAlarm(NamedTuple):
    namespace: str
    object_id: str
    due_ms: int
    #: When it was meant to run; later than that in ``due_ms`` only while it is retried.
    scheduled_ms: int
    retry_count: int


class AlarmIndex:
    """Use ``open``."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        db.executescript(_SCHEMA)

    @classmethod
    def open(cls, directory: Path) -> AlarmIndex:
        """Raises:
        sqlite3.Error: the file, which it names, is no database.
        """
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / INDEX_FILE
        db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            return cls(db)
        except sqlite3.Error as error:
            db.close()
            raise sqlite3.DatabaseError(f"{path}: {error}") from error

    @classmethod
    def open_existing(cls, directory: Path) -> AlarmIndex | None:
        """The index if there ever was an alarm."""
        return cls.open(directory) if (directory / INDEX_FILE).exists() else None

    def close(self) -> None:
        self._db.close()

    # -- The object's side ------------------------------------------------------------------------

    def announce(self, namespace: str, object_id: str, due_ms: int) -> None:
        """An object is about to record an alarm: be due no later than that."""
        self._db.execute(_ANNOUNCE, (namespace, object_id, due_ms, due_ms))

    def put(
        self, namespace: str, object_id: str, due_ms: int, *, scheduled_ms: int, retry_count: int
    ) -> None:
        self._db.execute(_PUT, (namespace, object_id, due_ms, scheduled_ms, retry_count))

    def remove(self, keys: Collection[tuple[str, str]]) -> None:
        """Forget the alarms of these objects (namespace, id), in one transaction."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            self._db.executemany(_REMOVE, keys)

    # -- The timer's side -------------------------------------------------------------------------

    # The plus keeps SQLite from sorting a whole namespace: it reads by due time and stops early.

    def due(self, namespaces: Collection[str], *, now_ms: int, limit: int) -> list[DueAlarm]:
        """The earliest alarms that are due, in order."""
        rows = self._db.execute(
            f"SELECT * FROM alarms WHERE due_ms <= ? AND +namespace IN ({_marks(namespaces)}) "
            "ORDER BY due_ms LIMIT ?",
            (now_ms, *namespaces, limit),
        )
        return [DueAlarm._make(row) for row in rows.fetchall()]

    def next_due_ms(self, namespaces: Collection[str], *, after_ms: int) -> int | None:
        """When the first alarm that is not due at ``after_ms`` will be."""
        row = self._db.execute(
            f"SELECT due_ms FROM alarms WHERE due_ms > ? AND +namespace IN ({_marks(namespaces)}) "
            "ORDER BY due_ms LIMIT 1",
            (after_ms, *namespaces),
        ).fetchone()
        return None if row is None else int(row[0])

    def postpone(self, alarm: DueAlarm, *, due_ms: int, retry_count: int) -> None:
        """Run it later, unless it changed since it was read."""
        self._db.execute(
            _POSTPONE,
            (
                due_ms,
                retry_count,
                alarm.namespace,
                alarm.object_id,
                alarm.due_ms,
                alarm.retry_count,
            ),
        )


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
