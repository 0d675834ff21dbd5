"""Which alarms run when, on a fake clock with a real index."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.durable.alarm_index import AlarmIndex
from tsumugi_emulator.durable.alarm_runner import AlarmRunner
from tsumugi_emulator.durable.limits import ALARM_CONCURRENCY, ALARM_READ

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tsumugi_emulator.durable.alarm_index import DueAlarm

NOW = 1_000_000


class PassingClock(FakeClock):
    """Time goes on between one look and the next, as it does."""

    def now_ms(self) -> int:
        self._now_ms += 1
        return self._now_ms


class Child:
    """Runs alarms: removes their rows, as an object whose alarm is over does."""

    def __init__(self, directory: Path, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock(NOW)
        self.index = AlarmIndex.open(directory)
        self.ran: list[str] = []
        self.at_once = 0
        self.most_at_once = 0
        self.blocked: asyncio.Event | None = None
        self.dies = False
        self.runner = AlarmRunner(directory, self.clock, self._run)

    async def _run(self, alarm: DueAlarm) -> bool:
        self.ran.append(alarm.object_id)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        if self.blocked is not None:
            await self.blocked.wait()
        self.at_once -= 1
        if self.dies:
            raise RuntimeError("the process ended")
        self.index.remove([(alarm.namespace, alarm.object_id)])
        return True

    def set(self, object_id: str, due_ms: int) -> None:
        self.index.announce("n", object_id, due_ms)
        self.runner.changed(due_ms)


def with_child(
    directory: Path, test: Callable[[Child], Awaitable[None]], clock: FakeClock | None = None
) -> Child:
    child = Child(directory, clock)

    async def run() -> None:
        await test(child)
        child.runner.close()
        child.index.close()

    asyncio.run(run())
    return child


def test_an_alarm_runs_when_it_is_due_and_once(tmp_path: Path) -> None:
    async def test(child: Child) -> None:
        child.runner.start(["n"])
        child.set("a", NOW + 1000)
        await child.clock.advance(999)
        assert child.ran == []
        await child.clock.advance(1)
        assert child.ran == ["a"]
        await child.clock.advance(100_000)
        assert child.ran == ["a"]

    with_child(tmp_path, test)


def test_an_earlier_alarm_moves_the_timer(tmp_path: Path) -> None:
    async def test(child: Child) -> None:
        child.runner.start(["n"])
        child.set("late", NOW + 1000)
        child.set("early", NOW + 10)
        await child.clock.advance(10)
        assert child.ran == ["early"]
        await child.clock.advance(990)
        assert child.ran == ["early", "late"]

    with_child(tmp_path, test)


@pytest.mark.parametrize("ahead_ms", range(8))
def test_an_alarm_that_becomes_due_while_the_index_is_read_is_not_taken_for_one_at_work(
    tmp_path: Path, ahead_ms: int
) -> None:
    async def test(child: Child) -> None:
        child.index.announce("n", "a", NOW + ahead_ms)
        child.runner.start(["n"])
        await child.clock.advance(10)
        assert child.ran == ["a"]

    with_child(tmp_path, test, PassingClock(NOW))


def test_many_overdue_alarms_run_in_order_a_bounded_number_at_a_time(tmp_path: Path) -> None:
    count = 3 * ALARM_READ + 5

    async def test(child: Child) -> None:
        for number in range(count):
            child.index.announce("n", str(number), NOW - count + number)
        child.runner.start(["n"])
        await child.clock.settle()
        while len(child.ran) < count:
            await child.clock.settle()

    child = with_child(tmp_path, test)
    assert child.ran == [str(number) for number in range(count)]
    assert child.most_at_once <= ALARM_CONCURRENCY


def test_an_object_is_never_at_its_alarm_twice_at_once(tmp_path: Path) -> None:
    async def test(child: Child) -> None:
        child.blocked = asyncio.Event()
        child.runner.start(["n"])
        child.set("a", NOW)
        await child.clock.settle()
        child.runner.changed(NOW)
        await child.clock.advance(200_000)
        assert child.ran == ["a"]
        child.blocked.set()
        await child.clock.settle()

    with_child(tmp_path, test)


def test_an_alarm_that_takes_long_does_not_keep_the_next_one_waiting(tmp_path: Path) -> None:
    async def test(child: Child) -> None:
        child.blocked = asyncio.Event()
        child.runner.start(["n"])
        child.set("next", NOW + 5_000)
        child.set("long", NOW)
        await child.clock.advance(4_999)
        assert child.ran == ["long"]
        await child.clock.advance(1)
        assert child.ran == ["long", "next"]
        child.blocked.set()
        await child.clock.settle()

    with_child(tmp_path, test)


def test_alarms_wait_while_nothing_serves(tmp_path: Path) -> None:
    async def test(child: Child) -> None:
        child.set("a", NOW)
        await child.clock.settle()
        assert child.ran == []
        child.runner.start(["n"])
        await child.clock.settle()
        assert child.ran == ["a"]
        child.runner.stop()
        child.set("b", NOW)
        await child.clock.advance(100_000)
        assert child.ran == ["a"]
        child.runner.start(["n"])
        await child.clock.settle()
        assert child.ran == ["a", "b"]

    with_child(tmp_path, test)


def test_an_alarm_whose_process_died_is_tried_again_later(tmp_path: Path) -> None:
    async def test(child: Child) -> None:
        child.dies = True
        child.runner.start(["n"])
        child.set("a", NOW)
        await child.clock.settle()
        assert child.ran == ["a"]
        await child.clock.advance(1_999)
        assert child.ran == ["a"]
        child.dies = False
        await child.clock.advance(1)
        assert child.ran == ["a", "a"]
        await child.clock.advance(100_000)
        assert child.ran == ["a", "a"]

    with_child(tmp_path, test)


def test_a_process_that_always_dies_never_loses_the_alarm(tmp_path: Path) -> None:
    async def test(child: Child) -> None:
        child.dies = True
        child.runner.start(["n"])
        child.set("a", NOW)
        await child.clock.advance(1_000_000)
        assert len(child.ran) > 10
        assert child.index.next_due_ms(["n"], after_ms=0) is not None

    with_child(tmp_path, test)
