"""Failures nobody asked for: of a task, of a promise, of a callback of the loop.

Production logs them and goes on with the event; so do we, with the user's lines.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.tracebacks import report

if TYPE_CHECKING:
    from collections.abc import Callable

IN_TASK = "Uncaught exception in a task"
IN_PROMISE = "Uncaught exception in a promise that nobody awaited"


def reporter(log: Callable[[str, str], None]) -> Callable[[Any, dict[str, Any]], None]:
    """An exception handler for the loop; ``log`` takes a level and a text."""

    def handle(_loop: Any, details: dict[str, Any]) -> None:
        error = details.get("exception")
        text = report(error) if error is not None else details.get("message", "")
        future = details.get("future")
        head = IN_TASK if future is None or isinstance(future, asyncio.Task) else IN_PROMISE
        log("error", f"{head}\n{text}")

    return handle


__all__ = ["IN_PROMISE", "IN_TASK", "reporter"]
