"""The queues API in this process, on a clock that moves when told, behind the official client."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from cloudflare import AsyncCloudflare
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.queues import Broker, BrokerEvent, QueueStore
from tsumugi_emulator.queues.control import QueueControl
from tsumugi_emulator.server.v4.app import build
from tsumugi_emulator.tokens import SCOPES, Tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SECOND = 1_000
BASE = "http://localhost:8788/client/v4"
ACCOUNT = "023e105f4ecef8ad9ca31a8372d0c353"


class Api:
    """One emulator's queues; ``restart`` is what a kill and a new start leave of them."""

    def __init__(self, directory: Path) -> None:
        self.clock = FakeClock(1_700_000_000_000)
        self.directory = directory
        self.events: list[BrokerEvent] = []
        self.logged: list[tuple[str, str]] = []
        self.tokens = Tokens(directory)
        self.token = self.tokens.create("test", SCOPES, now_ms=0)[1]
        self._start()

    def _start(self) -> None:
        self.store = QueueStore(
            sqlite3.connect(self.directory / "queues.sqlite", isolation_level=None)
        )
        self.broker = Broker(self.store, self.clock, events=self.events.append)
        self.control = QueueControl(self.store, self.broker, self.clock)
        app = build(
            self.control, self.tokens, lambda level, text: self.logged.append((level, text))
        )
        transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
        self.http = httpx.AsyncClient(
            transport=transport,
            base_url=f"{BASE}/accounts/{ACCOUNT}/queues",
            headers={"authorization": f"Bearer {self.token}"},
        )
        self.cloudflare = AsyncCloudflare(
            api_token=self.token,
            base_url=BASE,
            http_client=httpx.AsyncClient(transport=transport),
            max_retries=0,
        )
        self.queues = self.cloudflare.queues

    async def restart(self) -> None:
        await self.broker.stop()
        self.store.close()
        self._start()
        self.broker.refresh()
        await self.clock.settle()

    async def pulled_queue(
        self, name: str = "q", *, dead_letters: str = "", **settings: Any
    ) -> str:
        """A queue that is pulled from; its id."""
        queue = await self.queues.create(account_id=ACCOUNT, queue_name=name)
        assert queue is not None
        assert queue.queue_id is not None
        await self.queues.consumers.create(
            queue.queue_id,
            account_id=ACCOUNT,
            type="http_pull",
            dead_letter_queue=dead_letters,
            settings=settings,  # type: ignore[arg-type]
        )
        return queue.queue_id

    async def send(self, queue_id: str, letters: str) -> None:
        """One text message per letter."""
        await self.queues.messages.bulk_push(
            queue_id,
            account_id=ACCOUNT,
            messages=[{"body": letter, "content_type": "text"} for letter in letters],
        )

    async def pull(self, queue_id: str, size: int = 100, **options: Any) -> list[Any]:
        pulled = await self.queues.messages.pull(
            queue_id, account_id=ACCOUNT, batch_size=size, **options
        )
        assert pulled is not None
        return pulled.messages or []

    async def ack(self, queue_id: str, *messages: Any, retry: Any = ()) -> Any:
        return await self.queues.messages.ack(
            queue_id,
            account_id=ACCOUNT,
            acks=[{"lease_id": message.lease_id} for message in messages],
            retries=[{"lease_id": message.lease_id} for message in retry],
        )

    async def post(self, path: str, **body: Any) -> Any:
        """The result of a call the official client has no method for."""
        response = await self.http.post(path, json=body)
        assert response.status_code == 200, response.text
        return response.json()["result"]

    async def refused(self, path: str, **options: Any) -> tuple[int, int]:
        """HTTP status and code of a call that must fail, in an envelope."""
        response = await self.http.request(options.pop("method", "POST"), path, **options)
        body = response.json()
        assert body["success"] is False
        assert set(body) == {"success", "errors", "messages", "result"}
        assert body["errors"][0]["message"]
        return response.status_code, body["errors"][0]["code"]


def letters(messages: list[Any]) -> str:
    return "".join(message.body for message in messages)


def decoded(message: Any) -> bytes:
    return b64decode(message.body)


def with_api(test: Callable[[Api], Awaitable[None]]) -> Callable[[], None]:
    """Run an async test with a fresh API."""

    async def scenario() -> None:
        with tempfile.TemporaryDirectory() as directory:
            api = Api(Path(directory))
            await test(api)
            await api.broker.stop()
            api.store.close()

    def run() -> None:
        asyncio.run(scenario())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run
