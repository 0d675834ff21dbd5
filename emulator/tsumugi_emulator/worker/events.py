"""The life of one event: start its handler, wait for what it must finish, drop the rest.

A request, a batch or a cron tick each runs in its own I/O context. Not here: what the handler
is called with and what its result means (``dispatch``).
"""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript.depth import descend
from tsumugi_emulator.javascript.errors import JsException, js_error
from tsumugi_emulator.javascript.io_context import IoContext, enter
from tsumugi_emulator.paths import shown
from tsumugi_emulator.tracebacks import report
from tsumugi_emulator.worker import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tsumugi_emulator.worker.loop import WorkerLoop

HUNG_TEXT = (
    "The Workers runtime canceled this request because it detected that your Worker's code had "
    "hung and would never generate a response."
)

#: Events that lose the sends and writes nobody awaited when they end.
LOSSY_KINDS = ("queue", "RPC")


class Exited(Exception):  # an outcome, not a fault of the emulator
    """The handler called ``sys.exit``: in production the whole isolate dies."""

    # Reports show it under the name that the runtime logs, as no class of the emulator's.
    __module__ = "builtins"
    __qualname__ = "Exit"

    def __init__(self, code: object) -> None:
        super().__init__(
            f"Program terminated with exit({code}); in production this kills the isolate"
        )


class ActiveEvent(Protocol):
    """What keeps a child from stopping, and may hang."""

    @property
    def context(self) -> IoContext: ...

    def is_stuck(self, with_timers: set[IoContext | None]) -> bool: ...

    def hang_up(self) -> None: ...


class EventRun:
    """One event from start to end. ``on_result`` gets the handler's result or its exception."""

    __slots__ = (
        "_events",
        "_failure",
        "_handler",
        "_hung",
        "_on_end",
        "_on_result",
        "_rest",
        "context",
    )

    def __init__(
        self,
        events: Events,
        context: IoContext,
        on_result: Callable[[Any, BaseException | None], None],
        on_end: Callable[[BaseException | None], None] | None,
    ) -> None:
        self._events = events
        self.context = context
        self._on_result = on_result
        self._on_end = on_end
        self._handler: asyncio.Task[Any] | None = None
        #: What ``waitUntil`` holds and is not done yet.
        self._rest: set[asyncio.Future[Any]] = set()
        self._failure: BaseException | None = None
        self._hung = False

    def start(self, handler: Coroutine[Any, Any, Any], depth: int) -> None:
        scope = self._events.base.copy()
        scope.run(enter, self.context)
        if depth:
            scope.run(descend, depth)
        task = self._events.loop.create_task(handler, context=scope)
        self.context.tasks.discard(task)
        task.remove_done_callback(self.context.tasks.discard)
        self._handler = self.context.handler = task
        self._events.active.add(self)
        task.add_done_callback(self._handler_done, context=scope)

    def is_stuck(self, with_timers: set[IoContext | None]) -> bool:
        """Whether nothing the runtime knows of can wake this event any more."""
        return not self._hung and self.context.pending == 0 and self.context not in with_timers

    def hang_up(self) -> None:
        """End an event that waits for something nothing will resolve."""
        self._hung = True
        if self._handler is not None and not self._handler.done():
            self._handler.cancel()
        self._cancel_rest()

    def cause(self, error: BaseException) -> BaseException:
        """Why ``error`` really happened: a hung event's tasks only see that they are cancelled."""
        if self._hung and isinstance(error, asyncio.CancelledError):
            return _hung(error)
        return error

    def cancel(self) -> None:
        """The client went away: stop the handler; its cleanup runs."""
        if self._handler is not None:
            self._handler.cancel()

    def give_up(self) -> None:
        """Out of time: stop the handler and what ``waitUntil`` holds."""
        self.cancel()
        self._cancel_rest()

    def _cancel_rest(self) -> None:
        for future in (*self._rest, *self.context.wait_until):
            future.cancel()

    def hold(self, future: asyncio.Future[Any]) -> None:
        """Keep the event alive until ``future`` is done (a response that is still streaming)."""
        self.context.wait_until.append(future)

    def _handler_done(self, task: asyncio.Task[Any]) -> None:
        self._handler = None
        error = _outcome(task, hung=self._hung)
        self._failure = error
        result = task.result() if error is None else None
        self._on_result(result, error)
        self._await_rest()

    def _await_rest(self) -> None:
        """Wait for ``waitUntil`` promises, including those added while waiting."""
        futures, self.context.wait_until = self.context.wait_until, []
        if not futures:
            self._end()
            return
        self._rest = set(futures)
        for future in self._rest.copy():
            future.add_done_callback(self._rest_done)

    def _rest_done(self, future: asyncio.Future[Any]) -> None:
        self._rest.discard(future)
        error = _outcome(future, hung=self._hung)
        if error is not None:
            if self._failure is None:
                self._failure = error
            self._events.report(self.context, error, "waitUntil")
        if not self._rest:
            self._await_rest()

    def _end(self) -> None:
        context = self.context
        if self._on_end is not None:
            self._on_end(self._failure)
        context.ended = True
        for operation in list(context.unsent.values()):
            if context.kind in LOSSY_KINDS:
                context.warn(operation.drop())
            else:
                operation.leave()
        context.unsent.clear()
        for task in list(context.tasks):
            self._drop(task)
        for callback in context.on_end:
            callback()
        self._events.active.discard(self)
        self._events.ended()

    def _drop(self, task: asyncio.Task[Any]) -> None:
        if task.done():
            return
        place = _user_place(task)
        task.cancel()
        if place is not None:
            self.context.warn(dropped_text(place, self.context.kind))


def dropped_text(place: str, kind: str) -> str:
    return (
        f"{place} was still running when its {kind} event ended, so it is dropped, as in "
        "production. Await it, or keep it with self.ctx.waitUntil(...)."
    )


class Events:
    """All events of the child."""

    def __init__(
        self, loop: WorkerLoop, log: Callable[[str, str], None], idle: Callable[[], None]
    ) -> None:
        self.loop = loop
        self.base = contextvars.copy_context()
        self.active: set[ActiveEvent] = set()
        self._log = log
        self._idle = idle
        loop.watch_idle(self._find_stuck)

    def run(
        self,
        kind: str,
        handler: Callable[[IoContext], Coroutine[Any, Any, Any]],
        on_result: Callable[[Any, BaseException | None], None],
        on_end: Callable[[BaseException | None], None] | None = None,
        *,
        depth: int = 0,
    ) -> EventRun:
        """``depth`` counts the Workers and objects behind it (``javascript.depth``)."""
        context = self.make_context(kind, self._warn)
        run = EventRun(self, context, on_result, on_end)
        run.start(handler(context), depth)
        return run

    def make_context(self, kind: str, warn: Callable[[str], None]) -> IoContext:
        return IoContext(kind, warn)

    def report(self, context: IoContext, error: BaseException, where: str) -> None:
        self._log(
            "error", f"Uncaught exception in {where} of a {context.kind} event\n{report(error)}"
        )

    def ended(self) -> None:
        if not self.active:
            self._idle()

    def _warn(self, text: str) -> None:
        self._log("warning", text)

    def _find_stuck(self) -> bool:
        candidates = [run for run in self.active if run.context.pending == 0]
        if not candidates or self.loop.has_user_descriptors() or threads.any_alive():
            return False
        with_timers = self.loop.events_with_timers()
        stuck = [run for run in candidates if run.is_stuck(with_timers)]
        for run in stuck:
            run.hang_up()
        return bool(stuck)


def _outcome(future: asyncio.Future[Any], *, hung: bool) -> BaseException | None:
    try:
        error = future.exception()
    except asyncio.CancelledError as cancelled:
        return _hung(cancelled) if hung else cancelled
    if isinstance(error, SystemExit):
        return Exited(error.code).with_traceback(error.__traceback__)
    return error


def _hung(cancelled: asyncio.CancelledError) -> JsException:
    """The runtime's error, with the lines that waited for what nothing will resolve."""
    return js_error("Error", HUNG_TEXT).with_traceback(cancelled.__traceback__)


def _user_place(task: asyncio.Task[Any]) -> str | None:
    """``src/entry.py:12: task 'name'`` for a task running user code, else None."""
    coro: Any = task.get_coro()
    coro = getattr(coro, "wrapped", coro)
    frame = getattr(coro, "cr_frame", None)
    if frame is None:
        return None
    module = frame.f_globals.get("__name__", "").partition(".")[0]
    if module in ("workers", "asgi", "tsumugi_emulator", "asyncio", "pyodide"):
        return None
    return f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}: {coro.__qualname__}()"
