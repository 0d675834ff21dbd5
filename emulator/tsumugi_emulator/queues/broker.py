"""Run the queues: wake when something is due, deliver batches, write down what became of them.

Executes what policy.py decides on what store.py keeps. It knows no sockets, no processes and no
user code: a consumer is an async function. It lives on one event loop and is used from it alone.

All work is done by ``_turn``, at most once per loop turn and in one transaction: what finished
since the last turn is settled, then every queue something happened to forms its next batches.
"""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

from . import errors, limits, policy, validate
from .errors import QueueError
from .events import DeliveryFailed, OverranWallTime, PullConsumerKept, StoreFailed, sent
from .lane import Flight, Lane
from .messages import BatchResult, Send
from .turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from tsumugi_emulator.clock import Clock

    from .events import BrokerEvent
    from .lane import Deliver
    from .messages import ConsumerSettings, Metrics, OutgoingMessage, QueueSettings
    from .store import QueueStore

#: What a consumer cancelled at its wall time may still take to report its acks.
OVERRUN_GRACE_MS = 1_000
#: How long ``stop`` waits for batches in flight, unless told otherwise.
DRAIN_LIMIT_MS = 5_000
#: Pause after SQLite failed (disk full, file gone) before the same work is tried again.
STORE_RETRY_MS = 1_000


class Broker:
    def __init__(
        self,
        store: QueueStore,
        clock: Clock,
        *,
        events: Callable[[BrokerEvent], None],
        wall_limit_ms: int = limits.MAX_CONSUMER_WALL_MS,
        time_stands_still: Callable[[], bool] = lambda: False,
        watched: Container[str] = (),
    ) -> None:
        """``events`` must not raise; it may send.

        A consumer whose time is up while ``time_stands_still()`` (somebody sits in a debugger)
        gets all of it again. Of queues that are ``watched`` every send is told.
        """
        self._store = store
        self._clock = clock
        self._emit = events
        self._wall_limit_ms = wall_limit_ms
        self._time_stands_still = time_stands_still
        self._watched = watched
        #: Called when messages wait that nobody here consumes.
        self.on_unconsumed: Callable[[], None] = lambda: None
        self._lanes: dict[str, Lane] = {}
        self._scripts: dict[str, Deliver] = {}
        self._touched: dict[Lane, None] = {}
        self._configured: tuple[ConsumerSettings, ...] = ()
        self._finished: list[Flight] = []
        self._scheduled = False
        self._stopping = False
        self._stopped = False
        self._idle: asyncio.Event | None = None

    def configure(
        self,
        *,
        queues: Iterable[QueueSettings] = (),
        consumers: Iterable[ConsumerSettings] = (),
        producers: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """What the configuration says now; call it at the start and at each reload.

        Queues it no longer names keep their messages. A consumer it no longer names gets no
        further batches; changed settings hold from the next batch on.
        """
        now_ms = self._clock.now_ms()
        self._configured = tuple(consumers)
        by_queue = {consumer.queue: consumer for consumer in self._configured}
        with self._store.transaction():
            for settings in queues:
                self._store.declare(settings, now_ms=now_ms)
            for consumer in by_queue.values():
                self._store.ensure(consumer.queue, now_ms=now_ms)
                if consumer.dead_letter_queue:
                    self._store.ensure(consumer.dead_letter_queue, now_ms=now_ms)
            for queue, workers in (producers or {}).items():
                self._store.registry.note_producers(queue, workers)
            kept = [
                record.name
                for record in self._store.queues()
                if not self._store.consumers.declare(
                    record.name, by_queue.get(record.name), now_ms=now_ms
                )
            ]
        for name in kept:
            self._emit(PullConsumerKept(name, by_queue[name].script))
        self.refresh()

    def refresh(self) -> None:
        """Look again at what the store says about every queue."""
        consumers = self._store.consumers.all()
        for record in self._store.queues():
            lane = self._lane(record.name)
            lane.settings = record.settings
            consumer = consumers.get(record.name)
            lane.consume(consumer.settings if consumer else None)
            self._touch(lane)

    def change(self, settings: QueueSettings) -> None:
        """Change an existing queue from outside the configuration: pause it, for example."""
        record = self._store.change(settings, now_ms=self._clock.now_ms())
        lane = self._lane(record.name)
        lane.settings = record.settings
        self._touch(lane)

    def consumer_removed(self) -> None:
        """What the configuration says may hold now, if it had to wait for this."""
        self.configure(queues=(), consumers=self._configured)

    def rename(self, queue: str, name: str) -> None:
        self._store.rename(queue, name, now_ms=self._clock.now_ms())
        lane = self._lanes.pop(queue, None)
        if lane is not None:
            lane.settings = replace(lane.settings, name=name)
            self._lanes[name] = lane

    def delete(self, queue: str) -> None:
        """Remove the queue with all it holds, what is in flight included."""
        self._store.purges.delete_queue(queue)
        lane = self._lanes.pop(queue, None)
        if lane is not None:
            lane.deleted = True
            lane.cancel_timer()
            self._touched.pop(lane, None)
        self._schedule()

    def run[T](self, queue: str, work: Callable[[Turn, Lane], T]) -> T:
        """Work on one queue at once, in a transaction of its own, and do what follows from it."""
        lane = self._lane(queue)
        turn = Turn(self._store, lane_of=self._lane, now_ms=self._clock.now_ms())
        try:
            with self._store.transaction():
                turn.keep(lane)
                answer = work(turn, lane)
                turn.form(lane, stopping=self._stopping)
        except sqlite3.Error as exc:
            raise errors.internal_error() from exc
        self._follow(turn)
        return answer

    def serve(self, script: str, deliver: Deliver | None) -> None:
        """Deliver to the Worker of this name whatever it consumes; None while it cannot.

        Batches in flight end where they are.
        """
        if deliver is None:
            self._scripts.pop(script, None)
            return
        self._scripts[script] = deliver
        for lane in self._lanes.values():
            if lane.consumer is not None and lane.consumer.script == script:
                self._touch(lane)

    def send(
        self,
        queue: str,
        messages: Sequence[OutgoingMessage],
        *,
        batch_delay_s: int | None = None,
        as_batch: bool = False,
    ) -> Metrics:
        """Store the messages, durably before it returns, or raise QueueError and store none.

        The delay is the message's, else the batch's, else the queue's.
        Several messages are a ``sendBatch``; one is if ``as_batch`` says so.
        Returns the backlog from before the send, as the service does.
        """
        asked = Send(queue, messages, batch_delay_s, as_batch)
        [answer] = self.send_together([asked])
        if isinstance(answer, QueueError):
            raise answer
        return answer

    def send_together(self, sends: Sequence[Send]) -> list[Metrics | QueueError]:
        """Many sends for the price of one commit; each succeeds or is refused on its own."""
        now_ms = self._clock.now_ms()
        try:
            with self._store.transaction():
                answers = [self._put(send, now_ms=now_ms) for send in sends]
        except sqlite3.Error:
            return [errors.internal_error() for _ in sends]
        for send, answer in zip(sends, answers, strict=True):
            if not isinstance(answer, QueueError):
                lane = self._lane(send.queue)
                if not lane.is_timed(self._store.line(send.queue), now_ms):
                    self._touch(lane)
                if send.queue in self._watched:
                    self._emit(sent(send))
        return answers

    def _put(self, send: Send, *, now_ms: int) -> Metrics | QueueError:
        try:
            line = self._store.line(send.queue)
            size_bytes = validate.check(send)
            lane = self._lane(send.queue)
            if lane.pull is not None:
                validate.check_pullable(send.messages)
            if line.stored_bytes + size_bytes > limits.MAX_BACKLOG_BYTES:
                raise errors.storage_limit_exceeded()
        except QueueError as refused:
            return refused
        metrics = self._store.metrics(send.queue)
        delay_s = policy.send_delay_s(send.batch_delay_s, lane.settings.delivery_delay_s)
        self._store.put(send.queue, send.messages, default_delay_s=delay_s, now_ms=now_ms)
        return metrics

    def metrics(self, queue: str) -> Metrics:
        return self._store.metrics(queue)

    async def stop(self, *, limit_ms: int = DRAIN_LIMIT_MS) -> None:
        """Form no more batches and wait for those in flight, at most ``limit_ms``. Idempotent.

        What is still running then is cancelled and retried after the next start.
        """
        self._stopping = True
        for lane in self._lanes.values():
            lane.cancel_timer()
        if self._in_flight():
            self._idle = asyncio.Event()
            timer = self._clock.call_at(self._clock.now_ms() + limit_ms, self._abandon_all)
            await self._idle.wait()
            timer.cancel()
        if self._finished:
            self._turn()
        self._stopped = True

    # What follows happens on its own: a turn, and what it starts.

    def _touch(self, lane: Lane) -> None:
        """Something happened to the queue: look at it in the next turn."""
        if not lane.deleted:
            self._touched[lane] = None
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._scheduled = False
        if self._stopped:
            return
        finished, self._finished = self._finished, []
        touched, self._touched = self._touched, {}
        turn = Turn(self._store, lane_of=self._lane, now_ms=self._clock.now_ms())
        try:
            with self._store.transaction():
                for flight in finished:
                    turn.settle(flight)
                touched |= dict.fromkeys(turn.touched)
                for lane in touched:
                    turn.keep(lane)
                    turn.form(lane, stopping=self._stopping)
                turn.collect()
        except BaseException as exc:
            self._finished = finished + self._finished
            self._touched = touched | self._touched
            if not isinstance(exc, sqlite3.Error):
                raise
            self._try_again(reason=str(exc))
        else:
            self._follow(turn)

    def _follow(self, turn: Turn) -> None:
        """Do what a committed turn said comes next."""
        if turn.unfinished:
            self._schedule()
        if turn.unconsumed:
            self.on_unconsumed()
        for lane, when_ms in turn.wake_ms.items():
            self._wake_at(lane, when_ms)
        # Dead letters of messages that were worn out before their delivery.
        for lane in turn.touched:
            if lane not in turn.wake_ms:
                self._touch(lane)
        try:
            for event in turn.events:
                self._emit(event)
        finally:
            for flight in turn.flights:
                self._start(flight)

    def _try_again(self, *, reason: str) -> None:
        self._scheduled = True
        self._clock.call_at(self._clock.now_ms() + STORE_RETRY_MS, self._turn)
        self._emit(StoreFailed(reason, STORE_RETRY_MS))

    def _wake_at(self, lane: Lane, when_ms: int | None) -> None:
        if when_ms is not None and not self._stopping:
            lane.wake_at(when_ms, self._clock, self._touch)

    def _start(self, flight: Flight) -> None:
        flight.lane.flights.add(flight)
        self._limit_wall_time(flight, started_ms=flight.started_ms)
        # Started at once: an idle queue must not pay another loop turn for each batch.
        flight.task = asyncio.Task(
            self._deliver(flight), loop=asyncio.get_running_loop(), eager_start=True
        )

    async def _deliver(self, flight: Flight) -> None:
        try:
            result = await flight.deliver(flight.batch)
        except asyncio.CancelledError:
            result = BatchResult("canceled")
        except Exception as exc:
            if not flight.done:
                self._emit(DeliveryFailed(flight.batch.queue, f"{type(exc).__name__}: {exc}"))
            result = BatchResult("exception")
        self._finish(flight, result)

    def _limit_wall_time(self, flight: Flight, *, started_ms: int) -> None:
        flight.wall_timer = self._clock.call_at(
            started_ms + self._wall_limit_ms, lambda: self._overrun(flight)
        )

    def _overrun(self, flight: Flight) -> None:
        """Ask the consumer to stop and report; settle without its report if it takes too long."""
        if flight.task is None or flight.done:
            return
        if self._time_stands_still():
            self._limit_wall_time(flight, started_ms=self._clock.now_ms())
            return
        flight.overran = True
        self._emit(OverranWallTime(flight.batch.queue, self._wall_limit_ms))
        flight.wall_timer = self._clock.call_at(
            self._clock.now_ms() + OVERRUN_GRACE_MS,
            lambda: self._finish(flight, BatchResult("canceled")),
        )
        flight.task.cancel()

    def _finish(self, flight: Flight, result: BatchResult) -> None:
        """The batch's one end; a consumer that reports after it is not heard."""
        if flight.done:
            return
        flight.result = replace(result, outcome="exceededWallTime") if flight.overran else result
        if flight.wall_timer is not None:
            flight.wall_timer.cancel()
        flight.lane.flights.discard(flight)
        self._finished.append(flight)
        self._touch(flight.lane)
        if self._idle is not None and not self._in_flight():
            self._idle.set()

    def _abandon_all(self) -> None:
        for flight in self._in_flight():
            if flight.task is not None:
                flight.task.cancel()
            self._finish(flight, BatchResult("canceled"))

    def _in_flight(self) -> list[Flight]:
        return [flight for lane in self._lanes.values() for flight in lane.flights]

    def _lane(self, queue: str) -> Lane:
        lane = self._lanes.get(queue)
        if lane is None:
            record = self._store.queue(queue)
            lane = self._lanes[queue] = Lane(record.settings, scripts=self._scripts)
            consumer = self._store.consumers.get(queue)
            lane.consume(consumer.settings if consumer else None)
        return lane
