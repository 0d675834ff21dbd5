"""Counts and durations of what happened, for an Analytics Engine dataset. In memory; writes none.

What was not flushed is lost with the object: figures over time, not the truth about jobs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypedDict

from tsumugi.jobs.core.control import Cancelled, Retried
from tsumugi.jobs.core.model import Dispatch, Expire, Fail, Reap, Stall
from tsumugi.jobs.core.reports import Complete, PutBack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.shard.moves import Change
    from tsumugi.jobs.wire import AttemptReport

#: What a move is called; the others are not counted.
EVENTS: Final = {
    Dispatch: "dispatched",
    Complete: "completed",
    Fail: "failed",
    Reap: "retrying",
    Stall: "stalled",
    Expire: "expired",
    Cancelled: "cancelled",
    PutBack: "put-back",
    Retried: "retried",
}
#: Points of one flush: one invocation may write 250.
POINTS: Final = 200


class Point(TypedDict):
    """A data point: jobs of one binding to which the same happened in about the same time.

    ``blobs``: binding, shard, event, and the lane, a power of two of milliseconds that is greater
    than the duration of each. ``doubles``: how many jobs, the sum of their milliseconds, the
    greatest of them, and the sum of their attempts.
    """

    indexes: list[str]
    blobs: list[str]
    doubles: list[float]


@dataclass(slots=True)
class _Sum:
    jobs: int = 0
    total_ms: int = 0
    greatest_ms: int = 0
    attempts: int = 0


@dataclass(slots=True)
class Measures:
    """Durations: of "dispatched" the wait since the job was ready, of ends the attempt's run."""

    binding: str
    shard: int
    _sums: dict[tuple[str, int], _Sum] = field(default_factory=dict)

    def _add(self, event: str, duration_ms: int = 0, attempts: int = 0, jobs: int = 1) -> None:
        duration_ms = max(0, duration_ms)
        lane = (event, duration_ms.bit_length())
        known = self._sums.get(lane)
        if known is None:
            known = self._sums[lane] = _Sum()
        known.jobs += jobs
        known.total_ms += duration_ms
        known.attempts += attempts
        if duration_ms > known.greatest_ms:
            known.greatest_ms = duration_ms

    def enqueued(self, jobs: int) -> None:
        if jobs:
            self._add("enqueued", jobs=jobs)

    def dispatched(self, jobs: Iterable[JobView], *, now_ms: int) -> None:
        for job in jobs:
            self._add("dispatched", now_ms - job.ready_ms, job.attempts)

    def changed(self, changes: Iterable[Change]) -> None:
        """Of what nobody reported."""
        for change in changes:
            event = EVENTS.get(type(change.move))
            if event is not None:
                self._add(event, 0, getattr(change.move, "attempts", change.job.attempts))

    def reported(self, reports: Iterable[tuple[Change, AttemptReport]]) -> None:
        for change, told in reports:
            event = EVENTS.get(type(change.move))
            if event is not None:
                attempts = getattr(change.move, "attempts", change.job.attempts)
                self._add(event, told["finished_ms"] - told["started_ms"], attempts)

    def take(self) -> list[Point]:
        """One point per event and lane since the last time; what is too much stays for the next."""
        lanes = sorted(self._sums)[:POINTS]
        return [self._point(lane, self._sums.pop(lane)) for lane in lanes]

    def _point(self, lane: tuple[str, int], known: _Sum) -> Point:
        event, power = lane
        return {
            "indexes": [self.binding],
            "blobs": [self.binding, str(self.shard), event, str(1 << power)],
            "doubles": [known.jobs, known.total_ms, known.greatest_ms, known.attempts],
        }
