"""A shard against the same decisions carried out on a dictionary, through whole lives of jobs.

What decides is the same; what reads, writes, orders and times is not: tables and alarms here, a
list and a loop there. After each step both hold the same jobs and have handed over the same.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings, strategies as st
from jobs_model import backoffs, policies
from shard_harness import World, local
from tsumugi.jobs.core.control import Cancelled, Rescheduled, Retried, cancel, reschedule, retry
from tsumugi.jobs.core.memory import ListedInFlight, ListedReady
from tsumugi.jobs.core.model import Dispatch, Guarantee, JobView, Policy
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.core.reports import Beat, Claimed, Outcome, Stale, claim, heartbeat, report
from tsumugi.jobs.core.schedule import schedule
from tsumugi.jobs.shard.moves import Change, after
from tsumugi.jobs.shard.rows import backoff_fields, view

if TYPE_CHECKING:
    from tsumugi.jobs.core.bucket import Bucket

CHANCE = 0.5
COLUMNS = (
    "id, state, priority, ready_ms, attempts, max_attempts, epoch, guarantee, backoff, timeout_ms,"
    " concurrency_key, expires_ms, report_due_ms, beat_ms, finished_ms"
)


class Model:
    """The jobs in a dictionary; every decision is applied by ``moves.after`` alone."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.jobs: dict[str, JobView] = {}
        self.bucket: Bucket | None = None
        self.sent: list[tuple[str, int]] = []

    def apply(self, local_id: str, decided: Any, now_ms: int) -> None:
        if getattr(decided, "write", True):
            change = Change(self.jobs[local_id], decided)
            self.jobs[local_id] = after(change, now_ms=now_ms)

    def tick(self, now_ms: int) -> None:
        while True:
            jobs = list(self.jobs.values())
            plan = schedule(
                ListedReady(jobs, now_ms=now_ms),
                ListedInFlight(jobs),
                now_ms=now_ms,
                policy=self.policy,
                bucket=self.bucket,
                chance=CHANCE,
            )
            self.bucket = plan.bucket
            for decision in plan.decisions:
                self.apply(decision.id, decision, now_ms)
                if isinstance(decision, Dispatch):
                    self.sent.append((decision.id, decision.epoch))
            if plan.next_wake_ms is None or plan.next_wake_ms > now_ms:
                return


class Both:
    def __init__(self, policy: Policy) -> None:
        self.world = World(policy)
        self.model = Model(policy)
        self.world.on_fire = lambda: self.model.tick(self.world.now)

    def step(self, name: str, *arguments: Any) -> None:
        getattr(self, name)(*arguments)
        if name != "wait":
            self.model.tick(self.world.now)
        self.compare()

    def enqueue(self, options: list[dict[str, Any]]) -> None:
        now_ms = self.world.now
        wire = [
            {k: backoff_fields(v) if k == "backoff" else v for k, v in job.items()}
            for job in options
        ]
        for local_id, job in zip(self.world.enqueue(*wire), options, strict=True):
            delay_ms, expires_in_ms = job.get("delay_ms", 0), job.get("expires_in_ms")
            kept = {k: v for k, v in job.items() if k not in ("delay_ms", "expires_in_ms")}
            self.model.jobs[local_id] = JobView(
                id=local_id,
                ready_ms=now_ms + delay_ms,
                expires_ms=None if expires_in_ms is None else now_ms + expires_in_ms,
                **{**kept, "guarantee": Guarantee(job["guarantee"])},
            )

    def told(self, picks: list[int]) -> list[tuple[str, int]]:
        sent = self.model.sent
        # Mostly the latest, which are in flight, and at times one that is too late.
        return [sent[-1 - pick % len(sent)] for pick in picks] if sent else []

    def settle(self, picks: list[int], outcome: str) -> None:
        now_ms, told = self.world.now, self.told(picks)
        self.world.report(*told, outcome=outcome)
        for index, (local_id, epoch) in enumerate(told):
            job = self.model.jobs[local_id]
            chance = (CHANCE + index * 0.6180339887498949) % 1.0
            answer = report(job, epoch, outcome=Outcome(outcome), now_ms=now_ms, chance=chance)
            if not isinstance(answer, Stale):
                self.model.apply(local_id, answer, now_ms)

    def beat(self, picks: list[int]) -> None:
        now_ms, told = self.world.now, self.told(picks)
        beats = [{"id": i, "epoch": e, "progress": None} for i, e in told]
        self.world.call("settle", {"beats": beats})
        for local_id, epoch in told:
            heard = heartbeat(self.model.jobs[local_id], epoch, progress=None, now_ms=now_ms)
            if isinstance(heard, Beat):
                self.model.apply(local_id, heard, now_ms)

    def claim(self, picks: list[int]) -> None:
        now_ms, told = self.world.now, self.told(picks)
        asked = [{"id": i, "epoch": e, "claim": True, "payload": False} for i, e in told]
        answers = self.world.call("begin", {"jobs": asked})["jobs"]
        for (local_id, epoch), answer in zip(told, answers, strict=True):
            decided = claim(self.model.jobs[local_id], epoch, now_ms=now_ms)
            assert (answer["refused"] is None) == isinstance(decided, Claimed)
            if hasattr(decided, "to"):
                self.model.apply(local_id, decided, now_ms)

    def control(self, action: str, pick: int, value: int) -> None:
        if not self.model.jobs:
            return
        now_ms = self.world.now
        local_id = sorted(self.model.jobs)[pick % len(self.model.jobs)]
        job = self.model.jobs[local_id]
        options = {"delay_ms": value} if value % 2 else {"priority": value}
        try:
            decided: Any = {
                "cancel": lambda: cancel(job, now_ms=now_ms),
                "retry": lambda: retry(job, now_ms=now_ms),
                "reschedule": lambda: reschedule(job, now_ms=now_ms, **options),
            }[action]()
        except OptionError:
            decided = None
        (answer,) = self.world.control(
            action, local_id, **(options if action == "reschedule" else {})
        )
        if isinstance(decided, Cancelled | Rescheduled | Retried):
            assert answer["outcome"] == "done"
            self.model.apply(local_id, decided, now_ms)
        else:
            assert answer["outcome"] != "done"

    def set_policy(self, paused: bool, concurrency: int) -> None:
        self.world.set_policy(paused=paused, concurrency=concurrency)
        self.model.policy = replace(self.model.policy, paused=paused, concurrency=concurrency)

    def restart(self) -> None:
        self.world.restart()

    def wait(self, duration_ms: int) -> None:
        self.world.wait(duration_ms)

    def compare(self) -> None:
        world = self.world
        rows = world.db.execute(f"SELECT {COLUMNS} FROM jobs")
        stored = {row[0]: view([*row, 0]) for row in rows}
        for local_id, job in self.model.jobs.items():
            kept = stored.get(local_id)
            assert kept is None or kept == job, [
                (field.name, getattr(kept, field.name), getattr(job, field.name))
                for field in fields(JobView)
                if getattr(kept, field.name) != getattr(job, field.name)
            ]
            assert kept is not None or job.finished_ms is not None
        assert [(local(each["job"]), each["epoch"]) for each in world.sent()] == self.model.sent
        world.check()


picks = st.lists(st.integers(0, 30), min_size=1, max_size=4)
jobs = st.fixed_dictionaries(
    {"guarantee": st.sampled_from([each.value for each in Guarantee])},
    optional={
        "priority": st.integers(-2, 2),
        "max_attempts": st.integers(1, 3),
        "backoff": backoffs,
        "timeout_ms": st.none() | st.integers(1, 50_000),
        "concurrency_key": st.sampled_from("ab"),
        "delay_ms": st.integers(0, 3_000),
    },
) | st.fixed_dictionaries(
    {"guarantee": st.just("at-least-once"), "expires_in_ms": st.integers(1, 5_000)}
)
steps = st.one_of(
    st.tuples(st.just("enqueue"), st.lists(jobs, min_size=1, max_size=5)),
    st.tuples(st.just("settle"), picks, st.sampled_from([each.value for each in Outcome])),
    st.tuples(st.just("beat"), picks),
    st.tuples(st.just("claim"), picks),
    st.tuples(
        st.just("control"),
        st.sampled_from(["cancel", "retry", "reschedule"]),
        st.integers(0, 30),
        st.integers(0, 4_000),
    ),
    st.tuples(st.just("set_policy"), st.booleans(), st.integers(1, 6)),
    st.tuples(st.just("restart")),
    st.tuples(st.just("wait"), st.sampled_from([1, 40, 999, 20_000, 200_000])),
)


@settings(max_examples=100, deadline=None)
@given(policy=policies, life=st.lists(steps, min_size=3, max_size=20))
def test_a_shard_does_what_the_decisions_say(policy: Policy, life: list[Any]) -> None:
    both = Both(policy)
    try:
        both.step("enqueue", [{"guarantee": "at-least-once"}])
        for step in life:
            both.step(*step)
    finally:
        both.world.close()
