"""Pages of jobs: filters, order, limits, totals. And the jobs that are forgotten."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from local_d1 import LocalD1
from snapshot_builder import T0, finished, job_id, snapshot
from tsumugi.jobs.read_model import project
from tsumugi.jobs.read_model.cleanup import Cleaned, cleanup
from tsumugi.jobs.read_model.queries import PAGE_LIMIT, Filter, Page, counts, ids_of, page_of

if TYPE_CHECKING:
    from tsumugi.jobs.wire import Snapshot


@pytest.fixture
def database() -> LocalD1:
    return LocalD1()


def write(database: LocalD1, *snapshots: Snapshot) -> None:
    asyncio.run(project(database, snapshots))


def page(database: LocalD1, wanted: Filter | None = None, **fields: Any) -> tuple[list[int], int]:
    """The numbers of the jobs on a page, and how many match."""
    rows, total = asyncio.run(page_of(database, wanted or Filter(), Page(**fields)))
    return [int(row["id"].rpartition(":")[2], 16) for row in rows], total


JOBS = [
    snapshot(1, priority=5, concurrency_key="c"),
    finished(2, "FAILED", attempts=3, unique_key="u"),
    finished(3, binding="Charge"),
    snapshot(4, "RUNNING", 2, concurrency_key="c"),
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(), [4, 3, 2, 1]),
        (Filter(states=["FAILED"]), [2]),
        (Filter(states=["FAILED", "RUNNING"]), [4, 2]),
        (Filter(states=[]), []),
        (Filter(binding="Charge"), [3]),
        (Filter(id=job_id(2)), [2]),
        (Filter(unique_key="u"), [2]),
        (Filter(concurrency_key="c"), [4, 1]),
        (Filter(concurrency_key="c", states=["RUNNING"]), [4]),
        (Filter(created_from=T0 + 2), [4, 3, 2]),
        (Filter(created_to=T0 + 2), [2, 1]),
        (Filter(created_from=T0 + 2, created_to=T0 + 2), [2]),
        (Filter(finished_after=T0 + 4), [3]),
        (Filter(binding="Nobody"), []),
        (Filter(unique_key="' OR 1=1 --"), []),
    ],
)
def test_a_page_holds_what_matches_all_filters(
    database: LocalD1, wanted: Filter, found: list[int]
) -> None:
    write(database, *JOBS)
    assert page(database, wanted) == (found, len(found))


@pytest.mark.parametrize(
    ("sort", "ascending"),
    [
        ("updated_at", [1, 2, 3, 4]),
        ("created_at", [1, 2, 3, 4]),
        ("binding", [3, 1, 2, 4]),
        ("state", [3, 2, 4, 1]),
        ("priority", [3, 2, 4, 1]),
        ("attempts", [3, 1, 4, 2]),
    ],
)
def test_a_page_is_sorted_and_the_id_decides_between_equals(
    database: LocalD1, sort: str, ascending: list[int]
) -> None:
    write(database, *JOBS)
    assert page(database, sort=sort, descending=False)[0] == ascending
    assert page(database, sort=sort)[0] == ascending[::-1]


def test_pages_follow_each_other_without_gap_or_overlap(database: LocalD1) -> None:
    write(database, *(snapshot(number, updated_at=T0) for number in range(25)))
    pages = [page(database, limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    assert [len(numbers) for numbers, _ in pages] == [10, 10, 5, 0]
    assert [number for numbers, _ in pages for number in numbers] == list(range(24, -1, -1))
    assert {total for _, total in pages} == {25}


def test_a_page_is_never_longer_than_the_limit(database: LocalD1) -> None:
    write(database, *(snapshot(number) for number in range(PAGE_LIMIT + 5)))
    numbers, total = page(database, limit=10_000)
    assert (len(numbers), total) == (PAGE_LIMIT, PAGE_LIMIT + 5)


def test_only_columns_that_are_named_can_be_sorted_by(database: LocalD1) -> None:
    with pytest.raises(ValueError, match="sorted by one of"):
        page(database, sort="id; DROP TABLE tsumugi_jobs")


def test_ids_come_oldest_change_first_with_what_remains(database: LocalD1) -> None:
    write(database, *(finished(number, "FAILED") for number in range(5)))
    ids, remaining = asyncio.run(ids_of(database, Filter(states=["FAILED", "STALLED"]), 2))
    assert (ids, remaining) == ([job_id(0), job_id(1)], 3)


# -- Cleanup --------------------------------------------------------------------------------------


def clean(database: LocalD1, *, now_ms: int, **limits: int) -> Cleaned:
    return asyncio.run(cleanup(database, now_ms=now_ms, retention_ms=1_000, **limits))


def test_what_ended_long_ago_is_forgotten_and_what_waits_stays(database: LocalD1) -> None:
    states = ("COMPLETED", "FAILED", "CANCELLED", "STALLED")
    write(
        database,
        *(finished(number, state) for number, state in enumerate(states)),
        *(snapshot(number, state) for number, state in ((10, "QUEUED"), (11, "RUNNING"))),
        snapshot(12),
        finished(500),
    )
    # Job 3 was changed at T0 + 5.
    assert clean(database, now_ms=T0 + 1_005) == Cleaned(3, finished=True)
    assert page(database)[0] == [500, 12, 11, 10, 3]
    assert clean(database, now_ms=T0 + 1_006) == Cleaned(1, finished=True)
    assert asyncio.run(counts(database)).by_state == {
        "COMPLETED": 1,
        "QUEUED": 1,
        "RUNNING": 1,
        "SCHEDULED": 1,
    }


def test_cleaning_up_goes_in_bounded_steps_and_says_when_more_is_left(
    database: LocalD1,
) -> None:
    write(database, *(finished(number) for number in range(25)))
    database.batches.clear()
    assert clean(database, now_ms=T0 * 2, rows=10, steps=2) == Cleaned(20, finished=False)
    assert len(database.batches) == 2
    assert clean(database, now_ms=T0 * 2, rows=10, steps=2) == Cleaned(5, finished=True)
    assert asyncio.run(counts(database)).by_state == {}


def test_a_step_of_cleaning_up_sorts_nothing(database: LocalD1) -> None:
    database.batches.clear()
    clean(database, now_ms=T0)
    for query in database.batches[0]:
        details = database.plan(query)
        assert any("tsumugi_jobs_by_state" in detail for detail in details)
        assert not [d for d in details if "TEMP B-TREE FOR ORDER BY" in d], details


def test_a_forgotten_job_that_changes_is_there_again(database: LocalD1) -> None:
    write(database, finished(1, "FAILED"))
    clean(database, now_ms=T0 * 2)
    write(database, snapshot(1, version=3))
    assert page(database)[0] == [1]
    assert asyncio.run(counts(database)).by_state == {"SCHEDULED": 1}
