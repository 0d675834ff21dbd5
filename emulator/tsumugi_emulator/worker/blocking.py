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
from tsumugi_emulator.worker.nested_loop import new_loop, run_until_complete

if TYPE_CHECKING:
    from collections.abc import Callable


def apply() -> None:
    """Replace the blocking functions of this process. Idempotent."""
    if getattr(time.sleep, "__wrapped__", None) is None:
        time.sleep = _waiting_sleep(time.sleep)
        asyncio.run = _nested_run(asyncio.run)
        policy = type(_loop_policy())
        if not isinstance(policy._loop_factory, functools.partial):
            policy._loop_factory = staticmethod(functools.partial(new_loop, policy._loop_factory))


def _loop_policy() -> Any:
    """What makes new loops. Python 3.14 has deprecated its public name, not what it does."""
    find = getattr(asyncio.events, "_get_event_loop_policy", None) or asyncio.get_event_loop_policy
    return find()


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
    def run(main: Any, *, debug: bool | None = None, loop_factory: Any = None) -> Any:
        if loop_factory is None and can_run_sync():
            return run_until_complete(main)
        return original(main, debug=debug, loop_factory=loop_factory)

    return run
