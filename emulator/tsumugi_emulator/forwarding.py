"""Pass messages on, in order, to the emulator that consumes their queue. Decides no delivery.

A Worker that only produces runs in one emulator, its consumer in another. Messages are stored here
first, as always; this takes them from the head of the line, and removes them once the other side
answered that it stored them. What is in between when a process dies is sent twice, never lost.
"""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.running import ACCOUNT_ID

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.neighbours import Neighbours
    from tsumugi_emulator.queues.outbox import Outbox, Waiting
    from tsumugi_emulator.running import Running

#: How often the neighbours are looked at while nothing is sent.
LOOK_S = 1.0
#: Pause after the other side could not be reached, or refused.
RETRY_S = 1.0
REQUEST_LIMIT_S = 10.0


class Refused(Exception):
    """The other side answered, but did not take the messages."""


class Carrier(Protocol):
    async def carry(self, to: Running, queue: str, messages: list[Waiting]) -> None:
        """Hand messages over; they are stored there when it returns.

        Raises:
            OSError: nobody answers.
            Refused: somebody does, and does not take them.
        """


class Forwarder:
    def __init__(
        self,
        outbox: Outbox,
        neighbours: Neighbours,
        carrier: Carrier,
        log: Callable[[str, str], None],
    ) -> None:
        self._outbox = outbox
        self._neighbours = neighbours
        self._carrier = carrier
        self._log = log
        self._news = asyncio.Event()
        #: What was said about a queue last: said once, until something else is true.
        self._said: dict[str, str] = {}

    def wake(self) -> None:
        """There may be something to pass on."""
        self._news.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._news.clear()
            with contextlib.suppress(OSError):  # no such directory can be made: nobody is found
                self._neighbours.publish(self._outbox.consumed())
            pause_s = LOOK_S
            for queue in self._outbox.queues():
                if not await self._pass_on(queue):
                    pause_s = RETRY_S
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), pause_s)

    async def _pass_on(self, queue: str) -> bool:
        """Everything that waits now; False if it has to be tried again."""
        if not self._outbox.head(queue, limit=1):
            return True
        to = self._neighbours.consuming(queue)
        if to is None:
            self._say(
                "warn",
                queue,
                f'Queue "{queue}" has no consumer here and no other `tsumugi dev` that consumes it'
                " runs: its messages wait until one does.",
            )
            return False
        try:
            while messages := self._outbox.head(queue):
                await self._carrier.carry(to, queue, messages)
                self._outbox.remove(queue, messages)
        except Refused as refused:
            self._say("error", queue, f'Messages of queue "{queue}" wait: {to.state} {refused}')
            return False
        except OSError as error:
            why = str(error) or type(error).__name__
            self._say(
                "warn",
                queue,
                f'Messages of queue "{queue}" wait: the emulator of {to.state} does not answer'
                f" ({why}).",
            )
            return False
        self._say("info", queue, f'Messages of queue "{queue}" go to the emulator of {to.state}.')
        return True

    def _say(self, level: str, queue: str, text: str) -> None:
        if self._said.get(queue) != text:
            self._said[queue] = text
            self._log(level, text)


class HttpCarrier:
    """Hands messages over through the other emulator's queues API."""

    def __init__(self) -> None:
        self._client: Any = None
        self._ids: dict[tuple[str, str], str] = {}

    async def carry(self, to: Running, queue: str, messages: list[Waiting]) -> None:
        base = f"{to.api}/accounts/{ACCOUNT_ID}/queues"
        key = (to.api, queue)
        if key not in self._ids:
            found = await self._ask(to, "GET", base, params={"name": queue})
            if not found:
                raise Refused("does not know the queue")
            self._ids[key] = found[0]["queue_id"]
        body = [
            {
                "body": b64encode(waiting.message.body).decode("ascii"),
                "content_type": waiting.message.content_type,
                "was_delayed": waiting.was_delayed,
            }
            for waiting in messages
        ]
        try:
            await self._ask(
                to, "POST", f"{base}/{self._ids[key]}/messages/forward", json={"messages": body}
            )
        except Refused:
            del self._ids[key]
            raise

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _ask(self, to: Running, method: str, url: str, **options: Any) -> Any:
        # Loaded when it is needed, in a thread: the Worker is served meanwhile.
        httpx: Any = await asyncio.to_thread(__import__, "httpx")
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=REQUEST_LIMIT_S, trust_env=False)
        headers = {"authorization": f"Bearer {to.token}"}
        try:
            response = await self._client.request(method, url, headers=headers, **options)
            body = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise ConnectionError(f"{type(error).__name__}: {error}") from error
        if not body.get("success"):
            raise Refused("; ".join(error["message"] for error in body["errors"]))
        return body["result"]
