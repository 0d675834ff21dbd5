"""Jobs, policies and very long backlogs, built with what a test is about. Decides nothing."""

from __future__ import annotations

from collections import Counter
from heapq import merge
from itertools import count
from typing import TYPE_CHECKING

from tsumugi.jobs.core.memory import ListedInFlight, ListedReady
from tsumugi.jobs.core.model import Dispatch, Expire, Guarantee, JobView, Plan, Policy
from tsumugi.jobs.core.schedule import schedule
from tsumugi.jobs.core.states import JobState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi.jobs.core.bucket import Bucket

T0 = 1_750_000_000_000
SECOND = 1_000
MINUTE = 60_000
HOUR = 3_600_000

_numbers = count(1)


def job(name: str | None = None, **fields: object) -> JobView:
    """A waiting job; unnamed ones are named in the order they are built."""
    values = {"id": name or f"job-{next(_numbers):08}", "ready_ms": T0, **fields}
    return JobView(**values)  # type: ignore[arg-type]


def flying(name: str | None = None, **fields: object) -> JobView:
    """A job that was handed over at T0 with a minute to report."""
    values = {"state": JobState.QUEUED, "epoch": 1, "report_due_ms": T0 + MINUTE, **fields}
    return job(name, **values)


def once(name: str | None = None, **fields: object) -> JobView:
    return flying(name, guarantee=Guarantee.AT_MOST_ONCE, **fields)


def plan(
    *jobs: JobView,
    policy: Policy | None = None,
    now_ms: int = T0,
    bucket: Bucket | None = None,
    chance: float = 0.0,
    limit: int = 1_000,
) -> Plan:
    return schedule(
        ListedReady(jobs, now_ms=now_ms),
        ListedInFlight(jobs),
        now_ms=now_ms,
        policy=policy or Policy(),
        bucket=bucket,
        chance=chance,
        limit=limit,
    )


def started(a_plan: Plan) -> list[str]:
    return [decision.id for decision in a_plan.decisions if isinstance(decision, Dispatch)]


def expired(a_plan: Plan) -> list[str]:
    return [decision.id for decision in a_plan.decisions if isinstance(decision, Expire)]


class LongLines:
    """A ``ReadySource`` of any length that makes a job when it is read, and counts those.

    ``lines`` says how many jobs wait per (priority, key). In each, job ``n`` became ready ``n``
    milliseconds after ``first_ms``.
    """

    def __init__(self, lines: dict[tuple[int, str | None], int], *, first_ms: int = T0) -> None:
        self.lines = lines
        self.first_ms = first_ms
        #: How many jobs of a key are in flight.
        self.in_flight: Counter[str | None] = Counter()
        self.handed_out = 0

    def waiting(self) -> int:
        return sum(self.lines.values())

    def make(self, priority: int, key: str | None, place: int) -> JobView | None:
        if place >= self.lines[priority, key]:
            return None
        self.handed_out += 1
        return JobView(
            id=f"{priority}/{key or ''}/{place:09}",
            priority=priority,
            concurrency_key=key,
            ready_ms=self.first_ms + place,
        )

    def priority_below(self, priority: int | None) -> int | None:
        return max((p for p, _ in self.lines if priority is None or p < priority), default=None)

    def oldest_ready_ms(self) -> int | None:
        return self.first_ms

    def front(self, priority: int) -> Iterator[JobView]:
        keys = sorted(key for p, key in self.lines if p == priority and key is not None)
        firsts = (self.make(priority, key, 0) for key in keys)
        keyless = (self.make(priority, None, n) for n in range(self.lines.get((priority, None), 0)))
        return merge(filter(None, keyless), filter(None, firsts), key=lambda j: (j.ready_ms, j.id))

    def in_flight_of_key(self, key: str) -> int:
        return self.in_flight[key]

    def next_in_line(self, job: JobView) -> JobView | None:
        place = int(job.id.rpartition("/")[2])
        return self.make(job.priority, job.concurrency_key, place + 1)

    def next_ready_ms(self) -> int | None:
        return None

    def overdue(self) -> Iterator[JobView]:
        return iter(())

    def next_expiry_ms(self) -> int | None:
        return None
