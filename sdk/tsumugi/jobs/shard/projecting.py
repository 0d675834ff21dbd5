"""Keeps the read model up to date, in portions, again after a failure. Stands in nobody's way.

A pass goes over the outbox once. Changes gather for ``GATHER_MS`` before it, so that a job which
came and went in that time is one row; and passes leave each other room (ADR-0125).
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.shard import outbox
from tsumugi.jobs.shard.facts import write_facts
from tsumugi.jobs.shard.trouble import LAST_RETRY_MS, NO_TROUBLE, Trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.shard.platform import Platform
    from tsumugi.jobs.shard.sql import Sql

GATHER_MS: Final = 500
#: A pass waits this many times as long as the last one took, up to ``LONGEST_GATHER_MS``.
ROOM: Final = 3
LONGEST_GATHER_MS: Final = 5_000
TIMEOUT_S: Final = 30.0

_log = logging.getLogger("tsumugi.jobs")


class Projector:
    """``ended`` is called after every pass, with whether it sent anything."""

    def __init__(
        self, sql: Sql, platform: Platform, *, binding: str, shard: int, trouble: Trouble,
        ended: Callable[[bool], None],
    ) -> None:  # fmt: skip
        self._sql = sql
        self._platform = platform
        self._binding = binding
        self._shard = shard
        self._ended = ended
        self._gather_ms = GATHER_MS
        self.trouble = trouble
        self.running = False
        #: When the next pass is due; None: there is nothing to send.
        self.due_ms: int | None = None

    def note(self, now_ms: int) -> None:
        """Something is in the outbox."""
        if not self.running and (self.due_ms is None or self._is_too_late(now_ms)):
            self._schedule(now_ms)

    def _schedule(self, now_ms: int) -> None:
        retry_ms = self.trouble.retry_ms
        gathered_ms = now_ms + self._gather_ms
        self.due_ms = gathered_ms
        if retry_ms is not None:
            self.due_ms = max(gathered_ms, min(retry_ms, now_ms + LAST_RETRY_MS))

    def start_if_due(self, now_ms: int) -> None:
        """Begin a pass if one is due and none is under way."""
        if self.running or self.due_ms is None:
            return
        if self.due_ms <= now_ms or self._is_too_late(now_ms):
            self.running, self.due_ms = True, None
            self._platform.start(self._run())

    def _is_too_late(self, now_ms: int) -> bool:
        """Whether the clock went back: nobody waits longer than the longest wait."""
        return self.due_ms is not None and self.due_ms > now_ms + LAST_RETRY_MS

    async def _run(self) -> None:
        sent = False
        try:
            try:
                sent = await self._pass()
            except Exception as error:
                self._failed(error)
            else:
                self._worked()
        finally:
            self.running = False
            if not outbox.is_empty(self._sql):
                self._schedule(self._platform.now_ms())
            self._ended(sent)

    async def _pass(self) -> bool:
        """Send everything that is there now, in the order of ids."""
        began_ms, after = self._platform.now_ms(), ""
        while (
            portion := outbox.next_portion(
                self._sql, after, binding=self._binding, shard=self._shard
            )
        ) is not None:
            async with asyncio.timeout(TIMEOUT_S):
                await self._platform.project(portion.snapshots)
            self._learnt(portion)
            after = portion.last_id
        took_ms = max(0, self._platform.now_ms() - began_ms)
        self._gather_ms = min(LONGEST_GATHER_MS, max(GATHER_MS, ROOM * took_ms))
        return bool(after)

    def _learnt(self, portion: outbox.Portion) -> None:
        self._sql.transaction(lambda: outbox.learnt(self._sql, portion))

    def _failed(self, error: Exception) -> None:
        _log.warning("the read model is behind %s#%d: %s", self._binding, self._shard, error)
        self.trouble = self.trouble.again(error, now_ms=self._platform.now_ms())
        write_facts(self._sql, projection=self.trouble.stored())

    def _worked(self) -> None:
        if self.trouble.failures:
            self.trouble = NO_TROUBLE
            write_facts(self._sql, projection=None)
