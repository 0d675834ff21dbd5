"""What every source of jobs must answer, whatever it reads from. Knows no implementation of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi.jobs.core.states import IN_FLIGHT, JobState

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.core.sources import InFlightSource, ReadySource


def check_ready_source(source: ReadySource, jobs: list[JobView], *, now_ms: int) -> None:
    """``source`` shows exactly those of these jobs that are SCHEDULED, as of ``now_ms``."""
    waiting = [job for job in jobs if job.state is JobState.SCHEDULED]
    ready = sorted((j for j in waiting if j.ready_ms <= now_ms), key=lambda j: (j.ready_ms, j.id))
    priorities = []
    priority = source.priority_below(None)
    while priority is not None:
        priorities.append(priority)
        priority = source.priority_below(priority)
    assert priorities == sorted({job.priority for job in ready}, reverse=True)
    for priority in priorities:
        _check_lines(source, [job for job in ready if job.priority == priority], priority)
    for key in {job.concurrency_key for job in ready if job.concurrency_key is not None}:
        flying = [job for job in jobs if job.state in IN_FLIGHT and job.concurrency_key == key]
        assert source.in_flight_of_key(key) == len(flying)
    oldest_ms = source.oldest_ready_ms()
    assert not ready or (oldest_ms is not None and oldest_ms <= ready[0].ready_ms)
    later = [job.ready_ms for job in waiting if job.ready_ms > now_ms]
    assert source.next_ready_ms() == min(later, default=None)
    fresh = [(j.expires_ms, j.id) for j in waiting if j.attempts == 0 and j.expires_ms is not None]
    assert [(j.expires_ms, j.id) for j in source.overdue()] == sorted(
        entry for entry in fresh if entry[0] <= now_ms
    )
    future = [expires_ms for expires_ms, _ in fresh if expires_ms > now_ms]
    assert source.next_expiry_ms() == min(future, default=None)


def _check_lines(source: ReadySource, ready: list[JobView], priority: int) -> None:
    lines: dict[str | None, list[JobView]] = {}
    for job in ready:
        lines.setdefault(job.concurrency_key, []).append(job)
    keyless = lines.pop(None, [])
    firsts = [line[0] for line in lines.values()]
    assert list(source.front(priority)) == sorted([*keyless, *firsts], key=ready.index)
    for first in firsts:
        walked, job = [], first
        while job is not None:
            walked.append(job)
            job = source.next_in_line(job)
        assert walked == lines[first.concurrency_key]


def check_in_flight_source(source: InFlightSource, jobs: list[JobView]) -> None:
    """``source`` shows exactly those of these jobs that are QUEUED or RUNNING."""
    flying = [job for job in jobs if job.state in IN_FLIGHT]
    assert source.count() == len(flying)
    awaited = sorted(
        ((j.report_due_ms, j.id, j) for j in flying if j.report_due_ms is not None),
        key=lambda entry: entry[:2],
    )
    for due_ms in {0, *(entry[0] for entry in awaited)}:
        assert list(source.silent(due_ms)) == [job for due, _, job in awaited if due <= due_ms]
        after = [due for due, _, _ in awaited if due > due_ms]
        assert source.next_report_due_ms(due_ms) == min(after, default=None)
