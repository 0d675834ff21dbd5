"""A whole broker on a clock that moves when told: 24 hours pass in milliseconds."""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.queues import (
    Batch,
    BatchResult,
    Broker,
    BrokerEvent,
    ConsumerSettings,
    Metrics,
    OutgoingMessage,
    QueueSettings,
    QueueStore,
    log_line,
)

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

type Handler = Callable[[Batch], BatchResult | Awaitable[BatchResult]]


def message(
    body: bytes | str = b"m", *, content_type: str = "text", delay_s: int | None = None
) -> OutgoingMessage:
    return OutgoingMessage(body.encode() if isinstance(body, str) else body, content_type, delay_s)


def messages(bodies: Iterable[str], **options: Any) -> list[OutgoingMessage]:
    return [message(body, **options) for body in bodies]


def bodies(batch: Batch) -> str:
    return "".join(stored.body.decode() for stored in batch.messages)


def ids(batch: Batch, letters: str) -> list[str]:
    return [stored.id for stored in batch.messages if stored.body.decode() in letters]


def acked(_: Batch) -> BatchResult:
    return BatchResult()


def retry_all(_: Batch) -> BatchResult:
    return BatchResult(retry_all=True)


def hanging(_: Batch) -> asyncio.Future[BatchResult]:
    return asyncio.get_running_loop().create_future()


_connections: list[sqlite3.Connection] = []


def memory_connection() -> sqlite3.Connection:
    """Closed after the test (``conftest``): another life of an emulator may go on with it."""
    made = sqlite3.connect(":memory:", isolation_level=None)
    _connections.append(made)
    return made


def close_connections() -> None:
    while _connections:
        _connections.pop().close()


def memory_store() -> QueueStore:
    return QueueStore(memory_connection())


class Emulated:
    """Queue ``q`` (and whatever a test adds) with a consumer that notes what it was given."""

    def __init__(self, store: QueueStore | None = None) -> None:
        self.clock = FakeClock()
        self.store = store or memory_store()
        self.events: list[BrokerEvent] = []
        self.somebody_debugs = False
        self.broker = Broker(
            self.store,
            self.clock,
            events=self.events.append,
            time_stands_still=lambda: self.somebody_debugs,
        )
        self.delivered: list[Batch] = []
        self.delivered_ms: list[int] = []
        self.started_ms = self.clock.now_ms()
        self._consumers: dict[str, ConsumerSettings] = {}
        self.broker.configure(queues=[QueueSettings("q")])

    def consume(self, handler: Handler = acked, *, queue: str = "q", **settings: Any) -> None:
        """The Worker of a queue has the queue's name."""
        self._consumers[queue] = ConsumerSettings(queue, script=queue, **settings)
        self.broker.configure(consumers=self._consumers.values())
        self.broker.serve(queue, self.delivering(handler))

    def delivering(self, handler: Handler) -> Callable[[Batch], Awaitable[BatchResult]]:
        async def deliver(batch: Batch) -> BatchResult:
            self.delivered.append(batch)
            self.delivered_ms.append(self.clock.now_ms() - self.started_ms)
            result = handler(batch)
            return await result if inspect.isawaitable(result) else result

        return deliver

    async def send(self, text: str, *, queue: str = "q", **options: Any) -> Metrics:
        """One message per letter, as one batch."""
        metrics = self.broker.send(queue, messages(text), **options)
        await self.clock.settle()
        return metrics

    async def after(self, duration_ms: int) -> None:
        await self.clock.advance(duration_ms)

    async def stop(self) -> None:
        stopping = asyncio.ensure_future(self.broker.stop())
        await self.clock.advance(MINUTE)
        await stopping
        self.store.close()

    def happened[E](self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def sizes(self) -> list[int]:
        return [len(batch.messages) for batch in self.delivered]

    @property
    def contents(self) -> list[str]:
        return [bodies(batch) for batch in self.delivered]

    @property
    def log(self) -> list[str]:
        return [log_line(event)[1] for event in self.events]


def emulated(test: Callable[[Emulated], Awaitable[None]]) -> Callable[[], None]:
    """Run an async test with a fresh Emulated."""

    async def scenario() -> None:
        it = Emulated()
        await test(it)
        await it.stop()

    def run() -> None:
        asyncio.run(scenario())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


AT_ONCE = {"max_batch_timeout_s": 0}


def in_turn(*handlers: Handler) -> Handler:
    """The first handler for the first batch and so on; the last for all that follow."""
    remaining = list(handlers)
    return lambda batch: (remaining.pop(0) if len(remaining) > 1 else remaining[0])(batch)


def attempts(it: Emulated) -> list[str]:
    return [
        "".join(f"{stored.body.decode()}{stored.attempts}" for stored in batch.messages)
        for batch in it.delivered
    ]
