"""Who watches which queue live. Passes events on and drops them rather than wait for a watcher."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Container

    from .events import BrokerEvent

#: Events that wait for a slow watcher; more are dropped, the oldest first.
WAITING_LIMIT = 1_000


class Tails:
    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Queue[BrokerEvent | None]]] = {}

    @property
    def watched(self) -> Container[str]:
        """The queues somebody watches, now and from now on."""
        return self._waiting

    def tell(self, event: BrokerEvent) -> None:
        for waiting in self._waiting.get(getattr(event, "queue", ""), ()):
            if waiting.full():
                waiting.get_nowait()
            waiting.put_nowait(event)

    async def follow(self, queue: str) -> AsyncIterator[BrokerEvent]:
        """What happens to the queue from now on, until ``close``."""
        waiting: asyncio.Queue[BrokerEvent | None] = asyncio.Queue(WAITING_LIMIT)
        self._waiting.setdefault(queue, set()).add(waiting)
        try:
            while (event := await waiting.get()) is not None:
                yield event
        finally:
            self._waiting[queue].discard(waiting)
            if not self._waiting[queue]:
                del self._waiting[queue]

    def close(self) -> None:
        for queue in self._waiting.values():
            for waiting in queue:
                with contextlib.suppress(asyncio.QueueFull):
                    waiting.put_nowait(None)
