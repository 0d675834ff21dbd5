"""The SQL API's language over local points."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.storage.analytics import DataPoint, query
from tsumugi_emulator.storage.analytics_sql import QueryError
from tsumugi_emulator.storage.stores import Stores

if TYPE_CHECKING:
    from pathlib import Path

#: Thursday 1 January 2026, midnight.
T0 = 1_767_225_600_000


class Dataset:
    """Points in ``weather``: three an hour apart, then one a day later."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.clock = FakeClock(T0)
        stores = Stores(state, self.clock)
        for city, value in (("Oslo", 1.0), ("Oslo", 3.0), ("Rome", 20.0)):
            stores.analytics("weather").write([DataPoint(city, [city, "x"], [value])])
            asyncio.run(self.clock.advance(3_600_000))
        asyncio.run(self.clock.advance(86_400_000))
        stores.analytics("weather").write([DataPoint("Rome", ["Rome"], [30.0])])
        stores.close()

    def rows(self, sql: str) -> list[Any]:
        return [list(row) for row in query(self.state, sql, self.clock).rows]

    def columns(self, sql: str) -> list[tuple[str, str]]:
        return query(self.state, sql, self.clock).columns


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return Dataset(tmp_path)


def test_counts_sums_and_averages_by_group(dataset: Dataset) -> None:
    sql = """
SELECT blob1 AS city, count() AS n, SUM(_sample_interval) AS total,
       SUM(_sample_interval * double1) / SUM(_sample_interval) AS average
FROM weather GROUP BY city ORDER BY n DESC, city
"""
    assert dataset.rows(sql) == [["Oslo", "2", "2", 2.0], ["Rome", "2", "2", 25.0]]
    assert dataset.columns(sql) == [
        ("city", "String"),
        ("n", "UInt64"),
        ("total", "UInt64"),
        ("average", "Float64"),
    ]


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("quantileWeighted(0.5)(double1, _sample_interval)", 3.0),
        ("quantileExactWeighted(0.95)(double1, _sample_interval)", 30.0),
        ("quantileExactWeighted(0)(double1, _sample_interval)", 1.0),
        ("countIf(double1 > 2)", "3"),
        ("sumIf(double1, blob1 = 'Oslo')", 4.0),
        ("avgIf(double1, blob1 = 'Oslo')", 2.0),
        ("uniq(blob1)", "2"),
        ("argMax(blob1, double1)", "Rome"),
        ("argMin(blob1, double1)", "Oslo"),
        ("topK(1)(blob1)", ["Oslo"]),
        ("topKWeighted(2)(blob1, double1)", ["Rome", "Oslo"]),
        ("first_value(blob1)", "Oslo"),
        ("last_value(blob1)", "Rome"),
        ("sum(bitAnd(double1, 1))", "2"),
        ("max(double1)", 30.0),
        ("count(DISTINCT blob1)", "2"),
        ("sum(if(blob1 = 'Oslo', 1, 0))", "2"),
    ],
)
def test_an_aggregate_has_clickhouses_value(dataset: Dataset, call: str, value: Any) -> None:
    assert dataset.rows(f"SELECT {call} AS v FROM weather") == [[value]]


def test_time_is_grouped_and_shown_as_time(dataset: Dataset) -> None:
    sql = """
SELECT toStartOfInterval(timestamp, INTERVAL '1' DAY) AS day, count() AS n
FROM weather GROUP BY day ORDER BY day
"""
    assert dataset.rows(sql) == [["2026-01-01 00:00:00", "3"], ["2026-01-02 00:00:00", "1"]]
    assert dataset.columns(sql)[0] == ("day", "DateTime")


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("timestamp > NOW() - INTERVAL '1' HOUR", "1"),
        ("timestamp > now() - INTERVAL 2 DAYS", "4"),
        ("timestamp >= '2026-01-01 01:00:00'", "3"),
        ("timestamp BETWEEN '2026-01-01 00:00:00' AND '2026-01-01 01:00:00'", "2"),
        ("timestamp < toDateTime('2026-01-02 00:00:00')", "3"),
        ("blob1 = '2026-01-01'", "0"),
        ("blob1 LIKE 'O%' AND double1 >= 3", "1"),
        ("toHour(timestamp) = 1", "1"),
    ],
)
def test_a_condition_chooses_rows(dataset: Dataset, condition: str, count: str) -> None:
    sql = f"SELECT count() AS n FROM weather WHERE {condition}"
    assert dataset.rows(sql) == [[count]]


def test_time_expressions_are_times(dataset: Dataset) -> None:
    expressions = "min(timestamp) AS first, now() - INTERVAL '1' DAY AS yesterday, timestamp"
    sql = f"SELECT {expressions} FROM weather"
    assert {kind for _, kind in dataset.columns(sql)} == {"DateTime"}


def test_everything_can_be_selected_and_limited(dataset: Dataset) -> None:
    sql = "SELECT * FROM weather ORDER BY timestamp DESC LIMIT 1"
    answer = query(dataset.state, sql, dataset.clock)
    row = dict(zip([name for name, _ in answer.columns], answer.rows[0], strict=True))
    assert len(row) == 44
    assert (row["dataset"], row["index1"], row["blob1"]) == ("weather", "Rome", "Rome")
    assert (row["double1"], row["_sample_interval"]) == (30.0, 1)
    assert len(dataset.rows("SELECT blob1 FROM weather LIMIT ALL")) == 4


def test_a_subquery_reads_the_same_dataset(dataset: Dataset) -> None:
    sql = "SELECT max(n) AS m FROM (SELECT blob1, count() AS n FROM weather GROUP BY blob1)"
    assert dataset.rows(sql) == [["2"]]


def test_tables_are_shown(dataset: Dataset) -> None:
    assert dataset.rows("SHOW TABLES") == [["weather", "dataset"]]


def test_a_query_may_read_nothing(dataset: Dataset) -> None:
    assert dataset.rows("SELECT 'Hello' AS message") == [["Hello"]]


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("DELETE FROM weather", "only SELECT and SHOW TABLES"),
        ("SELECT 1 FROM nope", "dataset 'nope' \\(written: weather\\)"),
        ("SELECT zz FROM weather", "no such column: zz"),
        ("SELECT 1 FROM weather FORMAT XML", "unsupported FORMAT XML"),
        ("SELECT 1 FROM weather UNION SELECT 2", "UNION is not supported"),
        ("SELECT now() - INTERVAL 1 FORTNIGHT", "cannot understand INTERVAL"),
    ],
)
def test_what_is_not_answered(dataset: Dataset, sql: str, text: str) -> None:
    with pytest.raises(QueryError, match=text):
        dataset.rows(sql)


@pytest.mark.parametrize(
    ("expression", "name", "kind"),
    [
        ("count()", "count()", "UInt64"),
        ("COUNT( DISTINCT blob1 )", "COUNT( DISTINCT blob1 )", "UInt64"),
        ("double1 / 2", "double1 / 2", "Float64"),
        ("quantileExactWeighted(0.5)(double1, _sample_interval)", None, "Float64"),
        ("toStartOfHour(timestamp)", "toStartOfHour(timestamp)", "DateTime"),
        ("now() - INTERVAL '1' DAY", "now() - INTERVAL '1' DAY", "DateTime"),
        ("count() c", "c", "UInt64"),
        ("max(double1) AS `most`", "most", "Float64"),
        ("weather.blob1", "blob1", "String"),
        ("CASE WHEN double1 > 5 THEN 'hot' ELSE 'cold' END", None, "String"),
        ("topK(2)(blob1)", "topK(2)(blob1)", "Array(String)"),
    ],
)
def test_columns_are_named_as_written_and_typed_by_what_they_are(
    dataset: Dataset, expression: str, name: str | None, kind: str
) -> None:
    sql = f"SELECT {expression.replace('weather.', 'w.')} FROM weather AS w"
    assert dataset.columns(sql) == [((name or expression).replace("weather.", "w."), kind)]


def test_types_are_told_without_rows(dataset: Dataset) -> None:
    sql = "SELECT blob1, double1, max(timestamp) AS t FROM weather WHERE blob1 = 'x' GROUP BY blob1"
    assert dataset.rows(sql) == []
    assert [kind for _, kind in dataset.columns(sql)] == ["String", "Float64", "DateTime"]


def test_a_function_that_fails_says_of_what(dataset: Dataset) -> None:
    with pytest.raises(QueryError, match=r"cannot compute toDateTime\('soon'\): Invalid isoformat"):
        dataset.rows("SELECT toDateTime('soon') FROM weather")
