"""Promises of storage operations: when their work runs, and what is lost with the event.

An operation runs on a later turn of the loop, counted as pending I/O of its event. Not here: what
the work is; queue sends, which leave for the supervisor, have ``queue_producer``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import JsException, js_error
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.promise import rejected
from tsumugi_emulator.javascript.values import js_to_python

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

#: An operation nobody awaits starts after this long, if its event lives on (ADR-0040).
UNAWAITED_S = 0.001


def answering(method: Callable[..., PyodideFuture], *args: Any) -> PyodideFuture:
    """Call ``method``; its JavaScript error becomes a rejection, as of an async function.

    Raises:
        JsException: production's error, when no event is running.
    """
    io_context.require()
    try:
        return method(*args)
    except JsException as error:
        return rejected(error)


class Operation(PyodideFuture):
    """Work that starts when awaited, or soon after if its event goes on.

    Production loses what a queue handler started, did not await and left behind; so do we.
    """

    def __init__(self, work: Callable[[], Any], name: str) -> None:
        """``name`` is what a warning calls it: ``env.CACHE.put()``."""
        super().__init__(loop=asyncio.get_running_loop())
        self._work: Callable[[], Any] | None = work
        self._name = name
        self._event = io_context.require()
        self._resume = self._event.resumer()
        self._event.unsent[id(self)] = self
        self._event.begin()
        self._line = io_context.user_line() if self._event.kind == "queue" else ""
        self._timer = self.get_loop().call_later(UNAWAITED_S, self.leave)

    def __await__(self) -> Generator[Any, None, Any]:
        if self._work is not None:
            if asyncio.current_task() is self._event.handler:
                self.leave()
            else:
                # A task of its own needs a few turns, and an event that ends meanwhile wins.
                loop = self.get_loop()
                loop.call_soon(loop.call_soon, self.leave)
        return super().__await__()

    __iter__ = __await__

    def leave(self) -> None:
        """Start, once, after everything of this event that was called before."""
        if id(self) not in self._event.unsent:
            return
        for other in list(self._event.unsent.values()):
            if isinstance(other, Operation):
                other._schedule()
            if other is self:
                break

    def _schedule(self) -> None:
        self._timer.cancel()
        self._event.unsent.pop(id(self), None)
        if self._event.gate is None:
            self.get_loop().call_soon(self._run)
        else:
            self._resume(self._run)  # other events enter the object before

    def _run(self) -> None:
        """The work is done even when nobody waits for it any more, as in production."""
        work, self._work = self._work, None
        try:
            result = work() if work is not None else None
        except JsException as error:
            self._settle(None, error)
        except Exception as error:
            self._settle(None, js_error("Error", f"{type(error).__name__}: {error}"))
        else:
            self._settle(result, None)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        self._event.finish()
        if self.done():
            return
        if error is None:
            self.set_result(js_to_python(result))
        else:
            self.set_exception(error.with_traceback(None))  # as ``rejected`` does

    def drop(self) -> str:
        """Forget the work, as production does when the event is over; says what was lost."""
        self._work = None
        self._timer.cancel()
        self._event.finish()
        return (
            f"{self._line}{self._name} was not awaited and its handler has returned: it did not "
            "happen, as in production. Await it, or hold it with self.ctx.waitUntil()."
        )
