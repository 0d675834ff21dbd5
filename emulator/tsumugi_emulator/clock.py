"""The one source of time. Everything that waits or stamps takes a Clock, so tests can move it.

Times are integer epoch milliseconds. Nothing else in the emulator reads the system clock for
a decision; measuring how long something took for a log line may use ``time.perf_counter``.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Timer(Protocol):
    def cancel(self) -> None:
        """Forget the callback. Cancelling twice, or after it ran, does nothing."""


class Clock(Protocol):
    def now_ms(self) -> int: ...

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Run ``callback`` once ``now_ms() >= when_ms``, never before this call returns."""


class SystemClock:
    """Wall-clock time and the running asyncio loop's timers."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        return _WallTimer(when_ms, callback)


class _WallTimer:
    """Follows the wall clock, which asyncio's timers do not: a laptop that slept catches up."""

    __slots__ = ("_callback", "_handle", "_when_ms")

    #: Longest time the loop sleeps before the wall clock is looked at again.
    LONGEST_SLEEP_S = 30.0

    def __init__(self, when_ms: int, callback: Callable[[], None]) -> None:
        self._when_ms = when_ms
        self._callback = callback
        self._handle = self._sleep()

    def cancel(self) -> None:
        self._handle.cancel()

    def _sleep(self) -> asyncio.TimerHandle:
        left_s = (self._when_ms * 1_000_000 - time.time_ns()) / 1e9
        delay_s = min(max(0.0, left_s), self.LONGEST_SLEEP_S)
        return asyncio.get_running_loop().call_later(delay_s, self._wake)

    def _wake(self) -> None:
        if time.time_ns() // 1_000_000 >= self._when_ms:
            self._callback()
        else:
            self._handle = self._sleep()


class _FakeTimer:
    __slots__ = ("callback", "when_ms")

    def __init__(self, when_ms: int, callback: Callable[[], None]) -> None:
        self.when_ms = when_ms
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class FakeClock:
    """Time that moves only when told: ``await clock.advance(86_400_000)`` passes a day at once.

    Timers run in order of due time, each seeing ``now_ms()`` equal to its own due time, and the
    event loop settles after each of them, so what a timer starts is finished before the next.
    """

    #: Loop turns granted to what a timer woke before time moves on.
    SETTLE_TURNS = 50

    def __init__(self, start_ms: int = 1_000_000) -> None:
        self._now_ms = start_ms
        self._timers: list[tuple[int, int, _FakeTimer]] = []
        self._order = itertools.count()

    def now_ms(self) -> int:
        return self._now_ms

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        timer = _FakeTimer(when_ms, callback)
        heapq.heappush(self._timers, (when_ms, next(self._order), timer))
        return timer

    async def settle(self) -> None:
        """Let everything runnable run, without moving time, until no due timer is left."""
        while True:
            for _ in range(self.SETTLE_TURNS):
                await asyncio.sleep(0)
            if not self._timers or self._timers[0][0] > self._now_ms:
                return
            self._run_next()

    async def advance(self, duration_ms: int) -> None:
        target_ms = self._now_ms + duration_ms
        await self.settle()
        while self._timers and self._timers[0][0] <= target_ms:
            self._now_ms = max(self._now_ms, self._timers[0][0])
            self._run_next()
            await self.settle()
        self._now_ms = target_ms
        await self.settle()

    def _run_next(self) -> None:
        _, _, timer = heapq.heappop(self._timers)
        callback, timer.callback = timer.callback, None
        if callback is not None:
            callback()
