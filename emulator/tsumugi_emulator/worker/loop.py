"""The child's event loop: asyncio's, plus what Workers need to know about waiting.

It tells when nothing can happen any more (so that an await that nothing will resolve is found
at once), files each task under the event that started it, and survives ``sys.exit`` in a task.
``run_in_executor`` runs inline, as in production, where there are no threads.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import sys
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.io_context import (
    _CURRENT,
    GLOBAL_SCOPE_TEXT,
    IoContext,
    in_global_scope,
)
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.stack import SwitchableCoroutine
from tsumugi_emulator.worker import nested_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from greenlet import greenlet


#: What holds connections on the loop that are not the user's own, once it is loaded.
_WITH_CONNECTIONS = (
    "tsumugi_emulator.javascript.web.fetch",
    "tsumugi_emulator.javascript.web.websocket_client",
)


IN_THE_PAST = "Can't schedule in the past"

#: Turns in a row that may pass without a look at what arrives and at timers.
MAX_TURNS_UNASKED = 3


class _IdleSelector(selectors.DefaultSelector):
    """Calls ``on_turn_end`` between turns, and ``on_idle`` before it would block.

    A true answer means that there is work again.
    """

    on_turn_end: Callable[[], bool] | None = None
    on_idle: Callable[[], bool] | None = None
    #: When the callbacks of this turn began to run, as ``loop.time()`` says it.
    turn_began = 0.0

    def __init__(self, time: Callable[[], float]) -> None:
        super().__init__()
        self._time = time

    def select(self, timeout: float | None = None) -> Any:
        if self.on_turn_end is not None and self.on_turn_end():
            timeout = 0
        if timeout != 0 and self.on_idle is not None and self.on_idle():
            timeout = 0
        events = super().select(timeout)
        self.turn_began = self._time()
        return events


class WorkerLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._idle_selector = _IdleSelector(self.time)
        super().__init__(self._idle_selector)
        self._turn_end: list[Callable[[], None]] = []
        self._turns_unasked = 0
        self._idle_selector.on_turn_end = self._run_turn_end
        self.set_task_factory(_file_under_event)  # type: ignore[arg-type]  # on this class only
        self._own_descriptors = 0
        #: Greenlets that run no step at the moment (``javascript.stack``).
        self.idle_greenlets: list[greenlet] = []

    def _run_once(self) -> None:
        """A turn: asyncio's, or its last part alone.

        Asking the system for events and looking at timers costs as much as a short turn: while
        there is work, that is done every few turns only (ADR-0243).
        """
        asks = self._turns_unasked >= MAX_TURNS_UNASKED or self._debug  # type: ignore[attr-defined]
        if asks or not self._run_turn_end():
            self._turns_unasked = 0
            super()._run_once()  # type: ignore[misc]
            return
        self._turns_unasked += 1
        self._idle_selector.turn_began = self.time()
        ready = self._ready  # type: ignore[attr-defined]
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()
        # A traceback's frames reach this one: the task that failed must not be kept by its own
        # exception, or nobody is told that it failed unawaited.
        handle = None

    def call_soon(  # type: ignore[override]  # the same call, typed plainly
        self, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.Handle:
        if self._debug or self._closed:  # type: ignore[attr-defined]
            return super().call_soon(callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)  # type: ignore[attr-defined]
        return handle

    def at_turn_end(self, callback: Callable[[], None]) -> None:
        """Call once, after everything of this turn: like ``call_soon`` without another turn."""
        self._turn_end.append(callback)

    def _run_turn_end(self) -> bool:
        while self._turn_end:
            callbacks, self._turn_end = self._turn_end, []
            for callback in callbacks:
                try:
                    callback()
                except Exception as error:
                    self.call_exception_handler({"message": str(error), "exception": error})
        return bool(self._ready)  # type: ignore[attr-defined]

    def watch_idle(self, on_idle: Callable[[], bool]) -> None:
        """Call ``on_idle`` whenever the loop is about to sleep.

        Descriptors registered so far are the emulator's own; later ones are user I/O.
        """
        self._own_descriptors = len(self._idle_selector.get_map())
        self._idle_selector.on_idle = on_idle

    def has_user_descriptors(self) -> bool:
        """Whether user code waits on sockets of its own, which no event can be named for."""
        kept_alive = 0
        for name in _WITH_CONNECTIONS:
            if (module := sys.modules.get(name)) is not None:
                kept_alive += module.open_connections()
        return len(self._idle_selector.get_map()) > self._own_descriptors + kept_alive

    def events_with_timers(self) -> set[IoContext | None]:
        """The events that own a timer that has not fired yet."""
        return {
            handle._context.get(_CURRENT)
            for handle in self._scheduled  # type: ignore[attr-defined]
            if not handle._cancelled
        }

    def call_later(  # type: ignore[override]  # the same call, typed plainly
        self, delay: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        if _CURRENT.get() is not None and delay < 0:
            raise ValueError(IN_THE_PAST)
        return super().call_later(delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]  # the same call, typed plainly
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        event = _CURRENT.get() if context is None else context.get(_CURRENT)
        if event is None:
            if context is None and in_global_scope() and when > self.time():
                raise js_error("Error", GLOBAL_SCOPE_TEXT)
            return super().call_at(when, callback, *args, context=context)
        # Within a turn the platform's clock stands still: what it said then is not past.
        if when - self._idle_selector.turn_began < 0:
            raise ValueError(IN_THE_PAST)
        if when != when or (when == math.inf and not MODE.has_bigint_type):  # until 3.13
            when = self.time()  # to setTimeout, what is no time is 0
        elif when == math.inf:
            return asyncio.TimerHandle(when, callback, args, self, context)  # never
        if event.gate is None:
            return super().call_at(when, callback, *args, context=context)
        handle: asyncio.TimerHandle = event.gate.timer(
            super().call_at, when, callback, args, context
        )
        return handle

    def run_in_executor(  # type: ignore[override]  # the same call, typed plainly
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    # -- What code of an event may ask it for ---------------------------------------------------

    def run_until_complete(self, future: Any) -> Any:
        if not _is_users():
            return super().run_until_complete(future)
        return nested_loop.run_until_complete(future)

    def run_forever(self) -> None:
        if not _is_users():
            super().run_forever()

    def stop(self) -> None:
        if not _is_users():
            super().stop()
        else:
            nested_loop.stop()

    def close(self) -> None:
        if not _is_users():
            super().close()

    def run_until_stopped(self) -> None:
        """Run until ``stop()``; ``SystemExit`` fails the task that raised it, as any exception."""
        while True:
            try:
                self.run_forever()
            except (SystemExit, KeyboardInterrupt):
                continue
            return


def _is_users() -> bool:
    """Whether code of an event asks, or code that is being imported."""
    return _CURRENT.get() is not None or in_global_scope()


def _file_under_event(
    loop: WorkerLoop, coro: Coroutine[Any, Any, Any], **options: Any
) -> asyncio.Task[Any]:
    context = options.get("context")
    event = _CURRENT.get() if context is None else context.get(_CURRENT)
    if event is None:
        if context is None and in_global_scope() and asyncio.iscoroutine(coro):
            coro = SwitchableCoroutine(coro, loop.idle_greenlets)
        return asyncio.Task(coro, loop=loop, **options)
    if not asyncio.iscoroutine(coro):
        raise TypeError(f"a coroutine was expected, got {coro!r}")
    # run_sync may be called anywhere below an event's task.
    task = asyncio.Task(SwitchableCoroutine(coro, loop.idle_greenlets), loop=loop, **options)
    event.tasks.add(task)
    task.add_done_callback(event.tasks.discard)
    return task
