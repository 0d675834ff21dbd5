"""Blocking calls that production turns into waiting: ``time.sleep``, ``asyncio.run`` and kin.

In production they switch stacks, so other events run meanwhile (verified reference, rows a3 and
conc). Only the child applies this, before it imports user code.
"""

from __future__ import annotations

import asyncio
import functools
import time
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.stack import can_run_sync, run_sync

if TYPE_CHECKING:
    from collections.abc import Callable


def apply() -> None:
    """Replace the blocking functions of this process. Idempotent."""
    if getattr(time.sleep, "__wrapped__", None) is None:
        time.sleep = _waiting_sleep(time.sleep)
        asyncio.run = _nested_run(asyncio.run)


def _waiting_sleep(original: Any) -> Any:
    @functools.wraps(original)
    def sleep(seconds: float, /) -> None:
        if seconds > 0 and can_run_sync():
            run_sync(asyncio.sleep(seconds))
        else:
            original(seconds)

    return sleep


def _nested_run(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def run(main: Any, **options: Any) -> Any:
        if not can_run_sync():
            return original(main, **options)
        if not asyncio.iscoroutine(main):
            raise ValueError(f"a coroutine was expected, got {main!r}")
        return run_sync(main)

    return run
