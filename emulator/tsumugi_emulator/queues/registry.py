"""Which queues exist and with which settings. Knows nothing of messages.

The configuration file and the API both change settings, and the most recent change holds. The file
is read at every start, so what it said last time is remembered: only a difference is a change.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .errors import queue_not_found
from .messages import QueueSettings

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

_SELECT = """
SELECT number, name, queue_id, created_ms, modified_ms, settings, configured, producers FROM queues
"""
# Numbers of deleted queues are not used again: their messages may still have to be collected.
_NEXT_NUMBER = """
SELECT max(coalesce((SELECT value FROM facts WHERE name = 'last queue number'), 0),
           coalesce((SELECT max(number) FROM queues), 0)) + 1
"""


@dataclass(frozen=True, slots=True)
class QueueRecord:
    number: int
    queue_id: str
    created_ms: int
    modified_ms: int
    settings: QueueSettings
    #: The settings the configuration file gave last; the defaults if it never gave any.
    configured: QueueSettings
    #: The Workers that may send to it, by name.
    producers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.settings.name


class Registry:
    def __init__(
        self, connection: sqlite3.Connection, *, random_bytes: Callable[[int], bytes]
    ) -> None:
        self._db = connection
        self._random_bytes = random_bytes

    def all(self) -> list[QueueRecord]:
        """In order of creation."""
        return [_record(row) for row in self._db.execute(f"{_SELECT} ORDER BY number")]

    def get(self, name: str) -> QueueRecord:
        row = self._db.execute(f"{_SELECT} WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise queue_not_found(name)
        return _record(row)

    def by_id(self, queue_id: str) -> QueueRecord | None:
        row = self._db.execute(f"{_SELECT} WHERE queue_id = ?", (queue_id,)).fetchone()
        return _record(row) if row else None

    def page(self, names: Sequence[str], *, limit: int, skip: int) -> list[QueueRecord]:
        """Some of the queues in order of creation; of those with these names, if any are given."""
        wanted = f"WHERE name IN ({', '.join('?' * len(names))})" if names else ""
        rows = self._db.execute(
            f"{_SELECT} {wanted} ORDER BY number LIMIT ? OFFSET ?", (*names, limit, skip)
        )
        return [_record(row) for row in rows]

    def count(self, names: Sequence[str]) -> int:
        if not names:
            (total,) = self._db.execute("SELECT count(*) FROM queues").fetchone()
        else:
            marks = ", ".join("?" * len(names))
            (total,) = self._db.execute(
                f"SELECT count(*) FROM queues WHERE name IN ({marks})", tuple(names)
            ).fetchone()
        return int(total)

    def create(self, name: str, *, now_ms: int) -> QueueRecord:
        self._db.execute(
            f"INSERT INTO queues (number, name, queue_id, created_ms, modified_ms, settings)"
            f" VALUES (({_NEXT_NUMBER}), ?, ?, ?, ?, ?)",
            (name, self._random_bytes(16).hex(), now_ms, now_ms, _encode(QueueSettings(name))),
        )
        return self.get(name)

    def rename(self, queue: str, name: str, *, now_ms: int) -> None:
        self._db.execute(
            "UPDATE queues SET name = ?, modified_ms = ? WHERE name = ?", (name, now_ms, queue)
        )

    def note_producers(self, queue: str, workers: Sequence[str]) -> None:
        """Which Workers the configuration lets send to the queue."""
        self._db.execute(
            "UPDATE queues SET producers = ? WHERE name = ?", (json.dumps(workers), queue)
        )

    def declare(self, settings: QueueSettings, *, now_ms: int) -> QueueRecord:
        """Remember what the configuration says; apply it if that is news."""
        known = self.get(settings.name)
        if settings == known.configured:
            return known
        self._db.execute(
            "UPDATE queues SET configured = ? WHERE number = ?", (_encode(settings), known.number)
        )
        return self.change(settings, now_ms=now_ms)

    def change(self, settings: QueueSettings, *, now_ms: int) -> QueueRecord:
        known = self.get(settings.name)
        self._db.execute(
            "UPDATE queues SET settings = ?, modified_ms = ? WHERE number = ?",
            (_encode(settings), now_ms, known.number),
        )
        return self.get(settings.name)


def _encode(settings: QueueSettings) -> str:
    values = asdict(settings)
    del values["name"]
    return json.dumps(values, sort_keys=True)


def _decode(name: str, text: str | None) -> QueueSettings:
    return QueueSettings(name, **json.loads(text)) if text else QueueSettings(name)


def _record(row: tuple[int, str, str, int, int, str, str | None, str | None]) -> QueueRecord:
    number, name, queue_id, created_ms, modified_ms, settings, configured, producers = row
    return QueueRecord(
        number,
        queue_id,
        created_ms,
        modified_ms,
        settings=_decode(name, settings),
        configured=_decode(name, configured),
        producers=tuple(json.loads(producers)) if producers else (),
    )
