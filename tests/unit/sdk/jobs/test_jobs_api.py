"""The jobs API, endpoint by endpoint. The harness checks every answer against the document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jobs_api_harness import NOW, Api
from shard_fakes import local_id
from snapshot_builder import T0, finished, job_id, snapshot

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def unreachable(_shard: str, _request: Any) -> Any:
    raise RuntimeError("Network connection lost.")


# -- Listing and showing --------------------------------------------------------------------------


def test_jobs_are_listed_with_how_many_match(api: Api) -> None:
    api.project(snapshot(1), finished(2, "FAILED"), finished(3))
    answer = api.get("/api/jobs", state="FAILED")
    assert answer.status == 200
    assert answer.body["total"] == 1
    [job] = answer.body["jobs"]
    assert (job["id"], job["state"], job["retryable"]) == (job_id(2), "FAILED", True)
    assert (job["run_after"], job["dispatched_at"]) == (T0 + 2, None)


def test_states_may_be_given_several_times_and_empty_fields_are_left_out(api: Api) -> None:
    api.project(snapshot(1), finished(2, "FAILED"), finished(3))
    answer = api.get("/api/jobs", state=["FAILED", "COMPLETED"], binding="", unique_key="")
    assert [job["id"] for job in answer.body["jobs"]] == [job_id(3), job_id(2)]


def test_unknown_orders_and_long_pages_fall_back(api: Api) -> None:
    api.project(*(snapshot(number) for number in range(120)))
    answer = api.get("/api/jobs", sort="payload", order="sideways", limit=500)
    assert len(answer.body["jobs"]) == 100
    assert answer.body["jobs"][0]["id"] == job_id(119)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"state": "DONE"}, "state.0"),
        ({"created_from": "yesterday"}, "created_from"),
        ({"limit": "0"}, "limit"),
        ({"offset": "-1"}, "offset"),
        ({"bindng": "SendMail"}, "bindng"),
    ],
)
def test_a_query_that_means_nothing_is_refused_by_field(
    api: Api, query: dict[str, str], field: str
) -> None:
    answer = api.get("/api/jobs", **query)
    assert answer.status == 400
    assert [problem["field"] for problem in answer.body["problems"]] == [field]


def test_a_failed_job_is_not_retryable_once_its_shard_forgot_it(api: Api) -> None:
    week_ms = 7 * 86_400_000
    api.project(finished(1, "FAILED", finished_at=NOW - week_ms))
    [job] = api.get("/api/jobs").body["jobs"]
    assert job["retryable"] is False


def test_a_job_is_shown_as_its_shard_has_it_now(api: Api) -> None:
    api.project(snapshot(1))
    error = {"type": "ValueError", "message": "no", "traceback": "Traceback..."}
    attempts = [
        {"attempt": 1, "outcome": "failed", "started_at": 1, "finished_at": 2, "error": error},
        {"attempt": 2, "outcome": "silent", "started_at": None, "finished_at": 9, "error": None},
        {"attempt": 3, "outcome": "succeeded", "started_at": 10, "finished_at": 12, "error": None},
    ]
    now = finished(
        1,
        attempts=3,
        result={"sent": True},
        attempts_log=attempts,
        logs=[{"attempt": 1, "at": 5, "text": "hello"}],
        traceparent=TRACE,
    )
    api.shards.on["show"] = lambda _shard, _request: {"jobs": [now]}
    job = api.get(f"/api/jobs/{job_id(1)}").body["job"]
    assert api.shards.of("show") == [{"ids": [local_id(1)]}]
    assert (job["state"], job["traceparent"]) == ("COMPLETED", TRACE)
    assert json.loads(job["payload"]) == {"to": "a@example.com"}
    assert json.loads(job["result"]) == {"sent": True}
    assert [(one["attempt"], one["state"]) for one in job["attempts_log"]] == [
        (3, "COMPLETED"),
        (2, "STALLED"),
        (1, "FAILED"),
    ]
    assert job["attempts_log"][2]["error"] == "ValueError: no"
    assert job["logs"] == [{"attempt": 1, "timestamp": 5, "message": "hello"}]


@pytest.mark.parametrize("lost", [True, False])
def test_a_job_that_left_its_shard_or_whose_shard_is_lost_is_shown_from_the_read_model(
    api: Api, lost: bool
) -> None:
    api.project(finished(1, note="the result was too large"))
    if lost:
        api.shards.on["show"] = unreachable
    job = api.get(f"/api/jobs/{job_id(1)}").body["job"]
    assert (job["state"], job["result"]) == ("COMPLETED", None)


def test_a_job_of_a_binding_that_is_no_more_is_shown_without_waking_a_shard(api: Api) -> None:
    api.project(finished(1, binding="Former"))
    assert api.get(f"/api/jobs/{job_id(1, binding='Former')}").status == 200
    assert api.get(f"/api/jobs/{job_id(1, shard=999_999)}").status == 404
    assert api.shards.calls == []


def test_what_is_no_job_is_told_from_what_is_no_id(api: Api) -> None:
    assert api.get(f"/api/jobs/{job_id(7)}").status == 404
    answer = api.get("/api/jobs/seven")
    assert answer.status == 400
    assert "<binding>#<shard>:<local>" in answer.body["error"]


# -- Enqueueing -----------------------------------------------------------------------------------


def test_a_job_is_enqueued_with_its_options(api: Api) -> None:
    answer = api.post(
        "/api/jobs",
        {
            "binding": "SendMail",
            "payload": {"to": "a"},
            "priority": 5,
            "maxAttempts": 7,
            "delayMs": 10,
            "timeoutMs": None,
            "concurrencyKey": "c",
            "uniqueKey": "u",
            "uniqueForMs": 1,
            "expiresInMs": 100,
            "guarantee": "at-most-once",
            "backoff": {"kind": "fixed", "delayMs": 3},
            "traceparent": TRACE,
        },
    )
    assert (answer.status, answer.body["created"]) == (201, True)
    [(shard, method, request)] = api.shards.calls
    assert (shard, method) == ("SendMail#0", "enqueue")
    assert request["jobs"] == [
        {
            "payload": {"to": "a"},
            "priority": 5,
            "max_attempts": 7,
            "delay_ms": 10,
            "timeout_ms": None,
            "concurrency_key": "c",
            "unique_key": "u",
            "unique_for_ms": 1,
            "expires_in_ms": 100,
            "guarantee": "at-most-once",
            "backoff": {"kind": "fixed", "delay_ms": 3, "jitter": True},
            "traceparent": TRACE,
        }
    ]


def test_what_a_body_leaves_out_or_has_as_null_the_performer_says(api: Api) -> None:
    body = {"binding": "Charge", "payload": None, "concurrencyKey": "c", "priority": None}
    assert api.post("/api/jobs", body).status == 201
    [job] = api.shards.of("enqueue")[0]["jobs"]
    assert job == {"payload": None, "guarantee": "at-most-once", "concurrency_key": "c"}


def test_a_taken_unique_key_answers_the_job_that_has_it(api: Api) -> None:
    api.shards.on["enqueue"] = lambda *_: {"ids": [job_id(3)], "created": [False]}
    answer = api.post("/api/jobs", {"binding": "SendMail", "payload": {}, "uniqueKey": "u"})
    assert (answer.status, answer.body) == (201, {"id": job_id(3), "created": False})


def test_the_trace_header_counts_where_the_body_says_nothing(api: Api) -> None:
    body = {"binding": "SendMail", "payload": {}}
    api.post("/api/jobs", body, headers={"traceparent": TRACE})
    other = TRACE.replace("4bf9", "4bfa")
    api.post("/api/jobs", body | {"traceparent": other}, headers={"traceparent": "nonsense"})
    assert [request["jobs"][0]["traceparent"] for request in api.shards.of("enqueue")] == [
        TRACE,
        other,
    ]
    api.post("/api/jobs", body, headers={"traceparent": "nonsense"})
    assert "traceparent" not in api.shards.of("enqueue")[-1]["jobs"][0]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"binding": "SendMail"}, "payload: is required"),
        ({"binding": "Nobody", "payload": 1}, "unknown binding: Nobody"),
        ({"binding": "SendMail", "payload": {}, "max_attempts": 1}, "max_attempts: there is no"),
        ({"binding": "SendMail", "payload": {}, "maxAttempts": 0}, "maxAttempts: "),
        ({"binding": "SendMail", "payload": {}, "delayMs": "1"}, "delayMs: "),
        ({"binding": "SendMail", "payload": {}, "delayMs": 1, "runAt": 1}, "runAt: "),
        ({"binding": "SendMail", "payload": {}, "backoff": {"kind": "odd"}}, "backoff: "),
        ({"binding": "SendMail", "payload": {"to": 1}}, "SendMail takes"),
        ({"binding": "Charge", "payload": 1}, "concurrencyKey: this performer requires it"),
        ([], "body: should be a JSON object"),
    ],
)
def test_a_job_nobody_can_have_is_refused_by_name(api: Api, body: Any, said: str) -> None:
    answer = api.post("/api/jobs", body)
    assert answer.status == 400
    assert said in answer.body["error"]
    assert said.startswith("unknown") or answer.body["problems"]
    assert api.shards.calls == []


@pytest.mark.parametrize("text", ["", "{", '{"binding":"SendMail","payload":NaN}', "\x00"])
def test_a_body_that_is_no_json_is_refused(api: Api, text: str) -> None:
    assert api.post("/api/jobs", text=text).status == 400


def test_a_binding_with_several_shards_needs_a_partition(api: Api) -> None:
    split = Api(shards=4)
    answer = split.post("/api/jobs", {"binding": "SendMail", "payload": {}})
    assert (answer.status, "partitionKey" in answer.body["error"]) == (400, True)
    body = {"binding": "SendMail", "payload": {}, "partitionKey": "p"}
    assert split.post("/api/jobs", body).status == 201


# -- Single jobs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["retry", "cancel"])
def test_a_job_is_controlled_by_its_shard(api: Api, action: str) -> None:
    answer = api.post(f"/api/jobs/{job_id(1)}/{action}")
    assert (answer.status, answer.body) == (200, {"ok": True, "state": "SCHEDULED"})
    assert api.shards.calls == [("SendMail#0", "control", {"action": action, "ids": [local_id(1)]})]


def test_a_job_is_rescheduled(api: Api) -> None:
    path = f"/api/jobs/{job_id(1)}/reschedule"
    assert api.post(path, {"runAt": NOW + 5, "priority": 3}).status == 200
    assert api.post(path, {"delayMs": 5}).status == 200
    assert [(r.get("run_at_ms"), r.get("delay_ms")) for r in api.shards.of("control")] == [
        (NOW + 5, None),
        (None, 5),
    ]
    for body in ({}, {"runAt": 1, "delayMs": 1}, {"priority": 1.5}):
        assert api.post(path, body).status == 400


@pytest.mark.parametrize(
    ("controlled", "status", "said"),
    [
        ({"outcome": "gone", "state": None}, 410, "does not keep this job"),
        ({"outcome": "invalid-state", "state": "RUNNING"}, 409, "the job is RUNNING; only FAILED"),
        ({"outcome": "invalid-option", "state": None, "problem": "never"}, 400, "never"),
    ],
)
def test_a_refusal_says_what_can_be_done(
    api: Api, controlled: dict[str, Any], status: int, said: str
) -> None:
    api.shards.on["control"] = lambda _shard, request: {
        "jobs": [{"id": request["ids"][0], **controlled}]
    }
    answer = api.post(f"/api/jobs/{job_id(1)}/retry")
    assert answer.status == status
    assert said in answer.body["error"]


def test_a_job_no_shard_can_hold_is_not_there(api: Api) -> None:
    assert api.post(f"/api/jobs/{job_id(1, binding='Former')}/cancel").status == 404
    assert api.post("/api/jobs/x/cancel").status == 400
    assert api.shards.calls == []


def test_a_shard_that_does_not_answer_is_a_503_that_names_it(api: Api) -> None:
    api.shards.on["control"] = unreachable
    answer = api.post(f"/api/jobs/{job_id(1)}/retry")
    assert (answer.status, answer.body["shard"]) == (503, "SendMail#0")
