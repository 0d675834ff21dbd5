"""End what takes too long, and leave no timer behind. Knows no job.

Pyodide's loop leaves the timer of a call that is cancelled with JavaScript, where it goes on. An
object with a timer stays in memory, and is paid for, until the timer fires (ADR-0263).
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class within:
    """``async with within(limit_s):`` is ``asyncio.timeout``, whose timer ends with it."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        loop = asyncio.get_running_loop()
        self._take_back = _start_timer(
            loop, self._limit_s, lambda: self._timeout.reschedule(loop.time())
        )

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Raises ``TimeoutError`` for what was ended."""
        self._take_back()
        await self._timeout.__aexit__(kind, error, trace)


def _start_timer(
    loop: asyncio.AbstractEventLoop, after_s: float, work: Callable[[], None]
) -> Callable[[], None]:
    """What takes the timer back, before it fired or after."""
    if sys.platform != "emscripten":
        return loop.call_later(after_s, work).cancel
    from js import clearTimeout, setTimeout
    from pyodide.ffi import create_proxy

    # Through the loop: work may ask which one is running.
    fire = create_proxy(lambda: loop.call_soon(work))
    timer = setTimeout(fire, after_s * 1_000)

    def take_back() -> None:
        clearTimeout(timer)
        fire.destroy()

    return take_back
