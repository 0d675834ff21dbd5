"""What takes too long is ended, and no timer is left behind."""

from __future__ import annotations

import asyncio

import pytest
from fake_time import FakeTimeLoop
from tsumugi.jobs.shard.limits import within


@pytest.fixture
def loop():
    loop = FakeTimeLoop(filed=False)
    yield loop
    loop.close()


def test_what_takes_too_long_is_ended(loop: FakeTimeLoop) -> None:
    async def work() -> float:
        with pytest.raises(TimeoutError):
            async with within(30.0):
                await asyncio.sleep(60.0)
        return loop.time()

    assert loop.run(work()) == pytest.approx(30.0)


def test_what_ends_in_time_leaves_no_timer(loop: FakeTimeLoop) -> None:
    async def work() -> None:
        async with within(30.0):
            await asyncio.sleep(1.0)

    loop.run(work())
    assert all(timer.cancelled() for timer in loop._scheduled)  # type: ignore[attr-defined]


def test_what_fails_does_not_look_late(loop: FakeTimeLoop) -> None:
    async def work() -> None:
        async with within(30.0):
            raise KeyError("a")

    with pytest.raises(KeyError):
        loop.run(work())


def test_what_is_cancelled_does_not_look_late(loop: FakeTimeLoop) -> None:
    async def work() -> None:
        async with within(30.0):
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(1.0)

    with pytest.raises(asyncio.CancelledError):
        loop.run(work())
