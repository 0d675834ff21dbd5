"""Run alarms when they are due: in order, a bounded number at a time, one per object.

One timer, at the earliest due time. What is read from the index at once is bounded, so that any
number of overdue alarms costs no memory. What running one means is the caller's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from tsumugi_emulator.durable.alarm_index import AlarmIndex
from tsumugi_emulator.durable.alarms import after_interruption
from tsumugi_emulator.durable.limits import ALARM_CONCURRENCY, ALARM_READ

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from pathlib import Path

    from tsumugi_emulator.clock import Clock, Timer
    from tsumugi_emulator.durable.alarm_index import DueAlarm


class AlarmRunner:
    def __init__(
        self, directory: Path, clock: Clock, run: Callable[[DueAlarm], Awaitable[bool]]
    ) -> None:
        """``run`` answers whether the alarm's outcome is in the index; False or an exception
        means that whoever ran it is gone, and it is tried again later."""
        self._directory = directory
        self._clock = clock
        self._run = run
        self._index: AlarmIndex | None = None
        self._namespaces: tuple[str, ...] = ()
        self._ready: deque[DueAlarm] = deque()
        self._running: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: Timer | None = None
        self._timer_ms = 0
        self._serving = False

    def start(self, namespaces: Collection[str]) -> None:
        """Run what is due, and what becomes due, in these namespaces."""
        self._namespaces = tuple(namespaces)
        self._serving = bool(self._namespaces)
        self._ready.clear()
        self._pump()

    def stop(self) -> None:
        """Start no more alarms until ``start``."""
        self._serving = False
        self._ready.clear()
        self._set_timer(None)

    def close(self) -> None:
        self.stop()
        if self._index is not None:
            self._index.close()
            self._index = None

    def changed(self, due_ms: int) -> None:
        """An alarm was set."""
        if not self._serving:
            return
        if due_ms <= self._clock.now_ms():
            self._pump()
        elif self._timer is None or due_ms < self._timer_ms:
            self._set_timer(due_ms)

    def look(self) -> None:
        """A process ended, perhaps before it could tell of an alarm it had set."""
        self._pump()

    # -- Inside -----------------------------------------------------------------------------------

    def _open(self) -> AlarmIndex | None:
        if self._index is None:
            self._index = AlarmIndex.open_existing(self._directory)
        return self._index

    def _pump(self) -> None:
        index = self._open() if self._serving else None
        if index is None:
            return
        # One time for all: what becomes due between two looks would be taken for one at work.
        now_ms = self._clock.now_ms()
        while len(self._running) < ALARM_CONCURRENCY:
            alarm = self._next(index, now_ms)
            if alarm is None:
                break
            self._begin(alarm)
        if not self._ready and len(self._running) < ALARM_CONCURRENCY:
            self._watch(index, now_ms)

    def _next(self, index: AlarmIndex, now_ms: int) -> DueAlarm | None:
        while True:
            while self._ready:
                alarm = self._ready.popleft()
                if (alarm.namespace, alarm.object_id) not in self._running:
                    return alarm
            # Those at work are still in the index, at its front.
            limit = ALARM_READ + len(self._running)
            found = index.due(self._namespaces, now_ms=now_ms, limit=limit)
            self._ready.extend(
                alarm for alarm in found if (alarm.namespace, alarm.object_id) not in self._running
            )
            if not self._ready:
                return None

    def _begin(self, alarm: DueAlarm) -> None:
        self._running.add((alarm.namespace, alarm.object_id))
        task = asyncio.get_running_loop().create_task(self._attempt(alarm))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attempt(self, alarm: DueAlarm) -> None:
        try:
            recorded = await self._run(alarm)
        except Exception:
            recorded = False
        self._running.discard((alarm.namespace, alarm.object_id))
        if not recorded and self._index is not None:
            self._postpone(self._index, alarm)
        self._pump()

    def _postpone(self, index: AlarmIndex, alarm: DueAlarm) -> None:
        """Whoever ran it died."""
        again = after_interruption(alarm.retry_count, now_ms=self._clock.now_ms())
        index.postpone(alarm, due_ms=again.due_ms, retry_count=again.retry_count)

    def _watch(self, index: AlarmIndex, now_ms: int) -> None:
        # What is due and not begun is at work: it must not hide who comes next.
        self._set_timer(index.next_due_ms(self._namespaces, after_ms=now_ms))

    def _set_timer(self, due_ms: int | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due_ms is not None:
            self._timer_ms = due_ms
            self._timer = self._clock.call_at(due_ms, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._pump()
