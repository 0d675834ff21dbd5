"""The loop the tests of a child run on: its time, and what it tells a test that waits in vain."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
from loop_under_test import LoopClock, LoopUnderTest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def loop() -> Iterator[LoopUnderTest]:
    with contextlib.closing(LoopUnderTest()) as made:
        yield made


def test_an_hour_passes_at_once_and_timers_come_in_order(loop: LoopUnderTest) -> None:
    seen: list[str] = []
    clock, began_s = LoopClock(loop), loop.time()
    clock.call_at(clock.now_ms() + 3_000_000, lambda: seen.append("second"))
    loop.call_later(3_500, seen.append, "third")
    loop.call_later(2_000, seen.append, "first")
    loop.run_until(lambda: len(seen) == 3, "every timer")
    assert seen == ["first", "second", "third"]
    assert loop.time() - began_s == pytest.approx(3_500)


def test_nothing_is_left_but_to_wait_when_a_loop_is_idle(loop: LoopUnderTest) -> None:
    seen: list[int] = []

    async def work() -> None:
        for number in range(10):
            seen.append(number)
            await asyncio.sleep(0)

    began_s = loop.time()
    loop.call_later(0.001, seen.append, 10)
    loop.create_task(work())
    loop.run_until_idle()
    assert seen == list(range(10))
    assert loop.time() - began_s < 0.001


def test_what_never_comes_is_told(loop: LoopUnderTest) -> None:
    with pytest.raises(AssertionError, match="nothing will bring about"):
        loop.run_until(lambda: False, "a miracle")


def test_what_does_not_come_in_an_hour_is_told(loop: LoopUnderTest) -> None:
    def again() -> None:
        loop.call_later(60, again)

    again()
    with pytest.raises(AssertionError, match="a miracle: does not come"):
        loop.run_until(lambda: False, "a miracle")
