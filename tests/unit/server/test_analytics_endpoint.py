"""Analytics Engine's SQL API beside the queues API: same address, same tokens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.server.analytics_api import analytics_sql
from tsumugi_emulator.server.v4.app import build
from tsumugi_emulator.tokens import SCOPES, Tokens

if TYPE_CHECKING:
    from pathlib import Path

PATH = "/client/v4/accounts/local/analytics_engine/sql"


def ask(directory: Path, sql: str, *, with_token: bool = True) -> httpx.Response:
    tokens = Tokens(directory)
    token = tokens.create("test", SCOPES, now_ms=0)[1]
    control: Any = None  # no queue is asked for
    app: Any = build(
        control, tokens, lambda *_line: None, analytics=analytics_sql(directory, FakeClock())
    )

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        headers = {"authorization": f"Bearer {token}"} if with_token else {}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as client:
            return await client.post(PATH, content=sql)

    return asyncio.run(send())


def test_a_query_without_a_token_is_refused(tmp_path: Path) -> None:
    assert ask(tmp_path, "SELECT 1", with_token=False).status_code == 401


def test_a_faulty_query_is_answered_with_its_fault(tmp_path: Path) -> None:
    answer = ask(tmp_path, "SELEC nothing")
    assert answer.status_code == 422
    assert answer.text.startswith("Error: ")
