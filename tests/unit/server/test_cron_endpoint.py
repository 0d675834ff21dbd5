"""Firing a cron trigger by hand: what the handler gets and what the caller is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tsumugi_emulator.server.cron_endpoint import CronEndpoint


class Handler:
    def __init__(self, outcome: str = "ok") -> None:
        self.outcome = outcome
        self.events: list[tuple[str, int]] = []

    async def scheduled(self, cron: str, time_ms: int) -> tuple[str, bool]:
        self.events.append((cron, time_ms))
        return self.outcome, True


def ask(handler: Handler, path: str, query: str = "") -> tuple[int, str]:
    """The status and the text; 404 is what comes from the Worker behind."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def worker(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b"the Worker"})

    scope = {"type": "http", "path": path, "query_string": query.encode()}
    asyncio.run(CronEndpoint(handler, worker)(scope, None, send))
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.mark.parametrize("path", ["/cdn-cgi/handler/scheduled", "/cdn-cgi/local/scheduled"])
def test_the_handler_gets_the_expression_and_the_time(path: str) -> None:
    handler = Handler()
    assert ask(handler, path, "cron=*/5+*+*+*+*&cron=second&time=1745856238000") == (200, "ok")
    assert handler.events == [("*/5 * * * *", 1_745_856_238_000)]


@pytest.mark.parametrize(("time", "time_ms"), [("1.9", 1), ("-5", -5)])
def test_a_time_is_a_number(time: str, time_ms: int) -> None:
    handler = Handler()
    ask(handler, "/cdn-cgi/handler/scheduled", f"time={time}")
    assert handler.events == [("", time_ms)]


@pytest.mark.parametrize("time", ["noon", "inf", "nan"])
def test_a_time_that_is_none_is_told(time: str) -> None:
    told = f"time={time} is not a number of epoch milliseconds\n"
    assert ask(Handler(), "/cdn-cgi/handler/scheduled", f"time={time}") == (400, told)


def test_the_outcome_is_told_in_the_form_that_was_asked_for() -> None:
    failing = Handler("exception")
    assert ask(failing, "/cdn-cgi/handler/scheduled") == (500, "exception")
    assert ask(failing, "/__scheduled") == (500, "exception")
    assert ask(Handler(), "/__scheduled") == (200, "Ran scheduled event")
    assert ask(failing, "/cdn-cgi/handler/scheduled", "format=json") == (
        500,
        '{"outcome": "exception", "noRetry": true}',
    )


def test_every_other_path_is_the_workers() -> None:
    handler = Handler()
    assert ask(handler, "/cdn-cgi/handler/other") == (404, "the Worker")
    assert handler.events == []
