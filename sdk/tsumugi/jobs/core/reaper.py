"""What becomes of jobs that went silent or whose attempt failed. Finds none and moves none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.backoff import backoff_ms
from tsumugi.jobs.core.model import Fail, Guarantee, Reap, Stall
from tsumugi.jobs.core.states import IN_FLIGHT, JobState

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView

#: The fraction of the golden ratio: its multiples fill the range from 0 to 1 evenly.
_GOLDEN: Final = 0.6180339887498949


def report_due_ms(timeout_ms: int | None, *, now_ms: int) -> int | None:
    """By when something must be heard of a job that was handed over or claimed at ``now_ms``."""
    return None if timeout_ms is None else now_ms + timeout_ms


def is_silent(job: JobView, *, now_ms: int, grace_ms: int) -> bool:
    """Whether the job is in flight and the grace after its report was due is over."""
    due_ms = job.report_due_ms
    return job.state in IN_FLIGHT and due_ms is not None and due_ms + grace_ms <= now_ms


def on_silence(job: JobView, *, now_ms: int, chance: float) -> Reap | Stall | Fail:
    """What a silent job becomes. The attempt counts, whether or not it ever began.

    A job without attempts left fails whatever its guarantee; with some left, at-most-once stalls
    and at-least-once waits for the next attempt (ADR-0114).
    """
    if job.guarantee is Guarantee.AT_MOST_ONCE and job.attempts + 1 < job.max_attempts:
        return Stall(id=job.id, epoch=job.epoch, attempts=job.attempts + 1)
    return on_failure(job, now_ms=now_ms, chance=chance)


def on_failure(job: JobView, *, now_ms: int, chance: float) -> Reap | Fail:
    """What a job becomes whose attempt is known to have ended without success."""
    attempts = job.attempts + 1
    if attempts >= job.max_attempts:
        return Fail(id=job.id, epoch=job.epoch, attempts=attempts)
    return Reap(
        id=job.id,
        epoch=job.epoch,
        attempts=attempts,
        ready_ms=now_ms + backoff_ms(job.backoff, attempts, chance=chance),
    )


def is_overdue(job: JobView, *, now_ms: int) -> bool:
    """Whether a job that never started is past its time to start."""
    return (
        job.state is JobState.SCHEDULED
        and job.attempts == 0
        and job.expires_ms is not None
        and job.expires_ms <= now_ms
    )


def nth_chance(chance: float, index: int) -> float:
    """The chance of the ``index``-th job of a tick: one drawn number, spread evenly over all."""
    return (chance + index * _GOLDEN) % 1.0
