"""Every source of jobs there is, held to what sources promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from jobs_model import NOW, job_lists
from jobs_source_conformance import check_in_flight_source, check_ready_source
from tsumugi.jobs.core.memory import ListedInFlight, ListedReady

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView


@given(jobs=job_lists())
def test_a_list_of_jobs_is_a_source_of_ready_ones(jobs: list[JobView]) -> None:
    check_ready_source(ListedReady(jobs, now_ms=NOW), jobs, now_ms=NOW)


@given(jobs=job_lists())
def test_a_list_of_jobs_is_a_source_of_those_in_flight(jobs: list[JobView]) -> None:
    check_in_flight_source(ListedInFlight(jobs), jobs)
