"""Jobs under ``tsumugi dev``: a request enqueues, a queue carries, a performer performs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from coordinator import SLOWER, Coordinator
from dev_session import Dev, Project, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Coordinator]:
    made = Project.of_worker("coordinator", tmp_path_factory.mktemp("jobs") / "project")
    started = Coordinator(made, Dev)
    yield started
    started.session.close()


@pytest.fixture
def coordinator(running: Coordinator) -> Coordinator:
    running.forget()
    return running


def test_a_job_runs_from_a_request_to_its_result(coordinator: Coordinator) -> None:
    (job_id,) = coordinator.enqueue("Work")
    (job,) = coordinator.ended()
    assert (job["id"], job["state"], job["attempts"]) == (job_id, "COMPLETED", 1)
    assert job["result"] == {"attempt": 1}
    assert [line["event"] for line in coordinator.log()] == ["start", "end"]


def test_many_jobs_run_once_each_and_the_read_model_lists_them(coordinator: Coordinator) -> None:
    coordinator.enqueue("Work", 300)
    once = coordinator.enqueue("Once", 50, payload={"takes_ms": 20})
    assert coordinator.check(once=once) == {"Work": {"COMPLETED": 300}, "Once": {"COMPLETED": 50}}
    assert set(coordinator.performed().values()) == {1}
    assert len(coordinator.performed("end")) == 350


def test_a_job_that_fails_is_tried_again_until_its_attempts_are_used_up(
    coordinator: Coordinator,
) -> None:
    twice, always = (
        coordinator.enqueue("Work", payload={"fail_times": times})[0] for times in (2, 99)
    )
    by_id = {job["id"]: job for job in coordinator.ended()}
    assert (by_id[twice]["state"], by_id[twice]["attempts"]) == ("COMPLETED", 3)
    assert (by_id[always]["state"], by_id[always]["attempts"]) == ("FAILED", 5)
    assert by_id[always]["error"]["message"] == "told to fail attempt 5"
    assert coordinator.performed() == {twice: 3, always: 5}


def test_a_slow_job_shows_as_running(coordinator: Coordinator) -> None:
    (job_id,) = coordinator.enqueue("Work", payload={"takes_ms": 2_000})
    eventually(lambda: coordinator.job(job_id)["state"] == "RUNNING", "it is RUNNING", 1.9 * SLOWER)
    (job,) = coordinator.ended()
    assert job["state"] == "COMPLETED"


def test_a_performer_that_takes_too_long_times_out(coordinator: Coordinator) -> None:
    (job_id,) = coordinator.enqueue(
        "Work",
        payload={"takes_ms": 60_000},
        options={"timeout_ms": 300, "max_attempts": 2},
    )
    (job,) = coordinator.ended()
    assert (job["state"], job["attempts"]) == ("FAILED", 2)
    assert [record["outcome"] for record in job["attempts_log"]] == ["timed-out"] * 2
    assert coordinator.performed("end") == {}
    assert coordinator.session.post(f"/retry?id={job_id}".replace("#", "%23")).json() == "done"


def test_the_api_answers_for_whoever_has_the_token(coordinator: Coordinator) -> None:
    coordinator.enqueue("Work")
    coordinator.ended()
    assert coordinator.session.get("/api/jobs").status_code == 401
    (job_id,) = coordinator.ids
    eventually(
        lambda: job_id in [job["id"] for job in coordinator.api("/jobs").json()["jobs"]],
        "the job is listed",
    )
    assert coordinator.session.get("/elsewhere").status_code == 404


#: As in the documentation of ``Tsumugi``.
EXAMPLE = """
from pydantic import BaseModel
from workers import Response
from tsumugi import Binding, JobContext, Performer, Policy, Rate, Tsumugi, bearer_auth

class Mail(BaseModel):
    to: str
    subject: str

class SendMail(Performer[Mail]):
    async def perform(self, payload: Mail, ctx: JobContext) -> dict:
        await ctx.heartbeat(0.5)
        return {"sent": payload.to}

tsumugi = Tsumugi(
    performers=[SendMail],
    bindings={"SendMail": Binding(policy=Policy(concurrency=20, rate=Rate(100, per_ms=60_000)))},
    auth=bearer_auth(lambda env: env.TSUMUGI_TOKEN),
)

class TsumugiJobShard(tsumugi.JobShard): ...

class Default(tsumugi.Entrypoint):
    async def fetch(self, request):
        if request.url.endswith("/enqueue"):
            job_id = await tsumugi.enqueue(
                self.env, SendMail, Mail(to="a@example.com", subject="hi"), concurrency_key="a"
            )
            return Response.json({"id": job_id})
        return await super().fetch(request)
"""


def test_the_example_runs_as_it_is_written(tmp_path: Path) -> None:
    made = Project.of_worker("coordinator", tmp_path / "example")
    made.write("src/entry.py", EXAMPLE)
    example = Coordinator(made, Dev)
    try:
        ids = {example.session.get("/enqueue").json()["id"] for _ in range(3)}
        path = "/jobs?state=COMPLETED"
        eventually(lambda: len(example.api(path).json()["jobs"]) == 3, "all are done and listed")
        jobs = example.api(path).json()["jobs"]
        assert {job["id"] for job in jobs} == ids
        assert {job["progress"] for job in jobs} == {0.5}
    finally:
        example.session.close()
