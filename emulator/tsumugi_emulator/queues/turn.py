"""One turn of the broker: what ended is settled, what may go is leased. Inside one transaction.

A turn changes the store and says what follows (events, flights to start, when to look again); it
starts nothing and waits for nothing. If the transaction fails, the turn is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from . import policy
from .events import BatchDone, BrokerEvent, Expired, NoConsumer
from .lane import Flight, Lane
from .messages import Batch, BatchResult
from .pulling import Pulling
from .settlement import settlement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .lane import Deliver
    from .messages import ConsumerSettings, StoredMessage
    from .policy import Decision, NextBatch
    from .settlement import Settlement
    from .store import QueueStore

#: Messages of a queue whose delay or retention ends in one turn; more take more turns, so that a
#: million of them becoming due at once does not stop the loop.
UPKEEP_LIMIT = 1_000


class Turn:
    def __init__(self, store: QueueStore, *, lane_of: Callable[[str], Lane], now_ms: int) -> None:
        self._store = store
        self._lane_of = lane_of
        self.now_ms = now_ms
        self.events: list[BrokerEvent] = []
        self.flights: list[Flight] = []
        #: When to look at a lane again if nothing happens to it; None for never.
        self.wake_ms: dict[Lane, int | None] = {}
        #: Queues in which messages wait for a consumer.
        self.unconsumed: list[str] = []
        #: There is more to collect.
        self.unfinished = False
        #: Lanes that received messages by a settlement.
        self.touched: list[Lane] = []

    def settle(self, flight: Flight) -> None:
        batch, lane = flight.batch, flight.lane
        result = flight.result or BatchResult("canceled")
        decisions = policy.settle(
            batch.messages, result, settings=flight.consumer, now_ms=self.now_ms
        )
        if lane.deleted:  # with everything it held
            self._store.settle(batch.lease, (), now_ms=self.now_ms)
            return
        made = self.settlement(lane.queue, batch.messages, decisions)
        self._store.settle(batch.lease, made.moves, now_ms=self.now_ms)
        lane.load = policy.rescaled(
            lane.load,
            backlog=self._store.line(lane.queue).ready_count,
            outcome=result.outcome,
            settings=flight.consumer,
        )
        self.events.append(
            BatchDone(
                queue=lane.queue,
                outcome=result.outcome,
                acked=made.acked,
                total=len(batch.messages),
                duration_ms=self.now_ms - flight.started_ms,
                retried=made.retried,
                dead_lettered=made.dead_lettered,
                dropped=len(made.drops),
            )
        )

    def touch(self, queue: str) -> None:
        """Another queue was changed within this turn."""
        self.touched.append(self._lane_of(queue))

    def keep(self, lane: Lane) -> None:
        """End leases of pullers, retentions and delays that are over."""
        line = self._store.line(lane.queue)
        if line.next_expiry_ms is not None and line.next_expiry_ms <= self.now_ms:
            Pulling(self, self._store, lane).expire()
        expired_ms = lane.retention_start_ms(self.now_ms)
        expired = 0
        if line.ready_count and line.arrival_floor_ms <= expired_ms:
            expired = self._store.expire(lane.queue, expired_ms=expired_ms, limit=UPKEEP_LIMIT)
        if line.next_due_ms is not None and line.next_due_ms <= self.now_ms:
            promoted = self._store.promote(
                lane.queue, now_ms=self.now_ms, expired_ms=expired_ms, limit=UPKEEP_LIMIT
            )
            expired += promoted.expired
        if expired:
            self.events.append(Expired(lane.queue, expired, lane.settings.retention_s))

    def collect(self) -> None:
        """Delete some rows of what was purged or deleted."""
        self.unfinished = self._store.purges.collect(limit=UPKEEP_LIMIT)

    def form(self, lane: Lane, *, stopping: bool) -> None:
        """Lease what policy says may go now; know when more may."""
        line = self._store.line(lane.queue)
        wake_ms: list[int] = []
        deliver = lane.delivering
        if lane.consumer is None:
            if line.ready_count and lane.pull is None:
                self.unconsumed.append(lane.queue)
            self._tell_no_consumer(lane)
        elif deliver is not None and not (lane.settings.paused or stopping):
            wake_ms += self._fill(lane, lane.consumer, deliver)
        if line.next_due_ms is not None:
            wake_ms.append(line.next_due_ms)
        if line.next_expiry_ms is not None:
            wake_ms.append(line.next_expiry_ms)
        if line.ready_count:
            wake_ms.append(line.arrival_floor_ms + lane.settings.retention_s * 1000)
        self.wake_ms[lane] = min(wake_ms, default=None)

    def _fill(self, lane: Lane, consumer: ConsumerSettings, deliver: Deliver) -> list[int]:
        """Lease batches until the lane's flights are used up; when the next may form, if known."""
        free = lane.load.allowed - len(lane.flights)
        while free > 0:
            match self._next_batch(lane, consumer):
                case policy.Form(size=size):
                    batch = self._lease(lane, consumer, size=size)
                    if batch is not None:
                        free -= 1
                        flight = Flight(lane, batch, consumer, deliver, started_ms=self.now_ms)
                        self.flights.append(flight)
                case policy.WaitUntil(when_ms=when_ms):
                    return [when_ms]
                case policy.Nothing():
                    break
                case never:
                    assert_never(never)
        return []

    def _next_batch(self, lane: Lane, consumer: ConsumerSettings) -> NextBatch:
        waiting = self._store.line(lane.queue).ready_count
        # A full batch does not depend on how long anybody waited: no query.
        partial = 0 < waiting < consumer.max_batch_size
        since_ms = self._store.waiting_since_ms(lane.queue) if partial else 0
        return policy.next_batch(
            waiting, waiting_since_ms=since_ms, settings=consumer, now_ms=self.now_ms
        )

    def _lease(self, lane: Lane, consumer: ConsumerSettings, *, size: int) -> Batch | None:
        lease, leased = self._store.lease(lane.queue, size=size)
        # Deliveries that ended with the whole emulator are counted but were never settled.
        limit = policy.max_deliveries(consumer)
        messages = [message for message in leased if message.attempts <= limit]
        if len(messages) < len(leased):
            worn_out = [
                message._replace(attempts=message.attempts - 1)
                for message in leased
                if message.attempts > limit
            ]
            decision = policy.exhausted(consumer)
            made = self.settlement(lane.queue, worn_out, [decision] * len(worn_out))
            if not messages:
                self._store.settle(lease, made.moves, now_ms=self.now_ms)
                return None
            self._store.move(made.moves, now_ms=self.now_ms)
            self._store.discard(made.drops)
        return Batch(lane.queue, tuple(messages), self._store.metrics(lane.queue), lease)

    def settlement(
        self, queue: str, messages: Sequence[StoredMessage], decisions: Sequence[Decision]
    ) -> Settlement:
        made = settlement(
            queue,
            messages,
            decisions,
            now_ms=self.now_ms,
            delivery_delay_s=lambda target: self._lane_of(target).settings.delivery_delay_s,
        )
        self.events += made.events
        self.touched += {self._lane_of(move.queue): None for move in made.moves}
        return made

    def _tell_no_consumer(self, lane: Lane) -> None:
        waiting = self._store.line(lane.queue).ready_count
        if waiting and lane.pull is None and not lane.told_no_consumer:
            lane.told_no_consumer = True
            self.events.append(NoConsumer(lane.queue, waiting))
