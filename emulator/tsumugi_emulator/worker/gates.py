"""The input gate of one object: in which order what arrives from outside enters it.

New calls and answers to what the object waits for are one queue. The first enters when everything
runnable in the object has run (production's microtasks), and not while a critical section of
somebody else is open. Knows nothing of what enters.
"""

from __future__ import annotations

import contextvars
from collections import deque
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.io_context import _CURRENT

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from tsumugi_emulator.javascript.io_context import IoContext
    from tsumugi_emulator.worker.loop import WorkerLoop

#: Timers below 3 ms run like microtasks: nothing enters meanwhile (verified reference, row conc);
#: some of it has passed when the loop is asked.
SHORT_TIMER_S = 0.0025
#: How soon to look again while such a timer runs.
SHORT_CHECK_S = 0.0005

_SECTION: contextvars.ContextVar[Section | None] = contextvars.ContextVar(
    "tsumugi_section", default=None
)
_NO_CONTEXT = contextvars.Context()

#: Set where the code of objects runs in another process: whether it may still be runnable. The
#: gate that asks is told (``check_soon``) when it no longer is.
ELSEWHERE: list[Callable[[Gate], bool]] = []


class Section:
    """A critical section; one inside another belongs to it."""

    __slots__ = ("ended", "parent")

    def __init__(self, parent: Section | None) -> None:
        self.parent = parent
        self.ended = False


def _open_one(section: Section | None) -> Section | None:
    """The section that code of ``section`` belongs to now: tasks outlive the one they began in."""
    while section is not None and section.ended:
        section = section.parent
    return section


class _Input:
    __slots__ = ("deliver", "section", "timer")

    def __init__(self, deliver: Callable[[], Any], section: Section | None) -> None:
        self.deliver = deliver
        self.section = section
        self.timer: asyncio.TimerHandle | None = None


class Gate:
    def __init__(self, loop: WorkerLoop, event: IoContext) -> None:
        self._loop = loop
        self._event = event
        self._inputs: deque[Any] = deque()
        #: The innermost open section.
        self._section: Section | None = None
        self._waiting: deque[tuple[Section, Callable[[], None]]] = deque()
        self._short_timers: list[asyncio.TimerHandle] = []
        self._checking = False
        #: Nothing enters before the object is constructed, or once it is gone.
        self.closed = True
        #: Whether code of the object may be runnable; false saves looking.
        self.is_busy: Callable[[], bool] = lambda: True

    # -- Entering ---------------------------------------------------------------------------------

    def input(self, deliver: Callable[[], Any], section: Section | None = None) -> None:
        """Run ``deliver`` when it is its turn."""
        self.accept(_Input(deliver, section))

    def accept(self, arriving: Any) -> None:
        """Run its ``deliver`` when it is its turn; it has what ``_Input`` has."""
        self._inputs.append(arriving)
        if not self._checking and not self.closed:
            self._checking = True
            self._loop.at_turn_end(self._check)

    def resumer(self) -> Callable[[Callable[[], Any]], None]:
        """Delivers an answer to the code that is running now."""
        section = _SECTION.get()
        return lambda deliver: self.input(deliver, section)

    def open(self) -> None:
        self.closed = False
        self.check_soon()

    def close(self) -> None:
        """Nothing enters any more."""
        self.closed = True
        self._inputs.clear()
        self._waiting.clear()

    def check_soon(self) -> None:
        if not self._checking and not self.closed:
            self._checking = True
            self._loop.at_turn_end(self._check)

    def _check(self) -> None:
        self._checking = False
        index = self._next()
        if index is None:
            return
        if ELSEWHERE and self.is_busy() and ELSEWHERE[0](self):
            return
        if not self._is_quiet():
            self._checking = True
            if self._short_timers:
                self._loop.call_later(SHORT_CHECK_S, self._check, context=_NO_CONTEXT)
            else:
                self._loop.call_soon(self._check, context=_NO_CONTEXT)
            return
        found = self._inputs[index]
        del self._inputs[index]
        if self._inputs:
            self.check_soon()
        if found.timer is None or not found.timer.cancelled():
            found.deliver()

    def _next(self) -> int | None:
        if self.closed or not self._inputs:
            return None
        if self._section is None:
            return 0
        for index, waiting in enumerate(self._inputs):
            if self._is_open(waiting.section):
                return index
        return None

    def _is_open(self, section: Section | None) -> bool:
        """Whether code of ``section`` may go on: it is the open one, or the open one is its."""
        section = _open_one(section)
        return section is not None and section is self._section

    def _is_quiet(self) -> bool:
        if not self.is_busy():
            return True
        event = self._event
        if self._short_timers:
            self._short_timers = [
                timer
                for timer in self._short_timers
                if timer._scheduled and not timer.cancelled()  # type: ignore[attr-defined]
            ]
            if self._short_timers:
                return False
        ready = self._loop._ready  # type: ignore[attr-defined]
        return not any(
            handle._context.get(_CURRENT) is event and not handle._cancelled for handle in ready
        )

    # -- Timers -----------------------------------------------------------------------------------

    def timer(
        self,
        call_at: Callable[..., asyncio.TimerHandle],
        when: float,
        callback: Callable[..., Any],
        args: tuple[Any, ...],
        context: contextvars.Context | None,
    ) -> asyncio.TimerHandle:
        """A timer of the object's own: it fires as input, unless it is short."""
        if when - self._loop.time() < SHORT_TIMER_S:
            handle = call_at(when, callback, *args, context=context)
            self._short_timers.append(handle)
            return handle
        scope = contextvars.copy_context() if context is None else context
        arriving = _Input(lambda: scope.run(callback, *args), scope.get(_SECTION))
        arriving.timer = call_at(when, self._fired, arriving, context=scope)
        return arriving.timer

    def _fired(self, arriving: _Input) -> None:
        self._inputs.append(arriving)
        self.check_soon()

    # -- Critical sections ------------------------------------------------------------------------

    @property
    def locked(self) -> bool:
        return self._section is not None

    def enter(self, start: Callable[[Section, contextvars.Context], None]) -> None:
        """Open a section: ``start`` gets it and the context its code must run in.

        One that another section is in the way of waits for it.
        """
        section = Section(_open_one(_SECTION.get()))
        scope = contextvars.copy_context()
        scope.run(_SECTION.set, section)

        def begin() -> None:
            self._section = section
            start(section, scope)

        if self._section is section.parent:
            begin()
        else:
            self._waiting.append((section, begin))

    def leave(self, section: Section) -> None:
        section.ended = True
        # One inside that nobody awaited may still be open.
        self._section = _open_one(self._section)
        for index, (waiting, begin) in enumerate(self._waiting):
            if _open_one(waiting.parent) is self._section:
                del self._waiting[index]
                begin()
                return
        self.check_soon()
