"""An event of a Worker, to run a test's coroutine in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Event:
    """``event.run(handler)`` is what the runtime does for one request."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.context = io_context.IoContext("fetch", self.warnings.append)

    def run(self, handler: Callable[[], Awaitable[Any]]) -> Any:
        async def inside() -> Any:
            io_context.enter(self.context)
            return await handler()

        return asyncio.run(inside())


async def in_event(event: Event, handler: Callable[[], Awaitable[Any]]) -> Any:
    """Run ``handler`` as ``event`` beside others on the same loop."""

    async def inside() -> Any:
        io_context.enter(event.context)
        return await handler()

    return await asyncio.create_task(inside())


def at_import(action: Callable[[], Any]) -> Any:
    """What ``action`` does at global scope, where no event is."""

    async def inside() -> Any:
        result = action()
        return await result if asyncio.isfuture(result) else result

    return asyncio.run(inside())
