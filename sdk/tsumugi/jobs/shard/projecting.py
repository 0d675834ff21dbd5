"""Keeps the read model up to date, in portions, again after a failure. Stands in nobody's way.

A pass goes over the outbox once. It waits for a moment without changes, so that a job which comes
and goes is one row, but not for ever; and passes leave each other room (ADR-0125). While jobs
change, a long pass leaves them room after each portion, the less the further behind it is
(ADR-0281).
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
#: Between two passes, and between portions while jobs change, is this many times as long as the
#: first of them took, up to ``LONGEST_ROOM_MS``.
ROOM: Final = 3
LONGEST_ROOM_MS: Final = 5_000
#: Who is so far behind leaves no more room within a pass.
LONGEST_BEHIND_MS: Final = 30_000
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
        #: The latest time it was told.
        self._seen_ms = 0
        #: The last job that was sent by the pass that has not come to its end; None: there is none.
        self._after: str | None = None
        #: When the first change came that this pass sends.
        self._since_ms = 0
        #: Whether anything changed since the portion was read that is being sent.
        self._stirred = False

    @property
    def due_ms(self) -> int | None:
        """When to go on; None: there is nothing to send, or it is being sent."""
        if self.running or (self._changed_ms is None and self._after is None):
            return None
        gathered_ms = 0
        if self._changed_ms is not None and self._after is None:
            first_ms, last_ms = self._changed_ms
            gathered_ms = min(last_ms + GATHER_MS, first_ms + PATIENCE_MS)
        return max(gathered_ms, self._not_before_ms, self.trouble.retry_ms or 0)

    def note(self, now_ms: int) -> None:
        """Something is in the outbox."""
        first_ms, _ = self._changed_ms or (now_ms, now_ms)
        if now_ms < self._seen_ms:
            # The clock went back: nobody waits until it is as late again.
            first_ms, self._since_ms, self._not_before_ms = now_ms, now_ms, 0
            self.trouble = self.trouble.at_once()
        self._changed_ms = (first_ms, now_ms)
        self._seen_ms = now_ms
        self._stirred = True

    def start_if_due(self, now_ms: int) -> None:
        """Begin a pass, or go on with one, if it is time and nothing is under way."""
        due_ms = self.due_ms
        if due_ms is None or due_ms > now_ms:
            return
        if self._after is None:
            self._since_ms = self._changed_ms[0] if self._changed_ms else now_ms
            self._after, self._changed_ms = "", None
        self.running = True
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
                self._changed_ms = self._after = None
            elif self._changed_ms is None and self._after is None:
                self.note(self._platform.now_ms())
            self._ended(sent)

    async def _pass(self) -> bool:
        """Send what is there, in the order of ids, to its end or until others need room.

        Whether anything was sent.
        """
        sent = False
        began_ms = self._platform.now_ms()
        while (portion := self._next()) is not None:
            portion_ms = self._platform.now_ms()
            async with within(TIMEOUT_S):
                await self._platform.project(portion.snapshots)
            self._learnt(portion)
            sent = True
            if not portion.more:
                break
            self._after = portion.last_id
            now_ms = self._platform.now_ms()
            room_ms = self._room_ms(portion_ms, now_ms)
            if self._stirred and room_ms > 0:
                self._not_before_ms = now_ms + room_ms
                return True
        self._after = None
        now_ms = self._platform.now_ms()
        self._not_before_ms = now_ms + _room_ms(now_ms - began_ms)
        return sent

    def _next(self) -> outbox.Portion | None:
        self._stirred = False
        return outbox.next_portion(
            self._sql, self._after or "", binding=self._binding, shard=self._shard
        )

    def _room_ms(self, began_ms: int, now_ms: int) -> int:
        """How long to leave the jobs alone after a portion."""
        left_ms = max(0, LONGEST_BEHIND_MS - max(0, now_ms - self._since_ms))
        return _room_ms(now_ms - began_ms) * left_ms // LONGEST_BEHIND_MS

    def _learnt(self, portion: outbox.Portion) -> None:
        self._sql.transaction(lambda: outbox.learnt(self._sql, portion))

    def _failed(self, error: Exception) -> None:
        _log.warning("the read model is behind %s#%d: %s", self._binding, self._shard, error)
        now_ms = self._platform.now_ms()
        self.trouble = self.trouble.again(error, now_ms=now_ms)
        # From its beginning again: what was sent has left the outbox.
        self._after, self._changed_ms = None, (self._since_ms, now_ms)
        write_facts(self._sql, projection=self.trouble.stored())

    def _worked(self) -> None:
        if self.trouble.failures:
            self.trouble = NO_TROUBLE
            write_facts(self._sql, projection=None)


def _room_ms(took_ms: int) -> int:
    return min(LONGEST_ROOM_MS, ROOM * max(0, took_ms))
