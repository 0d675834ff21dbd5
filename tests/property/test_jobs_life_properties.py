"""Jobs from enqueue to their end while consumers die, reports vanish and deliveries double."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings, strategies as st
from jobs_model import NOW, carried_out, job_lists, plan_of, policies
from tsumugi.jobs.core.backoff import FixedBackoff
from tsumugi.jobs.core.model import Dispatch, Fail, Guarantee, JobView, Policy, Reap, Stall
from tsumugi.jobs.core.reports import (
    Beat,
    Claimed,
    Complete,
    Outcome,
    PutBack,
    Stale,
    claim,
    hand_over_failed,
    heartbeat,
    report,
)
from tsumugi.jobs.core.states import IN_FLIGHT, TERMINAL, JobState, can_transition

if TYPE_CHECKING:
    from tsumugi.jobs.core.bucket import Bucket


class World:
    """A shard that carries out decisions, and the deliveries on their way."""

    def __init__(self, jobs: list[JobView], policy: Policy) -> None:
        self.jobs = {job.id: job for job in jobs}
        self.policy = policy
        self.now_ms = NOW
        self.bucket: Bucket | None = None
        self.deliveries: list[tuple[str, int]] = []
        self.performing: list[tuple[str, int]] = []
        #: Claimants that have no answer: what they asked for, and the name they asked under.
        self.asking: list[tuple[tuple[str, int], int]] = []
        #: Questions that travel still although their claimant waits for no answer any more.
        self.late: list[tuple[tuple[str, int], int]] = []
        #: By job, who was granted its claim last; a number names each delivery.
        self.claimants: dict[str, int] = {}
        self.named = 0
        self.performed: Counter[tuple[str, int]] = Counter()
        self.ended_known: set[tuple[str, int]] = set()

    def tick(self) -> int | None:
        jobs = list(self.jobs.values())
        plan = plan_of(jobs, self.policy, now_ms=self.now_ms, bucket=self.bucket)
        self.bucket = plan.bucket
        self.jobs = {job.id: job for job in carried_out(jobs, plan)}
        sent = [(d.id, d.epoch) for d in plan.decisions if isinstance(d, Dispatch)]
        self.deliveries += sent
        return plan.next_wake_ms

    def ask(self, delivery: tuple[str, int], claimant: int) -> bool:
        """Whether the claim is granted. The answer may not arrive."""
        job_id, epoch = delivery
        holds = self.claimants.get(job_id) == claimant
        answer = claim(self.jobs[job_id], epoch, holds=holds, now_ms=self.now_ms)
        self.apply(answer)
        if isinstance(answer, Claimed):
            self.claimants[job_id] = claimant
        return isinstance(answer, Claimed)

    def name(self) -> int:
        self.named += 1
        return self.named

    def begin(self, delivery: tuple[str, int], claimant: int | None = None) -> None:
        job_id = delivery[0]
        if self.jobs[job_id].guarantee is Guarantee.AT_MOST_ONCE:
            if not self.ask(delivery, self.name() if claimant is None else claimant):
                return
            earlier = {d for d in self.performed if d[0] == job_id}
            assert earlier <= self.ended_known, "it may be running still"
        self.performed[delivery] += 1
        self.performing.append(delivery)

    def end(self, delivery: tuple[str, int], outcome: Outcome) -> None:
        if outcome in (Outcome.SUCCEEDED, Outcome.FAILED):
            self.ended_known.add(delivery)
        job = self.jobs[delivery[0]]
        # "not-started" is a duplicate's word here: who performs has begun.
        holds = outcome is not Outcome.NOT_STARTED
        answer = report(
            job, delivery[1], outcome=outcome, holds=holds, now_ms=self.now_ms, chance=0.5
        )
        self.apply(answer)

    def apply(self, answer: object) -> None:
        match answer:
            case Claimed(id=job_id, report_due_ms=due):
                if self.jobs[job_id].state is not JobState.RUNNING:
                    self.move(job_id, JobState.RUNNING)
                self.jobs[job_id] = replace(self.jobs[job_id], report_due_ms=due)
            case Complete(id=job_id, attempts=attempts):
                self.move(job_id, JobState.COMPLETED, attempts=attempts)
            case Reap(id=job_id, attempts=attempts, ready_ms=ready_ms):
                self.move(job_id, JobState.SCHEDULED, attempts=attempts, ready_ms=ready_ms)
            case PutBack(id=job_id, attempts=attempts, ready_ms=ready_ms):
                assert (attempts, ready_ms) == (
                    self.jobs[job_id].attempts,
                    self.jobs[job_id].ready_ms,
                )
                self.move(job_id, JobState.SCHEDULED)
            case (Stall() | Fail()) as over:
                self.move(over.id, over.to, attempts=over.attempts)
            case Beat(id=job_id, starts=True, report_due_ms=due):
                self.move(job_id, JobState.RUNNING, report_due_ms=due, beat_ms=self.now_ms)
            case Beat(id=job_id, write=True, report_due_ms=due):
                self.jobs[job_id] = replace(self.jobs[job_id], report_due_ms=due)

    def move(self, job_id: str, to: JobState, **fields: int | None) -> None:
        assert can_transition(self.jobs[job_id].state, to)
        self.jobs[job_id] = replace(self.jobs[job_id], state=to, **fields)

    def step(self, action: str, pick: int) -> None:
        if action == "tick":
            self.tick()
        elif action == "wait":
            self.now_ms += pick
        elif action == "clock goes back":
            self.now_ms -= pick
        elif action in ("begin", "deliver twice", "vanish", "refuse", "lose the answer"):
            self.on_a_delivery(action, pick)
        elif action in ("ask again", "give up asking", "die asking"):
            self.on_a_claimant(action, pick)
        elif action == "a question comes late":
            if self.late:
                self.ask(*self.late[pick % len(self.late)])
        elif self.performing:
            self.on_a_performer(action, self.performing[pick % len(self.performing)])

    def on_a_delivery(self, action: str, pick: int) -> None:
        if not self.deliveries:
            return
        index = pick % len(self.deliveries)
        delivery = self.deliveries[index]
        if action != "deliver twice":
            del self.deliveries[index]
        if action == "refuse":
            self.apply(hand_over_failed(self.jobs[delivery[0]], delivery[1]))
        elif action == "lose the answer":
            if self.jobs[delivery[0]].guarantee is Guarantee.AT_MOST_ONCE:
                claimant = self.name()
                self.ask(delivery, claimant)
                self.asking.append((delivery, claimant))
        elif action != "vanish":
            self.begin(delivery)

    def on_a_claimant(self, action: str, pick: int) -> None:
        if not self.asking:
            return
        delivery, claimant = self.asking.pop(pick % len(self.asking))
        self.late.append((delivery, claimant))
        if action == "ask again":
            self.begin(delivery, claimant)
        elif action == "give up asking":
            self.apply(
                report(
                    self.jobs[delivery[0]],
                    delivery[1],
                    outcome=Outcome.NOT_STARTED,
                    holds=self.claimants.get(delivery[0]) == claimant,
                    now_ms=self.now_ms,
                    chance=0.5,
                )
            )

    def on_a_performer(self, action: str, delivery: tuple[str, int]) -> None:
        if action == "beat":
            job = self.jobs[delivery[0]]
            self.apply(heartbeat(job, delivery[1], progress=0.5, now_ms=self.now_ms))
            return
        if action != "die":
            self.end(delivery, Outcome(action))
        if action != "timed-out":  # what timed out goes on and may report once more
            self.performing.remove(delivery)

    def run_to_the_end(self) -> None:
        """A healthy consumer from here on; only time-outs are left to chase."""
        self.policy = replace(self.policy, paused=False)
        self.performing.clear()
        self.asking.clear()
        for _ in range(20 * len(self.jobs) + 20):
            wake_ms = self.tick()
            if not self.deliveries and wake_ms is None:
                return
            for delivery in self.deliveries:
                self.begin(delivery)
            for delivery in self.performing:
                self.end(delivery, Outcome.SUCCEEDED)
            self.deliveries.clear()
            self.performing.clear()
            self.now_ms = max(self.now_ms + 1, wake_ms or 0)
        raise AssertionError("it never came to rest")


CLAIMING = [
    *("tick", "begin", "deliver twice", "lose the answer", "a question comes late"),
    *("ask again", "give up asking", "die asking", "failed"),
]
ACTIONS = [
    *CLAIMING,
    *("wait", "clock goes back", "vanish", "refuse", "beat"),
    *("succeeded", "timed-out", "not-started", "impossible", "die"),
]
steps = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 200)), max_size=40)


def fresh(jobs: list[JobView]) -> list[JobView]:
    """New jobs, all of which are awaited: without a timeout a lost one is lost for good."""
    return [
        replace(
            job,
            state=JobState.SCHEDULED,
            attempts=0,
            epoch=0,
            report_due_ms=None,
            timeout_ms=job.timeout_ms or 50,
        )
        for job in jobs
    ]


@settings(max_examples=150, deadline=None)
@given(jobs=job_lists(max_size=6), policy=policies, steps=steps)
def test_every_job_ends_in_one_terminal_state_with_attempts_in_bounds(
    jobs: list[JobView], policy: Policy, steps: list[tuple[str, int]]
) -> None:
    world = World(fresh(jobs), policy)
    for action, pick in steps:
        epochs = {job.id: job.epoch for job in world.jobs.values()}
        over = {job.id: job for job in world.jobs.values() if job.state in TERMINAL}
        world.step(action, pick)
        assert all(world.jobs[job_id].epoch >= epoch for job_id, epoch in epochs.items())
        assert all(world.jobs[job_id] == job for job_id, job in over.items())
    world.run_to_the_end()
    for job in world.jobs.values():
        assert job.state in TERMINAL
        assert 0 <= job.attempts <= job.max_attempts
        assert job.epoch >= job.attempts, "an attempt was counted that was never dispatched"
    for (job_id, _), times in world.performed.items():
        if world.jobs[job_id].guarantee is Guarantee.AT_MOST_ONCE:
            assert times == 1, "two deliveries of one dispatch both ran"


@settings(max_examples=200, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(CLAIMING), st.integers(0, 5)), max_size=30))
def test_a_claim_is_for_one_delivery_however_often_it_is_asked_for(
    steps: list[tuple[str, int]],
) -> None:
    only = JobView(id="a", ready_ms=NOW, guarantee=Guarantee.AT_MOST_ONCE, max_attempts=99)
    world = World([replace(only, backoff=FixedBackoff(0, jitter=False))], Policy())
    world.tick()
    for action, pick in steps:
        world.step(action, pick)
    while world.asking:
        world.step("ask again", 0)
    while world.performing:
        world.step("succeeded", 0)
    world.run_to_the_end()
    assert max(world.performed.values(), default=0) <= 1
    nobody_died = "die asking" not in {action for action, _ in steps}
    assert world.jobs["a"].state is JobState.COMPLETED or not nobody_died


@given(jobs=job_lists(), now_ms=st.integers(NOW - 500, NOW + 500), outcome=st.sampled_from(Outcome))
def test_nothing_under_another_token_or_out_of_flight_changes_a_job(
    jobs: list[JobView], now_ms: int, outcome: Outcome
) -> None:
    for job in jobs:
        tokens = {job.epoch - 1, job.epoch + 1}
        if job.state not in IN_FLIGHT:
            tokens.add(job.epoch)
        for token in tokens:
            answers = (
                claim(job, token, now_ms=now_ms),
                heartbeat(job, token, progress=1, now_ms=now_ms),
                report(job, token, outcome=outcome, now_ms=now_ms, chance=0),
                hand_over_failed(job, token),
            )
            assert all(isinstance(answer, Stale) for answer in answers)


@settings(max_examples=30, deadline=None)
@given(jobs=job_lists(max_size=4), interval_ms=st.integers(1, 100), gap=st.integers(0, 8))
def test_aging_lets_a_job_wait_no_longer_than_its_priority_gap(
    jobs: list[JobView], interval_ms: int, gap: int
) -> None:
    # One slot, and at every tick a new job whose priority is higher by ``gap``.
    old = [replace(job, expires_ms=None, priority=0, ready_ms=NOW) for job in fresh(jobs)]
    policy = Policy(concurrency=1, aging_interval_ms=interval_ms)
    world = World([replace(job, timeout_ms=None) for job in old], policy)
    for round_number in range((gap + len(old) + 2) * (len(old) + 1)):
        urgent = JobView(id=f"u{round_number}", priority=gap, ready_ms=world.now_ms)
        world.jobs[urgent.id] = urgent
        world.tick()
        for delivery in world.deliveries:
            world.begin(delivery)
            world.end(delivery, Outcome.SUCCEEDED)
        world.deliveries.clear()
        world.now_ms += interval_ms
    assert all(world.jobs[job.id].state is JobState.COMPLETED for job in old)
