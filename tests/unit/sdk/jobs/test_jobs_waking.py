"""When a shard wakes, and that it does not wake for nothing."""

from __future__ import annotations

import pytest
from job_builders import HOUR, MINUTE, SECOND, T0, expired, flying, job, plan, started
from tsumugi.jobs.core.backoff import FixedBackoff
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import JobView, Policy

GRACE = 30 * SECOND


def test_an_empty_shard_sleeps() -> None:
    assert plan().next_wake_ms is None


def test_it_wakes_for_the_next_job_that_becomes_ready() -> None:
    assert plan(job(ready_ms=T0 + HOUR), job(ready_ms=T0 + 9)).next_wake_ms == T0 + 9


def test_it_wakes_for_the_silence_of_what_it_has_just_started() -> None:
    assert plan(job(timeout_ms=SECOND)).next_wake_ms == T0 + SECOND + GRACE


def test_it_wakes_for_the_retry_of_what_it_has_just_reaped() -> None:
    silent = flying(report_due_ms=T0 - GRACE, backoff=FixedBackoff(SECOND, jitter=False))
    assert plan(silent).next_wake_ms == T0 + SECOND


def test_it_wakes_at_once_when_a_tick_was_cut_short() -> None:
    cut = plan(job(), job(), job(), limit=2)
    assert (len(started(cut)), cut.next_wake_ms) == (2, T0)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_tick_that_was_not_cut_short_does_not(limit: int) -> None:
    assert plan(*(job(timeout_ms=None) for _ in range(limit)), limit=limit).next_wake_ms is None


@pytest.mark.parametrize(
    ("policy", "others"),
    [
        (Policy(paused=True), []),
        (Policy(concurrency=1), [flying(report_due_ms=None)]),
        (Policy(), [flying(concurrency_key="k", report_due_ms=None)]),
    ],
    ids=["paused", "full", "full key"],
)
def test_a_shard_that_is_held_back_waits_to_be_told(policy: Policy, others: list[JobView]) -> None:
    waiting = [job(concurrency_key="k") for _ in range(50)]
    assert plan(*waiting, *others, policy=policy).next_wake_ms is None


@pytest.mark.parametrize("policy", [Policy(paused=True), Policy(concurrency=1)])
def test_nor_does_it_wake_for_what_becomes_ready_meanwhile(policy: Policy) -> None:
    later = [job(ready_ms=T0 + passed) for passed in range(1, 50)]
    assert plan(flying(report_due_ms=None), *later, policy=policy).next_wake_ms is None


def test_a_throttled_shard_wakes_for_its_next_token() -> None:
    throttled = plan(job(timeout_ms=None), job(), policy=Policy(rate=Rate(1, MINUTE)))
    assert throttled.next_wake_ms == T0 + MINUTE


def test_without_a_token_it_does_not_wake_for_a_job_that_could_not_start() -> None:
    policy = Policy(rate=Rate(1, MINUTE))
    used_up = plan(job(timeout_ms=None), job(ready_ms=T0 + SECOND), policy=policy)
    assert used_up.next_wake_ms == T0 + MINUTE


class TestExpiry:
    def test_a_job_that_did_not_start_in_time_is_cancelled_not_run(self) -> None:
        late = plan(job("a", expires_ms=T0))
        assert (started(late), expired(late)) == ([], ["a"])

    def test_one_millisecond_before_it_runs(self) -> None:
        assert started(plan(job("a", expires_ms=T0 + 1))) == ["a"]

    def test_a_job_that_ran_before_does_not_expire(self) -> None:
        assert started(plan(job("a", expires_ms=T0, attempts=1))) == ["a"]

    def test_it_happens_even_while_paused_full_or_behind_a_full_key(self) -> None:
        policy = Policy(paused=True, concurrency=1)
        held = job("a", expires_ms=T0, concurrency_key="k")
        assert expired(plan(held, flying(concurrency_key="k"), policy=policy)) == ["a"]

    def test_a_paused_shard_wakes_for_it(self) -> None:
        waiting = plan(job(expires_ms=T0 + SECOND), policy=Policy(paused=True))
        assert waiting.next_wake_ms == T0 + SECOND

    def test_many_at_once_are_cancelled_over_several_ticks(self) -> None:
        late = plan(*(job(expires_ms=T0) for _ in range(10)), limit=4)
        assert (len(expired(late)), late.next_wake_ms) == (4, T0)

    def test_so_are_those_that_were_not_ready_yet(self) -> None:
        waiting = [job(ready_ms=T0 + HOUR, expires_ms=T0) for _ in range(5)]
        cut, whole = plan(*waiting, limit=4), plan(*waiting, limit=5)
        assert (len(expired(cut)), cut.next_wake_ms) == (4, T0)
        assert len(expired(whole)) == 5
        assert whole.next_wake_ms != T0

    def test_an_expired_job_takes_no_slot_and_no_token(self) -> None:
        policy = Policy(concurrency=1, rate=Rate(1, MINUTE))
        moved = plan(job("late", expires_ms=T0, priority=1), job("next"), policy=policy)
        assert (started(moved), expired(moved)) == (["next"], ["late"])


@pytest.mark.parametrize(
    "fields",
    [
        {"concurrency": 0},
        {"per_key_concurrency": 0},
        {"aging_interval_ms": 0},
        {"reaper_grace_ms": -1},
    ],
)
def test_a_wrong_policy_fails_where_it_is_written(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(fields))):
        Policy(**fields)


def test_the_defaults_are_the_specified_ones() -> None:
    assert Policy() == Policy(
        concurrency=100,
        per_key_concurrency=1,
        rate=None,
        aging_interval_ms=60_000,
        reaper_grace_ms=30_000,
        paused=False,
    )
