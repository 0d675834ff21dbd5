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


class Point(TypedDict):
    """One data point: ``indexes`` the binding; ``blobs`` binding, shard and event; ``doubles`` how
    many, the sum of their milliseconds, and the greatest of them."""

    indexes: list[str]
    blobs: list[str]
    doubles: list[float]


@dataclass(slots=True)
class _Sum:
    count: int = 0
    total_ms: int = 0
    greatest_ms: int = 0

    def add(self, duration_ms: int) -> None:
        self.count += 1
        self.total_ms += duration_ms
        self.greatest_ms = max(self.greatest_ms, duration_ms)


@dataclass(slots=True)
class Measures:
    """Durations: of "dispatched" the wait since the job was ready, of ends the attempt's run."""

    binding: str
    shard: int
    _sums: dict[str, _Sum] = field(default_factory=dict)

    def _add(self, event: str, duration_ms: int = 0) -> None:
        self._sums.setdefault(event, _Sum()).add(max(0, duration_ms))

    def enqueued(self, count: int) -> None:
        for _ in range(count):
            self._add("enqueued")

    def dispatched(self, jobs: Iterable[JobView], *, now_ms: int) -> None:
        for job in jobs:
            self._add("dispatched", now_ms - job.ready_ms)

    def changed(self, changes: Iterable[Change]) -> None:
        for change in changes:
            event = EVENTS.get(type(change.move))
            if event is not None:
                self._add(event)

    def reported(self, reports: Iterable[tuple[Change, AttemptReport]]) -> None:
        for change, told in reports:
            event = EVENTS.get(type(change.move))
            if event is not None:
                self._add(event, told["finished_ms"] - told["started_ms"])

    def take(self) -> list[Point]:
        """One point per event that happened since the last time."""
        sums, self._sums = self._sums, {}
        return [
            {
                "indexes": [self.binding],
                "blobs": [self.binding, str(self.shard), event],
                "doubles": [each.count, each.total_ms, each.greatest_ms],
            }
            for event, each in sorted(sums.items())
        ]
