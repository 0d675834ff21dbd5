"""Firing a cron trigger by hand: wrangler's local endpoints, in front of the Worker."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

#: Answered with ``ok`` or a JSON outcome (``format=json``); the second is wrangler's newer name.
HANDLER_PATHS = frozenset({"/cdn-cgi/handler/scheduled", "/cdn-cgi/local/scheduled"})
#: ``wrangler dev --test-scheduled``.
TEST_PATH = "/__scheduled"


class Scheduled(Protocol):
    async def scheduled(self, cron: str, time_ms: int) -> tuple[str, bool]:
        """Run the handler: its outcome, and whether it called noRetry."""


class CronEndpoint:
    def __init__(self, worker: Scheduled, app: Callable[..., Awaitable[None]]) -> None:
        self._worker = worker
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        path = scope.get("path")
        if scope["type"] == "http" and (path == TEST_PATH or path in HANDLER_PATHS):
            await self._fire(scope, send)
        else:
            await self._app(scope, receive, send)

    async def _fire(self, scope: dict[str, Any], send: Any) -> None:
        query = {k: v[0] for k, v in parse_qs(scope["query_string"].decode("latin-1")).items()}
        time_text = query.get("time", "")
        try:
            time_ms = int(float(time_text)) if time_text else time.time_ns() // 1_000_000
        except (ValueError, OverflowError):
            await _answer(send, 400, f"time={time_text} is not a number of epoch milliseconds\n")
            return
        outcome, no_retry = await self._worker.scheduled(query.get("cron", ""), time_ms)
        status = 200 if outcome == "ok" else 500
        if scope["path"] == TEST_PATH:
            await _answer(send, status, "Ran scheduled event" if status == 200 else outcome)
        elif query.get("format") == "json":
            text = json.dumps({"outcome": outcome, "noRetry": no_retry})
            await _answer(send, status, text, "application/json")
        else:
            await _answer(send, status, outcome)


async def _answer(send: Any, status: int, text: str, content_type: str = "text/plain") -> None:
    body = text.encode()
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
