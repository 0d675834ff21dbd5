"""The child's event loop with a clock of its own: where it would sleep, time jumps instead.

What code under test waits for in time comes at once and in the order of its timers, however busy
the machine is. A test says what it waits for (``run_until``) or that nothing is left to do but to
wait (``run_until_idle``).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tsumugi_emulator.worker.loop import WorkerLoop

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

START_MS = 1_700_000_000_000
#: How far time moves before a test is told that what it waits for does not come.
LONGEST_WAIT_S = 3600.0
#: What a look at the clock takes: code that waits for time to pass by looking at it ends.
LOOK_S = 1e-6


class LoopUnderTest(WorkerLoop):
    def __init__(self) -> None:
        self._now_s = 1000.0
        #: When the machine's clock began to count, while real connections are waited for.
        self._slept_from_s: float | None = None
        self._looks_for_stuck: Callable[[], bool] = lambda: False
        self._holds: Callable[[], bool] | None = None
        self._stops_when_idle = False
        super().__init__()
        self.watch_idle(lambda: False)

    def time(self) -> float:
        self._now_s += LOOK_S
        if self._slept_from_s is not None:
            self._now_s += time.monotonic() - self._slept_from_s
            self._slept_from_s = None
        return self._now_s

    def watch_idle(self, on_idle: Callable[[], bool]) -> None:
        super().watch_idle(on_idle)
        self._looks_for_stuck = on_idle
        self._idle_selector.on_idle = self._before_sleep

    # -- What a test waits for --------------------------------------------------------------------

    def run_until(self, holds: Callable[[], bool], what: str) -> None:
        """Run until ``holds()`` is true after a turn; time moves when nothing else is to be done.

        Raises:
            AssertionError: it never will be.
        """
        if holds():
            return
        latest_s = self._now_s + LONGEST_WAIT_S
        self._holds = lambda: holds() or self._now_s > latest_s
        try:
            self.run_until_stopped()
        finally:
            self._holds = None
        assert holds(), f"{what}: does not come"

    def run_until_idle(self) -> None:
        """Run until nothing is left to do but to wait, and events that are stuck were looked for.

        No time passes: what waits for a timer still does.
        """
        self._stops_when_idle = True
        try:
            self.run_until_stopped()
        finally:
            self._stops_when_idle = False

    # -- Turns ------------------------------------------------------------------------------------

    def _run_once(self) -> None:
        super()._run_once()
        self._stop_if_it_holds()

    def _stop_if_it_holds(self) -> bool:
        found = self._holds is not None and self._holds()
        if found:
            self.stop()
        return found

    def _before_sleep(self) -> bool:
        """Whether there is something to do after all; else the loop really waits."""
        if self._stop_if_it_holds() or self._looks_for_stuck():
            return True
        if self._stops_when_idle:
            self.stop()
            return True
        if self.has_user_descriptors():
            self._slept_from_s = time.monotonic()
            return False
        timers = self._scheduled  # type: ignore[attr-defined]
        assert timers, "the loop waits for something that nothing will bring about"
        self._now_s = max(self._now_s, timers[0]._when)
        return True


class LoopClock:
    """A clock that goes with the loop: JavaScript's timers and asyncio's come in one order."""

    def __init__(self, loop: LoopUnderTest) -> None:
        self._loop = loop

    def now_ms(self) -> int:
        return START_MS + round(self._loop.time() * 1000)

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(max(0, when_ms - self.now_ms()) / 1000, callback)
