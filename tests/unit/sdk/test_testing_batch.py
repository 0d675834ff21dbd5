"""The verdict of a fake batch: the precedence rules of production, one sentence each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from tsumugi.testing import BatchOutcome, FakeBatch, build_batch, build_message, run_queue_handler

Step = Callable[[FakeBatch], object]


def verdict(*steps: Step, fail: bool = False) -> BatchOutcome:
    """What becomes of messages a and b when a handler takes these steps, and then may fail."""

    def handler(batch: FakeBatch) -> None:
        for step in steps:
            step(batch)
        if fail:
            raise OSError("failed")

    batch = build_batch("q", [build_message(1, message_id="a"), build_message(2, message_id="b")])
    return asyncio.run(run_queue_handler(handler, batch))


def ack(i: int) -> Step:
    return lambda batch: batch.messages[i].ack()


def retry(i: int, **options: Any) -> Step:
    return lambda batch: batch.messages[i].retry(**options)


def ack_all(batch: FakeBatch) -> None:
    batch.ackAll()


def retry_all(**options: Any) -> Step:
    return lambda batch: batch.retryAll(**options)


A, B = 0, 1
DEFAULT = None  # no delay named: the consumer's retry_delay applies


@pytest.mark.parametrize(
    ("steps", "acked", "retried"),
    [
        # what was not decided follows the handler, which returned
        ([], ["a", "b"], {}),
        ([retry(A)], ["b"], {"a": DEFAULT}),
        # the first call on a message wins
        ([ack(A), retry(A)], ["a", "b"], {}),
        ([retry(A), ack(A)], ["b"], {"a": DEFAULT}),
        # the last retry sets the delay, or takes it away
        ([retry(A, delaySeconds=1), retry(A, delaySeconds=3)], ["b"], {"a": 3}),
        ([retry(A, delaySeconds=3), retry(A)], ["b"], {"a": DEFAULT}),
        # a message's own call beats the batch's, before and after
        ([ack(A), retry_all()], ["a"], {"b": DEFAULT}),
        ([retry(A), ack_all], ["b"], {"a": DEFAULT}),
        ([retry_all(), ack(A)], [], {"a": DEFAULT, "b": DEFAULT}),
        ([ack_all, retry(A)], ["a", "b"], {}),
        ([retry_all(delaySeconds=5), retry(A, delaySeconds=0)], [], {"a": 0, "b": 5}),
        # without a delay of its own, a message takes the batch's
        ([retry_all(delaySeconds=5), retry(A)], [], {"a": 5, "b": 5}),
        # the first call on the batch wins, and only a delay that is named replaces one
        ([ack_all, retry_all()], ["a", "b"], {}),
        ([retry_all(), ack_all], [], {"a": DEFAULT, "b": DEFAULT}),
        ([retry_all(delaySeconds=1), retry_all()], [], {"a": 1, "b": 1}),
    ],
)
def test_the_first_decision_counts_and_a_message_outranks_its_batch(
    steps: list[Step], acked: list[str], retried: dict[str, int | None]
) -> None:
    outcome = verdict(*steps)
    assert (outcome.acked, outcome.retried, outcome.error) == (acked, retried, None)


@pytest.mark.parametrize(
    ("steps", "acked", "retried"),
    [
        ([], [], {"a": DEFAULT, "b": DEFAULT}),
        ([ack(A)], ["a"], {"b": DEFAULT}),
        ([ack_all], ["a", "b"], {}),
        ([retry(A, delaySeconds=9)], [], {"a": 9, "b": DEFAULT}),
        ([ack(A), retry_all(delaySeconds=4)], ["a"], {"b": 4}),
    ],
)
def test_a_failing_handler_retries_what_was_not_acknowledged(
    steps: list[Step], acked: list[str], retried: dict[str, int | None]
) -> None:
    outcome = verdict(*steps, fail=True)
    assert (outcome.acked, outcome.retried) == (acked, retried)
    assert isinstance(outcome.error, OSError)


@pytest.mark.parametrize(
    ("steps", "warning"),
    [
        ([ack(A), retry(A)], "Received a call to retry() on message a after ack() was already"),
        ([retry(A), ack(A)], "Received a call to ack() on message a after retry() was already"),
        ([ack_all, retry(A)], "Received a call to retry() on message a after ackAll() was already"),
        ([retry_all(), ack(A)], "Received a call to ack() on message a after retryAll() was"),
        ([ack_all, retry_all()], "Received a call to retryAll() after ackAll() was already called"),
        ([retry_all(), ack_all], "Received a call to ackAll() after retryAll() was already called"),
    ],
)
def test_a_decision_that_comes_too_late_is_reported(steps: list[Step], warning: str) -> None:
    [reported] = verdict(*steps).warnings
    assert reported.startswith(warning)


@pytest.mark.parametrize("steps", [[ack(A), ack(A)], [ack_all, ack(A)], [retry_all(), retry(A)]])
def test_a_decision_that_agrees_is_not_reported(steps: list[Step]) -> None:
    assert verdict(*steps).warnings == []


def test_a_batch_names_its_messages_by_position() -> None:
    batch = build_batch("orders", ["x", "y"])
    assert [(m.id, m.body, m.attempts) for m in batch.messages] == [
        ("message-1", "x", 1),
        ("message-2", "y", 1),
    ]
    assert batch.queue == "orders"
    assert batch.metadata.metrics.backlogCount == 0


def test_attempts_apply_to_every_body_and_not_to_a_message_that_brings_its_own() -> None:
    batch = build_batch("orders", ["x", build_message("y", attempts=4)], attempts=2)
    assert [message.attempts for message in batch.messages] == [2, 4]


def test_a_message_may_have_a_time_of_its_own() -> None:
    sent_at = datetime(2026, 3, 4, 5, 6)
    assert build_message("x", timestamp=sent_at).timestamp == sent_at


@pytest.mark.parametrize("count", [0, 101])
def test_a_batch_of_an_impossible_size_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 100 messages, not {count}"):
        build_batch("orders", range(count))


def test_two_messages_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="ids repeat"):
        build_batch("orders", [build_message(1, message_id="a"), build_message(2, message_id="a")])


def test_deliveries_count_from_one() -> None:
    with pytest.raises(ValueError, match="from 1, not 0"):
        build_message("x", attempts=0)


@pytest.mark.parametrize(
    ("step", "complaint"),
    [
        (lambda batch: len(batch), "has no len"),
        (lambda batch: iter(batch), "not iterable"),
        (lambda batch: batch[0], "not subscriptable"),
    ],
)
def test_a_batch_is_no_sequence_as_in_production(step: Step, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        step(build_batch("orders", ["x"]))


@pytest.mark.parametrize(
    ("options", "error", "complaint"),
    [
        ({"delay_seconds": 60}, TypeError, "write delaySeconds=, not delay_seconds="),
        ({"delay": 60}, TypeError, "unknown option 'delay'"),
        ({"delaySeconds": 1.5}, TypeError, "whole number of seconds, not 1.5"),
        ({"delaySeconds": None}, TypeError, "leave it out for the queue's default"),
        ({"delaySeconds": True}, TypeError, "whole number of seconds"),
        ({"delaySeconds": -1}, ValueError, "0 to 86400, not -1"),
        ({"delaySeconds": 86_401}, ValueError, "0 to 86400, not 86401"),
    ],
)
def test_an_option_that_production_would_bend_or_ignore_is_refused(
    options: dict[str, Any], error: type[Exception], complaint: str
) -> None:
    batch = build_batch("orders", ["x"])
    with pytest.raises(error, match=complaint):
        batch.messages[0].retry(**options)
    with pytest.raises(error, match=complaint):
        batch.retryAll(**options)


def test_options_may_be_one_dict_and_never_a_bare_number() -> None:
    batch = build_batch("orders", ["x"])
    batch.messages[0].retry({"delaySeconds": 5})
    with pytest.raises(TypeError, match="options are keyword arguments, such as delaySeconds=60"):
        batch.messages[0].retry(60)  # type: ignore[arg-type]
    assert batch.decisions.retried == {"message-1": 5}
