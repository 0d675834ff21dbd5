"""The rules of choosing what runs, each with the simple design that breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from job_builders import (
    HOUR,
    MINUTE,
    SECOND,
    T0,
    LongLines,
    expired,
    flying,
    job,
    once,
    plan,
    started,
)
from tsumugi.jobs.core.bucket import Bucket, Rate, full_bucket, refilled, taken
from tsumugi.jobs.core.handover import packed, travels_with_message
from tsumugi.jobs.core.memory import ListedInFlight
from tsumugi.jobs.core.model import Blocked, Dispatch, Guarantee, JobView, Plan, Policy
from tsumugi.jobs.core.ordering import order_key
from tsumugi.jobs.core.reports import (
    Complete,
    Outcome,
    PutBack,
    Stale,
    StaleBecause,
    claim,
    hand_over_failed,
    heartbeat,
    report,
)
from tsumugi.jobs.core.schedule import schedule
from tsumugi.jobs.core.states import JobState

MILLION = 1_000_000

type Chooser = Callable[[list[JobView], Policy], list[str]]


def ours(jobs: list[JobView], policy: Policy) -> list[str]:
    return started(plan(*jobs, policy=policy, now_ms=T0 + SECOND))


def sorted_in_a_window_of_200(jobs: list[JobView], policy: Policy) -> list[str]:
    oldest = sorted(jobs, key=lambda job: (job.ready_ms, job.id))[:200]
    return ours(oldest, policy)


def stopping_at_a_full_key(jobs: list[JobView], policy: Policy) -> list[str]:
    chosen: list[str] = []
    used: set[str | None] = set()
    for candidate in sorted(jobs, key=lambda j: order_key(j, now_ms=T0, aging_interval_ms=None)):
        if candidate.concurrency_key in used or len(chosen) == policy.concurrency:
            break
        used.add(candidate.concurrency_key)
        chosen.append(candidate.id)
    return chosen


def an_urgent_job_behind_many_is_first(choose: Chooser) -> None:
    waiting = [job() for _ in range(1_000)]
    urgent = job("urgent", priority=1, ready_ms=T0 + SECOND)
    assert choose([*waiting, urgent], Policy(concurrency=1)) == ["urgent"]


def a_long_line_of_one_key_holds_up_nobody(choose: Chooser) -> None:
    line = [job(concurrency_key="busy") for _ in range(1_000)]
    other = job("other", concurrency_key="other", ready_ms=T0 + SECOND)
    assert "other" in choose([*line, other], Policy())


class TestRule1ExactOrderAtAnyBacklog:
    def test_an_urgent_job_behind_many_is_first(self) -> None:
        an_urgent_job_behind_many_is_first(ours)

    def test_a_window_of_the_oldest_fails_that(self) -> None:
        with pytest.raises(AssertionError):
            an_urgent_job_behind_many_is_first(sorted_in_a_window_of_200)

    def test_it_is_first_among_a_million(self) -> None:
        source = LongLines({(0, None): MILLION, (7, None): 1})
        assert started(tick(source, Policy(concurrency=2), now_ms=T0 + MINUTE)) == [
            "7//000000000",
            "0//000000000",
        ]

    def test_a_job_that_waited_long_overtakes_a_more_urgent_one_exactly_when_due(self) -> None:
        old, urgent = job("old"), job("urgent", priority=2, ready_ms=T0 + 2 * MINUTE)
        policy = Policy(concurrency=1)
        before = plan(old, urgent, policy=policy, now_ms=T0 + 2 * MINUTE)
        assert started(before) == ["old"]  # equal effective priority: the older one
        later = replace(urgent, priority=3)
        assert started(plan(old, later, policy=policy, now_ms=T0 + 3 * MINUTE - 1)) == ["urgent"]

    def test_without_aging_priorities_are_strict(self) -> None:
        old, urgent = job("old"), job("urgent", priority=1, ready_ms=T0 + HOUR)
        policy = Policy(concurrency=1, aging_interval_ms=None)
        assert started(plan(old, urgent, policy=policy, now_ms=T0 + HOUR)) == ["urgent"]

    def test_equals_run_by_age_and_then_by_id(self) -> None:
        jobs = [job("c"), job("b"), job("a", ready_ms=T0 + 1)]
        assert started(plan(*jobs, now_ms=T0 + 1)) == ["b", "c", "a"]


class TestRule2AFullKeyBlocksNobodyElse:
    def test_a_long_line_of_one_key_holds_up_nobody(self) -> None:
        a_long_line_of_one_key_holds_up_nobody(ours)

    def test_stopping_at_a_full_key_fails_that(self) -> None:
        with pytest.raises(AssertionError):
            a_long_line_of_one_key_holds_up_nobody(stopping_at_a_full_key)

    def test_a_window_of_the_oldest_fails_that(self) -> None:
        with pytest.raises(AssertionError):
            a_long_line_of_one_key_holds_up_nobody(sorted_in_a_window_of_200)

    def test_behind_a_hundred_thousand_of_a_full_key_the_others_start_and_none_of_it_is_read(
        self,
    ) -> None:
        source = LongLines({(5, "busy"): 100_000, (0, "other"): 3, (0, None): 2})
        a_plan = tick(source, Policy(), flying("one", concurrency_key="busy"))
        assert started(a_plan) == ["0//000000000", "0/other/000000000", "0//000000001"]
        assert a_plan.blocked == Blocked(per_key=("busy",))
        assert source.handed_out <= 6

    def test_a_key_with_room_for_more_is_filled_in_order(self) -> None:
        line = [job(f"{n}", concurrency_key="k") for n in range(5)]
        assert started(plan(*line, policy=Policy(per_key_concurrency=3))) == ["0", "1", "2"]

    def test_jobs_without_a_key_are_exempt(self) -> None:
        assert len(started(plan(*(job() for _ in range(50))))) == 50

    def test_a_key_is_counted_over_all_priorities(self) -> None:
        jobs = [job("low", concurrency_key="k"), job("high", concurrency_key="k", priority=9)]
        assert started(plan(*jobs)) == ["high"]


class TestRule3ATickCostsWhatItMoves:
    @pytest.mark.parametrize("waiting", [1_000, MILLION])
    def test_the_same_is_read_of_a_thousand_and_of_a_million(self, waiting: int) -> None:
        source = LongLines({(0, None): waiting})
        a_plan = tick(source, Policy(concurrency=100), now_ms=T0 + waiting)
        assert len(started(a_plan)) == 100
        assert source.handed_out == 101  # and one more, to know that something is held back

    def test_a_full_shard_reads_only_whether_anything_waits(self) -> None:
        source = LongLines({(p, None): 10_000 for p in range(100)})
        a_plan = tick(source, Policy(concurrency=1), flying())
        assert a_plan.blocked == Blocked(capacity=True)
        assert source.handed_out == 1

    def test_of_a_thousand_full_keys_one_job_each_is_read(self) -> None:
        lines = {(0, f"k{n:04}"): 1_000 for n in range(1_000)}
        source = LongLines(lines)
        running = [flying(concurrency_key=f"k{n:04}") for n in range(1_000)]
        a_plan = tick(source, Policy(concurrency=5_000), *running)
        assert started(a_plan) == []
        assert (source.waiting(), source.handed_out) == (MILLION, 1_000)

    def test_of_a_key_that_a_tick_fills_no_further_job_is_read(self) -> None:
        source = LongLines({(0, f"k{n:04}"): 1_000 for n in range(1_000)})
        a_plan = tick(source, Policy(concurrency=5_000))
        assert (len(started(a_plan)), source.handed_out) == (1_000, 1_000)

    def test_priorities_that_cannot_win_are_not_opened(self) -> None:
        source = LongLines({(p, None): 1_000 for p in range(1_000)})
        a_plan = tick(source, Policy(concurrency=10), now_ms=T0 + 3 * MINUTE)
        assert len(started(a_plan)) == 10
        assert source.handed_out <= 10 + 5  # three minutes lift a job by three priorities


class TestRule4TheBucketIsDurable:
    RATE = Rate(tokens=10, per_ms=MINUTE)

    def test_what_is_stored_is_all_it_takes_to_go_on(self) -> None:
        policy = Policy(rate=self.RATE)
        jobs = [job() for _ in range(30)]
        first = plan(*jobs, policy=policy)
        assert len(started(first)) == 10
        stored = first.bucket
        assert isinstance(stored, Bucket)
        revived = Bucket(parts=stored.parts, per_ms=stored.per_ms, at_ms=stored.at_ms)
        rest = [job for job in jobs if job.id not in started(first)]
        assert started(plan(*rest, policy=policy, bucket=revived, now_ms=T0 + SECOND)) == []
        later = plan(*rest, policy=policy, bucket=revived, now_ms=T0 + 6 * SECOND)
        assert len(started(later)) == 1

    def test_a_bucket_that_is_forgotten_gives_a_free_burst(self) -> None:
        policy = Policy(rate=self.RATE)
        jobs = [job() for _ in range(30)]
        assert len(started(plan(*jobs, policy=policy, bucket=None))) == 10


class TestRule5AFailedHandOverCostsNothing:
    @pytest.mark.parametrize("guarantee", list(Guarantee))
    def test_the_job_is_back_in_its_place_with_no_attempt_counted(
        self, guarantee: Guarantee
    ) -> None:
        waiting = job("a", guarantee=guarantee, attempts=1, ready_ms=T0 - HOUR)
        (dispatch,) = plan(waiting).decisions
        assert isinstance(dispatch, Dispatch)
        sent = replace(waiting, state=JobState.QUEUED, epoch=dispatch.epoch)
        back = hand_over_failed(sent, dispatch.epoch)
        assert back == PutBack(id="a", epoch=1, attempts=1, ready_ms=T0 - HOUR)
        assert back.to is JobState.SCHEDULED

    def test_waiting_for_the_reaper_instead_costs_an_attempt_or_the_job(self) -> None:
        silent = T0 + MINUTE + 30 * SECOND
        least, most = plan(flying("a"), once("b"), now_ms=silent).decisions
        assert (least.to, most.to) == (JobState.SCHEDULED, JobState.STALLED)

    def test_if_it_was_delivered_all_the_same_its_claim_is_refused(self) -> None:
        back = once(state=JobState.SCHEDULED, report_due_ms=None)
        again = once(epoch=2)
        assert claim(back, 1, now_ms=T0) == Stale(StaleBecause.SETTLED)
        assert claim(again, 1, now_ms=T0) == Stale(StaleBecause.SUPERSEDED)

    def test_it_undoes_nothing_once_the_job_is_known_to_run(self) -> None:
        running = flying(state=JobState.RUNNING)
        assert hand_over_failed(running, 1) == Stale(StaleBecause.SETTLED)


class TestRule6HandOverRespectsBytes:
    def test_a_batch_ends_at_a_hundred_messages(self) -> None:
        assert [len(batch) for batch in packed((n, 10) for n in range(250))] == [100, 100, 50]

    def test_a_batch_ends_at_its_bytes_before_that(self) -> None:
        batches = packed((n, 100_000) for n in range(5))
        assert batches == [[0, 1], [2, 3], [4]]

    def test_a_batch_may_be_filled_to_the_last_byte(self) -> None:
        assert packed([("a", 128_000), ("b", 128_000), ("c", 1)]) == [["a", "b"], ["c"]]

    def test_a_payload_too_large_for_a_message_stays_behind(self) -> None:
        assert travels_with_message(128_000)
        assert not travels_with_message(128_001)
        with pytest.raises(ValueError, match="128001 bytes"):
            packed([("a", 128_001)])


class TestRule7EveryDispatchCarriesAToken:
    def test_each_dispatch_has_the_next_number(self) -> None:
        (dispatch,) = plan(job(epoch=4, attempts=1)).decisions
        assert isinstance(dispatch, Dispatch)
        assert (dispatch.epoch, dispatch.attempt) == (5, 2)

    def test_a_late_first_attempt_cannot_complete_the_second(self) -> None:
        second = flying(epoch=2, attempts=1)
        late = report(second, 1, outcome=Outcome.SUCCEEDED, now_ms=T0, chance=0)
        assert late == Stale(StaleBecause.SUPERSEDED)

    def test_the_current_attempt_can(self) -> None:
        second = flying("a", epoch=2, attempts=1)
        answer = report(second, 2, outcome=Outcome.SUCCEEDED, now_ms=T0, chance=0)
        assert answer == Complete(id="a", epoch=2, attempts=2)

    def test_a_second_report_of_the_same_attempt_is_stale(self) -> None:
        over = flying(state=JobState.COMPLETED, report_due_ms=None)
        assert report(over, 1, outcome=Outcome.FAILED, now_ms=T0, chance=0) == Stale(
            StaleBecause.SETTLED
        )

    def test_a_job_that_is_not_kept_any_more_makes_everything_stale(self) -> None:
        gone = Stale(StaleBecause.GONE)
        assert claim(None, 1, now_ms=T0) == gone
        assert heartbeat(None, 1, progress=None, now_ms=T0) == gone
        assert report(None, 1, outcome=Outcome.SUCCEEDED, now_ms=T0, chance=0) == gone
        assert hand_over_failed(None, 1) == gone


class TestRule8WaitingIsNoAttempt:
    @pytest.mark.parametrize(
        ("policy", "others"),
        [
            (Policy(paused=True), []),
            (Policy(concurrency=1), [flying("f", report_due_ms=None)]),
            (Policy(), [flying("f", concurrency_key="k", report_due_ms=None)]),
        ],
        ids=["paused", "full", "full key"],
    )
    def test_a_job_held_back_for_a_year_is_left_as_it_is(
        self, policy: Policy, others: list[JobView]
    ) -> None:
        waiting = job(concurrency_key="k")
        assert plan(waiting, *others, policy=policy, now_ms=T0 + 365 * 24 * HOUR).decisions == ()

    def test_nor_is_being_throttled(self) -> None:
        rate = Rate(1, HOUR)
        empty = taken(full_bucket(rate, now_ms=T0), 1)
        assert plan(job(), policy=Policy(rate=rate), bucket=empty).decisions == ()


class TestRule9TheAnswerSaysWhyNothingMoved:
    def test_no_room(self) -> None:
        full = plan(job(), flying(), policy=Policy(concurrency=1))
        assert full.blocked == Blocked(capacity=True)

    def test_no_tokens(self) -> None:
        rate = Rate(1, HOUR)
        throttled = plan(job(), job(), policy=Policy(rate=rate))
        assert throttled.blocked == Blocked(tokens=True)

    def test_a_full_key(self) -> None:
        held = plan(job(concurrency_key="a"), flying(concurrency_key="a"))
        assert held.blocked == Blocked(per_key=("a",))

    def test_a_pause(self) -> None:
        assert plan(job(), policy=Policy(paused=True)).blocked == Blocked(paused=True)

    def test_all_at_once(self) -> None:
        rate = Rate(1, HOUR)
        held = plan(
            job(priority=1, concurrency_key="a"),
            job(),
            flying(concurrency_key="a"),
            policy=Policy(concurrency=1, rate=rate, paused=True),
            bucket=taken(full_bucket(rate, now_ms=T0), 1),
        )
        assert held.blocked == Blocked(capacity=True, tokens=True, paused=True, per_key=("a",))

    def test_nothing_when_nothing_waits(self) -> None:
        idle = plan(flying(), job(ready_ms=T0 + 1), policy=Policy(concurrency=1, paused=True))
        assert not idle.blocked

    def test_at_most_twenty_keys_are_named(self) -> None:
        names = [f"k{n:02}" for n in range(30)]
        waiting = [job(concurrency_key=name) for name in names]
        running = [flying(concurrency_key=name) for name in names]
        assert plan(*waiting, *running).blocked.per_key == tuple(names[:20])


def tick(
    source: LongLines, policy: Policy, *in_flight: JobView, now_ms: int = T0 + MINUTE - 1
) -> Plan:
    source.in_flight = Counter(job.concurrency_key for job in in_flight)
    return schedule(
        source,
        ListedInFlight(in_flight),
        now_ms=now_ms,
        policy=policy,
        bucket=None,
        chance=0.0,
    )


def test_a_tick_over_a_million_jobs_with_all_axes_on_moves_what_fits() -> None:
    lines: dict[tuple[int, str | None], int] = {(p, None): 300_000 for p in range(3)}
    lines |= {(0, f"k{n}"): 1_000 for n in range(100)}
    source = LongLines(lines)
    rate = Rate(tokens=500, per_ms=SECOND)
    policy = Policy(concurrency=1_000, rate=rate)
    a_plan = schedule(
        source, ListedInFlight([]), now_ms=T0 + HOUR, policy=policy, bucket=None, chance=0.0
    )
    assert source.waiting() == MILLION
    assert len(started(a_plan)) == 500
    assert expired(a_plan) == []
    assert a_plan.blocked == Blocked(tokens=True)
    assert source.handed_out <= 2 * 500 + 3 * 100 + 10
    assert a_plan.bucket is not None
    assert refilled(a_plan.bucket, rate, now_ms=T0 + HOUR).tokens == 0
