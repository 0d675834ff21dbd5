"""What a batch waits for: time-outs, signs of life, the moment to report. Acts on nothing.

One timer of the loop serves the whole batch: in production each is a call into JavaScript.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.reports import HEARTBEAT_EVERY_MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.consumer.running import Running

#: How long a report waits for others while jobs of the batch still run.
FLUSH_AFTER_MS: Final = 25
#: A job that runs so long shows as RUNNING. Most end sooner and cost no beat.
FIRST_BEAT_MS: Final = 1_000


@dataclass(slots=True)
class Due:
    """What is to be done now."""

    timed_out: list[Running] = field(default_factory=list)
    beats: list[Running] = field(default_factory=list)
    flush: bool = False


class Watch:
    """The clock of one batch."""

    def __init__(self, loop: asyncio.AbstractEventLoop, now_ms: Callable[[], int]) -> None:
        self._loop = loop
        self._now_ms = now_ms
        #: Started, and not watched yet: most end within their first turn.
        self._fresh: list[Running] = []
        self._time_outs: list[tuple[float, int, Running]] = []
        self._beats: deque[tuple[float, Running]] = deque()
        self._flush_at: float | None = None
        self._waiter: asyncio.Future[None] | None = None

    def started(self, running: Running) -> None:
        """Its performer was called."""
        self._fresh.append(running)
        self.wake()

    def queued(self, running: Running) -> None:
        """It waits here for its turn."""
        self._beats.append((self._loop.time() + FIRST_BEAT_MS / 1_000, running))

    def flush_soon(self) -> None:
        """There is something to tell, together with what comes shortly after."""
        if self._flush_at is None:
            self._flush_at = self._loop.time() + FLUSH_AFTER_MS / 1_000
            self.wake()

    def wake(self) -> None:
        """End the pause: there may be nothing left to wait for."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def pause(self) -> Due:
        """Wait until something happens or is due. A lone job that ends at once sees no timer."""
        if self._fresh:
            await asyncio.sleep(0)
            self._watch_fresh()
            return Due()
        times = [queue[0][0] for queue in (self._time_outs, self._beats) if queue]
        if self._flush_at is not None:
            times.append(self._flush_at)
        self._waiter = self._loop.create_future()
        timer = None
        if times:
            # Not at a time that is past, as a blocking performer leaves it: Pyodide refuses that.
            wait_s = max(0.0, min(times) - self._loop.time())
            timer = self._loop.call_later(wait_s, self.wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()
        return self._due()

    def _watch_fresh(self) -> None:
        fresh, self._fresh = self._fresh, []
        now = self._loop.time()
        for running in fresh:
            if not running.is_open:
                continue
            self._beats.append((now + FIRST_BEAT_MS / 1_000, running))
            timeout_ms = running.dispatched.timeout_ms
            if timeout_ms is not None:
                left_ms = running.started_ms + timeout_ms - self._now_ms()
                entry = (now + max(0, left_ms) / 1_000, id(running), running)
                heapq.heappush(self._time_outs, entry)

    def _due(self) -> Due:
        now = self._loop.time()
        due = Due()
        while self._time_outs and self._time_outs[0][0] <= now:
            due.timed_out.append(heapq.heappop(self._time_outs)[2])
        while self._beats and self._beats[0][0] <= now:
            _, running = self._beats.popleft()
            if running.is_open:
                due.beats.append(running)
                if running.is_waiting:
                    self._beats.append((now + HEARTBEAT_EVERY_MS / 1_000, running))
        if self._flush_at is not None and self._flush_at <= now:
            self._flush_at, due.flush = None, True
        return due
