"""Fields of requests: either spelling filters, and faults are told by the name that was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from snapshot_builder import T0, snapshot

if TYPE_CHECKING:
    from jobs_api_harness import Api


@pytest.mark.parametrize("name", ["created_from", "createdFrom"])
def test_a_list_is_filtered_by_either_spelling(api: Api, name: str) -> None:
    api.project(snapshot(1), snapshot(2))
    answer = api.get("/api/jobs", **{name: T0 + 10**9})
    assert (answer.status, answer.body["jobs"]) == (200, [])
    assert api.get("/api/jobs", **{name: 0}).body["total"] == 2


def test_a_filter_that_there_is_not_is_refused_instead_of_ignored(api: Api) -> None:
    answer = api.get("/api/jobs", uniqueKeys="a")
    assert (answer.status, answer.body["error"]) == (
        400,
        "uniqueKeys: there is no such field; check its spelling",
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"concurrency": 0}, "concurrency: Input should be greater than or equal to 1"),
        ({"concurrency": "x"}, "concurrency: Input should be a valid integer"),
        ({"reaperGraceMs": -1}, "reaperGraceMs: Input should be greater than or equal to 0"),
        ({"rate": {"tokens": 1}}, "rate.intervalMs: is required"),
        ({"rate": {"tokens": 0, "intervalMs": 1}}, "rate.tokens: Input should be greater than"),
    ],
)
def test_a_fault_of_a_policy_is_told_once_by_its_field(
    api: Api, body: dict[str, Any], said: str
) -> None:
    answer = api.ask("PATCH", "/api/bindings/SendMail/policy", body)
    assert answer.status == 400
    assert answer.body["error"].startswith(said)
    assert len(answer.body["problems"]) == 1


@pytest.mark.parametrize(
    ("backoff", "field"),
    [
        ({"kind": "fixed"}, "backoff.delayMs"),
        ({"kind": "exponential", "baseMs": -1}, "backoff.baseMs"),
        ({"kind": "exponential", "base": 1}, "backoff.base"),
        ({"kind": "weird"}, "backoff"),
    ],
)
def test_a_fault_of_a_backoff_is_told_by_the_path_that_was_sent(
    api: Api, backoff: dict[str, Any], field: str
) -> None:
    body = {"binding": "SendMail", "payload": {}, "backoff": backoff}
    answer = api.ask("POST", "/api/jobs", body)
    assert [problem["field"] for problem in answer.body["problems"]] == [field]
