"""What holds for every tick, whatever waits and whatever the policy."""

from __future__ import annotations

from collections import Counter, defaultdict
from copy import deepcopy
from itertools import pairwise

from hypothesis import example, given, strategies as st
from jobs_model import NOW, carried_out, expected_plan, job_lists, plan_of, policies
from tsumugi.jobs.core.bucket import GATHER_MS, Bucket, Rate, refilled
from tsumugi.jobs.core.memory import ListedReady
from tsumugi.jobs.core.model import Dispatch, Expire, JobView, Policy
from tsumugi.jobs.core.ordering import in_order, order_key
from tsumugi.jobs.core.reaper import nth_chance
from tsumugi.jobs.core.states import IN_FLIGHT, TRANSITIONS, JobState

levels = st.none() | st.floats(0, 1)
chances = st.floats(0, 1, exclude_max=True)


def bucket_at(level: float | None, rate: Rate | None) -> Bucket | None:
    if level is None or rate is None:
        return None
    return Bucket(parts=int(level * rate.capacity), per_ms=rate.per_ms, at_ms=NOW)


@given(jobs=job_lists(), policy=policies, level=levels, chance=chances)
def test_a_plan_is_what_sorting_everything_gives(
    jobs: list[JobView], policy: Policy, level: float | None, chance: float
) -> None:
    bucket = bucket_at(level, policy.rate)
    tokens = 10**9 if policy.rate is None else refilled(bucket, policy.rate, now_ms=NOW).tokens
    plan = plan_of(jobs, policy, bucket=bucket, chance=chance)
    expected = expected_plan(jobs, policy, now_ms=NOW, tokens=tokens)
    dispatched = [d.id for d in plan.decisions if isinstance(d, Dispatch)]
    assert dispatched == expected.dispatched
    assert {d.id for d in plan.decisions if isinstance(d, Expire)} == expected.expired
    silenced = {d.id: d.to for d in plan.decisions if not isinstance(d, Dispatch | Expire)}
    assert silenced == expected.silenced
    assert (plan.blocked.capacity, plan.blocked.tokens, plan.blocked.paused) == (
        expected.capacity,
        expected.tokens,
        expected.paused,
    )
    assert list(plan.blocked.per_key) == expected.per_key


@given(jobs=job_lists(), policy=policies, level=levels, limit=st.integers(1, 5))
def test_no_limit_is_exceeded_and_every_transition_is_legal(
    jobs: list[JobView], policy: Policy, level: float | None, limit: int
) -> None:
    bucket = bucket_at(level, policy.rate)
    plan = plan_of(jobs, policy, bucket=bucket, limit=limit)
    after = carried_out(jobs, plan)
    started = Counter(type(decision) for decision in plan.decisions)
    assert max(started.values(), default=0) <= limit
    before_in_flight = [job for job in jobs if job.state in IN_FLIGHT]
    in_flight = [job for job in after if job.state in IN_FLIGHT]
    assert len(in_flight) <= max(policy.concurrency, len(before_in_flight))
    before_keys = Counter(job.concurrency_key for job in before_in_flight)
    for key, count in Counter(job.concurrency_key for job in in_flight).items():
        assert key is None or count <= max(policy.per_key_concurrency, before_keys[key])
    if policy.paused:
        assert not started[Dispatch]


@given(jobs=job_lists(), policy=policies, level=levels)
def test_tokens_are_conserved(jobs: list[JobView], policy: Policy, level: float | None) -> None:
    bucket = bucket_at(level, policy.rate)
    plan = plan_of(jobs, policy, bucket=bucket)
    if policy.rate is None:
        assert plan.bucket is bucket
        return
    assert plan.bucket is not None
    dispatched = sum(isinstance(decision, Dispatch) for decision in plan.decisions)
    whole = refilled(bucket, policy.rate, now_ms=NOW)
    assert whole.parts - plan.bucket.parts == dispatched * policy.rate.per_ms
    assert plan.bucket.parts >= 0


@given(jobs=job_lists(), policy=policies, level=levels, chance=chances, seed=st.randoms())
def test_a_plan_depends_on_its_input_alone_not_on_its_order_and_leaves_it_untouched(
    jobs: list[JobView], policy: Policy, level: float | None, chance: float, seed
) -> None:
    bucket = bucket_at(level, policy.rate)
    kept = deepcopy(jobs)
    plan = plan_of(jobs, policy, bucket=bucket, chance=chance)
    assert jobs == kept
    shuffled = list(jobs)
    seed.shuffle(shuffled)
    assert plan_of(shuffled, policy, bucket=bucket, chance=chance) == plan


@example(  # the last token is taken, and a job becomes ready while others are gathered
    jobs=[JobView(id="a", ready_ms=NOW), JobView(id="b", ready_ms=NOW + 1)],
    policy=Policy(concurrency=2, rate=Rate(2, 2)),
    level=0.5,
    limit=1_000,
)
@given(jobs=job_lists(), policy=policies, level=levels, limit=st.integers(1, 5) | st.just(1_000))
def test_nothing_can_be_decided_before_the_next_wake_up(
    jobs: list[JobView], policy: Policy, level: float | None, limit: int
) -> None:
    plan = plan_of(jobs, policy, bucket=bucket_at(level, policy.rate), limit=limit)
    after = carried_out(jobs, plan)
    wake_ms = plan.next_wake_ms
    assert wake_ms is None or wake_ms >= NOW
    # What a shard waits for more tokens when it has none.
    gathering = 0 if policy.rate is None or plan.bucket is None or plan.bucket.tokens else GATHER_MS
    last_ms = NOW + 100_000 if wake_ms is None else wake_ms - 1
    for now_ms in {NOW, (NOW + last_ms) // 2, last_ms - gathering}:
        if NOW <= now_ms <= last_ms - gathering:
            assert plan_of(after, policy, now_ms=now_ms, bucket=plan.bucket).decisions == ()


@given(jobs=job_lists(), policy=policies, level=levels, limit=st.integers(1, 5))
def test_a_wake_up_at_once_always_has_something_to_decide(
    jobs: list[JobView], policy: Policy, level: float | None, limit: int
) -> None:
    plan = plan_of(jobs, policy, bucket=bucket_at(level, policy.rate), limit=limit)
    if plan.next_wake_ms == NOW:
        after = carried_out(jobs, plan)
        again = plan_of(after, policy, bucket=plan.bucket, limit=limit)
        assert again.decisions != ()


@given(
    jobs=job_lists(max_size=40),
    aging_interval_ms=st.none() | st.sampled_from([1, 7, 100]),
    full=st.sets(st.sampled_from("abc")),
)
def test_the_merge_yields_every_ready_job_of_no_full_key_in_exact_order(
    jobs: list[JobView], aging_interval_ms: int | None, full: set[str]
) -> None:
    merged = in_order(
        ListedReady(jobs, now_ms=NOW),
        now_ms=NOW,
        aging_interval_ms=aging_interval_ms,
        room=defaultdict(lambda: 1, dict.fromkeys(full, 0)),
    )
    ready = [
        job
        for job in jobs
        if job.state is JobState.SCHEDULED
        and job.ready_ms <= NOW
        and job.concurrency_key not in full
    ]
    ready.sort(key=lambda job: order_key(job, now_ms=NOW, aging_interval_ms=aging_interval_ms))
    assert list(merged) == ready


class CountingReady(ListedReady):
    """Counts the jobs it hands out and the priorities it is asked to open."""

    handed_out = 0
    opened = 0

    def front(self, priority):
        self.opened += 1
        return self._counted(super().front(priority))

    def next_in_line(self, job):
        after = super().next_in_line(job)
        self.handed_out += after is not None
        return after

    def _counted(self, jobs):
        for job in jobs:
            self.handed_out += 1
            yield job


@given(
    jobs=job_lists(max_size=60),
    aging_interval_ms=st.none() | st.sampled_from([7, 100, 1_000]),
    full=st.sets(st.sampled_from("abc")),
    wanted=st.integers(0, 10),
)
def test_the_merge_reads_no_more_than_it_yields_and_one_job_per_full_key(
    jobs: list[JobView], aging_interval_ms: int | None, full: set[str], wanted: int
) -> None:
    source = CountingReady(jobs, now_ms=NOW)
    room = defaultdict(lambda: 1, dict.fromkeys(full, 0))
    merged = in_order(source, now_ms=NOW, aging_interval_ms=aging_interval_ms, room=room)
    yielded = sum(1 for _ in zip(range(wanted), merged, strict=False))
    assert source.handed_out <= 2 * (yielded + 1) + (1 + len(full)) * source.opened


@given(chance=chances, count=st.integers(2, 300))
def test_one_drawn_number_spreads_a_whole_tick_evenly(chance: float, count: int) -> None:
    spread = sorted(nth_chance(chance, index) for index in range(count))
    assert all(0 <= value < 1 for value in spread)
    gaps = [after - before for before, after in pairwise(spread)]
    assert max(gaps) <= 3 / count


@given(jobs=job_lists(), policy=policies)
def test_every_decision_leads_where_the_table_allows(jobs: list[JobView], policy: Policy) -> None:
    by_id = {job.id: job for job in jobs}
    for decision in plan_of(jobs, policy).decisions:
        assert decision.to in TRANSITIONS[by_id[decision.id].state]
