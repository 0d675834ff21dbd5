"""The jobs API under ``tsumugi dev``, through its own document; and what it says when it cannot."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from dev_session import WITHIN_S, Dev, Project, eventually, free_port, run_tsumugi
from document_client import DocumentClient
from tsumugi.jobs.read_model import schema
from tsumugi_emulator.tokens import Tokens
from vendored import vendor_if_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIGRATIONS = Path(schema.__file__).with_name("migrations")
TOKEN = "token-of-tests"

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]


def prepared(directory: Path, **secrets: str) -> Project:
    made = vendor_if_needed(Project.of_worker("jobs_api", directory))
    values = {"TSUMUGI_TOKEN": TOKEN, "METRICS_URL": "", "METRICS_TOKEN": "", **secrets}
    made.write(".dev.vars", "".join(f"{name}={value}\n" for name, value in values.items()))
    return made


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    directory = tmp_path_factory.mktemp("jobs-api") / "project"
    api_port, tokens = free_port(), Tokens(directory / ".wrangler" / "tsumugi")
    _, token = tokens.create("metrics", ["queues:read"], now_ms=0)
    url = f"http://127.0.0.1:{api_port}/client/v4"
    project = prepared(directory, METRICS_URL=url, METRICS_TOKEN=token)
    shutil.copytree(MIGRATIONS, directory / "migrations")
    dev = Dev(project, "--api-port", str(api_port))
    try:
        dev.ready()
        yield dev
    finally:
        dev.close()


@pytest.fixture(scope="module")
def api(session: Dev) -> Iterator[DocumentClient]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(
        base_url=session.url, headers=headers, timeout=WITHIN_S, trust_env=False
    ) as client:
        yield DocumentClient(client)


def settled(api: DocumentClient, job_id: str, state: str) -> Any:
    def look() -> Any:
        job = api.call("getJob", id=job_id)["job"]
        return job if job["state"] == state else None

    return eventually(look, f"{job_id} is {state}")


def test_a_job_is_enqueued_performed_shown_and_listed(api: DocumentClient) -> None:
    created = api.call("createJob", {"binding": "Echo", "payload": {"a": 1}, "uniqueKey": "one"})
    assert created["created"] is True
    again = api.call("createJob", {"binding": "Echo", "payload": {"a": 2}, "uniqueKey": "one"})
    assert again == {"id": created["id"], "created": False}
    job = settled(api, created["id"], "COMPLETED")
    assert (job["payload"], job["result"]) == ('{"a":1}', '{"echo":{"a":1}}')
    assert [line["message"] for line in job["logs"]] == ["echo {'a': 1}"]
    assert [one["state"] for one in job["attempts_log"]] == ["COMPLETED"]
    listed = eventually(
        lambda: api.call("listJobs", unique_key="one", state=["COMPLETED"])["jobs"],
        "the list knows it",
    )
    assert [one["id"] for one in listed] == [created["id"]]


def test_a_failed_job_is_retried_by_hand_alone_and_with_others(api: DocumentClient) -> None:
    ids = [api.call("createJob", {"binding": "Break", "payload": n})["id"] for n in range(3)]
    for job_id in ids:
        job = settled(api, job_id, "FAILED")
    assert job["retryable"] is True
    assert job["attempts_log"][0]["error"] == "ValueError: told to break on 2"
    api.call("cancelJob", id=ids[0], status=409)
    assert api.call("retryJob", id=ids[0]) == {"ok": True, "state": "SCHEDULED"}
    settled(api, ids[0], "FAILED")
    assert api.call("bulkRetryJobs", {"ids": [*ids[1:], "nonsense"]}) == {
        "ok": ids[1:],
        "failed": [{"id": "nonsense", "reason": "invalid-id"}],
        "remaining": 0,
    }


def test_a_paused_binding_keeps_its_jobs_until_it_is_resumed(api: DocumentClient) -> None:
    change = {"paused": True, "rate": {"tokens": 5, "intervalMs": 1000}}
    told = api.call("changePolicy", change, binding="Split")
    assert (told["shards"], told["changed"]) == (2, ["rate", "paused"])
    ids = [
        api.call("createJob", {"binding": "Split", "payload": n, "partitionKey": str(n)})["id"]
        for n in range(4)
    ]
    assert {one.partition(":")[0] for one in ids} == {"Split#0", "Split#1"}
    found = api.call("getDiagnostics", binding="Split")["bindings"]["Split"]
    assert (found["active"], found["policy"]["paused"]) == (4, True)
    assert len(found["shards"]) == 2
    api.call("rescheduleJob", {"delayMs": 86_400_000, "priority": 7}, id=ids[0])
    job = api.call("getJob", id=ids[0])["job"]
    assert (job["state"], job["priority"]) == ("SCHEDULED", 7)
    assert api.call("cancelJob", id=ids[0])["state"] == "CANCELLED"
    api.call("retryJob", id=ids[0], status=409)
    wanted = {"binding": "Split", "limit": 1}
    done = eventually(lambda: api.call("bulkCancelJobs", wanted)["ok"], "one is found")
    assert len(done) == 1
    assert (
        api.call("updatePolicy", {"paused": False}, binding="Split")["policy"]["rate"] is not None
    )
    for job_id in set(ids[1:]) - set(done):
        settled(api, job_id, "COMPLETED")
    api.call("resetPolicy", binding="Split")
    assert api.call("changePolicy", None, binding="Split")["changed"] == []
    api.call("changePolicy", {"paused": True}, binding="Nobody", status=404)


def test_jobs_are_counted_and_bindings_known(api: DocumentClient) -> None:
    assert api.call("listBindings") == {"bindings": ["Break", "Echo", "Split"]}
    api.call("createJob", {"binding": "Echo", "payload": None})
    stats = eventually(
        lambda: (found := api.call("getStats"))["byBinding"].get("Echo") and found,
        "the figures know it",
    )
    assert sum(stats["byState"].values()) >= 1


def test_metrics_come_from_the_local_sql_api(session: Dev, api: DocumentClient) -> None:
    session.wait_for(r"Queues API on")
    nothing = api.call("getMetrics", hours=1, binding="Nobody")
    assert (nothing["bindings"], nothing["series"]) == ([], [])
    job_id = api.call("createJob", {"binding": "Echo", "payload": "measured"})["id"]
    settled(api, job_id, "COMPLETED")

    def measured() -> Any:
        # Shards write their points now and then, and all of a shard at the same time.
        found = api.call("getMetrics", hours=1, binding="Echo")
        return found["bindings"] and found

    found = eventually(measured, "the dataset has points")
    assert found.get("note") is None
    [echo] = found["bindings"]
    assert echo["binding"] == "Echo"
    assert (echo["failed"], echo["failureRate"]) == (0, 0)
    assert echo["total"] == sum(point["total"] for point in found["series"]) >= 1


def test_what_is_wrong_is_said(session: Dev, api: DocumentClient) -> None:
    api.call("createJob", {"binding": "Nobody", "payload": 1}, status=400)
    api.call("getJob", id="Echo#0:" + 28 * "0", status=404)
    assert session.get("/api/jobs").status_code == 401
    assert session.get("/elsewhere").status_code == 404
    refused = session.get("/api/jobs", headers={"authorization": f"Bearer {TOKEN}x"})
    assert refused.headers["www-authenticate"].startswith("Bearer")
    with_cookie = session.get("/api/jobs", headers={"cookie": f"tsumugi_token={TOKEN}"})
    assert with_cookie.status_code == 200


def test_every_documented_operation_was_called(api: DocumentClient) -> None:
    api.call("getOpenApi")
    assert {name for name, status in api.called if status < 300} == set(api.operations)


def test_a_project_without_migrations_is_told_how_to_get_them(tmp_path: Path, dev: RunDev) -> None:
    project = prepared(tmp_path / "project")
    running = dev(project).ready()
    headers = {"authorization": f"Bearer {TOKEN}"}
    answer = running.get("/api/jobs", headers=headers)
    assert (answer.status_code, answer.json()["missing"]) == (503, ["0001_tsumugi_jobs"])
    for command in (("jobs", "migrations"), ("d1", "migrations", "apply", "TSUMUGI_DB")):
        assert " ".join(command) in answer.json()["error"] or command[0] == "d1"
        done = run_tsumugi(*command, cwd=project.directory)
        assert done.returncode == 0, done.stdout + done.stderr
    assert running.get("/api/jobs", headers=headers).json() == {"jobs": [], "total": 0}
