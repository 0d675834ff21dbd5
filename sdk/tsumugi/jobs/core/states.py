"""The seven states of a job and the way between them. Knows no job and changes none."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class JobState(StrEnum):
    """Where a job is. The values are what rows, REST and dashboards carry."""

    #: Waits: for its time, for room, or for its next attempt (``attempts`` tells which).
    SCHEDULED = "SCHEDULED"
    #: Handed over; no performer is known to have it.
    QUEUED = "QUEUED"
    #: A performer has it.
    RUNNING = "RUNNING"
    #: Succeeded.
    COMPLETED = "COMPLETED"
    #: Used up its attempts.
    FAILED = "FAILED"
    #: Taken back, or expired, before it started.
    CANCELLED = "CANCELLED"
    #: Silent, and not to be run again unless somebody decides so.
    STALLED = "STALLED"


_S = JobState

#: Every legal transition. From FAILED and STALLED a job returns by a manual retry only.
TRANSITIONS: Final[Mapping[JobState, frozenset[JobState]]] = MappingProxyType(
    {
        _S.SCHEDULED: frozenset({_S.QUEUED, _S.CANCELLED}),
        _S.QUEUED: frozenset({_S.RUNNING, _S.COMPLETED, _S.FAILED, _S.SCHEDULED, _S.STALLED}),
        _S.RUNNING: frozenset({_S.COMPLETED, _S.FAILED, _S.SCHEDULED, _S.STALLED}),
        _S.COMPLETED: frozenset(),
        _S.CANCELLED: frozenset(),
        _S.FAILED: frozenset({_S.SCHEDULED}),
        _S.STALLED: frozenset({_S.SCHEDULED}),
    }
)

#: Handed over and not heard of to the end: these jobs take up concurrency.
IN_FLIGHT: Final = frozenset({_S.QUEUED, _S.RUNNING})
#: Nothing happens to these by itself.
TERMINAL: Final = frozenset({_S.COMPLETED, _S.FAILED, _S.CANCELLED, _S.STALLED})
#: The terminal states a manual retry leads out of.
RETRYABLE: Final = frozenset({_S.FAILED, _S.STALLED})


def can_transition(from_state: JobState, to_state: JobState) -> bool:
    """Whether the table allows it. No state leads to itself."""
    return to_state in TRANSITIONS[from_state]
