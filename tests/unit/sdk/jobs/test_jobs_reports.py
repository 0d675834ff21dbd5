"""Claims, heartbeats, reports and silence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from job_builders import MINUTE, SECOND, T0, flying, job, once, plan
from tsumugi.jobs.core.backoff import FixedBackoff
from tsumugi.jobs.core.model import Fail, Guarantee, JobView, Reap, Stall
from tsumugi.jobs.core.reaper import is_silent
from tsumugi.jobs.core.reports import (
    Beat,
    Claimed,
    Outcome,
    PutBack,
    Stale,
    StaleBecause,
    Taken,
    claim,
    heartbeat,
    is_beat_due,
    may_start,
    report,
)
from tsumugi.jobs.core.states import JobState

GRACE = 30 * SECOND
STEADY = FixedBackoff(10 * SECOND, jitter=False)


def said(of: JobView, outcome: Outcome) -> object:
    return report(of, of.epoch, outcome=outcome, now_ms=T0, chance=0)


class TestAClaim:
    def test_is_won_once(self) -> None:
        waiting = once("a")
        won = claim(waiting, 1, now_ms=T0 + SECOND)
        assert won == Claimed(id="a", epoch=1, report_due_ms=T0 + SECOND + MINUTE)
        assert claim(replace(waiting, state=won.to), 1, now_ms=T0 + SECOND) == Taken()

    def test_is_granted_again_to_the_one_that_holds_it_whatever_the_time_is_by_then(self) -> None:
        claimed = once("a", state=JobState.RUNNING, expires_ms=T0)
        again = claim(claimed, 1, holds=True, now_ms=T0 + SECOND)
        assert again == Claimed(id="a", epoch=1, report_due_ms=T0 + SECOND + MINUTE)

    def test_that_is_held_is_stale_once_its_job_is_out_of_flight(self) -> None:
        stalled = once("a", state=JobState.STALLED)
        assert claim(stalled, 1, holds=True, now_ms=T0) == Stale(StaleBecause.SETTLED)
        retried = once("a", state=JobState.RUNNING, epoch=2)
        assert claim(retried, 1, holds=True, now_ms=T0) == Stale(StaleBecause.SUPERSEDED)

    def test_after_the_time_to_start_puts_the_job_back_to_be_cancelled(self) -> None:
        late = once("a", expires_ms=T0)
        back = claim(late, 1, now_ms=T0)
        assert isinstance(back, PutBack)
        assert plan(replace(late, state=back.to)).decisions[0].to is JobState.CANCELLED

    def test_of_a_later_attempt_does_not_expire(self) -> None:
        assert isinstance(claim(once(expires_ms=T0, attempts=1), 1, now_ms=T0), Claimed)


class TestAHeartbeat:
    def test_moves_the_deadline(self) -> None:
        beat = heartbeat(flying("a"), 1, progress=0.5, now_ms=T0 + 50 * SECOND)
        assert beat == Beat(
            id="a",
            epoch=1,
            starts=True,
            progress=0.5,
            report_due_ms=T0 + 110 * SECOND,
            write=True,
        )

    def test_is_written_at_most_every_five_seconds(self) -> None:
        beating = flying(state=JobState.RUNNING, beat_ms=T0)
        written = [
            beat.write
            for passed in (1, 4_999, 5_000)
            if isinstance(beat := heartbeat(beating, 1, progress=None, now_ms=T0 + passed), Beat)
        ]
        assert written == [False, False, True]

    def test_keeps_a_job_alive_even_if_its_timeout_is_shorter_than_that(self) -> None:
        hasty = flying(state=JobState.RUNNING, timeout_ms=100, report_due_ms=T0 + 100)
        beat = heartbeat(hasty, 1, progress=None, now_ms=T0)
        assert isinstance(beat, Beat)
        beating = replace(hasty, report_due_ms=beat.report_due_ms)
        assert not is_silent(beating, now_ms=T0 + 4_999, grace_ms=0)

    def test_has_a_progress_from_0_to_1(self) -> None:
        low, high = (heartbeat(flying(), 1, progress=p, now_ms=T0) for p in (-3, 7))
        assert isinstance(low, Beat)
        assert isinstance(high, Beat)
        assert (low.progress, high.progress) == (0, 1)

    def test_without_a_claim_is_stale_where_one_is_needed(self) -> None:
        assert heartbeat(once(), 1, progress=None, now_ms=T0) == Stale(StaleBecause.UNCLAIMED)

    def test_of_a_job_that_is_never_reaped_sets_no_deadline(self) -> None:
        patient = flying(timeout_ms=None, report_due_ms=None)
        beat = heartbeat(patient, 1, progress=None, now_ms=T0)
        assert isinstance(beat, Beat)
        assert beat.report_due_ms is None

    def test_is_due_again_after_a_clock_went_back(self) -> None:
        assert is_beat_due(T0, now_ms=T0 - 1)


class TestAReport:
    def test_of_a_failure_waits_for_the_next_attempt(self) -> None:
        assert said(flying("a", backoff=STEADY), Outcome.FAILED) == Reap(
            id="a", epoch=1, attempts=1, ready_ms=T0 + 10 * SECOND
        )

    def test_of_the_last_failure_fails_the_job(self) -> None:
        assert said(flying("a", attempts=2), Outcome.FAILED) == Fail(id="a", epoch=1, attempts=3)

    def test_of_a_failure_retries_at_most_once_jobs_too_for_that_attempt_is_known_to_be_over(
        self,
    ) -> None:
        claimed = once(state=JobState.RUNNING)
        assert isinstance(said(claimed, Outcome.FAILED), Reap)

    def test_of_a_time_out_stalls_an_at_most_once_job_which_may_be_running_still(self) -> None:
        claimed = once("a", state=JobState.RUNNING)
        assert said(claimed, Outcome.TIMED_OUT) == Stall(id="a", epoch=1, attempts=1)

    def test_of_a_missing_performer_fails_at_once(self) -> None:
        assert said(flying("a"), Outcome.IMPOSSIBLE) == Fail(id="a", epoch=1, attempts=1)

    def test_of_a_missing_performer_is_no_news_of_a_job_that_another_consumer_has_claimed(
        self,
    ) -> None:
        claimed = once("a", state=JobState.RUNNING)
        assert said(claimed, Outcome.IMPOSSIBLE) == Stale(StaleBecause.SETTLED)
        of_the_claimant = report(
            claimed, 1, outcome=Outcome.IMPOSSIBLE, holds=True, now_ms=T0, chance=0
        )
        assert of_the_claimant == Fail(id="a", epoch=1, attempts=1)

    def test_of_a_job_not_started_counts_nothing(self) -> None:
        assert said(flying("a", attempts=1), Outcome.NOT_STARTED) == PutBack(
            id="a", epoch=1, attempts=1, ready_ms=T0
        )

    def test_of_a_job_not_started_cannot_undo_a_claim(self) -> None:
        claimed = once(state=JobState.RUNNING)
        assert said(claimed, Outcome.NOT_STARTED) == Stale(StaleBecause.SETTLED)

    def test_of_a_claim_that_was_not_begun_puts_the_job_back(self) -> None:
        claimed = once("a", state=JobState.RUNNING)
        back = report(claimed, 1, outcome=Outcome.NOT_STARTED, holds=True, now_ms=T0, chance=0)
        assert back == PutBack(id="a", epoch=1, attempts=0, ready_ms=T0)


class TestSilence:
    @pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING])
    def test_begins_when_the_grace_is_over(self, state: JobState) -> None:
        silent = flying("a", state=state)
        assert plan(silent, now_ms=T0 + MINUTE + GRACE - 1).decisions == ()
        assert not is_silent(silent, now_ms=T0 + MINUTE + GRACE - 1, grace_ms=GRACE)
        assert len(plan(silent, now_ms=T0 + MINUTE + GRACE).decisions) == 1
        assert is_silent(silent, now_ms=T0 + MINUTE + GRACE, grace_ms=GRACE)

    @pytest.mark.parametrize(
        ("guarantee", "attempts", "becomes"),
        [
            (Guarantee.AT_LEAST_ONCE, 0, JobState.SCHEDULED),
            (Guarantee.AT_LEAST_ONCE, 2, JobState.FAILED),
            (Guarantee.AT_MOST_ONCE, 0, JobState.STALLED),
            (Guarantee.AT_MOST_ONCE, 2, JobState.FAILED),
        ],
    )
    def test_ends_as_the_guarantee_says_while_attempts_are_left(
        self, guarantee: Guarantee, attempts: int, becomes: JobState
    ) -> None:
        silent = flying(guarantee=guarantee, attempts=attempts)
        (decision,) = plan(silent, now_ms=T0 + MINUTE + GRACE).decisions
        assert decision.to is becomes
        assert getattr(decision, "attempts", None) == attempts + 1

    def test_never_begins_without_a_timeout(self) -> None:
        assert plan(flying(report_due_ms=None), now_ms=T0 * 2).decisions == ()

    def test_frees_a_slot_and_a_key_in_the_same_tick(self) -> None:
        silent = flying("a", concurrency_key="k")
        decisions = plan(
            silent, job("b", concurrency_key="k"), now_ms=T0 + MINUTE + GRACE
        ).decisions
        assert [decision.id for decision in decisions] == ["a", "b"]


def test_only_a_first_attempt_can_be_too_late() -> None:
    assert may_start(attempt=1, expires_ms=T0 + 1, now_ms=T0)
    assert not may_start(attempt=1, expires_ms=T0, now_ms=T0)
    assert may_start(attempt=2, expires_ms=T0, now_ms=T0)
    assert may_start(attempt=1, expires_ms=None, now_ms=T0)
