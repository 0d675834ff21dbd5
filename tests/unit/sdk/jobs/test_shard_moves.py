"""The door through which jobs change: what it refuses, and what it keeps beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from job_builders import job
from shard_harness import T0, World
from tsumugi.jobs.core.model import Dispatch, JobView
from tsumugi.jobs.core.reports import Complete
from tsumugi.jobs.core.states import JobState
from tsumugi.jobs.shard.moves import Change, IllegalMove, carry_out
from tsumugi.jobs.shard.rows import view
from tsumugi.jobs.shard.sql import Sql

if TYPE_CHECKING:
    from collections.abc import Callable

type Shards = Callable[..., World]


def test_what_the_table_of_transitions_forbids_undoes_the_whole_transaction(
    shard: Shards,
) -> None:
    world = shard()
    first, second = world.enqueue({}, {})
    sql = Sql(world.instance.storage)
    before = world.row(first)
    good = Change(job(first, state=JobState.QUEUED), Complete(id=first, epoch=1, attempts=1))
    bad = Change(
        job(second, state=JobState.FAILED),
        Dispatch(id=second, epoch=2, attempt=1, report_due_ms=None),
    )
    with pytest.raises(IllegalMove, match=f"job {second}: FAILED cannot become QUEUED"):
        sql.transaction(lambda: carry_out(sql, [good, bad], now_ms=T0))
    assert world.row(first) == before


def test_a_row_is_read_as_the_job_it_stands_for() -> None:
    row = ["x", "QUEUED", 3, 1, 2, 4, 5, "at-most-once", None, 6, "k", 7, 8, 9, 10, 600]
    expected = JobView(
        id="x", state=JobState.QUEUED, priority=3, ready_ms=1, attempts=2, max_attempts=4,
        epoch=5, guarantee=view(row).guarantee, timeout_ms=6, concurrency_key="k", expires_ms=7,
        report_due_ms=8, beat_ms=9, finished_ms=10,
    )  # fmt: skip
    assert view(row) == expected
    assert view(row).guarantee == "at-most-once"
