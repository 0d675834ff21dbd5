"""Fires cron triggers on time. Missed firings are not made up for, as in production."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tsumugi_emulator.clock import Clock, Timer
    from tsumugi_emulator.cron.expression import Cron


class CronScheduler:
    """One timer for all expressions; ``fire`` gets the expression and its scheduled time."""

    def __init__(self, clock: Clock, fire: Callable[[str, int], Awaitable[None]]) -> None:
        self._clock = clock
        self._fire = fire
        self._crons: tuple[Cron, ...] = ()
        self._timer: Timer | None = None
        self._due: dict[str, int] = {}
        self._running: set[asyncio.Future[None]] = set()

    def configure(self, crons: Iterable[Cron]) -> None:
        """The expressions from now on; one that stays keeps its next firing."""
        self._crons = tuple(crons)
        now_ms = self._clock.now_ms()
        due = {
            cron.text: self._due.get(cron.text) or cron.next_after(now_ms) for cron in self._crons
        }
        self._due = {text: time_ms for text, time_ms in due.items() if time_ms is not None}
        self._wait()

    def stop(self) -> None:
        self.configure(())

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._due:
            self._timer = self._clock.call_at(min(self._due.values()), self._tick)

    def _tick(self) -> None:
        self._timer = None
        now_ms = self._clock.now_ms()
        for cron in self._crons:
            due_ms = self._due.get(cron.text)
            if due_ms is None or due_ms > now_ms:
                continue
            run = asyncio.ensure_future(self._fire(cron.text, due_ms))
            self._running.add(run)
            run.add_done_callback(self._running.discard)
            # From now, not from the last firing: a laptop that slept does not fire a hundred times.
            following = cron.next_after(now_ms)
            if following is None:
                del self._due[cron.text]
            else:
                self._due[cron.text] = following
        self._wait()
