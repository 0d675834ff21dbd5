"""Both sources over a plain collection of jobs. For tests and small sets: it sorts everything."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from tsumugi.jobs.core.reaper import is_overdue
from tsumugi.jobs.core.states import IN_FLIGHT, JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tsumugi.jobs.core.model import JobView


class ListedReady:
    """A ``ReadySource`` over these jobs at ``now_ms``."""

    def __init__(self, jobs: Iterable[JobView], *, now_ms: int) -> None:
        jobs = list(jobs)
        scheduled = [job for job in jobs if job.state is JobState.SCHEDULED]
        self._scheduled = scheduled
        self._now_ms = now_ms
        self._flying = Counter(job.concurrency_key for job in jobs if job.state in IN_FLIGHT)
        ready = [job for job in scheduled if job.ready_ms <= now_ms]
        self._oldest_ms = min((job.ready_ms for job in ready), default=None)
        self._lines: dict[int, dict[str | None, list[JobView]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for job in sorted(ready, key=_by_age):
            self._lines[job.priority][job.concurrency_key].append(job)

    def priority_below(self, priority: int | None) -> int | None:
        return max((p for p in self._lines if priority is None or p < priority), default=None)

    def oldest_ready_ms(self) -> int | None:
        return self._oldest_ms

    def front(self, priority: int) -> Iterator[JobView]:
        lines = self._lines[priority]
        firsts = [line[0] for key, line in lines.items() if key is not None]
        return iter(sorted([*lines.get(None, ()), *firsts], key=_by_age))

    def in_flight_of_key(self, key: str) -> int:
        return self._flying[key]

    def next_in_line(self, job: JobView) -> JobView | None:
        line = self._lines[job.priority][job.concurrency_key]
        after = line.index(job) + 1
        return line[after] if after < len(line) else None

    def next_ready_ms(self) -> int | None:
        later = (job.ready_ms for job in self._scheduled if job.ready_ms > self._now_ms)
        return min(later, default=None)

    def overdue(self) -> Iterator[JobView]:
        overdue = [job for job in self._scheduled if is_overdue(job, now_ms=self._now_ms)]
        return iter(sorted(overdue, key=lambda job: (job.expires_ms or 0, job.id)))

    def next_expiry_ms(self) -> int | None:
        times = (
            job.expires_ms
            for job in self._scheduled
            if job.attempts == 0 and job.expires_ms is not None and job.expires_ms > self._now_ms
        )
        return min(times, default=None)


class ListedInFlight:
    """An ``InFlightSource`` over these jobs; jobs in other states are left out."""

    def __init__(self, jobs: Iterable[JobView]) -> None:
        self._jobs = [job for job in jobs if job.state in IN_FLIGHT]

    def count(self) -> int:
        return len(self._jobs)

    def silent(self, due_by_ms: int) -> Iterator[JobView]:
        due = [job for job in self._awaited() if job[0] <= due_by_ms]
        return (job for _, _, job in sorted(due, key=lambda entry: entry[:2]))

    def next_report_due_ms(self, after_ms: int) -> int | None:
        return min((due for due, _, _ in self._awaited() if due > after_ms), default=None)

    def _awaited(self) -> Iterator[tuple[int, str, JobView]]:
        for job in self._jobs:
            if job.report_due_ms is not None:
                yield job.report_due_ms, job.id, job


def _by_age(job: JobView) -> tuple[int, str]:
    return (job.ready_ms, job.id)
