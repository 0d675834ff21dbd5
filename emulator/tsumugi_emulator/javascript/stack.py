"""Waiting synchronously for a promise: ``run_sync``, by switching stacks (JSPI in production).

Each step of an event's task runs in a greenlet. ``run_sync`` parks that greenlet, the task yields
the promise as if the coroutine had awaited it, and other events run meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.promise import as_awaitable

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context

#: Production's text where there is no stack to switch from.
NO_SUSPENDER = "No suspender"


class _Park:
    """What a parked greenlet hands to its driver: the future it waits for."""

    __slots__ = ("future",)

    def __init__(self, future: asyncio.Future[Any]) -> None:
        self.future = future


class _Raised:
    """A step ended with this exception."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _run_steps(method: Any, args: Any) -> Any:
    """The body of a greenlet: one step after the other, whoever's they are."""
    parent = getcurrent().parent
    assert parent is not None
    while True:
        try:
            result = method(*args)
        except BaseException as error:
            result = _Raised(error)
        method = args = None  # idle, it keeps no coroutine alive
        method, args = parent.switch(result)


class SwitchableCoroutine(Coroutine[Any, Any, Any]):
    """Drives a coroutine so that code below it may call :func:`run_sync`.

    ``idle`` holds greenlets between steps, for all coroutines of one loop: starting one costs more
    than a step does, and only a step that parks keeps its own.
    """

    __slots__ = ("_context", "_coro", "_idle", "_parked")

    def __init__(
        self, coro: Coroutine[Any, Any, Any], idle: list[greenlet], context: Context | None = None
    ) -> None:
        """``context`` is the task's, if it is known already."""
        self._coro = coro
        self._idle = idle
        self._parked: greenlet | None = None
        self._context = context

    @property
    def wrapped(self) -> Coroutine[Any, Any, Any]:
        return self._coro

    def send(self, value: Any) -> Any:
        step = self._parked
        if step is None:
            step = self._idle.pop() if self._idle else greenlet(_run_steps)
            if self._context is None:
                self._context = _task_context()
            step.gr_context = self._context  # a greenlet would start in an empty one
            result = step.switch(self._coro.send, (value,))
        else:
            self._parked = None
            result = step.switch(value)
        if type(result) is _Park or type(result) is _Raised:
            return self._outcome(step, result)
        self._idle.append(step)
        return result

    def throw(self, *error: Any) -> Any:
        parked, self._parked = self._parked, None
        if parked is None:
            return self._step(self._coro.throw, error)
        if isinstance(error[0], BaseException):
            # Given alone, a greenlet would forget where it was raised.
            error = (type(error[0]), error[0], error[0].__traceback__)
        return self._outcome(parked, parked.throw(*error))

    def close(self) -> None:
        parked, self._parked = self._parked, None
        if parked is not None:
            parked.throw()  # GreenletExit unwinds the user's stack
        self._coro.close()

    def __await__(self) -> Any:
        return self._coro.__await__()

    def _step(self, method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        step = self._idle.pop() if self._idle else greenlet(_run_steps)
        if self._context is None:
            self._context = _task_context()
        step.gr_context = self._context  # a greenlet would start in an empty one
        return self._outcome(step, step.switch(method, args))

    def _outcome(self, step: greenlet, result: Any) -> Any:
        if type(result) is _Park:
            self._parked = step
            future = result.future
            future._asyncio_future_blocking = True  # what awaiting it would have set
            return future
        self._idle.append(step)
        if type(result) is _Raised:
            try:
                raise result.error
            finally:
                del result.error  # its traceback holds this frame: no cycle
        return result


def _task_context() -> Context | None:
    # Not a line of _step: its frame is part of tracebacks, and a task that is part of its own
    # exception is not freed, so nobody is told that it failed unawaited.
    task = asyncio.current_task()
    return None if task is None else task.get_context()


def can_run_sync() -> bool:
    return MODE.python_version != "3.12" and isinstance(_driver(), SwitchableCoroutine)


def run_sync(awaitable: Any) -> Any:
    """Wait for an awaitable from synchronous code; other events run meanwhile.

    Raises:
        RuntimeError: outside of a task, where production has no stack to switch.
    """
    if not can_run_sync():
        if asyncio.iscoroutine(awaitable):
            awaitable.close()
        raise RuntimeError(NO_SUSPENDER)
    source = as_awaitable(awaitable)
    future = asyncio.ensure_future(awaitable if source is None else source)
    parent = getcurrent().parent
    assert parent is not None  # can_run_sync: we run in a step's greenlet
    while not future.done():
        parent.switch(_Park(future))
    return future.result()


def _driver() -> Any:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return None
    return None if task is None else task.get_coro()
