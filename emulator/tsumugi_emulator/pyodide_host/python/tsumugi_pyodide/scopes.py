"""Which event runs: every task knows it, timers and tasks are filed under it.

Not here: what an event is. A scope is the host's name for one, and passes through unread.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import weakref
from typing import TYPE_CHECKING, Any

from pyodide import webloop

if TYPE_CHECKING:
    from collections.abc import Callable

SCOPE: contextvars.ContextVar[str] = contextvars.ContextVar("tsumugi_scope", default="")

#: The user's code is below this directory; see ``files.mjs``.
USER_ROOT = "/session/"
#: Frames looked at, at most, for the user's line.
MAX_FRAMES = 50

#: Scope -> the tasks that its code started.
_tasks: dict[str, set[asyncio.Task[Any]]] = {}
#: Scope -> the tasks of it that failed. Most are awaited by somebody.
_failed: dict[str, weakref.WeakSet[asyncio.Task[Any]]] = {}
#: Timers of the host by number.
_timers: dict[int, asyncio.Handle] = {}


def where() -> str:
    """``"scope\\nfile:line"`` of what runs, for a message that names the line."""
    frame: Any = sys._getframe()
    for _ in range(MAX_FRAMES):
        if frame is None:
            break
        if frame.f_code.co_filename.startswith(USER_ROOT):
            return f"{SCOPE.get()}\n{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return f"{SCOPE.get()}\n"


def context_of(scope: str) -> contextvars.Context:
    context = contextvars.Context()
    context.run(SCOPE.set, scope)
    return context


def install(schedule: Callable[[Any, float], int]) -> None:
    """Let the host keep the time of timers, and file tasks under their events.

    ``schedule(callback, delay_ms)`` gives the number of the host's timer, 0 for none.
    """
    plain_call_later = webloop.WebLoop.call_later
    started: list[int] = []

    def schedule_callback(callback: Any, delay_ms: float = 0) -> None:
        started[:] = [schedule(callback, delay_ms)]

    def call_later(
        self: Any,
        delay: float,
        callback: Callable[..., Any],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        # The timer belongs to the event of the context it runs in.
        running = contextvars.copy_context() if context is None else context.copy()
        started.clear()  # what is refused, and what is never due, starts none
        handle: asyncio.Handle = running.run(
            plain_call_later, self, delay, callback, *args, context=context
        )
        if started and started[0]:
            _timers[started[0]] = handle
        return handle

    webloop.scheduleCallback = schedule_callback
    webloop.WebLoop.call_later = call_later
    webloop.WebLoop.create_task = _filing(webloop.WebLoop.create_task)
    # The event that exits tells of it; the loop itself goes on.
    loop: Any = asyncio.get_event_loop()
    loop._system_exit_handler = loop._keyboard_interrupt_handler = lambda *_args: None


def _filing(create_task: Callable[..., asyncio.Task[Any]]) -> Callable[..., asyncio.Task[Any]]:
    def create_filed(
        self: Any, coro: Any, *, context: contextvars.Context | None = None, **options: Any
    ) -> asyncio.Task[Any]:
        if context is not None:
            options["context"] = context  # older loops refuse it, as in production
        task = create_task(self, coro, **options)
        scope = SCOPE.get() if context is None else context.get(SCOPE, "")
        tasks = _tasks.setdefault(scope, set())
        tasks.add(task)
        # Past the task's own method: Pyodide counts callbacks, and tells of what fails without any.
        asyncio.Future.add_done_callback(task, lambda done: _done(done, scope, tasks))
        return task

    return create_filed


def _done(task: asyncio.Task[Any], scope: str, tasks: set[asyncio.Task[Any]]) -> None:
    tasks.discard(task)
    if _fails_unseen(task):
        _failed.setdefault(scope, weakref.WeakSet()).add(task)


def _fails_unseen(task: asyncio.Task[Any]) -> bool:
    """Whether it has failed, and nobody has asked for its outcome."""
    return bool(getattr(task, "_log_traceback", False))


def fired(timer: int) -> None:
    _timers.pop(timer, None)


def rest() -> list[int]:
    """Nothing is left to do: show what was printed; numbers of timers nobody waits for any more."""
    sys.stdout.flush()
    sys.stderr.flush()
    found = [number for number, handle in _timers.items() if handle.cancelled()]
    for number in found:
        del _timers[number]
    return found


def end(scope: str) -> list[str]:
    """Drop what an event that is over left running: ``"file:line: name()"`` of each such task.

    Failures that nobody can ask for any more are told: in Pyodide before 0.28 only a collection of
    garbage would find them.
    """
    places = []
    for task in list(_failed.pop(scope, ())):
        if _fails_unseen(task):
            asyncio.get_event_loop().call_exception_handler({"exception": task.exception()})
    for task in list(_tasks.pop(scope, ())):
        if not task.done():
            if (place := _user_place(task)) is not None:
                places.append(place)
            task.cancel()
    return places


def _user_place(task: asyncio.Task[Any]) -> str | None:
    coro: Any = task.get_coro()
    frame = getattr(coro, "cr_frame", None)
    if frame is None or not frame.f_code.co_filename.startswith(USER_ROOT):
        return None
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: {coro.__qualname__}()"
