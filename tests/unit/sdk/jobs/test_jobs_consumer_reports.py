"""What is kept of results and errors."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel
from tsumugi.jobs.consumer.reports import error_report, report_text, succeeded
from tsumugi.jobs.core.reports import Outcome
from tsumugi.jobs.wire import ERROR_LENGTH, RESULT_LENGTH


class Sent(BaseModel):
    to: str
    at: datetime


@dataclasses.dataclass
class Point:
    x: int


def kept(result: object) -> dict[str, Any]:
    ended = succeeded(result)
    assert ended.outcome is Outcome.SUCCEEDED
    report: dict[str, Any] = json.loads(report_text("0a", 3, ended, started_ms=1, finished_ms=2))
    assert (report["id"], report["epoch"]) == ("0a", 3)
    return report


@pytest.mark.parametrize(
    ("result", "as_json"),
    [
        ({"a": [1, None, "\N{SNOWMAN}"]}, {"a": [1, None, "\N{SNOWMAN}"]}),
        ("half \ud800", "half \ud800"),
        (0, 0),
        ("", ""),
        (
            Sent(to="a", at=datetime(2026, 1, 1, tzinfo=UTC)),
            {"to": "a", "at": "2026-01-01T00:00:00Z"},
        ),
        ({"id": UUID(int=1)}, {"id": "00000000-0000-0000-0000-000000000001"}),
        ([Point(1)], [{"x": 1}]),
    ],
)
def test_a_result_is_kept_as_json(result: object, as_json: object) -> None:
    assert kept(result)["result"] == as_json


def test_no_result_says_nothing() -> None:
    assert kept(None).keys() == {"id", "epoch", "outcome", "started_ms", "finished_ms"}


def test_a_result_is_kept_up_to_its_limit() -> None:
    assert kept("x" * (RESULT_LENGTH - 2))["result"] == "x" * (RESULT_LENGTH - 2)
    report = kept("x" * (RESULT_LENGTH - 1))
    assert "result" not in report
    assert report["note"] == "the result has 8193 characters as JSON, and 8192 are kept"


class Unwritable:
    def __str__(self) -> str:
        raise RuntimeError


circular: list[Any] = []
circular.append(circular)


@pytest.mark.parametrize("result", [object(), float("nan"), circular, Unwritable()])
def test_a_result_that_is_no_json_is_null_with_a_note(result: object) -> None:
    report = kept(result)
    assert "result" not in report
    assert report["note"].startswith("the result is not JSON: ")


def raised(error: BaseException, frames: int = 1) -> BaseException:
    def fail(depth: int) -> None:
        if depth:
            fail(depth - 1)
        raise error

    try:
        fail(frames)
    except BaseException as caught:
        return caught
    raise AssertionError


def test_an_error_is_kept_with_type_message_and_traceback() -> None:
    report = error_report(raised(ValueError("no")))
    assert (report["type"], report["message"]) == ("ValueError", "no")
    assert report["traceback"].endswith("ValueError: no")
    assert "fail(depth - 1)" in report["traceback"]


def test_an_error_of_a_library_is_named_with_its_module() -> None:
    assert error_report(raised(json.JSONDecodeError("m", "d", 0)))["type"] == (
        "json.decoder.JSONDecodeError"
    )


def test_the_end_of_a_long_traceback_is_what_is_kept() -> None:
    error: BaseException = ValueError("first")
    for _ in range(20):
        error, cause = ValueError("no"), error
        error.__cause__ = cause
        error = raised(error)
    report = error_report(error)
    assert report["traceback"].startswith("…")
    assert report["traceback"].endswith("ValueError: no")
    assert sum(map(len, report.values())) <= ERROR_LENGTH  # type: ignore[arg-type]


def test_an_error_that_cannot_say_what_it_is_is_kept_all_the_same() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    report = error_report(raised(Broken()))
    assert report["message"] == "(its message cannot be read: RuntimeError)"


@given(st.text(max_size=5_000), st.integers(0, 60))
def test_an_error_never_exceeds_its_limit_and_can_always_be_stored(text: str, frames: int) -> None:
    report = error_report(raised(ValueError(text), frames))
    assert sum(map(len, report.values())) <= ERROR_LENGTH  # type: ignore[arg-type]
    for part in report.values():
        assert isinstance(part, str)
        part.encode()
        assert "\0" not in part
