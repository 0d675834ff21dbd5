"""The jobs API's metrics: what Analytics Engine is asked, and what is said when it cannot be."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from jobs_api_harness import Api
from tsumugi.jobs.api import analytics, figures
from tsumugi.jobs.api.analytics import by_binding
from tsumugi.jobs.api.services import MetricsAccess


def test_metrics_that_are_not_configured_say_what_is_missing(api: Api) -> None:
    answer = api.get("/api/metrics")
    assert answer.status == 501
    assert answer.body["missing"] == ["metrics.account_id", "metrics.token", "metrics.dataset"]
    access = MetricsAccess(account_id="a", token="", dataset="jobs")
    answer = Api(metrics=lambda _env: access).get("/api/metrics")
    assert (answer.status, answer.body["missing"]) == (501, ["metrics.token"])


def test_metrics_are_what_the_service_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    async def read(access: MetricsAccess, *, hours: int, binding: str | None, now_ms: int) -> Any:
        asked.append((access.dataset, hours, binding))
        rows = [
            {
                "binding": "SendMail",
                "event": event,
                "lane": str(lane),
                "jobs": str(jobs),
                "duration_ms": jobs * lane,
                "longest_ms": lane + 0.5,
                "attempts": jobs,
            }
            for event, lane, jobs in (
                ("completed", 1, 90),
                ("completed", 10, 9),
                ("failed", 100, 1),
                ("stalled", 0, 2),
                ("cancelled", 0, 98),
            )
        ]
        return {"hours": hours, "bindings": by_binding(rows), "series": []}

    monkeypatch.setattr(figures, "read_metrics", read)
    access = MetricsAccess(account_id="a", token="t", dataset="jobs")
    api = Api(metrics=lambda _env: access)
    [found] = api.get("/api/metrics", hours=2, binding="SendMail").body["bindings"]
    assert asked == [("jobs", 2, "SendMail")]
    assert (found["total"], found["failed"], found["p95DurationMs"]) == (200, 3, 10)
    assert (found["avgDurationMs"], found["maxDurationMs"]) == (2.8, 100.5)
    for hours in ("0", "721", "x"):
        assert api.get("/api/metrics", hours=hours).status == 400


def test_no_text_of_a_request_reaches_the_query_of_metrics() -> None:
    from tsumugi.jobs.api.analytics import MetricsUnavailable, read_metrics

    access = MetricsAccess(account_id="a", token="t", dataset="jobs")
    nothing = asyncio.run(read_metrics(access, hours=1, binding="x' OR 1=1", now_ms=0))
    assert nothing == {"hours": 1, "bindings": [], "series": []}
    broken = MetricsAccess(account_id="a", token="t", dataset="jobs; DROP")
    with pytest.raises(MetricsUnavailable, match="cannot name a dataset"):
        asyncio.run(read_metrics(broken, hours=1, binding=None, now_ms=0))


@pytest.fixture
def asked_sql(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Analytics Engine is asked; it says that there is nothing."""
    asked: list[str] = []

    async def ask(_access: MetricsAccess, sql: str) -> list[Any]:
        asked.append(sql)
        return []

    monkeypatch.setattr(analytics, "_ask", ask)
    return asked


def test_both_questions_of_metrics_are_about_the_same_seconds(asked_sql: list[str]) -> None:
    access = MetricsAccess(account_id="a", token="t", dataset="jobs")
    asyncio.run(analytics.read_metrics(access, hours=2, binding="A.b-c", now_ms=10_000_900))
    wanted = (
        "AND timestamp >= toDateTime(2800) AND timestamp < toDateTime(10000) AND blob1 = 'A.b-c'"
    )
    assert [wanted in sql for sql in asked_sql] == [True, True]


def test_metrics_before_the_first_data_point_are_none_and_say_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Unwritten:
        status = 422

        async def text(self) -> str:
            return "Error: unable to find type of column: _sample_interval"

    async def fetch(*_arguments: Any, **_options: Any) -> Unwritten:
        return Unwritten()

    monkeypatch.setitem(sys.modules, "workers", SimpleNamespace(fetch=fetch))
    access = MetricsAccess(account_id="a", token="t", dataset="jbos")
    answer = Api(metrics=lambda _env: access).get("/api/metrics")
    assert (answer.status, answer.body["bindings"], answer.body["series"]) == (200, [], [])
    assert "'jbos'" in answer.body["note"]
    assert "analytics_engine_datasets" in answer.body["note"]
