"""What a report shows of who raised: the user's lines, and ours only if there are no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tsumugi
from tsumugi_emulator import tracebacks

SDK = str(Path(tsumugi.__file__).parent / "jobs" / "app.py")
USERS = "/project/src/entry.py"


def function(text: str, filename: str) -> Any:
    """``call(inner)`` with this body, as if it stood in ``filename``."""
    names: dict[str, Any] = {}
    exec(compile(f"def call(inner=None):\n {text}", filename, "exec"), names)
    return names["call"]


def report_of(*calls: Any) -> str:
    try:
        calls[0](*calls[1:])
    except Exception as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # this line
        return tracebacks.report(error)
    raise AssertionError("nothing was raised")


def test_what_the_users_code_called_of_the_sdk_is_left_out() -> None:
    fault = function("raise ValueError('no such option')", SDK)
    report = report_of(function("inner()", USERS), fault)
    assert USERS in report
    assert "app.py" not in report
    assert report.endswith("ValueError: no such option")


def test_what_led_to_it_there_is_told_without_its_lines() -> None:
    fault = function("\n try: 1 / 0\n except Exception as e: raise ValueError('no') from e", SDK)
    report = report_of(function("inner()", USERS), fault)
    assert "ZeroDivisionError: division by zero" in report
    assert "app.py" not in report


def test_a_fault_of_the_sdk_alone_keeps_its_lines() -> None:
    assert "jobs/app.py" in report_of(function("raise ValueError('ours')", SDK))


def test_a_coroutine_freed_by_us_is_not_said_to_be_ours() -> None:
    said = "coroutine 'work' was never awaited"
    for filename, text in {
        USERS: f"{USERS}:3: RuntimeWarning: {said}",
        SDK: f"RuntimeWarning: {said}",
        tracebacks.__file__: f"RuntimeWarning: {said}",
    }.items():
        assert tracebacks.warning_text(said, RuntimeWarning, filename, 3) == text
