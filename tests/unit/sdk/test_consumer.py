from __future__ import annotations

import asyncio
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tsumugi import Backoff, Message, QueueConsumer, Reject, Retry, UnknownQueue, consumes
from tsumugi.testing import (
    BatchOutcome,
    QueueError,
    RecordingQueue,
    build_batch,
    build_message,
    run_queue_handler,
)


class Order(BaseModel):
    id: int
    note: str = ""


def run(worker: Any, bodies: list[Any], *, queue: str = "orders", env: Any = None) -> BatchOutcome:
    return asyncio.run(run_queue_handler(worker, build_batch(queue, bodies), env=env))


def consumer(handler: Any, **options: Any) -> type:
    """A Worker with one route, ``orders``, whose handler is the given function of the body."""

    class Default(QueueConsumer):
        @consumes("orders", **options)
        async def order(self, body: Any, message: Message[Any]) -> None:
            result = handler(body, message)
            if asyncio.iscoroutine(result):
                await result

    return Default


def raising(error: BaseException) -> Any:
    def handler(body: Any, message: Message[Any]) -> None:
        raise error

    return handler


def test_a_message_whose_handler_returns_is_acknowledged() -> None:
    outcome = run(consumer(lambda body, message: None), [1, 2])
    assert outcome == BatchOutcome(["message-1", "message-2"], {}, None, [])


def test_each_message_is_settled_by_itself() -> None:
    def fail_even(body: int, message: Message[int]) -> None:
        if body % 2 == 0:
            raise OSError("even")

    outcome = run(consumer(fail_even, retry=Backoff(base_s=5)), [1, 2, 3])
    assert outcome == BatchOutcome(["message-1", "message-3"], {"message-2": 5}, None, [])


def test_the_backoff_follows_the_attempts_of_each_message() -> None:
    bodies = [build_message("a", attempts=1), build_message("b", attempts=3)]
    outcome = run(consumer(raising(OSError()), retry=Backoff(base_s=5)), bodies)
    assert outcome.retried == {"message-1": 5, "message-2": 125}


def test_a_policy_may_be_any_function_of_the_attempts() -> None:
    outcome = run(consumer(raising(OSError()), retry=lambda attempts: 60 + attempts), ["a"])
    assert outcome.retried == {"message-1": 61}


def test_a_failing_policy_retries_its_message_and_spares_the_others() -> None:
    def fail_b(body: str, message: Message[str]) -> None:
        if body == "b":
            raise OSError

    outcome = run(consumer(fail_b, retry=lambda attempts: 1 // 0), ["a", "b", "c"])
    assert outcome == BatchOutcome(["message-1", "message-3"], {"message-2": None}, None, [])


def test_a_handler_may_name_the_delay() -> None:
    assert run(consumer(raising(Retry(delay_s=7))), ["a"]).retried == {"message-1": 7}


def test_a_handler_may_settle_the_message_itself_and_is_not_overruled() -> None:
    def settle(body: str, message: Message[str]) -> None:
        if body == "later":
            message.retry(delaySeconds=9)
        elif body == "default":
            message.retry()
        else:
            message.ack()
            raise OSError("too late to matter")

    outcome = run(consumer(settle), ["later", "default", "done"])
    assert outcome == BatchOutcome(["message-3"], {"message-1": 9, "message-2": None}, None, [])


def test_a_handler_may_take_the_body_alone() -> None:
    seen: list[Order] = []

    class Default(QueueConsumer):
        @consumes("orders", model=Order)
        async def order(self, order: Order) -> None:
            seen.append(order)

    run(Default, [{"id": 1}])
    assert seen == [Order(id=1)]


def test_a_model_makes_the_body_typed_in_both_places() -> None:
    seen: list[tuple[Order, Message[Order]]] = []
    run(consumer(lambda body, message: seen.append((body, message)), model=Order), [{"id": "5"}])
    [(order, message)] = seen
    assert order == message.body == Order(id=5)
    assert (message.id, message.attempts, message.timestamp.year) == ("message-1", 1, 2026)


def test_any_type_pydantic_knows_can_be_the_model() -> None:
    seen: list[Any] = []
    worker = consumer(lambda body, message: seen.append(body), model=dict[str, list[int]])
    outcome = run(worker, [{"a": [1]}, {"a": 1}])
    assert (seen, outcome.acked) == ([{"a": [1]}], ["message-1"])


def test_bytes_reach_a_model_of_bytes_as_bytes() -> None:
    seen: list[Any] = []
    worker = consumer(lambda body, message: seen.append(body), model=bytes)
    run(worker, [build_message(b"\x00\xff", content_type="bytes")])
    assert seen == [b"\x00\xff"]


def test_without_a_model_the_body_is_what_the_runtime_delivers() -> None:
    seen: list[Any] = []
    run(
        consumer(lambda body, message: seen.append(body.customer.name)),
        [{"customer": {"name": "Ada"}}],
    )
    assert seen == ["Ada"]


def test_each_queue_reaches_its_own_method() -> None:
    seen: list[str] = []

    class Default(QueueConsumer):
        @consumes("orders-*")
        async def orders(self, body: Any) -> None:
            seen.append(f"order {body}")

        @consumes("orders-dlq-*")
        async def dead(self, body: Any) -> None:
            seen.append(f"dead {body}")

    run(Default, [1], queue="orders-dev")
    run(Default, [2], queue="orders-dlq-dev")
    assert seen == ["order 1", "dead 2"]


def test_an_unknown_queue_fails_the_batch_so_that_nothing_is_lost() -> None:
    outcome = run(consumer(lambda body, message: None), [1, 2], queue="mails")
    assert isinstance(outcome.error, UnknownQueue)
    assert outcome.retried == {"message-1": None, "message-2": None}


def test_bindings_are_reached_through_self() -> None:
    class Default(QueueConsumer):
        @consumes("orders")
        async def order(self, body: Any) -> None:
            await self.env.AUDIT.send({"seen": body})

    audit = RecordingQueue()
    run(Default, [1], env={"AUDIT": audit})
    assert audit.bodies == [{"seen": 1}]


def test_a_worker_may_do_other_things_too() -> None:
    class Default(QueueConsumer):
        async def fetch(self, request: object) -> str:
            return "hello"

    assert asyncio.run(Default(None, None).fetch(object())) == "hello"


def test_a_worker_may_look_at_the_batch_before_its_messages_are_consumed() -> None:
    seen: list[str] = []

    class Default(QueueConsumer):
        async def queue(self, batch: Any, env: Any = None, ctx: Any = None) -> None:
            seen.append(f"{len(batch.messages)} of {batch.queue}")
            await super().queue(batch)

        @consumes("orders")
        async def order(self, body: Any) -> None:
            seen.append(body)

    assert run(Default, ["a", "b"]).acked == ["message-1", "message-2"]
    assert seen == ["2 of orders", "a", "b"]


def test_a_cancelled_wait_inside_a_handler_is_that_messages_failure() -> None:
    async def wait_for_something_cancelled(body: str, message: Message[str]) -> None:
        if body == "b":
            gone = asyncio.get_running_loop().create_future()
            gone.cancel()
            await gone

    outcome = run(consumer(wait_for_something_cancelled), ["a", "b", "c"])
    assert (outcome.acked, outcome.error) == (["message-1", "message-3"], None)


class Gauge:
    """A handler that counts how many of itself are at work, and notes who finishes when."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.order: list[Any] = []

    async def __call__(self, body: Any, message: Message[Any]) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(5):  # turns of the event loop in which others could start
            await asyncio.sleep(0)
        self.order.append(body)
        self.now -= 1


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3), (50, 10)])
def test_no_more_messages_run_at_once_than_allowed(concurrency: int, most: int) -> None:
    gauge = Gauge()
    outcome = run(consumer(gauge, concurrency=concurrency), list(range(10)))
    assert (gauge.most, len(outcome.acked)) == (most, 10)


def test_one_at_a_time_keeps_the_order() -> None:
    gauge = Gauge()
    run(consumer(gauge), list(range(5)))
    assert gauge.order == [0, 1, 2, 3, 4]


def test_a_failure_among_concurrent_messages_stops_none_of_them() -> None:
    async def fail_first(body: int, message: Message[int]) -> None:
        await asyncio.sleep(0)
        if body == 0:
            raise OSError

    outcome = run(consumer(fail_first, concurrency=5), list(range(5)))
    assert (len(outcome.acked), list(outcome.retried)) == (4, ["message-1"])


def test_an_unexpected_failure_is_logged_with_the_handlers_own_lines(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run(consumer(raising(OSError("disk on fire"))), ["a"])
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage() == (
        "message message-1 of queue 'orders' (attempt 1) is retried in 10 s: OSError: disk on fire"
    )
    assert record.exc_info
    trace = traceback.extract_tb(record.exc_info[2])
    assert {Path(frame.filename).name for frame in trace} == {"test_consumer.py"}


def test_an_expected_retry_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    run(consumer(raising(Retry("rate limited", delay_s=60))), ["a"])
    [record] = caplog.records
    assert record.getMessage().endswith("is retried in 60 s: rate limited")
    assert not record.exc_info


BROKEN = {"id": "not a number", "note": ["secret"]}


class TestWhatCanNeverSucceed:
    def test_goes_to_the_dead_letter_binding_unchanged_and_is_then_acknowledged(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        dead = RecordingQueue()
        worker = consumer(lambda body, message: None, model=Order, dead_letter="DEAD")
        outcome = run(worker, [BROKEN], env={"DEAD": dead})
        assert outcome == BatchOutcome(["message-1"], {}, None, [])
        assert [(m.body, m.content_type, m.delay_s) for m in dead.sent] == [(BROKEN, "json", None)]
        [record] = caplog.records
        assert record.getMessage() == (
            "message message-1 of queue 'orders' (attempt 1) can never succeed, goes to DEAD: "
            "the body is not a valid Order: id: Input should be a valid integer, unable to parse "
            "string as an integer; note: Input should be a valid string"
        )

    def test_uses_its_retries_up_without_delay_when_no_binding_is_named(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        outcome = run(consumer(lambda body, message: None, model=Order), [BROKEN])
        assert outcome.retried == {"message-1": 0}
        assert "retries are used up without delay: the body is not" in caplog.text

    def test_never_reaches_the_handler(self) -> None:
        outcome = run(consumer(raising(AssertionError("reached")), model=Order), [BROKEN])
        assert outcome.retried == {"message-1": 0}

    def test_may_be_decided_by_the_handler(self) -> None:
        dead = RecordingQueue()
        worker = consumer(raising(Reject("unknown customer")), model=Order, dead_letter="DEAD")
        outcome = run(worker, [{"id": "5"}], env={"DEAD": dead})
        assert outcome.acked == ["message-1"]
        assert dead.bodies == [{"id": "5"}]  # as it came, not as it was validated

    def test_is_retried_when_it_cannot_be_sent(self, caplog: pytest.LogCaptureFixture) -> None:
        dead = RecordingQueue()
        dead.failure = QueueError("Queue send failed: Too Many Requests")
        worker = consumer(raising(Reject("no")), dead_letter="DEAD")
        outcome = run(worker, ["a"], env={"DEAD": dead})
        assert outcome == BatchOutcome([], {"message-1": None}, None, [])
        assert "could not be settled and is retried" in caplog.text

    def test_is_retried_when_the_binding_does_not_exist(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        outcome = run(consumer(raising(Reject("no")), dead_letter="DEAD"), ["a"])
        assert outcome.retried == {"message-1": None}
        assert "DEAD" in caplog.records[-1].exc_text

    def test_names_only_the_first_faults(self, caplog: pytest.LogCaptureFixture) -> None:
        worker = consumer(lambda body, message: None, model=list[int])
        run(worker, [["x"] * 1000])
        assert caplog.text.count("valid integer") == 5
        assert "and 995 more" in caplog.text

    def test_tells_the_log_no_values(self, caplog: pytest.LogCaptureFixture) -> None:
        run(consumer(lambda body, message: None, model=Order), [BROKEN])
        assert "secret" not in caplog.text
        assert "not a number" not in caplog.text
