"""What user code does to its process costs the event it happened in, and nothing else."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

import httpx
import pytest
from dev_session import Dev, Project, eventually, is_gone

if TYPE_CHECKING:
    from collections.abc import Callable

    from gates import Gate

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]


def send_stuck(session: Dev) -> None:
    """The batch may take the process before the request that sent it is answered."""
    with contextlib.suppress(httpx.ReadTimeout):
        session.post("/", json=[{"name": "stuck", "do": "busy"}], timeout=0.2)


def test_os_exit_in_a_request_is_answered_and_the_worker_starts_again(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("web")).ready()
    answer = session.get("/exit")
    assert answer.status_code == 503
    assert "the worker process exited with code 3" in answer.text
    assert session.get("/").text == "first"
    assert session.count("exited with code 3; starting it again") == 1


def test_sys_exit_in_a_request_fails_that_request_only(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web")).ready()
    child = session.serving_child()
    answer = session.get("/sysexit")
    assert answer.status_code == 500
    assert "exit(4)" in answer.text
    assert session.serving_child() == child
    assert session.count("Program terminated with exit(4)") == 1


def test_endless_recursion_fails_that_request_only(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web")).ready()
    answer = session.get("/recursion")
    assert answer.status_code in (500, 503)
    assert session.get("/").text == "first"


@pytest.mark.parametrize("do", ["exit", "sys.exit", "recurse", "once then ack"])
def test_a_fault_in_a_batch_costs_it_one_attempt(
    project: MakeProject, dev: RunDev, do: str
) -> None:
    session = dev(project("jobs")).ready()
    session.post("/?delay=1", json=[{"name": "bad", "do": do}, {"name": "good"}])
    session.wait_for("jobs bad attempt 2")
    session.wait_for("QUEUE jobs 1/1", times=2)
    assert session.count("jobs bad attempt") == 2
    # It may have been in flight in the same process; then it had to be delivered again.
    assert session.count("jobs good attempt") in (1, 2)


def test_a_killed_child_costs_its_batch_one_attempt(
    project: MakeProject, dev: RunDev, gate: Gate
) -> None:
    session = dev(project("jobs")).ready()
    child = session.serving_child()
    session.post("/", json=[{"name": "slow", "do": "wait", "gate": gate.url}])
    session.wait_for("jobs slow attempt 1")
    os.kill(child, signal.SIGKILL)
    gate.open()
    session.wait_for("killed by SIGKILL; starting it again")
    session.wait_for("jobs slow attempt 2")
    session.wait_for("QUEUE jobs 1/1")
    assert session.count("jobs slow attempt") == 2


def test_a_worker_that_dies_at_once_every_time_does_not_spin(
    project: MakeProject, dev: RunDev
) -> None:
    made = project(entry="import os\nprint('started')\nos._exit(5)\n")
    session = dev(made)
    session.wait_for("exited with code 5 while importing the Worker")
    answer = session.get("/")
    assert answer.status_code == 500
    assert "exited with code 5" in answer.text
    assert session.count("started") == 1
    made.write(
        "src/entry.py",
        "from workers import Response, WorkerEntrypoint\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def fetch(self, request): return Response('up')\n",
    )
    session.wait_for("Reloaded in")
    assert session.get("/").text == "up"


def test_a_message_that_always_kills_the_worker_ends_in_the_dead_letter_queue(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("jobs")
    made.replace(
        "src/entry.py",
        "            if message.attempts == 1:\n                os._exit",
        ("            if True:\n                os._exit"),
    )
    session = dev(made).ready()
    session.post("/", json=[{"name": "poison", "do": "exit"}])
    session.wait_for("jobs poison attempt 3")
    session.wait_for("dead poison attempt 1")
    session.wait_for("QUEUE dead 1/1")
    assert session.count("jobs poison attempt") == 3


def test_a_busy_loop_keeps_other_events_waiting_but_not_the_emulator(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("jobs")).ready()
    child = session.serving_child()
    send_stuck(session)
    session.wait_for("jobs stuck attempt 1")
    assert session.stop() == 0
    assert is_gone(child)


@pytest.mark.long
def test_a_busy_loop_is_ended_as_production_does(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("jobs")).ready()
    send_stuck(session)
    session.wait_for("did not let its event loop turn for 30 s", within_s=50)
    session.wait_for("jobs stuck attempt 2")
    session.wait_for("QUEUE jobs 1/1")
    assert session.post("/", json=[]).text == "sent"


def test_a_supervisor_that_is_killed_takes_even_a_busy_child_with_it(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("jobs")).ready()
    child = session.serving_child()
    send_stuck(session)
    session.wait_for("jobs stuck attempt 1")
    session.kill()
    eventually(lambda: is_gone(child), "the child ends with its supervisor")
