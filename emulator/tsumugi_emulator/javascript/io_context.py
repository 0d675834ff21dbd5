"""The I/O context of one event: what it waits for, what must finish, what dies with it.

Production ties every promise, stream and task to the event that made it. Host objects ask
:func:`current` for the event they run in and report their pending operations to it. Not here:
starting and ending events (``worker.events``).
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.depth import descend
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.paths import shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from contextvars import Context

    from tsumugi_emulator.javascript.depth import Invocations

_CURRENT: ContextVar[IoContext | None] = ContextVar("tsumugi_event", default=None)

#: Whether this is code of a module that is being imported, or a task that such code began.
_GLOBAL_SCOPE: ContextVar[bool] = ContextVar("tsumugi_global_scope", default=False)

GLOBAL_SCOPE_TEXT = (
    "Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), "
    "setting a timeout, and generating random values are not allowed within global scope. To fix "
    "this error, perform this operation within a handler. "
    "https://developers.cloudflare.com/workers/runtime-apis/handlers/"
)

OTHER_REQUEST_TEXT = (
    "Cannot perform I/O on behalf of a different request. I/O objects (such as streams, "
    "request/response bodies, and others) created in the context of one request handler cannot be "
    "accessed from a different request's handler. This is a limitation of Cloudflare Workers which "
    "allows us to improve overall performance. (I/O type: {kind})"
)


class IoContext:
    """One event: a request, a batch, a cron tick. ``kind`` is its handler's name."""

    __slots__ = (
        "ended",
        "handler",
        "invocations",
        "kind",
        "on_end",
        "pending",
        "tasks",
        "unsent",
        "wait_until",
        "warn",
    )

    def __init__(self, kind: str, warn: Callable[[str], None]) -> None:
        self.kind = kind
        #: Writes one warning for the terminal.
        self.warn = warn
        #: Host operations (sends, fetches, body reads) whose answer has not come yet.
        self.pending = 0
        #: The task that runs the handler itself.
        self.handler: asyncio.Task[Any] | None = None
        #: Tasks user code started in this event.
        self.tasks: set[asyncio.Task[Any]] = set()
        #: What ``ctx.waitUntil`` was given.
        self.wait_until: list[asyncio.Future[Any]] = []
        #: Operations called but neither awaited nor started yet: they die with the event.
        self.unsent: dict[int, Any] = {}
        self.on_end: list[Callable[[], None]] = []
        self.ended = False
        #: Of the request it belongs to (``depth``); counted from the first call of a service.
        self.invocations: Invocations | None = None

    def begin(self) -> None:
        self.pending += 1

    def finish(self) -> None:
        self.pending -= 1

    def track(self, future: asyncio.Future[Any]) -> None:
        """Count ``future`` as pending I/O until it is done."""
        self.pending += 1
        future.add_done_callback(self._untrack)

    def _untrack(self, _future: asyncio.Future[Any]) -> None:
        self.pending -= 1

    def keep(self, other: IoContext) -> None:
        """Keep an object in memory until this event is over, which has functions of it."""
        if self.ended or other is self or other.gate is None:
            return
        if other.finish not in self.on_end:
            other.pending += 1
            self.on_end.append(other.finish)

    #: The input gate of a Durable Object (``worker.gates``); other events have none.
    gate: Any = None

    def resumer(self) -> Callable[[Callable[[], None]], None]:
        """How an answer from outside is delivered here: at once, unless a gate orders it."""
        return _at_once

    def admit(
        self,
        work: Callable[[Any], Awaitable[Any]],
        settle: Callable[[Any, BaseException | None], None],
        context: Context,
        depth: int,
    ) -> None:
        """Run ``work`` in this event, for a caller from outside (a function it was given)."""

        async def run() -> None:
            descend(depth)
            try:
                result = await work(None)
            except BaseException as error:
                settle(None, error)
            else:
                settle(result, None)

        asyncio.get_running_loop().create_task(run(), context=context.copy())

    def owns(self, kind: str) -> None:
        """Check that I/O object of ``kind``, made in this event, is used in this event."""
        if current() is self and not self.ended:
            return
        text = OTHER_REQUEST_TEXT.format(kind=kind)
        if MODE.strict:
            raise js_error("Error", text)
        if not _in_finalizer():
            self.warn(f"{user_line()}in production this fails: {text}")


#: The second is what the SDK's ``wsgi.input`` does when Python, from C, closes it.
_FINALIZERS = ("__del__", "_release_reader")


def _in_finalizer() -> bool:
    """Whether an object that is freed by chance does this: nobody sees it fail in production."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _FINALIZERS:
            return True
        frame = frame.f_back
    return False


def _at_once(deliver: Callable[[], None]) -> None:
    deliver()


def current() -> IoContext | None:
    return _CURRENT.get()


def enter(context: IoContext) -> None:
    """Make ``context`` the event of the running task and everything it starts."""
    _CURRENT.set(context)


@contextlib.contextmanager
def global_scope() -> Iterator[None]:
    """What runs inside is not part of any event."""
    token = _GLOBAL_SCOPE.set(True)
    try:
        yield
    finally:
        _GLOBAL_SCOPE.reset(token)


def in_global_scope() -> bool:
    return _GLOBAL_SCOPE.get() and _CURRENT.get() is None


def require() -> IoContext:
    """The current event.

    Raises:
        JsException: production's error, when the code runs at import.
    """
    context = _CURRENT.get()
    if context is None:
        raise js_error("Error", GLOBAL_SCOPE_TEXT)
    return context


#: Frames of these packages are not the user's.
_NOT_USER = ("tsumugi_emulator", "workers", "asyncio", "pyodide")


def user_location() -> tuple[str, int] | None:
    """File and line of the innermost user frame on the stack."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in _NOT_USER:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


#: Where user code is that runs in another process and has called into this one: "file:line".
FOREIGN_PLACE = [""]


def user_line() -> str:
    """``"src/entry.py:12: "`` for a message, or nothing when no user code is on the stack."""
    if FOREIGN_PLACE[0]:
        return f"{FOREIGN_PLACE[0]}: "
    location = user_location()
    return f"{shown(location[0])}:{location[1]}: " if location else ""
