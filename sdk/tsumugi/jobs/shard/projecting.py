"""Keeps the read model up to date, in portions, again after a failure. Stands in nobody's way.

A pass goes over the outbox once. It waits for a moment without changes, so that a job which comes
and goes is one row, but not for ever; and passes leave each other room (ADR-0125).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.shard import outbox
from tsumugi.jobs.shard.facts import write_facts
from tsumugi.jobs.shard.limits import within
from tsumugi.jobs.shard.trouble import NO_TROUBLE, Trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.shard.platform import Platform
    from tsumugi.jobs.shard.sql import Sql

#: A pass comes so long after the last change, and at most so long after the first one.
GATHER_MS: Final = 500
PATIENCE_MS: Final = 3_000
#: Between two passes is this many times as long as the first one took, up to ``LONGEST_ROOM_MS``.
ROOM: Final = 3
LONGEST_ROOM_MS: Final = 5_000
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
        self.trouble = trouble
        self.running = False
        #: When the first and the last change came that no pass has begun to send.
        self._changed_ms: tuple[int, int] | None = None
        self._not_before_ms = 0

    @property
    def due_ms(self) -> int | None:
        """When the next pass is due; None: there is nothing to send, or one is under way."""
        if self._changed_ms is None or self.running:
            return None
        first_ms, last_ms = self._changed_ms
        gathered_ms = min(last_ms + GATHER_MS, first_ms + PATIENCE_MS)
        return max(gathered_ms, self._not_before_ms, self.trouble.retry_ms or 0)

    def note(self, now_ms: int) -> None:
        """Something is in the outbox."""
        first_ms, last_ms = self._changed_ms or (now_ms, now_ms)
        if now_ms < last_ms:
            # The clock went back: nobody waits until it is as late again.
            first_ms, self._not_before_ms = now_ms, 0
            self.trouble = self.trouble.at_once()
        self._changed_ms = (first_ms, now_ms)

    def start_if_due(self, now_ms: int) -> None:
        """Begin a pass if one is due and none is under way."""
        due_ms = self.due_ms
        if due_ms is not None and due_ms <= now_ms:
            self.running, self._changed_ms = True, None
            self._platform.start(self._run())

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
            if outbox.is_empty(self._sql):
                self._changed_ms = None
            elif self._changed_ms is None:
                self.note(self._platform.now_ms())
            self._ended(sent)

    async def _pass(self) -> bool:
        """Send everything that is there now, in the order of ids."""
        began_ms, after = self._platform.now_ms(), ""
        while (
            portion := outbox.next_portion(
                self._sql, after, binding=self._binding, shard=self._shard
            )
        ) is not None:
            async with within(TIMEOUT_S):
                await self._platform.project(portion.snapshots)
            self._learnt(portion)
            after = portion.last_id
        now_ms = self._platform.now_ms()
        took_ms = max(0, now_ms - began_ms)
        self._not_before_ms = now_ms + min(LONGEST_ROOM_MS, ROOM * took_ms)
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
