"""Claims, heartbeats, reports and failed hand-overs. Judges their tokens; writes nothing.

Every dispatch has a token, the job's ``epoch``. What comes with another token, or for a job that is
not in flight, is ``Stale``: it is recorded and changes nothing (ADR-0115).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final

from tsumugi.jobs.core.model import Fail, Guarantee
from tsumugi.jobs.core.reaper import on_failure, on_silence, report_due_ms
from tsumugi.jobs.core.states import IN_FLIGHT, JobState

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView, Reap, Stall

#: At most one heartbeat per job is written in this time.
HEARTBEAT_EVERY_MS: Final = 5_000


class Outcome(StrEnum):
    """What a consumer reports of an attempt."""

    SUCCEEDED = "succeeded"
    #: The performer ended with an error.
    FAILED = "failed"
    #: The consumer stopped waiting; the performer may be running still.
    TIMED_OUT = "timed-out"
    #: It was never begun: not sent, or too late to start.
    NOT_STARTED = "not-started"
    #: It can never be begun: there is no such performer.
    IMPOSSIBLE = "impossible"


class StaleBecause(StrEnum):
    GONE = "gone"
    #: The job was dispatched again since.
    SUPERSEDED = "superseded"
    #: The job is not in flight any more.
    SETTLED = "settled"
    #: Nobody may perform the job before claiming it.
    UNCLAIMED = "unclaimed"


@dataclass(frozen=True, slots=True)
class Stale:
    """Too late to change anything."""

    because: StaleBecause


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """This claimant, and no other, may perform the job."""

    to: ClassVar[JobState] = JobState.RUNNING
    id: str
    epoch: int
    report_due_ms: int | None


@dataclass(frozen=True, slots=True)
class Taken:
    """Another delivery of the same dispatch has it: acknowledge and do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """The performer is alive. ``write`` is False within 5 s of the last one written."""

    id: str
    epoch: int
    #: The first sign of life of a job that needs no claim: it is RUNNING from now on.
    starts: bool
    progress: float | None
    report_due_ms: int | None
    write: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete:
    """The attempt succeeded."""

    to: ClassVar[JobState] = JobState.COMPLETED
    id: str
    epoch: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """Nothing happened: back in its old place, no attempt counted, the token used up."""

    to: ClassVar[JobState] = JobState.SCHEDULED
    id: str
    epoch: int
    attempts: int
    ready_ms: int


def stale(job: JobView | None, epoch: int) -> Stale | None:
    """Why something with this token comes too late; None if it does not."""
    if job is None:
        return Stale(StaleBecause.GONE)
    if job.epoch != epoch:
        return Stale(StaleBecause.SUPERSEDED)
    return None if job.state in IN_FLIGHT else Stale(StaleBecause.SETTLED)


def may_start(*, attempt: int, expires_ms: int | None, now_ms: int) -> bool:
    """Whether a delivery is in time to begin. Only a first attempt expires."""
    return attempt > 1 or expires_ms is None or now_ms < expires_ms


def claim(
    job: JobView | None, epoch: int, *, holds: bool = False, now_ms: int
) -> Claimed | Taken | PutBack | Stale:
    """Answer a consumer that asks for the job before it begins. One delivery wins.

    ``holds``: it is the one that won. A claimant asks again only while it has no answer, and so has
    not begun (ADR-0285).
    """
    refused = stale(job, epoch)
    if refused is not None or job is None:
        return refused or Stale(StaleBecause.GONE)
    if job.state is JobState.RUNNING and not holds:
        return Taken()
    if job.state is JobState.QUEUED and not may_start(
        attempt=job.attempts + 1, expires_ms=job.expires_ms, now_ms=now_ms
    ):
        return _put_back(job)
    due_ms = report_due_ms(job.timeout_ms, now_ms=now_ms)
    return Claimed(id=job.id, epoch=epoch, report_due_ms=due_ms)


def heartbeat(
    job: JobView | None, epoch: int, *, progress: float | None, now_ms: int
) -> Beat | Stale:
    """Move the silence deadline. A job that beats is given at least until its next written beat."""
    refused = stale(job, epoch)
    if refused is not None or job is None:
        return refused or Stale(StaleBecause.GONE)
    starts = job.state is JobState.QUEUED
    if starts and job.guarantee is Guarantee.AT_MOST_ONCE:
        return Stale(StaleBecause.UNCLAIMED)
    timeout_ms = None if job.timeout_ms is None else max(job.timeout_ms, HEARTBEAT_EVERY_MS)
    return Beat(
        id=job.id,
        epoch=epoch,
        starts=starts,
        progress=None if progress is None else min(1.0, max(0.0, progress)),
        report_due_ms=report_due_ms(timeout_ms, now_ms=now_ms),
        write=starts or is_beat_due(job.beat_ms, now_ms=now_ms),
    )


def is_beat_due(last_ms: int | None, *, now_ms: int) -> bool:
    """Whether a heartbeat is worth sending, or writing. A clock that went back makes it due."""
    return last_ms is None or not 0 <= now_ms - last_ms < HEARTBEAT_EVERY_MS


def report(
    job: JobView | None,
    epoch: int,
    *,
    outcome: Outcome,
    holds: bool = False,
    now_ms: int,
    chance: float,
) -> Complete | Reap | Stall | Fail | PutBack | Stale:
    """What the job becomes. ``holds``: whoever reports is the one that won the claim.

    A time-out is treated as silence: the performer cannot be stopped, so an at-most-once job must
    not start a second time beside it (ADR-0114).
    """
    refused = stale(job, epoch)
    if refused is not None or job is None:
        return refused or Stale(StaleBecause.GONE)
    match outcome:
        case Outcome.SUCCEEDED:
            return Complete(id=job.id, epoch=epoch, attempts=job.attempts + 1)
        case Outcome.FAILED:
            return on_failure(job, now_ms=now_ms, chance=chance)
        case Outcome.TIMED_OUT:
            return on_silence(job, now_ms=now_ms, chance=chance)
        case Outcome.IMPOSSIBLE | Outcome.NOT_STARTED if _is_anothers(job, holds=holds):
            return Stale(StaleBecause.SETTLED)
        case Outcome.IMPOSSIBLE:
            return Fail(id=job.id, epoch=job.epoch, attempts=job.attempts + 1)
        case Outcome.NOT_STARTED:
            return _put_back(job)


def hand_over_failed(job: JobView | None, epoch: int) -> PutBack | Stale:
    """Undo a dispatch that was not accepted. It may have arrived all the same.

    An at-most-once delivery finds its token used up when it claims. An at-least-once one may run
    beside the next dispatch, which its guarantee allows, and its report is stale.
    """
    refused = stale(job, epoch)
    if refused is not None or job is None:
        return refused or Stale(StaleBecause.GONE)
    return _put_back(job) if job.state is JobState.QUEUED else Stale(StaleBecause.SETTLED)


def _is_anothers(job: JobView, *, holds: bool) -> bool:
    """Whether another delivery won the claim: whoever has not begun has no news of it then."""
    claimed = job.guarantee is Guarantee.AT_MOST_ONCE and job.state is JobState.RUNNING
    return claimed and not holds


def _put_back(job: JobView) -> PutBack:
    # The token stays used: what still travels under it is stale, because the job is not in flight
    # now and will have the next epoch when it is again.
    return PutBack(id=job.id, epoch=job.epoch, attempts=job.attempts, ready_ms=job.ready_ms)
