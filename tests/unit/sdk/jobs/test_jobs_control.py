"""Cancelling, rescheduling, retrying, and how long a finished job can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from job_builders import HOUR, SECOND, T0, flying, job
from tsumugi.jobs.core.control import (
    Cancelled,
    Gone,
    InvalidState,
    Rescheduled,
    Retried,
    cancel,
    reschedule,
    retry,
)
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.core.retention import Retention, has_left, leaves_at_ms
from tsumugi.jobs.core.states import TERMINAL, JobState

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView

DAY = 24 * HOUR
NOT_WAITING = [state for state in JobState if state is not JobState.SCHEDULED]


def finished(state: JobState, ago_ms: int = 0) -> JobView:
    return job("a", state=state, attempts=3, epoch=3, finished_ms=T0 - ago_ms)


class TestCancelling:
    def test_works_while_the_job_waits(self) -> None:
        assert cancel(job("a"), now_ms=T0) == Cancelled(id="a")

    def test_works_while_it_waits_for_its_next_attempt(self) -> None:
        assert cancel(job("a", attempts=1, epoch=1), now_ms=T0) == Cancelled(id="a")

    @pytest.mark.parametrize("state", NOT_WAITING)
    def test_is_refused_in_every_other_state(self, state: JobState) -> None:
        assert cancel(flying(state=state), now_ms=T0) == InvalidState(state)

    def test_of_a_job_not_kept_any_more_is_told_apart(self) -> None:
        assert cancel(None, now_ms=T0) == Gone()
        assert cancel(finished(JobState.COMPLETED, 6 * 60 * SECOND), now_ms=T0) == Gone()


class TestRetrying:
    @pytest.mark.parametrize("state", [JobState.FAILED, JobState.STALLED])
    def test_is_a_fresh_start(self, state: JobState) -> None:
        answer = retry(finished(state, 6 * DAY), now_ms=T0)
        assert answer == Retried(id="a", ready_ms=T0)
        assert (answer.attempts, answer.expires_ms, answer.to) == (0, None, JobState.SCHEDULED)

    @pytest.mark.parametrize("state", [JobState.FAILED, JobState.STALLED])
    def test_is_refused_as_gone_after_seven_days_swept_or_not(self, state: JobState) -> None:
        assert retry(finished(state, 7 * DAY - 1), now_ms=T0) == Retried(id="a", ready_ms=T0)
        assert retry(finished(state, 7 * DAY), now_ms=T0) == Gone()
        assert retry(None, now_ms=T0) == Gone()

    @pytest.mark.parametrize(
        "state", [s for s in JobState if s not in (JobState.FAILED, JobState.STALLED)]
    )
    def test_is_refused_in_every_other_state(self, state: JobState) -> None:
        assert retry(flying(state=state), now_ms=T0) == InvalidState(state)


class TestRescheduling:
    def test_to_another_time(self) -> None:
        assert reschedule(job("a", priority=2), now_ms=T0, run_at_ms=T0 + DAY) == Rescheduled(
            id="a", ready_ms=T0 + DAY, priority=2
        )
        assert reschedule(job("a"), now_ms=T0, delay_ms=5) == Rescheduled(
            id="a", ready_ms=T0 + 5, priority=0
        )

    def test_to_another_priority_keeps_its_age(self) -> None:
        assert reschedule(job("a", ready_ms=T0 - HOUR), now_ms=T0, priority=9) == Rescheduled(
            id="a", ready_ms=T0 - HOUR, priority=9
        )

    def test_into_the_past_is_now(self) -> None:
        answer = reschedule(job("a"), now_ms=T0, run_at_ms=0)
        assert answer == Rescheduled(id="a", ready_ms=T0, priority=0)

    @pytest.mark.parametrize("state", NOT_WAITING)
    def test_is_refused_once_it_does_not_wait(self, state: JobState) -> None:
        assert reschedule(flying(state=state), now_ms=T0, priority=1) == InvalidState(state)

    @pytest.mark.parametrize(
        "changes",
        [{}, {"delay_ms": 1, "run_at_ms": T0}, {"delay_ms": -1}, {"priority": 1.5}],
        ids=["nothing", "both times", "negative", "no whole number"],
    )
    def test_to_what_no_job_can_have_is_an_error(self, changes: dict[str, int]) -> None:
        with pytest.raises(OptionError):
            reschedule(job(), now_ms=T0, **changes)  # type: ignore[arg-type]

    def test_past_its_expiry_is_an_error(self) -> None:
        with pytest.raises(OptionError, match="could never run"):
            reschedule(job(expires_ms=T0 + HOUR), now_ms=T0, delay_ms=HOUR)


class TestRetention:
    @pytest.mark.parametrize(
        ("state", "kept_ms"),
        [
            (JobState.COMPLETED, 5 * 60 * SECOND),
            (JobState.CANCELLED, 5 * 60 * SECOND),
            (JobState.FAILED, 7 * DAY),
            (JobState.STALLED, 7 * DAY),
        ],
    )
    def test_done_jobs_leave_soon_and_failed_ones_late(self, state: JobState, kept_ms: int) -> None:
        assert leaves_at_ms(state, finished_ms=T0, retention=Retention()) == T0 + kept_ms

    @pytest.mark.parametrize("state", [s for s in JobState if s not in TERMINAL])
    def test_what_is_not_over_stays(self, state: JobState) -> None:
        assert leaves_at_ms(state, finished_ms=T0, retention=Retention()) is None
        assert not has_left(state, finished_ms=0, now_ms=T0, retention=Retention())

    def test_a_wrong_one_fails_where_it_is_written(self) -> None:
        with pytest.raises(ValueError, match="sweep_after_ms"):
            Retention(sweep_after_ms=-1)
