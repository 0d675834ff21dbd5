"""Threads that code of the Worker starts: production has none (verified reference, row 7.20).

They run here, and each place is told once (ADR-0004). The emulator's own threads are no event's.
"""

from __future__ import annotations

import functools
import sys
import threading
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.paths import shown

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED = "can't start new thread"
TEXT = (
    f"in production a thread fails with `RuntimeError: {REFUSED}`. "
    "asyncio.to_thread() works there: it runs the function at once."
)
_told: set[str] = set()
#: Those that code of the Worker has started.
_started: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def apply() -> None:
    """Watch the threads of this process. Idempotent."""
    if getattr(threading.Thread.start, "__wrapped__", None) is None:
        threading.Thread.start = _watched(threading.Thread.start)  # type: ignore[assignment]


def any_alive() -> bool:
    """Whether a thread of the Worker's runs: it may end any wait of the loop, from outside."""
    return any(thread.is_alive() for thread in _started)


def _watched(original: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    @functools.wraps(original)
    def start(self: threading.Thread) -> None:
        event: Any = io_context.current()
        if event is not None or io_context.in_global_scope():
            if MODE.strict:
                raise RuntimeError(REFUSED)
            _tell(event)
            _started.add(self)
        original(self)

    return start


def _tell(event: io_context.IoContext | None) -> None:
    line = _place()
    if line in _told:
        return
    _told.add(line)
    if event is not None:
        event.warn(f"{line}{TEXT}")
    else:
        warnings.warn(TEXT, stacklevel=4)


def _place() -> str:
    """``src/entry.py:12: `` of the code that wanted a thread, also through the standard library."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package != "tsumugi_emulator" and package not in sys.stdlib_module_names:
            return f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}: "
        frame = frame.f_back
    return ""
