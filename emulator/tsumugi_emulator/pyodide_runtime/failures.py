"""Exceptions of Python inside Pyodide as the host raises them: the traceback came as text."""

from __future__ import annotations

import asyncio
from typing import Any

from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.tracebacks import hold_report
from tsumugi_emulator.worker.events import Exited


class PythonFailure(Exception):
    """Subclassed by name: what asks for the class of an exception gets the original's."""


def failure(report: str, summary: str, name: str, thrown: Any) -> BaseException:
    """What to raise; ``thrown`` is the JavaScript error that went through Python, if it is one."""
    if name == "SystemExit":
        return Exited(report)
    error: BaseException
    if name == "CancelledError":
        error = asyncio.CancelledError()
    elif isinstance(thrown, JsException):
        error = thrown
    else:
        error = type(name, (PythonFailure,), {})(summary)
    hold_report(error, report, summary)
    return error
