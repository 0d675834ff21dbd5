"""What becomes of delivered messages: acks, retries, dead letters."""

from __future__ import annotations

import pytest
from queue_harness import (
    AT_ONCE,
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Emulated,
    Handler,
    acked,
    attempts,
    emulated,
    ids,
    in_turn,
    messages,
    retry_all,
)
from tsumugi_emulator.queues import Batch, BatchResult, QueueSettings
from tsumugi_emulator.queues.events import BatchDone, DeadLettered, DelayClamped, Dropped, Retried

LOCAL = {"max_batch_size": 5, "max_batch_timeout_s": 1, "max_retries": 2}


def retrying(letters: str, *, delay_s: int | None = None, outcome: str = "ok") -> Handler:
    def handler(batch: Batch) -> BatchResult:
        retries = dict.fromkeys(ids(batch, letters), delay_s)
        return BatchResult(outcome, retries=retries)

    return handler


def failing(_: Batch) -> BatchResult:
    return BatchResult("exception")


@emulated
async def test_one_message_retried_comes_back_alone_with_its_attempt_counted(it: Emulated) -> None:
    it.consume(in_turn(retrying("b"), acked), **LOCAL)
    await it.send("abc")
    await it.after(SECOND)
    [retried] = ids(it.delivered[0], "b")
    assert it.log == [f'Retrying message "{retried}" on queue "q"...', "QUEUE q 2/3 (0ms)"]
    await it.after(SECOND)
    assert it.log[2:] == ["QUEUE q 1/1 (0ms)"]
    await it.after(MINUTE)
    assert attempts(it) == ["a1b1c1", "b2"]
    assert it.delivered[1].messages[0].id == retried


@pytest.mark.parametrize("handler", [retry_all, failing])
def test_a_whole_batch_comes_back_after_retry_all_and_after_a_failure(handler: Handler) -> None:
    async def scenario(it: Emulated) -> None:
        it.consume(in_turn(handler, acked), **LOCAL)
        await it.send("abc")
        await it.after(2 * SECOND)
        assert attempts(it) == ["a1b1c1", "a2b2c2"]
        assert [line for line in it.log if line.startswith("QUEUE")] == [
            "QUEUE q 0/3 (0ms)",
            "QUEUE q 3/3 (0ms)",
        ]

    emulated(scenario)()


@emulated
async def test_max_retries_counts_deliveries_after_the_first(it: Emulated) -> None:
    it.consume(in_turn(retry_all, retrying("c")), **LOCAL)
    await it.send("abc")
    await it.after(3 * SECOND)
    [lost] = ids(it.delivered[0], "c")
    assert it.log[-2:] == [
        f'Dropped message "{lost}" on queue "q" after 3 failed attempts!',
        "QUEUE q 0/1 (0ms)",
    ]
    await it.after(HOUR)
    assert attempts(it) == ["a1b1c1", "a2b2c2", "c3"]


@emulated
async def test_by_default_a_message_is_delivered_four_times(it: Emulated) -> None:
    it.consume(failing, **AT_ONCE)
    await it.send("a")
    assert attempts(it) == ["a1", "a2", "a3", "a4"]


@emulated
async def test_dead_letters_keep_id_and_timestamp_and_start_counting_again(it: Emulated) -> None:
    it.consume(retrying("bc"), max_retries=0, dead_letter_queue="dlq", **AT_ONCE)
    await it.send("abc")
    await it.after(HOUR)
    lost = it.delivered[0].messages[1:]
    assert it.log[:3] == [
        *(
            f'Moving message "{gone.id}" on queue "q" to dead letter queue "dlq"'
            " after 1 failed attempt..."
            for gone in lost
        ),
        "QUEUE q 1/3 (0ms)",
    ]
    it.consume(queue="dlq", **AT_ONCE)
    await it.clock.settle()
    assert [stored._replace(place=0) for stored in it.delivered[1].messages] == [
        stored._replace(place=0) for stored in lost
    ]


@emulated
async def test_two_queues_may_be_each_others_dead_letter_queue(it: Emulated) -> None:
    it.consume(retrying("bc"), max_retries=0, dead_letter_queue="dlq", max_batch_timeout_s=1)
    it.consume(
        retrying("b"), queue="dlq", max_retries=0, dead_letter_queue="q", max_batch_timeout_s=1
    )
    await it.send("abc")
    await it.after(2 * SECOND + 500)
    assert [line for line in it.log if line.startswith("QUEUE")] == [
        "QUEUE q 1/3 (0ms)",
        "QUEUE dlq 1/2 (0ms)",
    ]
    await it.after(500)
    assert attempts(it) == ["a1b1c1", "b1c1", "b1"]


@emulated
async def test_dead_letters_wait_as_long_as_their_new_queue_delays(it: Emulated) -> None:
    it.consume(failing, max_retries=0, dead_letter_queue="dlq", **AT_ONCE)
    it.consume(queue="dlq", **AT_ONCE)
    it.broker.change(QueueSettings("dlq", delivery_delay_s=60))
    await it.send("a")
    await it.after(MINUTE - 1)
    assert it.contents == ["a"]
    await it.after(1)
    assert attempts(it) == ["a1", "a1"]


@emulated
async def test_an_explicit_ack_survives_a_handler_that_fails_later(it: Emulated) -> None:
    def ack_then_fail(batch: Batch) -> BatchResult:
        return BatchResult("exception", explicit_acks=frozenset(ids(batch, "ac")))

    it.consume(in_turn(ack_then_fail, acked), **AT_ONCE)
    await it.send("abcd")
    assert attempts(it) == ["a1b1c1d1", "b2d2"]


@emulated
async def test_ack_all_survives_a_handler_that_fails_later(it: Emulated) -> None:
    it.consume(lambda _: BatchResult("exception", ack_all=True), **AT_ONCE)
    await it.send("ab")
    assert it.contents == ["ab"]


@emulated
async def test_a_messages_own_call_beats_the_batch_call(it: Emulated) -> None:
    def handler(batch: Batch) -> BatchResult:
        return BatchResult(
            explicit_acks=tuple(ids(batch, "a")), retry_all=True, retry_all_delay_s=1
        )

    it.consume(in_turn(handler, acked), **AT_ONCE)
    await it.send("ab")
    await it.after(SECOND)
    assert it.contents == ["ab", "b"]


@emulated
async def test_a_retry_made_before_ack_all_holds(it: Emulated) -> None:
    def handler(batch: Batch) -> BatchResult:
        return BatchResult(ack_all=True, retries=dict.fromkeys(ids(batch, "a")))

    it.consume(in_turn(handler, acked), **AT_ONCE)
    await it.send("ab")
    assert it.contents == ["ab", "a"]


@emulated
async def test_the_most_specific_retry_delay_wins_and_zero_is_a_delay(it: Emulated) -> None:
    def handler(batch: Batch) -> BatchResult:
        own = {**dict.fromkeys(ids(batch, "a"), 0), **dict.fromkeys(ids(batch, "b"), 3)}
        own |= dict.fromkeys(ids(batch, "c"))
        return BatchResult(retry_all=True, retry_all_delay_s=2, retries=own)

    it.consume(in_turn(handler, acked), retry_delay_s=1, **AT_ONCE)
    await it.send("abcd")
    await it.after(10 * SECOND)
    assert it.contents == ["abcd", "a", "cd", "b"]
    assert it.delivered_ms == [0, 0, 2_000, 3_000]


@emulated
async def test_a_failure_takes_the_consumers_retry_delay_except_where_a_message_asked(
    it: Emulated,
) -> None:
    it.consume(
        in_turn(retrying("a", delay_s=0, outcome="exception"), acked), retry_delay_s=1, **AT_ONCE
    )
    await it.send("ab")
    await it.after(10 * SECOND)
    assert it.contents == ["ab", "a", "b"]
    assert it.delivered_ms == [0, 0, 1_000]


@emulated
async def test_retry_delays_and_max_retries_of_the_consumer(it: Emulated) -> None:
    it.consume(retry_all, retry_delay_s=5, max_retries=2, max_batch_size=100, **AT_ONCE)
    await it.after(2 * SECOND)
    await it.send("a")
    await it.after(DAY)
    assert it.delivered_ms == [2_000, 7_000, 12_000]


@emulated
async def test_a_retry_delay_out_of_range_is_clamped_with_a_warning(it: Emulated) -> None:
    it.consume(in_turn(retrying("a", delay_s=100_000), retrying("a", delay_s=-5), acked), **AT_ONCE)
    await it.send("a")
    await it.after(DAY - 1)
    assert it.contents == ["a"]
    await it.after(1)
    assert it.contents == ["a", "a", "a"]
    assert [(event.asked_s, event.delay_s) for event in it.happened(DelayClamped)] == [
        (100_000, 86_400),
        (-5, 0),
    ]


@emulated
async def test_a_retried_message_goes_behind_those_already_waiting(it: Emulated) -> None:
    it.consume(in_turn(retrying("a"), acked), max_batch_size=2, max_concurrency=1, **AT_ONCE)
    await it.send("abcde")
    assert it.contents == ["ab", "cd", "ea"]


@emulated
async def test_a_handler_may_send_to_its_own_queue(it: Emulated) -> None:
    sent: list[str] = []

    async def chain(batch: Batch) -> BatchResult:
        if len(sent) < 3:
            sent.append("x")
            it.broker.send("q", messages("x"))
        return BatchResult()

    it.consume(chain, max_concurrency=1, **AT_ONCE)
    await it.send("a")
    await it.clock.settle()
    assert it.contents == ["a", "x", "x", "x"]


@emulated
async def test_every_message_of_a_batch_is_told_about(it: Emulated) -> None:
    def handler(batch: Batch) -> BatchResult:
        return BatchResult(retries=dict.fromkeys(ids(batch, "abc")))

    it.consume(in_turn(handler, handler, acked), max_retries=1, dead_letter_queue="dlq", **AT_ONCE)
    await it.send("abcd")
    assert [
        (done.acked, done.retried, done.dead_lettered, done.dropped)
        for done in it.happened(BatchDone)
    ] == [(1, 3, 0, 0), (0, 0, 3, 0)]
    assert len(it.happened(Retried)) == 3
    assert len(it.happened(DeadLettered)) == 3
    assert it.happened(Dropped) == []
