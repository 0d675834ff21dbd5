"""The exact order of ready jobs, read lazily. Counts no room and changes no job (ADR-0112).

Within one priority, the order by effective priority is the order by age whatever the time, so it
can be read from an index. Across priorities the lines are merged. A priority is opened only once
the oldest job anywhere could lift it to the top.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.core.sources import ReadySource


def effective_priority(
    priority: int, *, ready_ms: int, now_ms: int, aging_interval_ms: int | None
) -> int:
    """``priority`` plus one for every full interval waited; a clock that went back takes none."""
    if aging_interval_ms is None:
        return priority
    return priority + max(0, now_ms - ready_ms) // aging_interval_ms


def order_key(job: JobView, *, now_ms: int, aging_interval_ms: int | None) -> tuple[int, int, str]:
    """Sorts jobs as they are to run: higher effective priority, then ready longer, then by id."""
    effective = effective_priority(
        job.priority,
        ready_ms=job.ready_ms,
        now_ms=now_ms,
        aging_interval_ms=aging_interval_ms,
    )
    return (-effective, job.ready_ms, job.id)


def in_order(
    source: ReadySource,
    *,
    now_ms: int,
    aging_interval_ms: int | None,
    room: Mapping[str, int],
) -> Iterator[JobView]:
    """Every ready job whose key is not full, in exact order.

    ``room`` tells of a key how many more of its jobs may start. It is asked when a keyed job comes
    up and again after it was yielded, so the caller counts between two items. A full key's line is
    left at its first job: what waits behind it is not read and holds up nobody. So what is read is
    what was yielded, one job per full key and opened priority, and the one that opens a priority.
    """
    merge = _Merge(source, now_ms, aging_interval_ms)
    while (job := merge.pop()) is not None:
        key = job.concurrency_key
        if key is None:
            yield job
        elif room[key] > 0:
            yield job
            if room[key] > 0:
                merge.push(source.next_in_line(job))


type _Line = Iterator[JobView]


class _Merge:
    """The heads of the opened lines, best first."""

    def __init__(self, source: ReadySource, now_ms: int, aging_interval_ms: int | None) -> None:
        self._source = source
        self._now_ms = now_ms
        self._aging_interval_ms = aging_interval_ms
        self._heads: list[tuple[tuple[int, int, str], int, JobView, _Line | None]] = []
        self._taken_from: _Line | None = None
        self._pushed = 0  # settles ties before jobs would be compared
        self._next_priority = source.priority_below(None)
        self._most_aging = self._greatest_gain()

    def pop(self) -> JobView | None:
        if self._taken_from is not None:
            self._push_next(self._taken_from)
        self._open_what_could_win()
        if not self._heads:
            return None
        _, _, job, self._taken_from = heappop(self._heads)
        return job

    def push(self, job: JobView | None, line: _Line | None = None) -> None:
        if job is None:
            return
        key = order_key(job, now_ms=self._now_ms, aging_interval_ms=self._aging_interval_ms)
        self._pushed += 1
        heappush(self._heads, (key, self._pushed, job, line))

    def _push_next(self, line: _Line) -> None:
        self.push(next(line, None), line)

    def _greatest_gain(self) -> int:
        if self._aging_interval_ms is None or self._next_priority is None:
            return 0
        oldest_ms = self._source.oldest_ready_ms()
        if oldest_ms is None:
            return 0
        return max(0, self._now_ms - oldest_ms) // self._aging_interval_ms

    def _open_what_could_win(self) -> None:
        while (priority := self._next_priority) is not None:
            if self._heads and priority + self._most_aging < -self._heads[0][0][0]:
                return
            self._push_next(self._source.front(priority))
            self._next_priority = self._source.priority_below(priority)
