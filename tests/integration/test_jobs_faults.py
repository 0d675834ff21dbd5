"""Jobs in a world that fails: processes are killed, messages double, calls and answers are lost.

What performers did is read from a log they keep themselves. Every job has to end in one state,
with the attempts it had; an at-most-once job never begins twice; nothing is left behind.
"""

from __future__ import annotations

import os
import random
import signal
from typing import TYPE_CHECKING

import pytest
from coordinator import SLOWER, WITHIN_S, Coordinator
from dev_session import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev_session import Dev, Project

pytestmark = [pytest.mark.long, pytest.mark.timeout(180 if SLOWER == 1 else 600)]

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]


def some(count: int) -> int:
    """So many, or fewer where each of them takes longer."""
    return count // SLOWER


@pytest.fixture
def coordinator(project: MakeProject, dev: RunDev) -> Coordinator:
    return Coordinator(project("coordinator"), dev)


# -- Processes ------------------------------------------------------------------------------------


def test_a_consumer_that_is_killed_in_the_middle(coordinator: Coordinator) -> None:
    coordinator.enqueue("Work", 20, payload={"takes_ms": 500})
    once = coordinator.enqueue("Once", 20, payload={"takes_ms": 500})
    coordinator.wait_until_begun(40)
    os.kill(coordinator.session.serving_child(), signal.SIGKILL)
    counts = coordinator.check(once=once)
    assert counts["Work"] == {"COMPLETED": 20}
    # All of them had begun, so nobody knows whether they are done.
    assert counts["Once"] == {"STALLED": 20}


def test_a_performer_that_takes_its_process_down(coordinator: Coordinator) -> None:
    others = coordinator.enqueue("Work", 30)
    (deadly,) = coordinator.enqueue("Work", payload={"exit_times": 2})
    coordinator.check()
    by_id = {job["id"]: job for job in coordinator.ended()}
    assert {by_id[job_id]["state"] for job_id in others} == {"COMPLETED"}
    assert by_id[deadly]["state"] == "COMPLETED"
    outcomes = [record["outcome"] for record in by_id[deadly]["attempts_log"]]
    assert outcomes == ["silent", "silent", "succeeded"]


def test_a_supervisor_that_is_killed_again_and_again(coordinator: Coordinator) -> None:
    chance = random.Random(5)
    once: list[str] = []
    for _ in range(5):
        coordinator.enqueue("Work", some(400), payload={"takes_ms": 5})
        once += coordinator.enqueue("Once", some(100), payload={"takes_ms": 5})
        begun = len(coordinator.performed())
        coordinator.wait_until_begun(begun + chance.randrange(1, some(150)))
        coordinator.kill_and_restart()
    counts = coordinator.check(once=once)
    assert counts["Work"] == {"COMPLETED": some(2_000)}
    assert counts["Once"].total() == some(500)
    assert set(counts["Once"]) <= {"COMPLETED", "STALLED"}
    ends = coordinator.performed("end")
    stalled = {job["id"] for job in coordinator.ended() if job["state"] == "STALLED"}
    # At most the batches that were under way at each kill.
    assert len(stalled) <= 5 * some(100)
    assert all(ends[job_id] == 1 for job_id in once if job_id not in stalled)


def test_a_reload_in_the_middle_loses_nothing(coordinator: Coordinator) -> None:
    coordinator.enqueue("Work", 50, payload={"takes_ms": 800})
    once = coordinator.enqueue("Once", 20, payload={"takes_ms": 800})
    coordinator.wait_until_begun(20)
    coordinator.project.replace("src/faults.py", "the queue refuses", "the queue refused")
    assert coordinator.check(once=once) == {"Work": {"COMPLETED": 50}, "Once": {"COMPLETED": 20}}


# -- Messages -------------------------------------------------------------------------------------


def test_deliveries_that_come_twice(coordinator: Coordinator) -> None:
    coordinator.faults(send="double")
    coordinator.enqueue("Work", 100, payload={"takes_ms": 20})
    once = coordinator.enqueue("Once", 100, payload={"takes_ms": 20})
    assert coordinator.check(once=once) == {"Work": {"COMPLETED": 100}, "Once": {"COMPLETED": 100}}
    assert {job["attempts"] for job in coordinator.ended()} == {1}
    assert max(coordinator.performed().values()) == 2, "deliveries did come twice"


def test_a_queue_that_refuses_for_a_while_costs_no_attempt(coordinator: Coordinator) -> None:
    coordinator.faults(send="refuse")
    coordinator.enqueue("Work", 50)
    once = coordinator.enqueue("Once", 50)
    eventually(lambda: coordinator.session.count("did not take") >= 4, "sends are refused")
    assert coordinator.performed() == {}
    coordinator.faults()
    assert coordinator.check(once=once) == {"Work": {"COMPLETED": 50}, "Once": {"COMPLETED": 50}}
    assert {job["attempts"] for job in coordinator.ended()} == {1}


def test_a_queue_that_takes_what_it_seems_to_refuse(coordinator: Coordinator) -> None:
    coordinator.faults(send="lose-answer")
    coordinator.enqueue("Work", 50)
    once = coordinator.enqueue("Once", 50)
    eventually(lambda: coordinator.session.count("did not take") >= 4, "answers are lost")
    coordinator.faults()
    assert coordinator.check(once=once) == {"Work": {"COMPLETED": 50}, "Once": {"COMPLETED": 50}}


# -- Calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "performer", "ends_as", "attempts"),
    [
        ("lose", "Work", "COMPLETED", 2),
        # Whether it was done is not known.
        ("lose", "Once", "STALLED", 1),
        ("lose-answer", "Work", "COMPLETED", 1),
        ("lose-answer", "Once", "COMPLETED", 1),
    ],
)
def test_reports_that_are_lost(
    coordinator: Coordinator, fault: str, performer: str, ends_as: str, attempts: int
) -> None:
    coordinator.faults(settle=fault)
    ids = coordinator.enqueue(performer, 20)
    eventually(lambda: coordinator.session.count("given up") >= 1, "reports are given up", WITHIN_S)
    coordinator.faults()
    assert coordinator.check(once=ids if performer == "Once" else ()) == {performer: {ends_as: 20}}
    assert {job["attempts"] for job in coordinator.ended()} == {attempts}


@pytest.mark.parametrize("fault", ["lose", "lose-answer"])
def test_claims_that_are_lost(coordinator: Coordinator, fault: str) -> None:
    coordinator.faults(begin=fault)
    once = coordinator.enqueue("Once", 20)
    eventually(lambda: coordinator.session.count("tried again in") >= 2, "claims are lost")
    coordinator.faults()
    assert coordinator.check(once=once) == {"Once": {"COMPLETED": 20}}


def test_a_database_that_refuses_for_a_while(coordinator: Coordinator) -> None:
    coordinator.faults(database="refuse")
    coordinator.enqueue("Work", 100)
    assert {job["state"] for job in coordinator.ended()} == {"COMPLETED"}, "jobs do not wait for it"
    eventually(
        lambda: coordinator.session.count("the read model is behind") >= 2, "it is seen to refuse"
    )
    coordinator.faults()
    assert coordinator.check() == {"Work": {"COMPLETED": 100}}


# -- Time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump_ms", [3_600_000, -3_600_000])
def test_a_clock_that_jumps_and_is_put_right(coordinator: Coordinator, jump_ms: int) -> None:
    coordinator.enqueue("Work", 50, payload={"takes_ms": 800})
    once = coordinator.enqueue("Once", 20, payload={"takes_ms": 800})
    coordinator.wait_until_begun(40)
    coordinator.faults(clock_ms=jump_ms)
    coordinator.ended(coordinator.enqueue("Work", 20))
    coordinator.faults()
    # An alarm that was set by the other clock is put right by the next change (ADR-0127).
    coordinator.enqueue("Work")
    once += coordinator.enqueue("Once")
    counts = coordinator.check(once=once)
    assert counts["Work"] == {"COMPLETED": 71}
    assert set(counts["Once"]) <= {"COMPLETED", "STALLED"}


# -- Nothing at all -------------------------------------------------------------------------------


def test_a_hundred_runs_in_a_row_all_come_to_their_end(coordinator: Coordinator) -> None:
    for run in range(some(100)):
        performer = ("Work", "Once")[run % 2]
        coordinator.ended(coordinator.enqueue(performer, 50))
    counts = coordinator.check(once=[job for job in coordinator.ids if job.startswith("Once")])
    assert counts == {"Work": {"COMPLETED": some(2_500)}, "Once": {"COMPLETED": some(2_500)}}
    assert set(coordinator.performed().values()) == {1}
