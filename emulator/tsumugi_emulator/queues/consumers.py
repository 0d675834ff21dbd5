"""Who takes a queue's messages: a Worker or pullers, and with which settings. Delivers nothing.

The configuration file and the API both say so, and the most recent change holds, as for the
settings of queues (registry.py).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .messages import ConsumerSettings, PullSettings

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from .messages import AnyConsumer

_TYPES: dict[str, type[ConsumerSettings | PullSettings]] = {
    "worker": ConsumerSettings,
    "http_pull": PullSettings,
}


def type_of(settings: AnyConsumer) -> str:
    return "worker" if isinstance(settings, ConsumerSettings) else "http_pull"


@dataclass(frozen=True, slots=True)
class ConsumerRecord:
    consumer_id: str
    created_ms: int
    settings: AnyConsumer

    @property
    def type(self) -> str:
        return type_of(self.settings)


class Consumers:
    def __init__(
        self, connection: sqlite3.Connection, *, random_bytes: Callable[[int], bytes]
    ) -> None:
        self._db = connection
        self._random_bytes = random_bytes

    def all(self) -> dict[str, ConsumerRecord]:
        """By the name of the queue."""
        rows = self._db.execute(
            "SELECT name, consumer_id, consumers.created_ms, type, consumers.settings"
            "  FROM consumers JOIN queues ON queues.number = consumers.queue"
        )
        return {
            queue: ConsumerRecord(id_, created_ms, _decode(queue, kind, settings))
            for queue, id_, created_ms, kind, settings in rows
        }

    def get(self, queue: str) -> ConsumerRecord | None:
        row = self._db.execute(
            "SELECT consumer_id, consumers.created_ms, type, consumers.settings"
            "  FROM consumers JOIN queues ON queues.number = consumers.queue WHERE name = ?",
            (queue,),
        ).fetchone()
        return ConsumerRecord(row[0], row[1], _decode(queue, row[2], row[3])) if row else None

    def put(self, settings: AnyConsumer, *, now_ms: int) -> ConsumerRecord:
        """Make this the queue's consumer, or change it; one that is changed keeps its id."""
        known = self.get(settings.queue)
        id_, created_ms = self._random_bytes(16).hex(), now_ms
        if known is not None and known.type == type_of(settings):
            id_, created_ms = known.consumer_id, known.created_ms
        self._db.execute(
            "INSERT OR REPLACE INTO consumers VALUES"
            " ((SELECT number FROM queues WHERE name = ?), ?, ?, ?, ?)",
            (settings.queue, id_, created_ms, type_of(settings), _encode(settings)),
        )
        self._modified(settings.queue, now_ms=now_ms)
        return ConsumerRecord(id_, created_ms, settings)

    def remove(self, queue: str, *, now_ms: int) -> None:
        self._db.execute(
            "DELETE FROM consumers WHERE queue = (SELECT number FROM queues WHERE name = ?)",
            (queue,),
        )
        self._modified(queue, now_ms=now_ms)

    def declare(self, queue: str, settings: ConsumerSettings | None, *, now_ms: int) -> bool:
        """Remember what the configuration says; apply it if that is news.

        False when the queue is pulled from: a Worker cannot consume it as well, and what the
        configuration says stays news until that ends.
        """
        (said,) = self._db.execute(
            "SELECT configured_consumer FROM queues WHERE name = ?", (queue,)
        ).fetchone()
        says = _encode(settings) if settings else None
        if says == said:
            return True
        known = self.get(queue)
        if settings is not None and known is not None and known.type != "worker":
            return False
        self._db.execute("UPDATE queues SET configured_consumer = ? WHERE name = ?", (says, queue))
        if settings is not None:
            self.put(settings, now_ms=now_ms)
        elif known is not None and known.type == "worker":
            self.remove(queue, now_ms=now_ms)
        return True

    def _modified(self, queue: str, *, now_ms: int) -> None:
        self._db.execute("UPDATE queues SET modified_ms = ? WHERE name = ?", (now_ms, queue))


def _encode(settings: AnyConsumer) -> str:
    values = asdict(settings)
    del values["queue"]
    return json.dumps(values, sort_keys=True)


def _decode(queue: str, kind: str, text: str) -> AnyConsumer:
    return _TYPES[kind](queue=queue, **json.loads(text))
