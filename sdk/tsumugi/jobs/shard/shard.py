"""A shard: what calls arrive at, and what keeps it going between them. Decides and stores nothing.

Calls change jobs in one transaction each and kick the tick, which runs beside them, one at a time.
What was started and is lost with the object is found again by the next tick (ADR-0126).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.ids import shard_name
from tsumugi.jobs.shard import outbox, telling, ticking
from tsumugi.jobs.shard.claiming import begin
from tsumugi.jobs.shard.controlling import control
from tsumugi.jobs.shard.facts import read_facts, write_facts
from tsumugi.jobs.shard.inserting import insert
from tsumugi.jobs.shard.measuring import Measures
from tsumugi.jobs.shard.policies import in_force
from tsumugi.jobs.shard.projecting import Projector
from tsumugi.jobs.shard.schema import migrate
from tsumugi.jobs.shard.sending import Sender
from tsumugi.jobs.shard.settling import settle
from tsumugi.jobs.shard.sql import Sql
from tsumugi.jobs.shard.sweeping import next_sweep_ms, sweep
from tsumugi.jobs.shard.trouble import NO_TROUBLE, read_trouble
from tsumugi.jobs.shard.waking import SAFETY_MS, Wakes
from tsumugi.jobs.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.core.model import Policy
    from tsumugi.jobs.core.retention import Retention
    from tsumugi.jobs.shard.platform import Platform
    from tsumugi.jobs.shard.ticking import Ticked

#: Finished jobs gather this long before they are deleted together.
SWEEP_GATHER_MS: Final = 5_000

_log = logging.getLogger("tsumugi.jobs")


class MalformedRequest(ValueError):
    """A call that is not in the form that ``wire`` describes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which shard this is, and what the code says about its binding."""

    binding: str
    shard: int
    policy: Policy
    retention: Retention

    @property
    def name(self) -> str:
        return shard_name(self.binding, self.shard)


class Shard:
    """Make it, ``await boot()`` before anything else, then call it in any order."""

    def __init__(self, identity: Identity, platform: Platform) -> None:
        self._identity = identity
        self._platform = platform
        self._sql = Sql(platform.storage)
        self._wakes = Wakes(platform)
        self._measures = Measures(identity.binding, identity.shard)
        self._sender = Sender(
            self._sql, platform, shard=identity.name, policy=identity.policy, ended=self._sent
        )
        self._projector = Projector(
            self._sql, platform, binding=identity.binding, shard=identity.shard,
            trouble=NO_TROUBLE, ended=self._projected,
        )  # fmt: skip
        self._kicked = False
        #: Whether ``_run_ticks`` runs, or was started and will.
        self._ticking = False
        #: While the alarm runs: it is set when that ends, and not for what it is about to do.
        self._in_alarm = False
        self._tick_trouble = NO_TROUBLE

    async def boot(self) -> None:
        """Bring the tables up to date and go on where an earlier instance stopped."""
        migrate(self._sql)
        now_ms = self._platform.now_ms()
        self._wakes.known_ms = await self._platform.get_alarm()
        meta = read_facts(self._sql).meta
        self._projector.trouble = read_trouble(meta.get("projection"), now_ms=now_ms)
        self._sender.trouble = read_trouble(meta.get("handover"), now_ms=now_ms)
        if not outbox.is_empty(self._sql):
            self._projector.note(now_ms)
        self._wakes.at("sweep", next_sweep_ms(self._sql, retention=self._identity.retention))
        self._kick()

    # -- Calls ------------------------------------------------------------------------------------

    def _change[T](self, call: str, work: Callable[[], T]) -> T:
        """One transaction. What the request lacks is said; what the work lacks is not hidden."""
        try:
            return self._sql.transaction(work)
        except (KeyError, TypeError, AttributeError) as error:
            what = f"{type(error).__name__}: {error}"
            raise MalformedRequest(f"the request of {call}() is malformed: {what}") from error

    async def enqueue(self, text: str) -> str:
        request, now_ms = loads(text), self._platform.now_ms()
        chance = self._platform.chance_bytes()
        inserted = self._change(
            "enqueue", lambda: insert(self._sql, request["jobs"], now_ms=now_ms, chance=chance)
        )
        count = sum(inserted.created)
        self._measures.enqueued(count)
        if count:
            await self._changed(now_ms)
        prefix = f"{self._identity.name}:"
        return dumps({"ids": [prefix + each for each in inserted.ids], "created": inserted.created})

    async def begin(self, text: str) -> str:
        request, now_ms = loads(text), self._platform.now_ms()
        answers, moved = self._change("begin", lambda: begin(self._sql, request, now_ms=now_ms))
        if moved:
            await self._changed(now_ms)
        return dumps({"jobs": answers})

    async def settle(self, text: str) -> str:
        request, now_ms = loads(text), self._platform.now_ms()
        chance = self._platform.chance()
        settled = self._change(
            "settle", lambda: settle(self._sql, request, now_ms=now_ms, chance=chance)
        )
        self._measures.reported(settled.reported)
        if settled.changed:
            await self._changed(now_ms)
        return dumps({"stale": settled.stale})

    async def control(self, text: str) -> str:
        request, now_ms = loads(text), self._platform.now_ms()
        retention = self._identity.retention
        answers, changes = self._change(
            "control", lambda: control(self._sql, request, now_ms=now_ms, retention=retention)
        )
        self._measures.changed(changes)
        if changes:
            await self._changed(now_ms)
        return dumps({"jobs": answers})

    async def set_policy(self, text: str) -> str:
        """Change some fields, or go back to what the code says. Answers ``diagnostics()``."""
        request = loads(text)
        self._change("set_policy", lambda: self._override(request["change"]))
        self._kick()
        await self._arm()
        return await self.diagnostics()

    def _override(self, change: dict[str, Any] | None) -> None:
        overrides = {} if change is None else {**read_facts(self._sql).overrides, **change}
        in_force(self._identity.policy, overrides)
        write_facts(self._sql, overrides=overrides or None)

    async def diagnostics(self) -> str:
        return dumps(
            telling.diagnostics(
                self._sql,
                binding=self._identity.binding,
                shard=self._identity.shard,
                policy=self._identity.policy,
                now_ms=self._platform.now_ms(),
                alarm_ms=self._wakes.known_ms,
                handover=self._sender.trouble,
                projection=self._projector.trouble,
            )
        )

    async def stats(self) -> str:
        return dumps(telling.stats(self._sql, now_ms=self._platform.now_ms()))

    async def show(self, text: str) -> str:
        request, identity = loads(text), self._identity
        return dumps(
            self._change(
                "show",
                lambda: telling.show(
                    self._sql, request, binding=identity.binding, shard=identity.shard
                ),
            )
        )

    # -- Between calls --------------------------------------------------------------------------

    async def alarm(self) -> None:
        """Do whatever is due. Never raises: what fails is logged and tried again."""
        self._wakes.fired()
        self._in_alarm = True
        now_ms = self._platform.now_ms()
        try:
            self._kicked = True
            if not self._ticking:
                self._ticking = True
                await self._run_ticks()
            if self._wakes.due("sweep", now_ms):
                self._sweep(now_ms)
            self._projector.start_if_due(now_ms)
            self._flush_measures()
        except Exception:
            _log.exception("shard %s failed in its alarm and tries again", self._identity.name)
            self._wakes.at("repair", now_ms + SAFETY_MS)
        else:
            self._wakes.at("repair", None)
        finally:
            self._in_alarm = False
        await self._arm()

    async def _changed(self, now_ms: int) -> None:
        """Jobs changed in a transaction that is committed."""
        self._projector.note(now_ms)
        self._kick()
        await self._arm()

    def _kick(self) -> None:
        """There may be something to do. Whoever ticks now looks once more."""
        self._kicked = True
        if not self._ticking:
            self._ticking = True
            self._platform.start(self._run_ticks())

    async def _run_ticks(self) -> None:
        """Whoever calls this has just set ``_ticking``: it is done once at a time."""
        try:
            while self._kicked:
                self._kicked = False
                if self._tick_once():
                    self._kicked = True
                    await self._arm()
                    await self._platform.let_others_in()
        finally:
            # Nothing is awaited between the last look at the flag and here: no kick is lost.
            self._ticking = False
        await self._arm()

    def _tick_once(self) -> bool:
        """Whether another tick is due at once."""
        now_ms = self._platform.now_ms()
        try:
            ticked = ticking.tick(
                self._sql,
                ticking.Circumstances(
                    now_ms=now_ms,
                    chance=self._platform.chance(),
                    policy=self._identity.policy,
                    sending=self._sender.sending,
                    held_until_ms=self._sender.trouble.waits_until(now_ms),
                ),
            )
        except Exception as error:
            self._tick_trouble = self._tick_trouble.again(error, now_ms=now_ms)
            _log.exception("a tick of shard %s failed and is tried again", self._identity.name)
            self._wakes.at("plan", self._tick_trouble.retry_ms)
            return False
        self._tick_trouble = NO_TROUBLE
        self._sender.send(ticked.batches)
        self._note(ticked, now_ms)
        self._wakes.at("plan", ticked.plan.next_wake_ms)
        return ticked.again

    def _note(self, ticked: Ticked, now_ms: int) -> None:
        if not ticked.moved:
            return
        self._measures.dispatched(ticked.dispatched, now_ms=now_ms)
        self._measures.changed(ticked.ended)
        self._projector.note(now_ms)

    def _sent(self, came_back: bool) -> None:
        if came_back:
            self._projector.note(self._platform.now_ms())
            self._kick()

    def _projected(self, sent: bool) -> None:
        if sent:
            # Only what the read model has learnt of can be swept.
            self._sweep_by(next_sweep_ms(self._sql, retention=self._identity.retention))
        self._platform.start(self._arm())

    async def _arm(self) -> None:
        if self._in_alarm:
            return
        now_ms = self._platform.now_ms()
        under_way = self._kicked or self._ticking or self._projector.running
        under_way = under_way or bool(self._sender.sending)
        self._wakes.at("safety", now_ms + SAFETY_MS if under_way else None)
        self._wakes.at("projection", self._projector.due_ms)
        await self._wakes.arm()

    def _sweep_by(self, at_ms: int | None) -> None:
        known_ms = self._wakes.get("sweep")
        if at_ms is not None and (known_ms is None or at_ms < known_ms):
            self._wakes.at("sweep", at_ms + SWEEP_GATHER_MS)

    def _sweep(self, now_ms: int) -> None:
        retention = self._identity.retention
        swept = self._sql.transaction(lambda: sweep(self._sql, now_ms=now_ms, retention=retention))
        # What waits for the read model is looked at again when that has learnt something.
        self._wakes.at("sweep", now_ms if swept.more else None)
        if not swept.waits:
            self._sweep_by(next_sweep_ms(self._sql, retention=retention))

    def _flush_measures(self) -> None:
        points = self._measures.take()
        if points:
            self._platform.measure(points)
