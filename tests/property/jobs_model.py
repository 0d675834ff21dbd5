"""What one tick must decide, worked out by sorting everything. Shares no code with the scheduler.

Also carries out plans on a plain dictionary of jobs, so that tests can let time pass.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st
from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff
from tsumugi.jobs.core.bucket import Bucket, Rate
from tsumugi.jobs.core.memory import ListedInFlight, ListedReady
from tsumugi.jobs.core.model import (
    Dispatch,
    Expire,
    Fail,
    Guarantee,
    JobView,
    Plan,
    Policy,
    Reap,
    Stall,
)
from tsumugi.jobs.core.schedule import schedule
from tsumugi.jobs.core.states import JobState, can_transition

NOW = 1_000_000


@dataclass
class Expected:
    dispatched: list[str] = field(default_factory=list)
    expired: set[str] = field(default_factory=set)
    silenced: dict[str, JobState] = field(default_factory=dict)
    capacity: bool = False
    tokens: bool = False
    paused: bool = False
    per_key: list[str] = field(default_factory=list)


def expected_plan(jobs: list[JobView], policy: Policy, *, now_ms: int, tokens: int) -> Expected:
    """One pass over every job there is, in the order the specification gives."""
    out = Expected()
    running = []
    for job in jobs:
        if job.state not in ("QUEUED", "RUNNING"):
            continue
        due = job.report_due_ms
        if due is None or due + policy.reaper_grace_ms > now_ms:
            running.append(job)
        elif job.attempts + 1 >= job.max_attempts:
            out.silenced[job.id] = JobState.FAILED
        elif job.guarantee == "at-most-once":
            out.silenced[job.id] = JobState.STALLED
        else:
            out.silenced[job.id] = JobState.SCHEDULED
    before = Counter(job.concurrency_key for job in running)
    _start(out, _sorted_ready(jobs, policy, now_ms), before, len(running), policy, now_ms, tokens)
    for job in jobs:
        if job.state == "SCHEDULED" and _expired(job, now_ms):
            out.expired.add(job.id)
    return out


def _start(out, ready, before, running, policy, now_ms, tokens) -> None:
    used = Counter(before)
    for job in ready:
        key = job.concurrency_key
        if key is not None and used[key] >= policy.per_key_concurrency:
            if before[key] >= policy.per_key_concurrency and key not in out.per_key:
                out.per_key.append(key)
            continue
        if _expired(job, now_ms):
            continue
        out.paused = policy.paused
        out.capacity = running + len(out.dispatched) >= policy.concurrency
        out.tokens = len(out.dispatched) >= tokens
        if out.paused or out.capacity or out.tokens:
            return
        out.dispatched.append(job.id)
        used[key] += 1


def _sorted_ready(jobs: list[JobView], policy: Policy, now_ms: int) -> list[JobView]:
    def rank(job: JobView) -> tuple[int, int, str]:
        gained = 0
        if policy.aging_interval_ms is not None:
            gained = (now_ms - job.ready_ms) // policy.aging_interval_ms
        return (-(job.priority + gained), job.ready_ms, job.id)

    return sorted((j for j in jobs if j.state == "SCHEDULED" and j.ready_ms <= now_ms), key=rank)


def _expired(job: JobView, now_ms: int) -> bool:
    return job.attempts == 0 and job.expires_ms is not None and job.expires_ms <= now_ms


def plan_of(
    jobs: list[JobView],
    policy: Policy,
    *,
    now_ms: int = NOW,
    bucket: Bucket | None = None,
    chance: float = 0.5,
    limit: int = 1_000,
) -> Plan:
    return schedule(
        ListedReady(jobs, now_ms=now_ms),
        ListedInFlight(jobs),
        now_ms=now_ms,
        policy=policy,
        bucket=bucket,
        chance=chance,
        limit=limit,
    )


def carried_out(jobs: list[JobView], plan: Plan) -> list[JobView]:
    """The jobs after the plan. Every decision must be legal and about another job."""
    by_id = {job.id: job for job in jobs}
    ids = [decision.id for decision in plan.decisions]
    assert len(ids) == len(set(ids)), "a job got two decisions"
    for decision in plan.decisions:
        job = by_id[decision.id]
        assert can_transition(job.state, decision.to)
        job = replace(job, state=decision.to)
        match decision:
            case Dispatch(epoch=epoch, report_due_ms=due):
                job = replace(job, epoch=epoch, report_due_ms=due, beat_ms=None)
            case Reap(attempts=attempts, ready_ms=ready_ms):
                job = replace(job, attempts=attempts, ready_ms=ready_ms)
            case Stall(attempts=attempts) | Fail(attempts=attempts):
                job = replace(job, attempts=attempts)
            case Expire():
                pass
        by_id[decision.id] = job
    return list(by_id.values())


keys = st.none() | st.sampled_from("abc")
rates = st.none() | st.builds(Rate, st.integers(1, 4), st.integers(1, 5_000))
policies = st.builds(
    Policy,
    concurrency=st.integers(1, 8),
    per_key_concurrency=st.integers(1, 3),
    rate=rates,
    aging_interval_ms=st.none() | st.sampled_from([1, 7, 100, 60_000]),
    reaper_grace_ms=st.sampled_from([0, 30]),
    paused=st.sampled_from([False, False, False, True]),
)
backoffs = st.builds(FixedBackoff, st.integers(0, 200), st.booleans()) | st.builds(
    ExponentialBackoff, st.integers(0, 200), st.sampled_from([1, 2, 3.5]), st.integers(0, 500)
)


@st.composite
def job_lists(draw: st.DrawFn, max_size: int = 25) -> list[JobView]:
    numbers = draw(st.lists(st.integers(0, 10**6), unique=True, max_size=max_size))
    return [_job(draw, f"{number:07}") for number in numbers]


def _job(draw: st.DrawFn, local_id: str) -> JobView:
    state = draw(st.sampled_from([*JobState, *[JobState.SCHEDULED] * 12]))
    in_flight = state in (JobState.QUEUED, JobState.RUNNING)
    max_attempts = draw(st.integers(1, 3))
    near = st.integers(NOW - 300, NOW + 100)
    return JobView(
        id=local_id,
        state=state,
        priority=draw(st.integers(-2, 3)),
        ready_ms=draw(near),
        attempts=draw(st.integers(0, max_attempts - 1)),
        max_attempts=max_attempts,
        epoch=draw(st.integers(1 if in_flight else 0, 5)),
        guarantee=draw(st.sampled_from(Guarantee)),
        backoff=draw(backoffs),
        timeout_ms=draw(st.none() | st.integers(1, 100)),
        concurrency_key=draw(keys),
        expires_ms=draw(st.none() | near),
        report_due_ms=draw(st.none() | near) if in_flight else None,
    )
