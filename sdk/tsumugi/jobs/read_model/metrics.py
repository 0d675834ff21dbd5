"""Jobs that ended, as data points for Analytics Engine: few points for many jobs. Queries nothing.

A point stands for the jobs of one state whose last attempts took about equally long:
``blob1`` state, ``blob2`` binding, ``blob3`` guarantee, ``blob4`` width of the lane,
``double1`` mean attempts, ``double2`` mean duration in ms, ``double3`` jobs, ``double4`` longest
duration in ms. The index, by which the service samples, is the binding.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsumugi.jobs.wire import Snapshot

#: One call of the Worker writes at most 250; a projection may write several times.
POINTS_PER_WRITE: Final = 50
#: Lanes of duration in a doubling: each is 19 % wide.
LANES_PER_OCTAVE: Final = 4
#: Bytes of an index.
INDEX_LENGTH: Final = 96


class Dataset(Protocol):
    """``AnalyticsEngineDataset``, as ``env`` holds it."""

    def writeDataPoint(self, **event: Any) -> None: ...


class Ended(NamedTuple):
    binding: str
    state: str
    guarantee: str
    attempts: int
    duration_ms: int


def write_points(dataset: Dataset, snapshots: Sequence[Snapshot]) -> None:
    """Tell of these jobs, which just ended."""
    for point in points([ended(snapshot) for snapshot in snapshots]):
        dataset.writeDataPoint(**point)


def ended(snapshot: Snapshot) -> Ended:
    """A job as a point knows it. The duration is of its last attempt; 0 if it never began."""
    begun = snapshot["started_at"] or snapshot["queued_at"]
    finished = snapshot["finished_at"] or snapshot["updated_at"]
    duration_ms = 0 if begun is None else max(0, finished - begun)
    return Ended(
        snapshot["binding"],
        snapshot["state"],
        snapshot["guarantee"],
        snapshot["attempts"],
        duration_ms,
    )


def points(jobs: Sequence[Ended]) -> list[Mapping[str, Any]]:
    """At most ``POINTS_PER_WRITE``: lanes are widened until that is enough, down to one lane."""
    lanes = LANES_PER_OCTAVE * 1.0
    while True:
        groups: dict[tuple[str, str, str, int], list[Ended]] = defaultdict(list)
        for job in jobs:
            lane = int(math.log2(max(1, job.duration_ms)) * lanes)
            groups[job.binding, job.state, job.guarantee, lane].append(job)
        if len(groups) <= POINTS_PER_WRITE or lanes < 1 / 64:
            return [_point(group) for group in groups.values()]
        lanes /= 2


def _point(jobs: Sequence[Ended]) -> Mapping[str, Any]:
    first, count = jobs[0], len(jobs)
    durations = [job.duration_ms for job in jobs]
    mean_ms = sum(durations) / count
    return {
        "indexes": [first.binding[:INDEX_LENGTH]],
        # One name per quarter octave whatever the lane's width, so that reading can group by it.
        "blobs": [first.state, first.binding, first.guarantee, str(lane_of(mean_ms))],
        "doubles": [sum(job.attempts for job in jobs) / count, mean_ms, count, max(durations)],
    }


def lane_of(duration_ms: float) -> int:
    """Which lane a duration is in: fine below, coarse above, the same everywhere and for ever."""
    return int(math.log2(max(1.0, duration_ms)) * LANES_PER_OCTAVE)
