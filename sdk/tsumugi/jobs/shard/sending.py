"""Sends batches, several at a time, and undoes those that were not taken. Plans none."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.shard import handover
from tsumugi.jobs.shard.facts import read_facts, stored_bucket, write_facts
from tsumugi.jobs.shard.limits import within
from tsumugi.jobs.shard.policies import in_force
from tsumugi.jobs.shard.ticking import returned
from tsumugi.jobs.shard.trouble import NO_TROUBLE, Trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.core.model import Policy
    from tsumugi.jobs.shard.handover import Batch
    from tsumugi.jobs.shard.platform import Platform
    from tsumugi.jobs.shard.sql import Sql

#: Batches on their way at the same time: each is in memory as a whole.
AT_ONCE: Final = 6
#: A queue that does not answer for so long has refused, as far as anybody knows.
TIMEOUT_S: Final = 30.0

_log = logging.getLogger("tsumugi.jobs")


class Sender:
    """``ended`` is called whenever a batch is no longer on its way, with whether jobs came back."""

    def __init__(
        self, sql: Sql, platform: Platform, *, shard: str, policy: Policy,
        ended: Callable[[bool], None],
    ) -> None:  # fmt: skip
        self._sql = sql
        self._platform = platform
        self._shard = shard
        self._policy = policy
        self._ended = ended
        self._slots = asyncio.Semaphore(AT_ONCE)
        #: Names of the batches that are on their way, or wait for a slot.
        self.sending: set[str] = set()
        self.trouble: Trouble = NO_TROUBLE

    def send(self, batches: list[Batch]) -> None:
        """Start sending; call it right after the transaction that made the batches."""
        for batch in batches:
            self.sending.add(batch.name)
            self._platform.start(self._send(batch))

    async def _send(self, batch: Batch) -> None:
        failures = self.trouble.failures
        came_back = False
        try:
            async with self._slots:
                try:
                    bodies = handover.messages(self._sql, batch, shard=self._shard)
                    if bodies:
                        async with within(TIMEOUT_S):
                            await self._platform.send(bodies)
                except Exception as error:
                    came_back = True
                    self._failed(batch, error, failures)
                else:
                    self._sent(batch, failures)
        finally:
            # Should this have failed as well, the next tick finds a batch that nobody sends.
            self.sending.discard(batch.name)
            self._ended(came_back)

    def _sent(self, batch: Batch, failures_before: int) -> None:
        self._sql.transaction(lambda: handover.forget(self._sql, [batch.name]))
        # One that was on its way when another failed proves nothing.
        if failures_before and failures_before == self.trouble.failures:
            self.trouble = NO_TROUBLE
            write_facts(self._sql, handover=None)

    def _failed(self, batch: Batch, error: Exception, failures_before: int) -> None:
        now_ms = self._platform.now_ms()
        _log.warning(
            "the queue did not take %d jobs of %s, they wait again: %s",
            len(batch.jobs), self._shard, error,
        )  # fmt: skip
        # Batches that fail together are one failure.
        if failures_before == self.trouble.failures:
            self.trouble = self.trouble.again(error, now_ms=now_ms)
        self._sql.transaction(lambda: self._put_back(batch, now_ms))

    def _put_back(self, batch: Batch, now_ms: int) -> None:
        facts = read_facts(self._sql)
        count = handover.put_back(self._sql, [batch], now_ms=now_ms)
        policy = in_force(self._policy, facts.overrides)
        bucket = returned(facts.bucket, count, policy, now_ms=now_ms)
        write_facts(self._sql, bucket=stored_bucket(bucket), handover=self.trouble.stored())
