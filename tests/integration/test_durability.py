"""What was acknowledged survives everything: restarts, reloads, kill -9."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from dev_session import Dev, Project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gates import Gate

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

PRODUCER_ONLY = {"producers": [{"binding": "JOBS", "queue": "jobs"}]}


def stored(directory: Path) -> list[tuple[str, int, int]]:
    """What the file holds of delayed messages: body, due time, attempts."""
    with sqlite3.connect(f"file:{directory}/queues.sqlite?mode=ro", uri=True) as db:
        rows = db.execute("SELECT body, due_ms, attempts FROM delayed ORDER BY body").fetchall()
    db.close()
    return [(bytes(body).decode(), due_ms, attempts) for body, due_ms, attempts in rows]


def state_of(made: Project) -> Path:
    return made.directory / ".wrangler" / "tsumugi"


def test_messages_wait_for_a_consumer_and_say_so_once(project: MakeProject, dev: RunDev) -> None:
    made = project("jobs", queues=PRODUCER_ONLY)
    first = dev(made).ready()
    first.post("/", json=[{"name": "early"}])
    first.wait_for('Queue "jobs" has no consumer')
    first.post("/", json=[{"name": "late"}])
    assert first.stop() == 0
    assert first.count("has no consumer") == 1, first.output
    second = dev(
        Project.of_worker("jobs", made.directory.with_name("again")),
        "--persist-to",
        str(state_of(made)),
    ).ready()
    second.wait_for("jobs early attempt 1")
    second.wait_for("jobs late attempt 1")


def test_a_delayed_message_keeps_its_due_time_over_a_restart(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("jobs")
    first = dev(made).ready()
    first.post("/?delay=3600", json=[{"name": "hour"}])
    first.post("/?delay=2", json=[{"name": "soon"}])
    before = stored(state_of(made))
    assert first.stop() == 0
    assert stored(state_of(made)) == before
    assert "attempt" not in first.output
    second = dev(made).ready()
    second.wait_for("jobs soon attempt 1")
    assert "hour" not in second.output
    assert second.count("attempt") == 1


def test_nothing_acknowledged_is_lost_when_the_supervisor_is_killed(
    project: MakeProject, dev: RunDev, gate: Gate
) -> None:
    made = project("jobs")
    first = dev(made).ready()
    first.post("/?delay=3600", json=[{"name": "delayed"}])
    first.post("/", json=[{"name": "retried", "do": "retry later"}])
    first.wait_for("QUEUE jobs 0/1")
    delayed = stored(state_of(made))
    assert [attempts for _, _, attempts in delayed] == [0, 1]
    first.post("/", json=[{"name": "held", "do": "wait", "gate": gate.url}])
    first.wait_for("jobs held attempt 1")
    jobs = [{"name": f"job {number}"} for number in range(50)]
    first.post("/", json=jobs)
    first.kill()
    assert stored(state_of(made)) == delayed
    gate.open()
    second = dev(made).ready()
    # The batch in flight cost one attempt, the messages behind it none or one.
    second.wait_for("jobs held attempt 2")
    seen = first.output + second.output
    for job in jobs:
        if f"jobs {job['name']} attempt" not in seen:
            second.wait_for(f"jobs {job['name']} attempt")
    assert "delayed" not in second.output
    assert "retried" not in second.output
    assert stored(state_of(made)) == delayed


def test_a_batch_in_flight_at_ctrl_c_is_delivered_again(
    project: MakeProject, dev: RunDev, gate: Gate
) -> None:
    made = project("jobs")
    first = dev(made).ready()
    first.post("/", json=[{"name": "held", "do": "wait", "gate": gate.url}])
    first.wait_for("jobs held attempt 1")
    assert first.stop() == 0
    assert "ERROR" not in first.output
    gate.open()
    second = dev(made).ready()
    second.wait_for("jobs held attempt 2")
    second.wait_for("QUEUE jobs 1/1")


def test_two_emulators_cannot_share_a_state_directory(project: MakeProject, dev: RunDev) -> None:
    made = project("web")
    first = dev(made).ready()
    second = dev(made)
    assert second.wait() == 1
    assert f"in use by process {first.process.pid}" in second.output
    assert "--persist-to" in second.output
    assert "Ready" not in second.output
    assert first.get("/").text == "first"
    third = dev(made, "--persist-to", str(made.directory / "other")).ready()
    assert third.get("/").text == "first"
    assert (made.directory / "other" / "queues.sqlite").exists()


def test_a_state_file_of_a_newer_version_is_refused(project: MakeProject, dev: RunDev) -> None:
    made = project("web")
    state_of(made).mkdir(parents=True)
    with sqlite3.connect(state_of(made) / "queues.sqlite") as db:
        db.execute("PRAGMA user_version = 9999")
    db.close()
    session = dev(made)
    assert session.wait() == 1
    assert "upgrade tsumugi-workers" in session.output
    assert "Traceback" not in session.output


def test_a_state_file_that_is_none_is_refused_with_its_place(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("web")
    made.write(".wrangler/tsumugi/queues.sqlite", "not a database, but longer than its header" * 9)
    session = dev(made)
    assert session.wait() == 1
    assert "file is not a database" in session.output
    assert "--persist-to" in session.output
    assert "Traceback" not in session.output
