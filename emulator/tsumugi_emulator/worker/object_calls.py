"""One event of a Durable Object, from its arrival to its answer.

Not here: the object itself (``live_object``) and when an event enters it (``gates``).
"""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from types import CoroutineType
from typing import TYPE_CHECKING, Any

import apsw

from tsumugi_emulator.bindings import rpc_plain
from tsumugi_emulator.bindings.rpc_values import python_failure
from tsumugi_emulator.javascript.depth import descend
from tsumugi_emulator.javascript.errors import JsException, js_error
from tsumugi_emulator.javascript.stack import SwitchableCoroutine
from tsumugi_emulator.worker.events import HUNG_TEXT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tsumugi_emulator.bindings.rpc_values import Answer
    from tsumugi_emulator.javascript.io_context import IoContext
    from tsumugi_emulator.worker.live_object import LiveObject

type Settle = Callable[[Any, BaseException | None], None]
type Work = Callable[[Any], Awaitable[Any]]


class ObjectEvent:
    """What it does, and who is told, is said by the classes below; it enters as it is."""

    __slots__ = ("_answered", "_depth", "_object", "_task", "context")

    #: Whether the supervisor knows of it without being told (``ObjectAtWork``).
    is_known = False
    #: As an input of the gate: it belongs to no critical section and to no timer.
    section = None
    timer = None

    def __init__(self, target: LiveObject, depth: int = 0) -> None:
        self._object = target
        self._depth = depth
        self._task: asyncio.Task[None] | None = None
        self._answered = False
        #: As ``EventRun`` has it.
        self.context = target.context

    def _work(self, instance: Any) -> Any:
        """Begin: what it comes to, or an awaitable of it."""
        raise NotImplementedError

    def _outcome(self, result: Any) -> Any:
        """What is told of what it came to."""
        return result

    def _failure(self, error: BaseException) -> BaseException:
        """What is told of what it raised."""
        return error

    def _settle(self, result: Any, error: BaseException | None) -> None:
        """Tell whoever waits for it."""
        raise NotImplementedError

    def deliver(self) -> None:
        target = self._object
        target.running += 1
        loop = target.loop
        context = target.scope.copy()
        # It runs up to its first wait here and now: a call that only uses storage is one turn.
        task = asyncio.Task(
            SwitchableCoroutine(self._run(), loop.idle_greenlets, context),
            loop=loop,
            context=context,
            eager_start=True,
        )
        if not task.done():
            self._task = task

    async def _run(self) -> None:
        error: BaseException | None = None
        result = None
        target = self._object
        descend(self._depth)
        try:
            result = self._work(target.instance)
            # Awaited here: each coroutine on the way costs every step of the method.
            if type(result) is CoroutineType or (
                type(result) not in rpc_plain.PLAIN_TYPES and isawaitable(result)
            ):
                result = await result
            result = self._outcome(result)
        except BaseException as raised:
            error = self._failure(raised)
        target.running -= 1
        self._task = None
        if error is not None:
            if type(error).__name__ == "DurableObjectAbort":
                return  # the abort itself is on its way, and answers every call
            if isinstance(error, apsw.Error):
                target.reset(error)  # it is the storage's, not the code's
        self.answer(result, error)

    def answer(self, result: Any, error: BaseException | None) -> None:
        if self._answered:
            return
        target = self._object
        if target.file.writing and target.broken is None:
            # Nothing leaves before what it is built on is on disk.
            target.commit()
            if self._answered:
                return  # that failed, and every call was told
        self._answered = True
        self._settle(result, error)
        target.forget(self)

    def stop(self) -> None:
        """Its object is gone: what still runs must not go on."""
        if self._task is not None:
            self._task.cancel()

    def is_stuck(self, with_timers: set[IoContext | None]) -> bool:
        """Only in a constructor, which nothing enters: calls may wake each other (ADR-0309)."""
        return (
            self._object.is_under_construction
            and self.context.pending == 0
            and self.context not in with_timers
        )

    def hang_up(self) -> None:
        self._object.reset(js_error("Error", HUNG_TEXT))


class ObjectCall(ObjectEvent):
    """Any work, and any way to tell of it."""

    __slots__ = ("_settle", "_work")

    def __init__(self, target: LiveObject, work: Work, settle: Settle, depth: int = 0) -> None:
        super().__init__(target, depth)
        self._work = work  # type: ignore[assignment]
        self._settle = settle  # type: ignore[assignment]


class MethodCall(ObjectEvent):
    """A method of its class that is called with plain values, by an event of this process."""

    __slots__ = ("_answer", "_args", "_for_python", "_is_fresh", "_name")

    def __init__(
        self,
        target: LiveObject,
        name: str,
        args: list[Any],
        answer: Answer,
        *,
        depth: int,
        for_python: bool,
    ) -> None:
        """With ``for_python``, a plain result is answered as Python sees it, not JavaScript."""
        super().__init__(target, depth)
        self._name = name
        self._args = args
        self._answer = answer
        self._for_python = for_python
        #: Whether the result is nobody else's: it needs no copy.
        self._is_fresh = False

    def _work(self, instance: Any) -> Any:
        return getattr(instance, self._name)(*self._args)

    def _outcome(self, result: Any) -> Any:
        try:
            found = rpc_plain.across(result) if self._for_python else rpc_plain.result(result)
        except rpc_plain.NotPlain:
            pass  # and done with: what is raised below must not tell of it
        else:
            self._is_fresh = True
            return found
        return self._object.kind.result(result)

    def _failure(self, error: BaseException) -> BaseException:
        # JavaScript's errors came through Python.
        return python_failure(error) if isinstance(error, JsException) else error

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self._is_fresh and error is None:
            self._answer.deliver(result, None)
        else:
            self._answer.settle(result, error)


__all__ = ["MethodCall", "ObjectCall", "ObjectEvent", "Settle", "Work"]
