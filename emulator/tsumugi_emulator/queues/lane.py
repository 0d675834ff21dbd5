"""What the broker knows of one queue while it runs. State only: the broker acts on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import policy

if TYPE_CHECKING:
    import asyncio

    from tsumugi_emulator.clock import Timer

    from .messages import Batch, BatchResult, ConsumerSettings, QueueSettings

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
    consumer: ConsumerSettings | None = None
    deliver: Deliver | None = None
    flights: set[Flight] = field(default_factory=set)
    #: How many flights there may be.
    allowed: int = 1
    timer: Timer | None = None
    timer_ms: int = 0
    told_no_consumer: bool = False

    @property
    def queue(self) -> str:
        return self.settings.name

    def consume(self, consumer: ConsumerSettings | None) -> None:
        if consumer is None or consumer == self.consumer:
            self.consumer = consumer
            return
        self.consumer = consumer
        self.allowed = policy.initially_in_flight(consumer)
        self.told_no_consumer = False

    def retention_start_ms(self, now_ms: int) -> int:
        """Messages that arrived at this moment or before have outlived the queue's retention."""
        return now_ms - self.settings.retention_s * 1000

    def cancel_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
