"""Messages that somebody else will deliver, in order from the head of the line. Sends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import limits
from .messages import LeaseRef, StoredMessage

if TYPE_CHECKING:
    from .broker import Broker
    from .store import QueueStore


class Waiting(NamedTuple):
    message: StoredMessage
    #: Its delay is over, and must not begin again elsewhere.
    was_delayed: bool


class Outbox:
    def __init__(self, store: QueueStore, broker: Broker) -> None:
        self._store = store
        self._broker = broker

    def queues(self) -> list[str]:
        """Those a Worker here sends to and nobody here consumes."""
        consumed = self._store.consumers.all()
        return [
            record.name
            for record in self._store.queues()
            if record.producers and record.name not in consumed and not record.settings.paused
        ]

    def consumed(self) -> list[str]:
        return sorted(self._store.consumers.all())

    def head(self, queue: str, *, limit: int = limits.MAX_SEND_BATCH_COUNT) -> list[Waiting]:
        """What is next, as much as one batch may hold."""
        size_bytes = 0
        batch: list[Waiting] = []
        for message, joined_late in self._store.pulled.head(queue, limit=limit):
            size_bytes += len(message.body)
            if batch and size_bytes > limits.MAX_SEND_BATCH_BYTES:
                break
            batch.append(Waiting(message, joined_late))
        return batch

    def remove(self, queue: str, delivered: list[Waiting]) -> None:
        """They are stored elsewhere."""
        refs = [LeaseRef(waiting.message.place, waiting.message.id) for waiting in delivered]
        self._broker.run(queue, lambda _turn, _lane: self._store.pulled.remove_peeked(queue, refs))
