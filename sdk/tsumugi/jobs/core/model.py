"""The values the coordinator decides with and answers with. They hold no payload and do nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final

from tsumugi.jobs.core.backoff import MAX_SAFE_INTEGER, ExponentialBackoff, JobBackoff
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.states import JobState

if TYPE_CHECKING:
    from tsumugi.jobs.core.bucket import Bucket

DEFAULT_MAX_ATTEMPTS: Final = 3
DEFAULT_TIMEOUT_MS: Final = 60_000
DEFAULT_BACKOFF: Final = ExponentialBackoff()
#: How many full keys a plan names.
KEYS_NAMED: Final = 20


class Guarantee(StrEnum):
    """What becomes of a job that went silent: it runs again, or it waits for a person."""

    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A job as far as decisions need it."""

    #: The local part of the job id; sorts by creation (see ``ids``).
    id: str
    state: JobState = JobState.SCHEDULED
    priority: int = 0
    #: From when on it may run; its age counts from here (ADR-0111).
    ready_ms: int
    #: Attempts that ended. 0: never started, as far as is known (ADR-0113).
    attempts: int = 0
    max_attempts: int = DEFAULT_MAX_ATTEMPTS
    #: Counts dispatches and only grows; the current number is the dispatch token.
    epoch: int = 0
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    backoff: JobBackoff = DEFAULT_BACKOFF
    #: How long a report is awaited; None for ever.
    timeout_ms: int | None = DEFAULT_TIMEOUT_MS
    concurrency_key: str | None = None
    #: Not started by then, it is cancelled instead.
    expires_ms: int | None = None
    #: In flight: by when something should be heard. The grace comes on top.
    report_due_ms: int | None = None
    #: In flight: when a heartbeat was last written.
    beat_ms: int | None = None
    #: Terminal: since when.
    finished_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How much of a binding may run, and in what order. One per shard (ADR-0118)."""

    concurrency: int = 100
    per_key_concurrency: int = 1
    rate: Rate | None = None
    #: A waiting job gains one priority per interval; None keeps priorities strict.
    aging_interval_ms: int | None = 60_000
    #: Silence is forgiven this long after a report was due.
    reaper_grace_ms: int = 30_000
    paused: bool = False

    def __post_init__(self) -> None:
        for name, least in (
            ("concurrency", 1),
            ("per_key_concurrency", 1),
            ("aging_interval_ms", 1),
            ("reaper_grace_ms", 0),
        ):
            value = getattr(self, name)
            if value is None and name == "aging_interval_ms":
                continue
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not least <= value <= MAX_SAFE_INTEGER:
                raise ValueError(f"{name} must be a whole number from {least}, not {value!r}")
        if self.rate is not None and not isinstance(self.rate, Rate):
            raise ValueError(f"rate must be a Rate(tokens, per_ms=...) or None, not {self.rate!r}")
        if not isinstance(self.paused, bool):
            raise ValueError(f"paused must be True or False, not {self.paused!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Hand the job over under a new token."""

    to: ClassVar[JobState] = JobState.QUEUED
    id: str
    epoch: int
    #: From 1, for the performer.
    attempt: int
    report_due_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reap:
    """Nothing was heard: count the attempt and let the job wait for its next one."""

    to: ClassVar[JobState] = JobState.SCHEDULED
    id: str
    epoch: int
    attempts: int
    ready_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """Whether it ran cannot be known, and it must not run twice: leave it to a person."""

    to: ClassVar[JobState] = JobState.STALLED
    id: str
    epoch: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """The last attempt ended without success."""

    to: ClassVar[JobState] = JobState.FAILED
    id: str
    epoch: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire:
    """Its time to start is over: cancel it."""

    to: ClassVar[JobState] = JobState.CANCELLED
    id: str


type Decision = Dispatch | Reap | Stall | Fail | Expire


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """What held back a job that was ready. All false: nothing was waiting for room."""

    capacity: bool = False
    tokens: bool = False
    paused: bool = False
    #: Keys that were full already and whose next job was passed over; at most ``KEYS_NAMED``.
    per_key: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.capacity or self.tokens or self.paused or self.per_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one tick does, and when the next one is due."""

    decisions: tuple[Decision, ...]
    #: To be stored in the transaction that carries out the decisions.
    bucket: Bucket | None
    blocked: Blocked = field(default_factory=Blocked)
    #: None: only an enqueue, a report or a change of policy can move anything.
    next_wake_ms: int | None = None
