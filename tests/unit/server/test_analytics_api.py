"""The SQL API's endpoint: how a query comes in and what the answer looks like."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.server.analytics_api import analytics_sql
from tsumugi_emulator.storage.analytics import DataPoint
from tsumugi_emulator.storage.stores import Stores

if TYPE_CHECKING:
    from pathlib import Path

COUNT = "SELECT blob1 AS city, SUM(_sample_interval) AS n FROM weather GROUP BY city ORDER BY city"


class Client:
    """Asks the endpoint without a socket."""

    def __init__(self, app: Starlette) -> None:
        self._app = app

    def ask(self, method: str, **options: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
                return await client.request(method, "/sql", **options)

        return asyncio.run(ask())

    def post(self, sql: str) -> httpx.Response:
        return self.ask("POST", content=sql)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    clock = FakeClock()
    stores = Stores(tmp_path, clock)
    points = [DataPoint("i", [city], [1.0]) for city in ("Oslo", "Rome\t!", "Oslo")]
    stores.analytics("weather").write(points)
    stores.close()
    endpoint = analytics_sql(tmp_path, clock)
    return Client(Starlette(routes=[Route("/sql", endpoint, methods=["GET", "POST"])]))


def test_a_posted_query_is_answered_in_the_services_shape(client: Client) -> None:
    answer = client.post(COUNT)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "meta": [{"name": "city", "type": "String"}, {"name": "n", "type": "UInt64"}],
        "data": [{"city": "Oslo", "n": "2"}, {"city": "Rome\t!", "n": "1"}],
        "rows": 2,
        "rows_before_limit_at_least": 2,
    }


def test_a_query_may_be_in_the_address(client: Client) -> None:
    assert client.ask("GET", params={"query": "SELECT 1 AS a"}).json()["data"] == [{"a": "1"}]


def test_rows_come_in_other_formats_too(client: Client) -> None:
    lines = client.post(f"{COUNT} FORMAT JSONEachRow").text
    assert lines == '{"city": "Oslo", "n": "2"}\n{"city": "Rome\\t!", "n": "1"}\n'
    assert client.post(f"{COUNT} FORMAT TabSeparated").text == ("Oslo\t2\nRome\\t!\t1\n")


def test_what_is_not_understood_is_told(client: Client) -> None:
    answer = client.post("DROP TABLE weather")
    assert answer.status_code == 422
    assert answer.text == "Error: only SELECT and SHOW TABLES statements are supported\n"
