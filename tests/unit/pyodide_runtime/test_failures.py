"""What Python in Pyodide raised is reported with the lines it had there."""

from __future__ import annotations

import asyncio

import pytest
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.pyodide_runtime.failures import failure
from tsumugi_emulator.tracebacks import report

REPORT = 'Traceback (most recent call last):\n  File "src/entry.py", line 1, in fetch'


@pytest.mark.parametrize("name", ["CancelledError", "ValueError", "JsException"])
def test_every_failure_keeps_its_report(name: str) -> None:
    thrown = js_error("TypeError", "no") if name == "JsException" else None
    error = failure(REPORT, f"{name}: no", name, thrown)
    assert report(error) == REPORT
    assert type(error).__name__ == name


def test_a_task_that_was_cancelled_ends_as_cancelled() -> None:
    assert isinstance(failure(REPORT, "", "CancelledError", None), asyncio.CancelledError)
