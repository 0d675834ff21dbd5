"""Start tasks at the least cost the loop allows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


def start_task[T](loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Run it up to its first wait, at once where the loop makes plain tasks.

    Most jobs are over by then. In production each task that starts later is a timer of
    JavaScript's, which costs more than a small job does. A loop with tasks of its own (the local
    runtime files them under their event) makes this one, too.
    """
    if _makes_its_own(loop):
        return loop.create_task(work)
    return asyncio.Task(work, loop=loop, eager_start=True)


def _makes_its_own(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return loop.get_task_factory() is not None
    except NotImplementedError:
        return False
