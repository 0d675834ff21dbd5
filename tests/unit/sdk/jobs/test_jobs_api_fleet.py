"""The jobs API where it concerns many: bulk operations, bindings, figures, and what is missing."""

from __future__ import annotations

from typing import Any

import pytest
from jobs_api_harness import NOW, POLICY, Api
from shard_fakes import local_id
from snapshot_builder import finished, job_id, snapshot

WEEK_MS = 7 * 86_400_000


# -- Bulk -----------------------------------------------------------------------------------------


def test_many_jobs_are_one_call_for_each_shard(api: Api) -> None:
    split = Api(shards=2)
    ids = [job_id(number, shard=number % 2) for number in range(5)]
    answer = split.post("/api/jobs/bulk-retry", {"ids": [*ids, ids[0], "broken"]})
    assert answer.body == {
        "ok": ids,
        "failed": [{"id": "broken", "reason": "invalid-id"}],
        "remaining": 0,
    }
    assert [(shard, len(request["ids"])) for shard, _, request in split.shards.calls] == [
        ("SendMail#0", 3),
        ("SendMail#1", 2),
    ]


def test_each_job_that_was_refused_is_named_with_the_reason(api: Api) -> None:
    split = Api(shards=2)

    def control(shard: str, request: Any) -> Any:
        if shard == "SendMail#1":
            raise RuntimeError("lost")
        outcomes = ("done", "gone", "invalid-state")
        return {
            "jobs": [
                {"id": one, "outcome": outcome, "state": None}
                for one, outcome in zip(request["ids"], outcomes, strict=True)
            ]
        }

    split.shards.on["control"] = control
    ids = [job_id(1), job_id(2), job_id(3), job_id(4, shard=1), job_id(5, binding="Former")]
    answer = split.post("/api/jobs/bulk-cancel", {"ids": ids})
    assert answer.status == 200
    assert answer.body["ok"] == [job_id(1)]
    assert [failure["reason"] for failure in answer.body["failed"]] == [
        "gone",
        "invalid-state",
        "unreachable",
        "gone",
    ]


def test_a_filter_means_the_jobs_the_operation_accepts(api: Api) -> None:
    api.project(
        snapshot(1),
        finished(2, "FAILED"),
        finished(3, "STALLED", unique_key="u"),
        finished(4),
    )
    answer = api.post("/api/jobs/bulk-retry", {})
    assert answer.body["ok"] == [job_id(2), job_id(3)]
    assert api.post("/api/jobs/bulk-cancel", {}).body["ok"] == [job_id(1)]
    for spelled in ("uniqueKey", "unique_key"):
        body = {spelled: "u", "binding": ""}
        assert api.post("/api/jobs/bulk-retry", body).body["ok"] == [job_id(3)]


def test_a_call_takes_so_many_and_tells_what_remains(api: Api) -> None:
    api.project(*(snapshot(number) for number in range(250)))
    answer = api.post("/api/jobs/bulk-cancel", {"limit": 1_000})
    assert (len(answer.body["ok"]), answer.body["remaining"]) == (200, 50)
    answer = api.post("/api/jobs/bulk-cancel", {"limit": 3})
    assert (len(answer.body["ok"]), answer.body["remaining"]) == (3, 247)


def test_jobs_that_their_shard_forgot_are_never_found_for_a_retry(api: Api) -> None:
    # Or whoever repeats the call until nothing remains would never end.
    api.project(
        *(finished(number, "FAILED", finished_at=NOW - WEEK_MS) for number in range(3)),
        finished(7, "FAILED", finished_at=NOW - WEEK_MS + 1),
    )
    answer = api.post("/api/jobs/bulk-retry", {})
    assert (answer.body["ok"], answer.body["remaining"]) == ([job_id(7)], 0)


@pytest.mark.parametrize(
    "body",
    [
        {"ids": []},
        {"ids": [str(number) for number in range(201)]},
        {"ids": "x"},
        {"state": "COMPLETED"},
        {"limit": 0},
        {"created_from": "today"},
        {"bindings": "typo"},
        None,
    ],
)
def test_a_bulk_request_that_means_nothing_is_refused(api: Api, body: Any) -> None:
    # Nothing at all is not taken for {}, which means all of them.
    assert "is empty" in api.post("/api/jobs/bulk-cancel", text="").body["error"]
    if body is None:
        assert api.post("/api/jobs/bulk-retry", text="null").status == 400
    else:
        assert api.post("/api/jobs/bulk-retry", body).status == 400


# -- Bindings -------------------------------------------------------------------------------------


def test_bindings_are_listed_whether_they_ever_ran_or_not(api: Api) -> None:
    assert api.get("/api/bindings").body == {"bindings": ["Charge", "SendMail"]}


@pytest.mark.parametrize("method", ["PATCH", "POST"])
def test_a_policy_is_changed_in_part_on_every_shard(method: str) -> None:
    api = Api(shards=3)
    body = {"concurrency": 5, "rate": {"tokens": 2, "intervalMs": 1_000}, "paused": True}
    answer = api.ask(method, "/api/bindings/SendMail/policy", body)
    assert answer.body["shards"] == 3
    assert answer.body["policy"]["rate"] == {"tokens": 2, "intervalMs": 1_000}
    assert answer.body["changed"] == ["concurrency", "rate", "paused"]
    change = {"concurrency": 5, "rate": {"tokens": 2, "per_ms": 1_000}, "paused": True}
    assert api.shards.of("set_policy") == [{"change": change}] * 3


def test_null_turns_a_limit_off_where_that_means_something(api: Api) -> None:
    path = "/api/bindings/Charge/policy"
    assert api.ask("PATCH", path, {"rate": None, "agingIntervalMs": None}).status == 200
    assert api.shards.of("set_policy") == [{"change": {"rate": None, "aging_interval_ms": None}}]
    answer = api.ask("PATCH", path, {"concurrency": None})
    assert answer.status == 400
    assert "concurrency cannot be null" in answer.body["error"]


def test_null_as_the_body_and_reset_go_back_to_the_code(api: Api) -> None:
    assert api.ask("PATCH", "/api/bindings/Charge/policy", text="null").status == 200
    assert api.post("/api/bindings/Charge/policy/reset").body == {"ok": True, "state": None}
    assert api.shards.of("set_policy") == [{"change": None}] * 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"concurrency": 0},
        {"concurrency": 1.5},
        {"paused": "yes"},
        {"rate": {"tokens": 1}},
        {"rate": {"tokens": 2**40, "intervalMs": 2**40}},
        {"perKey": 1},
    ],
)
def test_a_policy_nobody_can_have_is_refused(api: Api, body: Any) -> None:
    assert api.ask("PATCH", "/api/bindings/Charge/policy", body).status == 400
    assert api.shards.calls == []


def test_a_change_that_some_shards_did_not_take_names_them() -> None:
    api = Api(shards=3)

    def set_policy(shard: str, _request: Any) -> Any:
        if shard == "SendMail#1":
            raise RuntimeError("lost")
        return {"policy": POLICY, "overrides": {}}

    api.shards.on["set_policy"] = set_policy
    answer = api.ask("PATCH", "/api/bindings/SendMail/policy", {"paused": True})
    assert answer.status == 500
    assert (answer.body["failed_shards"], answer.body["shards"]) == (["SendMail#1"], 2)
    api.shards.on["set_policy"] = unreachable
    assert api.ask("PATCH", "/api/bindings/SendMail/policy", {"paused": True}).status == 503


def unreachable(_shard: str, _request: Any) -> Any:
    raise RuntimeError("Network connection lost.")


def test_an_unknown_binding_is_not_there(api: Api) -> None:
    answer = api.ask("PATCH", "/api/bindings/Nobody/policy", {"paused": True})
    assert (answer.status, answer.body["known"]) == (404, ["Charge", "SendMail"])
    assert api.get("/api/diagnostics", binding="Nobody").status == 404


FREE = {"capacity": False, "tokens": False, "paused": False, "per_key": [], "handover": False}


def told(shard: str, **fields: Any) -> dict[str, Any]:
    trouble = {"failures": 0, "error": None, "failed_at": None, "retry_at": None}
    return {
        "binding": shard.partition("#")[0],
        "shard": int(shard.partition("#")[2]),
        "at": NOW,
        "policy": POLICY,
        "overrides": {},
        "counts": {"SCHEDULED": 2, "RUNNING": 1, "COMPLETED": 9},
        "oldest_ready_at": None,
        "tokens": None,
        "blocked": FREE,
        "ticked_at": NOW,
        "alarm_at": None,
        "handovers": 0,
        "handover": trouble,
        "outbox": 4,
        "projection": trouble,
        "stale": {},
        **fields,
    }


def test_diagnostics_say_of_each_binding_what_runs_and_what_holds_it_back() -> None:
    api = Api(shards=2)
    full = FREE | {"tokens": True, "per_key": ["k"]}
    api.shards.on["diagnostics"] = lambda shard, _request: told(
        shard, **({"blocked": full} if shard == "SendMail#1" else {})
    )
    found = api.get("/api/diagnostics").body["bindings"]
    assert sorted(found) == ["Charge", "SendMail"]
    mail = found["SendMail"]
    assert (mail["active"], mail["outbox"], len(mail["shards"])) == (6, 8, 2)
    assert mail["blocked"] == {
        "capacity": False,
        "tokens": True,
        "perKey": True,
        "paused": False,
        "handover": False,
    }
    assert mail["policy"]["perKeyConcurrency"] == 1


def test_diagnostics_name_shards_that_do_not_answer(api: Api) -> None:
    api.shards.on["diagnostics"] = unreachable
    found = api.get("/api/diagnostics", binding="Charge").body["bindings"]["Charge"]
    assert found["unreachable"] == {"Charge#0": "Network connection lost."}
    assert found["policy"] is None


# -- Figures --------------------------------------------------------------------------------------


def test_stats_count_jobs_by_state_and_binding(api: Api) -> None:
    api.project(snapshot(1), finished(2), finished(3, binding="Charge"))
    assert api.get("/api/stats").body == {
        "byState": {"SCHEDULED": 1, "COMPLETED": 2},
        "byBinding": {"SendMail": {"SCHEDULED": 1, "COMPLETED": 1}, "Charge": {"COMPLETED": 1}},
        "oldestScheduledMs": 999_999,
    }


# -- What is missing ------------------------------------------------------------------------------


def test_missing_bindings_are_named(api: Api) -> None:
    del api.env.TSUMUGI_DB
    answer = api.get("/api/jobs")
    assert (answer.status, answer.body["missing"]) == (503, ["TSUMUGI_DB"])
    assert "d1_databases" in answer.body["error"]
    del api.env.TSUMUGI_SHARD
    for answer in (
        api.post("/api/jobs", {"binding": "SendMail", "payload": {}}),
        api.post(f"/api/jobs/{job_id(1)}/retry"),
        api.ask("PATCH", "/api/bindings/SendMail/policy", {"paused": True}),
        api.get(f"/api/jobs/{job_id(1)}"),
        api.get("/api/diagnostics"),
        api.post("/api/jobs/bulk-retry", {"ids": [job_id(1)]}),
    ):
        assert (answer.status, answer.body["missing"]) == (503, ["TSUMUGI_SHARD"])


def test_missing_migrations_are_named_until_they_are_applied(api: Api) -> None:
    from local_d1 import LocalD1

    api.env.TSUMUGI_DB = bare = LocalD1(migrated=False)
    for path in ("/api/jobs", "/api/stats", f"/api/jobs/{job_id(1)}"):
        answer = api.get(path)
        assert (answer.status, answer.body["missing"]) == (503, ["0001_tsumugi_jobs"])
        assert "tsumugi jobs migrations" in answer.body["error"]
    bare.migrate("0001_tsumugi_jobs")
    assert api.get("/api/jobs").status == 200
    calls = len(bare.batches)
    assert api.get("/api/jobs").status == 200
    assert len(bare.batches) == calls + 1, "migrations are looked at once"


def test_a_database_that_does_not_answer_is_a_503_and_stops_no_control(api: Api) -> None:
    from tsumugi_emulator.storage.d1 import D1Error

    def down(_queries: Any) -> None:
        raise D1Error("D1_ERROR: internal error")

    api.database.fail = down
    answer = api.get("/api/jobs")
    assert answer.status == 503
    assert "internal error" in answer.body["error"]
    assert api.post(f"/api/jobs/{job_id(1)}/cancel").status == 200
    api.shards.on["show"] = lambda *_: {"jobs": [snapshot(1)]}
    assert api.get(f"/api/jobs/{job_id(1)}").status == 200
    assert api.shards.of("show") == [{"ids": [local_id(1)]}]
