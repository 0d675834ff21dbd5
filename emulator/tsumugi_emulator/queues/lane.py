"""What the broker knows of one queue while it runs. State only: the broker acts on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import policy
from .messages import ConsumerSettings, PullSettings

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from tsumugi_emulator.clock import Clock, Timer

    from .lines import Line
    from .messages import AnyConsumer, Batch, BatchResult, QueueSettings

#: Hand a batch to its consumer and wait for what it made of it. When the broker cancels the call
#: (wall time, shutdown), returning a result instead of re-raising keeps the acks it reports.
type Deliver = Callable[["Batch"], Awaitable["BatchResult"]]


@dataclass(slots=True, eq=False)
class Flight:
    """A batch between its lease and its settlement."""

    lane: Lane
    batch: Batch
    #: As they were when the batch was formed; a reload changes the next one.
    consumer: ConsumerSettings
    deliver: Deliver
    started_ms: int
    task: asyncio.Task[None] | None = None
    wall_timer: Timer | None = None
    overran: bool = False
    result: BatchResult | None = None

    @property
    def done(self) -> bool:
        return self.result is not None


@dataclass(slots=True, eq=False)
class Lane:
    settings: QueueSettings
    #: The Worker that consumes it, or what those who pull from it agreed on; never both.
    consumer: ConsumerSettings | None = None
    pull: PullSettings | None = None
    #: Who delivers to a Worker, by its name: all lanes share it.
    scripts: Mapping[str, Deliver] = field(default_factory=dict)
    flights: set[Flight] = field(default_factory=set)
    #: How many flights there may be, and why.
    load: policy.Load = field(default_factory=policy.Load)
    timer: Timer | None = None
    timer_ms: int = 0
    told_no_consumer: bool = False
    #: Its queue was deleted while batches were in flight.
    deleted: bool = False

    @property
    def queue(self) -> str:
        return self.settings.name

    @property
    def delivering(self) -> Deliver | None:
        return self.scripts.get(self.consumer.script) if self.consumer else None

    def consume(self, consumer: AnyConsumer | None) -> None:
        self.pull = consumer if isinstance(consumer, PullSettings) else None
        worker = consumer if isinstance(consumer, ConsumerSettings) else None
        if worker is not None and worker != self.consumer:
            self.load = policy.Load()
        if consumer is not None:
            self.told_no_consumer = False
        self.consumer = worker

    def retention_start_ms(self, now_ms: int) -> int:
        """Messages that arrived at this moment or before have outlived the queue's retention."""
        return now_ms - self.settings.retention_s * 1000

    def is_timed(self, line: Line, now_ms: int) -> bool:
        """Whether the timer comes early enough for what was just sent: no turn is needed."""
        if self.consumer is None or self.timer is None:
            return False
        return policy.joins_waiting_batch(
            line.ready_count,
            due_ms=line.next_due_ms,
            timer_ms=self.timer_ms,
            settings=self.consumer,
            now_ms=now_ms,
        )

    def wake_at(self, when_ms: int, clock: Clock, wake: Callable[[Lane], None]) -> None:
        if self.timer is not None:
            # A timer that is early only looks and sets the next one: cheaper than replacing it.
            if self.timer_ms <= when_ms:
                return
            self.cancel_timer()

        def due() -> None:
            self.timer = None
            wake(self)

        self.timer_ms = when_ms
        self.timer = clock.call_at(when_ms, due)

    def cancel_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
