"""Timers and microtasks: ``setTimeout`` and its siblings, ``queueMicrotask``, ``scheduler``.

A callback runs in the event that set it, but with default context variables.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from contextvars import Context
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.clock import Clock, SystemClock, Timer
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import call_back
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.standard import namespace
from tsumugi_emulator.javascript.strings import to_number
from tsumugi_emulator.javascript.values import PyProxy
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.rejecting import rejecting
from tsumugi_emulator.javascript.web.uncaught import report_uncaught

if TYPE_CHECKING:
    from collections.abc import Callable

#: The clock timers run on; replaced by whoever owns the process's clock.
CLOCK: list[Clock] = [SystemClock()]

_ids = itertools.count(1)
_timers: dict[int, _Timeout] = {}


def call_later(delay_ms: float, callback: Callable[[], None]) -> Timer:
    """Run ``callback`` in the current event after ``delay_ms``, with fresh context variables."""
    clock = CLOCK[0]
    context = Context()
    event = io_context.current()
    if event is not None:
        context.run(io_context.enter, event)
    return clock.call_at(clock.now_ms() + _whole(delay_ms), lambda: context.run(callback))


def _whole(delay_ms: float) -> int:
    return 0 if math.isnan(delay_ms) or delay_ms < 0 else int(min(delay_ms, 2**31 - 1))


class _Timeout:
    """One pending timer. The event counts it as pending I/O until it has fired or is cleared."""

    __slots__ = ("_args", "_callback", "_delay_ms", "_line", "_pending", "_repeat", "_timer", "id")

    def __init__(
        self, callback: Any, delay_ms: float, args: tuple[Any, ...], *, repeat: bool
    ) -> None:
        self.id = next(_ids)
        self._callback = callback
        self._args = args
        self._delay_ms = delay_ms
        self._repeat = repeat
        self._line = io_context.user_line() if isinstance(callback, PyProxy) else ""
        self._pending: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        event = io_context.current()
        if event is not None:
            event.track(self._pending)
            event.on_end.append(self.clear)
        _timers[self.id] = self
        self._timer = call_later(delay_ms, self._fire)

    def _fire(self) -> None:
        if not self._repeat:
            self._forget()
        try:
            call_back(self._callback, *self._args)
        except Exception as error:
            report_uncaught(error, self._line)
            if isinstance(self._callback, PyProxy) and self._callback._destroyed is not None:
                self.clear()
                return
        if self._repeat and self.id in _timers:
            self._timer = call_later(max(1, self._delay_ms), self._fire)

    def clear(self) -> None:
        self._timer.cancel()
        self._forget()

    def _forget(self) -> None:
        _timers.pop(self.id, None)
        if not self._pending.done():
            self._pending.set_result(None)


def _start(callback: Any, delay: Any, args: tuple[Any, ...], *, repeat: bool, name: str) -> int:
    if not isinstance(callback, JsFunction | PyProxy):
        raise type_error(
            f"Failed to execute '{name}' on 'ServiceWorkerGlobalScope': parameter 1 is not of type "
            "'function'."
        )
    delay_ms = 0 if delay is None else to_number(delay)
    if _whole(delay_ms) > 0:
        io_context.require()
    return _Timeout(callback, delay_ms, args, repeat=repeat).id


def _set_timeout(callback: Any = None, delay: Any = None, *args: Any) -> int:
    return _start(callback, delay, args, repeat=False, name="setTimeout")


def _set_interval(callback: Any = None, delay: Any = None, *args: Any) -> int:
    io_context.require()
    return _start(callback, delay, args, repeat=True, name="setInterval")


def _clear(timer_id: Any = None) -> None:
    timer = _timers.get(timer_id) if isinstance(timer_id, int) else None
    if timer is not None:
        timer.clear()


def _queue_microtask(callback: Any = None) -> None:
    line = io_context.user_line() if isinstance(callback, PyProxy) else ""

    def run() -> None:
        try:
            call_back(callback)
        except Exception as error:
            report_uncaught(error, line)

    context = Context()
    event = io_context.current()
    if event is not None:
        context.run(io_context.enter, event)
    asyncio.get_running_loop().call_soon(run, context=context)


@rejecting
def _wait(delay: Any = None, options: Any = None) -> PyodideFuture:
    """``scheduler.wait``: a promise for later, which an abort signal can end early."""
    event = io_context.require()
    signal = member(options, "signal")
    if signal is not None:
        signal.throwIfAborted()
    future = PyodideFuture(loop=asyncio.get_running_loop())
    event.track(future)

    def fire() -> None:
        if not future.done():
            future.set_result(None)

    timer = call_later(to_number(delay), fire)

    def abort() -> None:
        timer.cancel()
        if not future.done():
            future.set_exception(signal._error())

    if signal is not None:
        signal._on_abort.append(abort)
    return future


set_timeout = JsFunction(_set_timeout, "setTimeout", 2)
set_interval = JsFunction(_set_interval, "setInterval", 2)
clear_timeout = JsFunction(_clear, "clearTimeout", 1)
clear_interval = JsFunction(_clear, "clearInterval", 1)
queue_microtask = JsFunction(_queue_microtask, "queueMicrotask", 1)
scheduler = namespace("Scheduler", {"wait": _wait})
