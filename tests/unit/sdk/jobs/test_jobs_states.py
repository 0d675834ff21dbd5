"""The table of states is the specification's, and the sets beside it follow from it."""

from __future__ import annotations

import pytest
from tsumugi.jobs.core.states import (
    IN_FLIGHT,
    RETRYABLE,
    TERMINAL,
    TRANSITIONS,
    JobState,
    can_transition,
)

SPECIFIED = """
SCHEDULED -> QUEUED CANCELLED
QUEUED -> RUNNING COMPLETED FAILED SCHEDULED STALLED
RUNNING -> COMPLETED FAILED SCHEDULED STALLED
COMPLETED ->
CANCELLED ->
FAILED -> SCHEDULED
STALLED -> SCHEDULED
"""


@pytest.mark.parametrize("line", SPECIFIED.strip().splitlines())
def test_a_state_leads_where_the_table_says_and_nowhere_else(line: str) -> None:
    state, targets = line.split("->")
    allowed = set(targets.split())
    for to_state in JobState:
        assert can_transition(JobState(state.strip()), to_state) is (to_state in allowed)


def test_every_state_has_a_line() -> None:
    assert set(TRANSITIONS) == set(JobState)


def test_no_state_leads_to_itself() -> None:
    assert not any(can_transition(state, state) for state in JobState)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        TRANSITIONS[JobState.COMPLETED] = frozenset()  # type: ignore[index]


def test_a_job_waits_or_is_in_flight_or_is_over() -> None:
    assert {JobState.SCHEDULED} | IN_FLIGHT | TERMINAL == set(JobState)
    assert not IN_FLIGHT & TERMINAL


def test_what_can_be_retried_is_over_but_not_done() -> None:
    assert {state for state in TERMINAL if TRANSITIONS[state]} == RETRYABLE


def test_a_state_is_written_as_its_name() -> None:
    assert [str(state) for state in JobState] == [state.name for state in JobState]
