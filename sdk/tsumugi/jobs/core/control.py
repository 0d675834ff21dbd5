"""What people may do to a job: cancel, reschedule, retry. Answers in values; changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tsumugi.jobs.core.options import (
    OptionError,
    check_priority,
    check_starts_before_expiry,
    resolve_ready_ms,
)
from tsumugi.jobs.core.retention import DEFAULT_RETENTION, Retention, has_left
from tsumugi.jobs.core.states import RETRYABLE, JobState

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView


@dataclass(frozen=True, slots=True)
class Gone:
    """The shard does not keep the job any more."""


@dataclass(frozen=True, slots=True)
class InvalidState:
    """The job is where this cannot be done."""

    state: JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """It will not run."""

    to: ClassVar[JobState] = JobState.CANCELLED
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescheduled:
    """It stays SCHEDULED, for another time or with another priority."""

    id: str
    ready_ms: int
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """A fresh start: attempts from 0, no expiry, age from now. The epoch goes on."""

    to: ClassVar[JobState] = JobState.SCHEDULED
    id: str
    ready_ms: int
    attempts: ClassVar[int] = 0
    expires_ms: ClassVar[None] = None


def cancel(
    job: JobView | None, *, now_ms: int, retention: Retention = DEFAULT_RETENTION
) -> Cancelled | Gone | InvalidState:
    """Only a job that waits: any later it may have run, and "cancelled" would be a lie."""
    refused = _refused(job, {JobState.SCHEDULED}, now_ms, retention)
    if refused is not None or job is None:
        return refused or Gone()
    return Cancelled(id=job.id)


def reschedule(
    job: JobView | None,
    *,
    now_ms: int,
    run_at_ms: int | None = None,
    delay_ms: int | None = None,
    priority: int | None = None,
    retention: Retention = DEFAULT_RETENTION,
) -> Rescheduled | Gone | InvalidState:
    """A new time, a new priority, or both. With a new priority alone the job keeps its age.

    Raises ``OptionError`` for values no job can have, whatever the job is.
    """
    if run_at_ms is None and delay_ms is None and priority is None:
        raise OptionError("run_at", "nothing to change: give run_at, delay or priority")
    ready_ms = resolve_ready_ms(now_ms=now_ms, delay_ms=delay_ms, run_at_ms=run_at_ms)
    if priority is not None:
        check_priority(priority)
    refused = _refused(job, {JobState.SCHEDULED}, now_ms, retention)
    if refused is not None or job is None:
        return refused or Gone()
    if run_at_ms is None and delay_ms is None:
        ready_ms = job.ready_ms
    elif job.attempts == 0:
        check_starts_before_expiry(ready_ms=ready_ms, expires_ms=job.expires_ms)
    return Rescheduled(
        id=job.id,
        ready_ms=ready_ms,
        priority=job.priority if priority is None else priority,
    )


def retry(
    job: JobView | None, *, now_ms: int, retention: Retention = DEFAULT_RETENTION
) -> Retried | Gone | InvalidState:
    """Only FAILED and STALLED jobs, and only as long as they are kept."""
    refused = _refused(job, RETRYABLE, now_ms, retention)
    if refused is not None or job is None:
        return refused or Gone()
    return Retried(id=job.id, ready_ms=now_ms)


def _refused(
    job: JobView | None,
    allowed: frozenset[JobState] | set[JobState],
    now_ms: int,
    retention: Retention,
) -> Gone | InvalidState | None:
    if job is None:
        return Gone()
    if has_left(job.state, finished_ms=job.finished_ms, now_ms=now_ms, retention=retention):
        return Gone()
    return None if job.state in allowed else InvalidState(job.state)
