"""What happens to an exception no caller can receive: a timer's, an event listener's."""

from __future__ import annotations

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.javascript.values import PyProxy
from tsumugi_emulator.tracebacks import report


def report_uncaught(error: BaseException, line: str = "") -> None:
    """Show ``error`` as production logs it. ``line`` says where the callback was registered."""
    if isinstance(error, JsException):
        text = f"Uncaught {error}"
        if error.message == PyProxy.BORROWED:
            text += " The callback never runs."
    else:
        text = f"Uncaught PythonError: {report(error)}"
    event = io_context.current()
    if event is not None:
        event.warn(f"{line}{text}")
        return
    from tsumugi_emulator.javascript.web.console import emit

    emit("error", f"{line}{text}")
