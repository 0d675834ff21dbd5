"""``AbortController`` and ``AbortSignal``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import iterate_js
from tsumugi_emulator.javascript.errors import DOMException
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property, js_static
from tsumugi_emulator.javascript.promise import as_exception
from tsumugi_emulator.javascript.strings import to_number
from tsumugi_emulator.javascript.values import JsProxy
from tsumugi_emulator.javascript.web.events import Event, EventTarget, event_handler

if TYPE_CHECKING:
    from collections.abc import Callable

ABORT_TEXT = "The operation was aborted"
TIMEOUT_TEXT = "The operation was aborted due to timeout"


@js_class("AbortSignal", constructible=False)
class AbortSignal(EventTarget):
    __slots__ = ("_aborted", "_on_abort", "_reason")

    def __init__(self) -> None:
        super().__init__()
        self._aborted = False
        self._reason: Any = None
        #: The emulator's own listeners (a fetch, a dependent signal); they run first.
        self._on_abort: list[Callable[[], None]] = []

    onabort = event_handler("abort")

    @js_property
    def aborted(self) -> bool:
        return self._aborted

    @js_property
    def reason(self) -> Any:
        return self._reason

    @js_method
    def throwIfAborted(self) -> None:
        if self._aborted:
            raise self._error()

    def _error(self) -> BaseException:
        return as_exception(self._reason)

    def _abort(self, reason: Any) -> None:
        if self._aborted:
            return
        self._aborted = True
        self._reason = DOMException(ABORT_TEXT, "AbortError") if reason is None else reason
        callbacks, self._on_abort = self._on_abort, []
        for callback in callbacks:
            callback()
        self._dispatch(Event("abort"))


@js_class("AbortController")
class AbortController(JsProxy):
    __slots__ = ("_signal",)

    def __init__(self) -> None:
        self._signal = AbortSignal()

    @classmethod
    def _construct(cls) -> AbortController:
        return cls()

    @js_property
    def signal(self) -> AbortSignal:
        return self._signal

    @js_method
    def abort(self, reason: Any = None) -> None:
        self._signal._abort(reason)


AbortControllerClass = AbortController.constructor
AbortSignalClass = AbortSignal.constructor


def _aborted(reason: Any = None) -> AbortSignal:
    signal = AbortSignal()
    signal._abort(reason)
    return signal


def _timeout(delay_ms: Any = None) -> AbortSignal:
    from tsumugi_emulator.javascript.web.timers import call_later

    io_context.require()
    signal = AbortSignal()

    def expire() -> None:
        signal._abort(DOMException(TIMEOUT_TEXT, "TimeoutError"))

    # Not pending I/O: an event that only waits for a time limit is over.
    call_later(to_number(delay_ms), expire)
    return signal


def abort_signal_any(signals: Any) -> AbortSignal:
    """A signal that aborts with the first of ``signals``."""
    combined = AbortSignal()
    for signal in iterate_js(signals):
        if signal._aborted:
            combined._abort(signal._reason)
            return combined
    for signal in iterate_js(signals):
        signal._on_abort.append(lambda signal=signal: combined._abort(signal._reason))
    return combined


js_static(AbortSignal, "abort", _aborted)
js_static(AbortSignal, "timeout", _timeout)
js_static(AbortSignal, "any", abort_signal_any)
