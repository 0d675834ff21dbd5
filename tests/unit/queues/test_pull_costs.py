"""What pulling costs does not depend on how much waits: SQLite counts its own steps."""

from __future__ import annotations

import asyncio

import pytest
from queue_harness import memory_connection
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.queues import Broker, OutgoingMessage, QueueSettings, QueueStore
from tsumugi_emulator.queues.control import QueueControl
from tsumugi_emulator.queues.messages import PullSettings


class Counted:
    """A pulled queue: a third of ``size`` waits, a third is leased, a third came back."""

    def __init__(self, size: int) -> None:
        self.db = memory_connection()
        self.clock = FakeClock()
        store = QueueStore(self.db)
        broker = Broker(store, self.clock, events=lambda _: None)
        self.control = QueueControl(store, broker, self.clock)
        for number in range(5):
            self.control.create(QueueSettings(f"other-{number}"))
        self.id = self.control.create(QueueSettings("q")).record.queue_id
        self.control.add_consumer(self.id, PullSettings("q"))
        for _ in range(size // 100):
            messages = [OutgoingMessage(b"m", "text")] * 100
            self.control.send(self.id, messages, as_batch=True)
        third = size // 300
        for _ in range(third):
            pulled = self.control.pull(self.id, size=100, timeout_ms=10_000_000)
            self.control.settle(self.id, [], {lease: None for _, lease in pulled.messages})
        for _ in range(third):
            self.control.pull(self.id, size=100, timeout_ms=10_000_000)

    def steps(self, what: str) -> int:
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        self.db.set_progress_handler(step, 1)
        match what:
            case "peek":
                self.control.peek(self.id, limit=10)
            case "metrics":
                self.control.metrics(self.id)
            case "page":
                self.control.page([], limit=3, skip=2)
            case "name":
                self.control.page(["q"], limit=1, skip=0)
            case "pull":
                self.control.pull(self.id, size=10, timeout_ms=10_000_000)
            case "pull and ack":
                pulled = self.control.pull(self.id, size=10, timeout_ms=10_000_000)
                self.control.settle(self.id, [lease for _, lease in pulled.messages], {})
        self.db.set_progress_handler(None, 1)
        return count


@pytest.mark.parametrize("what", ["peek", "metrics", "page", "name", "pull", "pull and ack"])
def test_as_many_steps_with_a_hundred_times_the_backlog(what: str) -> None:
    async def scenario() -> tuple[int, int]:
        return Counted(300).steps(what), Counted(30_000).steps(what)

    few, many = asyncio.run(scenario())
    assert many <= few * 1.05 + 20
