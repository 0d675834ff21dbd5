"""What can be done to queues from outside a Worker: the control plane and pulling. No HTTP here.

Every method is one decision of somebody at a terminal or behind the API; what it changed is durable
when it returns. QueueError says what was refused, with the API's code.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from . import errors
from .consumers import type_of
from .lease_ids import LeaseIds
from .messages import ConsumerSettings, Move, PulledMessage, PullSettings, QueueSettings
from .pulling import Pulling
from .tails import Tails

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from tsumugi_emulator.clock import Clock

    from .broker import Broker
    from .consumers import ConsumerRecord
    from .events import BrokerEvent
    from .lane import Lane
    from .messages import AnyConsumer, Metrics, OutgoingMessage, Pulled, PullSettled
    from .purges import PurgeStatus
    from .registry import QueueRecord
    from .store import QueueStore
    from .turn import Turn

#: Messages moved in one turn by a redrive.
REDRIVE_AT_ONCE = 1_000
NOT_PEEKED = "not a message of this queue, or no longer there"


@dataclass(frozen=True, slots=True)
class QueueView:
    """A queue as the control plane shows it."""

    record: QueueRecord
    consumer: ConsumerRecord | None


class QueueControl:
    def __init__(
        self,
        store: QueueStore,
        broker: Broker,
        clock: Clock,
        *,
        random_bytes: Callable[[int], bytes] = os.urandom,
        tails: Tails | None = None,
    ) -> None:
        self._store = store
        self._broker = broker
        self._clock = clock
        self.tails = tails or Tails()
        self._key = store.pulled.lease_key(random_bytes)
        self._ids: dict[tuple[str, bytes], LeaseIds] = {}
        #: Names by id, of queues that exist: only here are they renamed and deleted.
        self._names: dict[str, str] = {}

    # -- Queues -----------------------------------------------------------------------------------

    def page(self, names: Sequence[str], *, limit: int, skip: int) -> list[QueueView]:
        records = self._store.registry.page(names, limit=limit, skip=skip)
        return [QueueView(record, self._store.consumers.get(record.name)) for record in records]

    def count(self, names: Sequence[str]) -> int:
        return self._store.registry.count(names)

    def get(self, queue_id: str) -> QueueView:
        record = self._store.registry.by_id(queue_id)
        if record is None:
            raise errors.unknown_queue_id(queue_id)
        return QueueView(record, self._store.consumers.get(record.name))

    def create(self, settings: QueueSettings) -> QueueView:
        now_ms = self._clock.now_ms()
        if self.count([settings.name]):
            raise errors.queue_name_taken(settings.name)
        with self._store.transaction():
            self._store.ensure(settings.name, now_ms=now_ms)
            record = self._store.change(settings, now_ms=now_ms)
        self._broker.refresh()
        return QueueView(record, None)

    def change(self, queue_id: str, settings: QueueSettings) -> QueueView:
        """``settings`` may have another name: the queue is renamed then."""
        name = self._name(queue_id)
        if settings.name != name:
            self._broker.rename(name, settings.name)
            self._names.clear()
        self._broker.change(settings)
        return self.get(queue_id)

    def delete(self, queue_id: str) -> None:
        self._broker.delete(self._name(queue_id))
        self._names.clear()

    def metrics(self, queue_id: str) -> Metrics:
        return self._store.metrics(self._name(queue_id))

    def counts(self, queue_id: str) -> tuple[int, int]:
        """How many messages are delayed and how many pullers hold."""
        line = self._store.line(self._name(queue_id))
        return line.delayed_count, line.pulled_count

    def follow(self, queue_id: str) -> AsyncIterator[BrokerEvent]:
        return self.tails.follow(self._name(queue_id))

    def purge(self, queue_id: str) -> PurgeStatus:
        name = self._name(queue_id)
        self._store.purges.start(name, now_ms=self._clock.now_ms())
        self._broker.refresh()
        return self._store.purges.status(name)

    def purge_status(self, queue_id: str) -> PurgeStatus:
        return self._store.purges.status(self._name(queue_id))

    # -- Consumers --------------------------------------------------------------------------------

    def add_consumer(self, queue_id: str, settings: AnyConsumer) -> ConsumerRecord:
        """A queue has one consumer: adding a second is refused."""
        known = self.get(queue_id).consumer
        if known is not None:
            script = getattr(known.settings, "script", None)
            raise errors.consumer_exists(settings.queue, script)
        return self._put_consumer(settings)

    def change_consumer(
        self, queue_id: str, consumer_id: str, settings: AnyConsumer
    ) -> ConsumerRecord:
        known = self.consumer(queue_id, consumer_id)
        if known.type != type_of(settings):
            script = getattr(known.settings, "script", None)
            raise errors.consumer_exists(settings.queue, script)
        return self._put_consumer(settings)

    def consumer(self, queue_id: str, consumer_id: str) -> ConsumerRecord:
        known = self.get(queue_id).consumer
        if known is None or known.consumer_id != consumer_id:
            raise errors.consumer_not_found(consumer_id)
        return known

    def remove_consumer(self, queue_id: str, consumer_id: str) -> None:
        queue = self.consumer(queue_id, consumer_id).settings.queue
        with self._store.transaction():
            self._store.consumers.remove(queue, now_ms=self._clock.now_ms())
        self._broker.consumer_removed()

    def _put_consumer(self, settings: AnyConsumer) -> ConsumerRecord:
        now_ms = self._clock.now_ms()
        with self._store.transaction():
            if settings.dead_letter_queue:
                self._store.ensure(settings.dead_letter_queue, now_ms=now_ms)
            record = self._store.consumers.put(settings, now_ms=now_ms)
        self._broker.refresh()
        return record

    # -- Messages ---------------------------------------------------------------------------------

    def send(
        self,
        queue_id: str,
        messages: Sequence[OutgoingMessage],
        *,
        delay_s: int | None = None,
        as_batch: bool = False,
    ) -> Metrics:
        name = self._name(queue_id)
        return self._broker.send(name, messages, batch_delay_s=delay_s, as_batch=as_batch)

    def pull(self, queue_id: str, *, size: int | None, timeout_ms: int | None) -> Pulled:
        ids = self._lease_ids(queue_id)

        def work(turn: Turn, lane: Lane) -> Pulled:
            return Pulling(turn, self._store, lane).pull(ids, size=size, timeout_ms=timeout_ms)

        return self._broker.run(self._name(queue_id), work)

    def settle(
        self, queue_id: str, acks: Sequence[str], retries: Mapping[str, int | None]
    ) -> PullSettled:
        ids = self._lease_ids(queue_id)

        def work(turn: Turn, lane: Lane) -> PullSettled:
            return Pulling(turn, self._store, lane).settle(ids, acks, retries)

        return self._broker.run(self._name(queue_id), work)

    def peek(self, queue_id: str, *, limit: int) -> list[PulledMessage]:
        """The messages next in line, each with a reference for ``remove_peeked``."""
        refs = self._lease_ids(queue_id, purpose=b"peek")
        messages = self._store.pulled.peek(self._name(queue_id), limit=limit)
        return [
            PulledMessage(message, refs.make(message.place, message.id)) for message in messages
        ]

    def remove_peeked(self, queue_id: str, refs: Sequence[str]) -> dict[str, str]:
        """Remove messages for good, whoever holds them; why not, by reference."""
        ids = self._lease_ids(queue_id, purpose=b"peek")
        read = {text: ids.read(text) for text in refs}

        def work(turn: Turn, lane: Lane) -> dict[str, str]:
            known = [ref for ref in read.values() if ref is not None]
            gone = set(self._store.pulled.remove_peeked(lane.queue, known))
            return {text: NOT_PEEKED for text, ref in read.items() if ref is None or ref in gone}

        return self._broker.run(self._name(queue_id), work)

    def redrive(self, queue_id: str, target: str, *, through: int | None) -> tuple[int, int]:
        """Move some of the messages that wait here to another queue, as new ones.

        How many, and what to pass as ``through`` to go on without taking later arrivals along.
        """
        name = self._name(queue_id)
        self._store.line(target)
        end = self._store.line(name).last_place if through is None else through

        def work(turn: Turn, lane: Lane) -> int:
            now_ms = turn.now_ms
            messages = self._store.pulled.redrive(name, through=end, limit=REDRIVE_AT_ONCE)
            moves = [Move(message, target, now_ms, starts_over=True) for message in messages]
            self._store.move(moves, now_ms=now_ms)
            turn.touch(target)
            return len(messages)

        return self._broker.run(name, work), end

    def _name(self, queue_id: str) -> str:
        name = self._names.get(queue_id)
        if name is None:
            name = self._names[queue_id] = self.get(queue_id).record.name
        return name

    def _lease_ids(self, queue_id: str, *, purpose: bytes = b"lease") -> LeaseIds:
        ids = self._ids.get((queue_id, purpose))
        if ids is None:
            self._name(queue_id)
            ids = self._ids[queue_id, purpose] = LeaseIds(self._key, queue_id, purpose=purpose)
        return ids


def changed(settings: QueueSettings, **values: object) -> QueueSettings:
    """``settings`` with those values that are given."""
    given = {name: value for name, value in values.items() if value is not None}
    return replace(settings, **given)  # type: ignore[arg-type]


__all__ = ["ConsumerSettings", "PullSettings", "QueueControl", "QueueView", "changed"]
