"""The one alarm of a shard: the earliest of several reasons to wake. Does nothing when it fires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from tsumugi.jobs.shard.platform import Platform

type Reason = Literal["plan", "projection", "sweep", "safety", "repair"]

#: When to look whether what was started in memory has ended, if nothing else was heard of it.
SAFETY_MS: Final = 5_000
#: A reason further away than this wakes the shard early, to look again: clocks are set.
LONGEST_MS: Final = 7 * 86_400_000


class Wakes:
    """Set only where it becomes earlier: one that comes for nothing costs less than moving it.

    Except where it was for safety alone, and what was under way has ended: most of these would come
    for nothing.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        #: What the platform has; None: nothing.
        self.known_ms: int | None = None
        self._for_safety = False
        self._reasons: dict[Reason, int] = {}

    def at(self, reason: Reason, at_ms: int | None) -> None:
        """Wake then for this reason, and no more for what was said of it before."""
        if at_ms is None:
            self._reasons.pop(reason, None)
        else:
            self._reasons[reason] = at_ms

    def due(self, reason: Reason, now_ms: int) -> bool:
        at_ms = self._reasons.get(reason)
        return at_ms is not None and at_ms <= now_ms

    def get(self, reason: Reason) -> int | None:
        return self._reasons.get(reason)

    def fired(self) -> None:
        """The platform has no alarm now."""
        self.known_ms = None

    async def arm(self) -> None:
        """See that the alarm is not later than any reason."""
        if not self._reasons:
            return
        now_ms = self._platform.now_ms()
        reason = min(self._reasons, key=self._reasons.__getitem__)
        wanted_ms = max(now_ms + 1, min(self._reasons[reason], now_ms + LONGEST_MS))
        ended = self._for_safety and "safety" not in self._reasons
        if self.known_ms is None or wanted_ms < self.known_ms or ended:
            self._for_safety = reason == "safety"
            if wanted_ms != self.known_ms:
                self.known_ms = wanted_ms
                try:
                    await self._platform.set_alarm(wanted_ms)
                except BaseException:
                    self.known_ms = None
                    raise
