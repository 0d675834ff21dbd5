"""What user code gets from the running loop, and from a new one: Pyodide's loop, which never stops.

As observed with the real Pyodide of each generation (ADR-0235): running until something is complete
waits by switching stacks (3.12 has none, and answers with a task), and closing or stopping does
nothing. Not here: the loop itself (``loop``).
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.stack import run_sync

if TYPE_CHECKING:
    from collections.abc import Callable

NEW_LOOP_TEXT = (
    "asyncio.new_event_loop() makes the new loop the running one in production: what this event "
    'awaits afterwards fails with "attached to a different loop". Use asyncio.run(), or put the '
    "old loop back with asyncio._set_running_loop()."
)


def run_until_complete(future: Any) -> Any:
    """The result of an awaitable, or its task where stacks cannot be switched.

    Raises:
        TypeError: it is no awaitable.
    """
    if MODE.python_version == "3.12":
        return asyncio.ensure_future(future)
    if not inspect.isawaitable(future):
        raise TypeError(f"object {type(future).__name__} is not awaitable")
    return run_sync(future)


def stop() -> None:
    if not MODE.has_bigint_type:  # until 3.13
        raise NotImplementedError


class NestedLoop(asyncio.AbstractEventLoop):
    """A loop made inside an event: all its work is done by the one that runs."""

    def __init__(self, running: asyncio.AbstractEventLoop) -> None:
        self._running = running

    def run_until_complete(self, future: Any) -> Any:
        return run_until_complete(future)

    def run_forever(self) -> None:
        return None

    def stop(self) -> None:
        stop()

    def close(self) -> None:
        return None

    def is_closed(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    async def shutdown_asyncgens(self) -> None:
        return None

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        return None


def _delegated(name: str) -> Callable[..., Any]:
    def method(self: NestedLoop, *args: Any, **options: Any) -> Any:
        return getattr(self._running, name)(*args, **options)

    return method


for _name in vars(asyncio.AbstractEventLoop):
    if not _name.startswith("_") and _name not in vars(NestedLoop):
        setattr(NestedLoop, _name, _delegated(_name))

#: Where new loops have been made: each place is told once.
_told: set[str] = set()


def new_loop(original: Callable[[], asyncio.AbstractEventLoop]) -> asyncio.AbstractEventLoop:
    """What ``asyncio.new_event_loop()`` gives; outside of events that is ``original``'s."""
    event = io_context.current()
    if event is None:
        if io_context.in_global_scope():
            return _nested()
        return original()
    line = io_context.user_line()
    if line not in _told:
        _told.add(line)
        event.warn(f"{line}{NEW_LOOP_TEXT}")
    return _nested()


def _nested() -> NestedLoop:
    return NestedLoop(asyncio.get_running_loop())  # type: ignore[abstract]  # see _delegated
