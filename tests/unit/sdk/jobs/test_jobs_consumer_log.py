"""A performer that fails is heard of where the Worker's log is read, in one line."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from consumer_harness import dispatch, performer
from shard_fakes import local_id
from tsumugi import Reject, remote

if TYPE_CHECKING:
    from collections.abc import Callable

    from consumer_harness import Consumer

type MakeConsumer = Callable[..., Consumer]


async def broken(payload: Any, ctx: Any) -> None:
    raise ConnectionError("the scanner is off\nand nobody is there")


async def rejected(payload: Any, ctx: Any) -> None:
    raise Reject("ids are positive")


async def endless(payload: Any, ctx: Any) -> None:
    await asyncio.sleep(3_600)


async def odd(payload: Any, ctx: Any) -> object:
    return object()


async def fine(payload: Any, ctx: Any) -> int:
    return 1


@pytest.mark.parametrize(
    ("perform", "said"),
    [
        (broken, "failed: ConnectionError: the scanner is off (*)"),
        (rejected, "failed for good: tsumugi.settlement.Reject: ids are positive (*)"),
        (endless, "was given up: the performer did not end within its timeout_ms of 5000"),
        (odd, "succeeded, but the result is not JSON: Unable to serialize unknown type: *"),
    ],
)
def test_how_an_attempt_went_wrong_is_logged(
    consumer: MakeConsumer, caplog: pytest.LogCaptureFixture, perform: Any, said: str
) -> None:
    consumer(performer("Work", perform)).consume(dispatch(1, attempt=2, timeout_ms=5_000))
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("tsumugi.jobs", logging.WARNING)
    before, _, after = f"job Work#0:{local_id(1)}, attempt 2 {said}".partition("*")
    assert record.message.startswith(before)
    assert record.message.endswith(after)
    assert "\n" not in record.message
    assert ("test_jobs_consumer_log.py:" in record.message or "harness" in record.message) is (
        "(*)" in said
    )


def test_an_attempt_that_went_well_is_not_logged(
    consumer: MakeConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    consumer(performer("Work", fine)).consume(dispatch(1))
    assert caplog.records == []


def test_a_binding_that_is_missing_is_logged_without_a_place_of_ours(
    consumer: MakeConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    consumer(remote("BILLING", "Work")).consume(dispatch(1))
    (record,) = caplog.records
    assert "failed for good: tsumugi.jobs.stubs.MissingBinding: env.BILLING" in record.message
    assert ".py:" not in record.message
