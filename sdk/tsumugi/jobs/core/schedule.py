"""Decide what one tick does. Pure: reads as little as the decisions need; carries none out.

The tick frees what went silent, starts what may start in exact order, cancels what is overdue, and
says what held the rest back and when to look again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.bucket import refilled, taken, worth_waking_ms
from tsumugi.jobs.core.model import KEYS_NAMED, Blocked, Dispatch, Expire, Plan, Reap
from tsumugi.jobs.core.ordering import in_order
from tsumugi.jobs.core.reaper import is_overdue, nth_chance, on_silence, report_due_ms

if TYPE_CHECKING:
    from tsumugi.jobs.core.bucket import Bucket
    from tsumugi.jobs.core.model import Fail, JobView, Policy, Stall
    from tsumugi.jobs.core.sources import InFlightSource, ReadySource

#: The most of each kind of decision in one tick, so that a tick ends soon whatever waits.
TICK_LIMIT: Final = 1_000


def schedule(
    ready: ReadySource,
    in_flight: InFlightSource,
    *,
    now_ms: int,
    policy: Policy,
    bucket: Bucket | None,
    chance: float,
    limit: int = TICK_LIMIT,
) -> Plan:
    """The plan of one tick. ``limit`` bounds dispatches, expiries and reaped jobs, each.

    With ``policy.rate`` None the bucket is returned as it came. ``chance`` is one number from 0 up
    to 1 for the whole tick; the backoffs of its reaped jobs are spread evenly from it.
    """
    if policy.rate is not None:
        bucket = refilled(bucket, policy.rate, now_ms=now_ms)
    reaped = _reap(in_flight, now_ms=now_ms, policy=policy, chance=chance, limit=limit)
    keys = _KeyRoom(ready, policy.per_key_concurrency, reaped.freed_keys)
    walk = _Walk(
        now_ms=now_ms,
        policy=policy,
        limit=limit,
        slots=policy.concurrency - in_flight.count() + len(reaped.decisions),
        tokens=None if policy.rate is None or bucket is None else bucket.tokens,
    )
    walk.through(ready, keys)
    walk.expire_rest(ready)
    if bucket is not None and policy.rate is not None:
        bucket = taken(bucket, len(walk.dispatched))
    return Plan(
        decisions=(*reaped.decisions, *walk.expired, *walk.dispatched),
        bucket=bucket,
        blocked=Blocked(
            capacity=walk.no_slot,
            tokens=walk.no_token,
            paused=walk.paused,
            per_key=tuple(keys.passed_over),
        ),
        next_wake_ms=now_ms
        if reaped.more or walk.more
        else _next_wake_ms(ready, in_flight, walk=walk, reaped=reaped, bucket=bucket),
    )


@dataclass(slots=True)
class _Reaped:
    decisions: list[Reap | Stall | Fail] = field(default_factory=list)
    freed_keys: Counter[str] = field(default_factory=Counter)
    more: bool = False


def _reap(
    in_flight: InFlightSource, *, now_ms: int, policy: Policy, chance: float, limit: int
) -> _Reaped:
    reaped = _Reaped()
    for job in in_flight.silent(now_ms - policy.reaper_grace_ms):
        index = len(reaped.decisions)
        if index == limit:
            reaped.more = True
            break
        reaped.decisions.append(on_silence(job, now_ms=now_ms, chance=nth_chance(chance, index)))
        if job.concurrency_key is not None:
            reaped.freed_keys[job.concurrency_key] += 1
    return reaped


class _KeyRoom(dict[str, int]):
    """How many more jobs of each key may start, counted while the tick starts them."""

    def __init__(self, ready: ReadySource, limit: int, freed: Counter[str]) -> None:
        self._in_flight_of_key = ready.in_flight_of_key
        self._limit = limit
        self._freed = freed
        #: Keys that were full before the tick started anything.
        self.passed_over: list[str] = []

    def __missing__(self, key: str) -> int:
        left = self._limit - self._in_flight_of_key(key) + self._freed.get(key, 0)
        if left <= 0 and len(self.passed_over) < KEYS_NAMED:
            self.passed_over.append(key)
        self[key] = left
        return left


@dataclass(slots=True, kw_only=True)
class _Walk:
    """One way down the ordered jobs, until something runs out."""

    now_ms: int
    policy: Policy
    limit: int
    slots: int
    tokens: int | None
    dispatched: list[Dispatch] = field(default_factory=list)
    expired: list[Expire] = field(default_factory=list)
    no_slot: bool = False
    no_token: bool = False
    paused: bool = False
    more: bool = False

    def through(self, ready: ReadySource, keys: _KeyRoom) -> None:
        for job in in_order(
            ready,
            now_ms=self.now_ms,
            aging_interval_ms=self.policy.aging_interval_ms,
            room=keys,
        ):
            if is_overdue(job, now_ms=self.now_ms):
                if len(self.expired) == self.limit:
                    self.more = True
                    return
                self.expired.append(Expire(id=job.id))
            elif self._is_held_back():
                return
            else:
                self.dispatched.append(self._dispatch(job))
                key = job.concurrency_key
                if key is not None:
                    keys[key] -= 1

    def expire_rest(self, ready: ReadySource) -> None:
        """Those the walk did not come to: behind what runs, of a full key, or not yet ready."""
        known = {decision.id for decision in self.expired}
        # One more than can be new, to learn whether any is left.
        for job in islice(ready.overdue(), self.limit + 1):
            if job.id in known:
                continue
            if len(self.expired) == self.limit:
                self.more = True
                return
            self.expired.append(Expire(id=job.id))

    def _is_held_back(self) -> bool:
        """Whether nothing more may start; the reason is noted."""
        started = len(self.dispatched)
        self.paused = self.policy.paused
        self.no_slot = started >= self.slots
        self.no_token = self.tokens is not None and started >= self.tokens
        if self.paused or self.no_slot or self.no_token:
            return True
        self.more = self.more or started == self.limit
        return self.more

    def _dispatch(self, job: JobView) -> Dispatch:
        return Dispatch(
            id=job.id,
            epoch=job.epoch + 1,
            attempt=job.attempts + 1,
            report_due_ms=report_due_ms(job.timeout_ms, now_ms=self.now_ms),
        )


def _next_wake_ms(
    ready: ReadySource,
    in_flight: InFlightSource,
    *,
    walk: _Walk,
    reaped: _Reaped,
    bucket: Bucket | None,
) -> int | None:
    """The first moment at which time alone changes anything.

    A full shard waits for a report and a paused one for its resumption: neither wakes for jobs
    that become ready meanwhile.
    """
    grace_ms = walk.policy.reaper_grace_ms
    dues = [d.report_due_ms for d in walk.dispatched if d.report_due_ms is not None]
    silence = in_flight.next_report_due_ms(walk.now_ms - grace_ms)
    if silence is not None:
        dues.append(silence)
    times = [min(dues) + grace_ms] if dues else []
    expiry = ready.next_expiry_ms()
    if expiry is not None:
        times.append(expiry)
    if not walk.policy.paused and len(walk.dispatched) < walk.slots:
        start = _next_start_ms(ready, walk=walk, reaped=reaped, bucket=bucket)
        if start is not None:
            times.append(start)
    return min(times, default=None)


def _next_start_ms(
    ready: ReadySource, *, walk: _Walk, reaped: _Reaped, bucket: Bucket | None
) -> int | None:
    """When a job can start next, with room for it."""
    refill_ms = walk.now_ms
    rate = walk.policy.rate
    out_of_tokens = walk.tokens is not None and len(walk.dispatched) >= walk.tokens
    if rate is not None and bucket is not None and out_of_tokens:
        refill_ms = worth_waking_ms(bucket, rate)
    if walk.no_token:
        return refill_ms
    times = [decision.ready_ms for decision in reaped.decisions if isinstance(decision, Reap)]
    next_ready_ms = ready.next_ready_ms()
    if next_ready_ms is not None:
        times.append(next_ready_ms)
    return max(min(times), refill_ms) if times else None
