"""The shard's tables as sources of jobs, held to what sources promise, whatever the chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import mock

from hypothesis import given, settings, strategies as st
from jobs_model import NOW, job_lists, policies
from jobs_shard_tables import tables_with
from jobs_source_conformance import check_in_flight_source, check_ready_source
from tsumugi.jobs.core.memory import ListedInFlight, ListedReady
from tsumugi.jobs.core.schedule import schedule
from tsumugi.jobs.shard import in_flight, waiting
from tsumugi.jobs.shard.in_flight import SqlInFlight
from tsumugi.jobs.shard.waiting import SqlReady

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView, Policy

sizes = st.sampled_from([1, 2, 3, 512])


@settings(max_examples=60)
@given(jobs=job_lists(), expected=sizes, of_key=sizes, first=sizes, largest=sizes, priorities=sizes)
def test_the_tables_are_a_source_of_ready_jobs(
    jobs: list[JobView], expected: int, of_key: int, first: int, largest: int, priorities: int
) -> None:
    with (
        mock.patch.object(waiting, "FIRST_CHUNK", first),
        mock.patch.object(waiting, "LARGEST_CHUNK", largest),
        mock.patch.object(waiting, "FIRST_PRIORITIES", priorities),
    ):
        source = SqlReady(tables_with(jobs), now_ms=NOW, expected=expected, of_key=of_key)
        check_ready_source(source, jobs, now_ms=NOW)


@settings(max_examples=60)
@given(jobs=job_lists(), first=sizes, largest=sizes)
def test_the_tables_are_a_source_of_jobs_in_flight(
    jobs: list[JobView], first: int, largest: int
) -> None:
    with (
        mock.patch.object(in_flight, "FIRST_CHUNK", first),
        mock.patch.object(in_flight, "LARGEST_CHUNK", largest),
    ):
        check_in_flight_source(SqlInFlight(tables_with(jobs)), jobs)


@settings(max_examples=100)
@given(jobs=job_lists(max_size=40), policy=policies, limit=st.sampled_from([2, 1_000]))
def test_a_tick_over_the_tables_is_the_tick_over_a_list(
    jobs: list[JobView], policy: Policy, limit: int
) -> None:
    sql = tables_with(jobs)
    ready = SqlReady(sql, now_ms=NOW, expected=3, of_key=policy.per_key_concurrency)
    over_tables = schedule(
        ready,
        SqlInFlight(sql),
        now_ms=NOW,
        policy=policy,
        bucket=None,
        chance=0.5,
        limit=limit,
    )
    over_list = schedule(
        ListedReady(jobs, now_ms=NOW),
        ListedInFlight(jobs),
        now_ms=NOW,
        policy=policy,
        bucket=None,
        chance=0.5,
        limit=limit,
    )
    assert over_tables == over_list
