"""The decisions themselves: no broker, no store, no loop."""

from __future__ import annotations

import pytest
from tsumugi_emulator.queues import BatchResult, ConsumerSettings, StoredMessage
from tsumugi_emulator.queues.policy import (
    ACK,
    DROP,
    DeadLetter,
    Form,
    Load,
    Nothing,
    Retry,
    WaitUntil,
    joins_waiting_batch,
    most_in_flight,
    next_batch,
    rescaled,
    send_delay_s,
    settle,
)

T0 = 1_000_000


def consumer(**settings: object) -> ConsumerSettings:
    return ConsumerSettings("q", **settings)  # type: ignore[arg-type]


def stored(id_: str, *, attempts: int = 1) -> StoredMessage:
    return StoredMessage(id_, b"", "json", T0, attempts)


def test_nothing_forms_from_nothing() -> None:
    assert next_batch(0, waiting_since_ms=0, settings=consumer(), now_ms=T0) == Nothing()


def test_a_full_batch_forms_at_once_and_is_never_larger() -> None:
    settings = consumer(max_batch_size=10)
    for waiting in (10, 11, 5_000):
        assert next_batch(waiting, waiting_since_ms=T0, settings=settings, now_ms=T0) == Form(10)


def test_a_partial_batch_forms_when_its_first_message_waited_long_enough() -> None:
    settings = consumer(max_batch_size=10, max_batch_timeout_s=5)
    due_ms = T0 + 5_000
    early = next_batch(9, waiting_since_ms=T0, settings=settings, now_ms=due_ms - 1)
    assert early == WaitUntil(due_ms)
    assert next_batch(9, waiting_since_ms=T0, settings=settings, now_ms=due_ms) == Form(9)


def test_a_timeout_may_be_a_fraction_of_a_second() -> None:
    settings = consumer(max_batch_timeout_s=0.25)
    assert next_batch(1, waiting_since_ms=T0, settings=settings, now_ms=T0) == WaitUntil(T0 + 250)


def test_a_batch_size_of_zero_still_delivers_one_by_one() -> None:
    settings = consumer(max_batch_size=0)
    assert next_batch(3, waiting_since_ms=T0, settings=settings, now_ms=T0) == Form(1)


class TestTheNumberOfConsumers:
    @staticmethod
    def after(allowed: int, backlog: int, outcome: str = "ok", **known: float) -> int:
        settings = consumer(max_batch_size=10, max_concurrency=known.pop("most", None))
        load = Load(allowed, known.pop("failing", 0.0), int(known.pop("backlog_before", 10**9)))
        return rescaled(load, backlog=backlog, outcome=outcome, settings=settings).allowed

    def test_starts_at_one(self) -> None:
        assert Load().allowed == 1

    def test_grows_while_each_has_a_full_batch_waiting(self) -> None:
        assert self.after(1, 10) == 2
        assert self.after(2, 19) == 2
        assert self.after(2, 20) == 3

    def test_grows_when_the_backlog_grows_in_spite_of_them(self) -> None:
        assert self.after(5, 11, backlog_before=10) == 6
        assert self.after(5, 11, backlog_before=11) == 5
        assert self.after(5, 9, backlog_before=0) == 5, "not even one full batch"

    def test_shrinks_when_a_batch_fails_or_nothing_waits_but_never_below_one(self) -> None:
        assert self.after(3, 0) == 2
        assert self.after(3, 1_000, "exception") == 2
        assert self.after(3, 1_000, "exceededWallTime") == 2
        assert self.after(1, 0) == 1
        assert self.after(1, 1_000, "exception") == 1

    def test_does_not_grow_while_most_batches_fail(self) -> None:
        assert self.after(3, 1_000, failing=0.9) == 3
        assert self.after(3, 1_000, failing=0.5) == 4

    @pytest.mark.parametrize(("asked", "most"), [(None, 250), (1, 1), (7, 7), (999, 250), (0, 1)])
    def test_stays_within_the_setting_and_the_platforms_limit(
        self, asked: int | None, most: int
    ) -> None:
        settings = consumer(max_concurrency=asked)
        assert most_in_flight(settings) == most
        load = Load()
        for _ in range(300):
            load = rescaled(load, backlog=10**6, outcome="ok", settings=settings)
        assert load.allowed == most

    def test_recovers_from_failures_that_are_over(self) -> None:
        load, settings = Load(8), consumer()
        for _ in range(20):
            load = rescaled(load, backlog=10**6, outcome="exception", settings=settings)
        assert load.allowed == 1
        assert load.failing > 0.9
        for _ in range(10):
            load = rescaled(load, backlog=10**6, outcome="ok", settings=settings)
        assert load.allowed > 1

    def test_retries_a_handler_asks_for_are_no_failures(self) -> None:
        # Its outcome is "ok" whatever it retried: the outcome is all the policy sees.
        assert rescaled(Load(), backlog=100, outcome="ok", settings=consumer()).failing == 0


def test_a_good_handler_acks_everything_it_did_not_mention() -> None:
    assert settle([stored("a")], BatchResult(), settings=consumer(), now_ms=T0) == [ACK]


def test_the_last_delivery_is_the_one_after_max_retries() -> None:
    failed = BatchResult("exception")
    for attempts, max_retries, expected in (
        (1, 0, DROP),
        (1, 1, Retry(T0, 0)),
        (2, 1, DROP),
        (4, 3, DROP),
        (100, 100, Retry(T0, 0)),
        (101, 100, DROP),
    ):
        decided = settle(
            [stored("a", attempts=attempts)],
            failed,
            settings=consumer(max_retries=max_retries),
            now_ms=T0,
        )
        assert decided == [expected]


def test_a_dead_letter_queue_takes_what_would_be_dropped() -> None:
    settings = consumer(max_retries=0, dead_letter_queue="dlq")
    decided = settle([stored("a")], BatchResult(retry_all=True), settings=settings, now_ms=T0)
    assert decided == [DeadLetter("dlq")]


def test_a_retry_without_delay_falls_back_to_the_batch_then_to_the_consumer() -> None:
    settings = consumer(retry_delay_s=7)
    retry_a = {"a": None}
    for result, delay_s in (
        (BatchResult(retries=retry_a), 7),
        (BatchResult(retries=retry_a, retry_all=True, retry_all_delay_s=2), 2),
        (BatchResult(retries=retry_a, retry_all=True, retry_all_delay_s=0), 0),
        (BatchResult(retries={"a": 0}, retry_all=True, retry_all_delay_s=2), 0),
        (BatchResult(retries={"a": 1}), 1),
    ):
        decided = settle([stored("a")], result, settings=settings, now_ms=T0)
        assert decided == [Retry(T0 + delay_s * 1_000, delay_s)]


def test_the_first_delay_asked_for_wins() -> None:
    assert send_delay_s(None, 3, 5) == 3
    assert send_delay_s(0, 3) == 0
    assert send_delay_s(None, None) == 0


class TestJoiningABatchThatWaits:
    SETTINGS = ConsumerSettings("q", max_batch_size=10, max_batch_timeout_s=5)

    def joins(self, waiting: int = 2, due_ms: int | None = None, timer_ms: int = 3_000) -> bool:
        return joins_waiting_batch(
            waiting, due_ms=due_ms, timer_ms=timer_ms, settings=self.SETTINGS, now_ms=1_000
        )

    def test_a_message_that_changes_nothing_before_the_timer_only_waits(self) -> None:
        assert self.joins()

    def test_a_full_batch_does_not_wait(self) -> None:
        assert not self.joins(waiting=10)

    def test_a_timer_later_than_the_messages_own_timeout_is_too_late(self) -> None:
        assert self.joins(timer_ms=6_000)
        assert not self.joins(timer_ms=6_001)

    def test_a_timer_that_is_due_says_nothing(self) -> None:
        assert not self.joins(timer_ms=1_000)

    def test_a_delay_that_ends_before_the_timer_has_to_be_looked_at(self) -> None:
        assert not self.joins(due_ms=2_999)
        assert self.joins(due_ms=3_000)
