"""One tick: read, let ``core`` decide, carry it out, in one transaction. Sends nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.bucket import Bucket, given_back, refilled
from tsumugi.jobs.core.model import Blocked, Dispatch, Plan, Policy
from tsumugi.jobs.core.schedule import TICK_LIMIT, schedule
from tsumugi.jobs.shard import attempts, clock, handover
from tsumugi.jobs.shard.facts import Facts, read_facts, stored_bucket, write_facts
from tsumugi.jobs.shard.in_flight import SqlInFlight
from tsumugi.jobs.shard.moves import Change, Moved, carry_out
from tsumugi.jobs.shard.policies import in_force
from tsumugi.jobs.shard.waiting import SqlReady

if TYPE_CHECKING:
    from collections.abc import Collection

    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.shard.handover import Batch
    from tsumugi.jobs.shard.sql import Sql

#: The most of each kind of decision in a tick.
LIMIT: Final = TICK_LIMIT


@dataclass(frozen=True, slots=True)
class Ticked:
    plan: Plan
    #: To be sent now.
    batches: list[Batch]
    moved: Moved
    #: Jobs that were silent or expired, as they were.
    ended: list[Change]
    #: Those that are dispatched, as they waited.
    dispatched: list[JobView]
    #: Another tick is due at once.
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a tick depends on beside what is stored."""

    now_ms: int
    chance: float
    policy: Policy
    #: Batches that somebody is sending.
    sending: Collection[str]
    #: The queue refused a moment ago: nothing is handed over until then.
    held_until_ms: int | None = None

    @property
    def held(self) -> bool:
        return self.held_until_ms is not None


def tick(sql: Sql, now: Circumstances) -> Ticked:
    """Decide and carry out, in one transaction."""
    return sql.transaction(lambda: _tick(sql, now))


def _tick(sql: Sql, now: Circumstances) -> Ticked:
    facts = read_facts(sql)
    policy = in_force(now.policy, facts.overrides)
    left_over = _straighten(sql, facts, now)
    if left_over or _recover(sql, facts, policy, now):
        facts = read_facts(sql)
    ready, in_flight = _sources(sql, facts, policy, now)
    plan = schedule(
        ready,
        in_flight,
        now_ms=now.now_ms,
        policy=replace(policy, paused=True) if now.held else policy,
        bucket=facts.bucket,
        chance=now.chance,
        limit=LIMIT,
    )
    held = now.held and plan.blocked.paused
    if held:
        plan = _told_as_held(plan, policy, now)
    dispatched = [d for d in plan.decisions if isinstance(d, Dispatch)]
    seen = in_flight.seen | ready.seen
    changes = [Change(seen[decision.id], decision) for decision in plan.decisions]
    moved = carry_out(sql, changes, now_ms=now.now_ms, any_behind=ready.any_behind)
    ended = [change for change in changes if not isinstance(change.move, Dispatch)]
    attempts.log_silence(sql, ended, now_ms=now.now_ms)
    batches = handover.batches(dispatched, ready.message_bytes)
    handover.save(sql, batches)
    _remember(sql, facts, plan, held=held, now_ms=now.now_ms)
    return Ticked(
        plan=plan,
        batches=batches,
        moved=moved,
        ended=ended,
        dispatched=[ready.seen[decision.id] for decision in dispatched],
        again=left_over or (plan.next_wake_ms is not None and plan.next_wake_ms <= now.now_ms),
    )


def _sources(
    sql: Sql, facts: Facts, policy: Policy, now: Circumstances
) -> tuple[SqlReady, SqlInFlight]:
    slots = 0 if policy.paused or now.held else policy.concurrency - facts.in_flight
    ready = SqlReady(
        sql,
        now_ms=now.now_ms,
        expected=slots,
        of_key=policy.per_key_concurrency,
        flying=facts.in_flight > 0,
    )
    return ready, SqlInFlight(sql, count=facts.in_flight)


def _recover(sql: Sql, facts: Facts, policy: Policy, now: Circumstances) -> bool:
    """Put back what was dispatched and nobody is sending: its sender is gone. Whether any was."""
    orphans = [name for name in facts.handovers if name not in now.sending]
    if orphans:
        count = handover.put_back(sql, handover.stored(sql, orphans), now_ms=now.now_ms)
        bucket = returned(facts.bucket, count, policy, now_ms=now.now_ms)
        write_facts(sql, bucket=stored_bucket(bucket))
    return bool(orphans)


def _straighten(sql: Sql, facts: Facts, now: Circumstances) -> bool:
    """Put right what a clock that went back left; whether some of it is left."""
    latest_ms = clock.latest_ms(facts.meta)
    if now.now_ms >= latest_ms:
        return False
    if not clock.straighten(sql, now_ms=now.now_ms, latest_ms=latest_ms):
        return True
    write_facts(sql, latest_ms=now.now_ms, ticked_ms=now.now_ms)
    return False


def returned(bucket: Bucket | None, count: int, policy: Policy, *, now_ms: int) -> Bucket | None:
    """The bucket after ``count`` jobs were put back."""
    if policy.rate is None or bucket is None:
        return bucket
    return given_back(refilled(bucket, policy.rate, now_ms=now_ms), count, rate=policy.rate)


def _told_as_held(plan: Plan, policy: Policy, now: Circumstances) -> Plan:
    """A shard that holds back is not paused, and looks again when it may hand over."""
    times = [each for each in (plan.next_wake_ms, now.held_until_ms) if each is not None]
    return replace(
        plan,
        blocked=replace(plan.blocked, paused=policy.paused),
        next_wake_ms=min(times, default=None),
    )


def _remember(sql: Sql, facts: Facts, plan: Plan, *, held: bool, now_ms: int) -> None:
    """Store what changed: a tick that moves nothing writes nothing."""
    values: dict[str, Any] = {}
    bucket, stored = plan.bucket, facts.bucket
    dispatches = any(isinstance(decision, Dispatch) for decision in plan.decisions)
    went_back = stored is not None and bucket is not None and bucket.at_ms < stored.at_ms
    if bucket is not None and (stored is None or dispatches or went_back):
        values["bucket"] = stored_bucket(bucket)
    blocked = stored_blocked(plan.blocked, held=held)
    if blocked != facts.meta.get("blocked"):
        values["blocked"] = blocked
    if values or plan.decisions:
        values["ticked_ms"] = now_ms
    write_facts(sql, **values)


def stored_blocked(blocked: Blocked, *, held: bool) -> dict[str, Any]:
    return {
        "capacity": blocked.capacity,
        "tokens": blocked.tokens,
        "paused": blocked.paused,
        "per_key": list(blocked.per_key),
        "handover": held,
    }
