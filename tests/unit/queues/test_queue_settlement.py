"""What becomes of delivered messages: acks, retries, dead letters. Also across whole failures."""

from __future__ import annotations

import asyncio

import pytest
from queue_harness import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Emulated,
    Handler,
    acked,
    bodies,
    emulated,
    hanging,
    ids,
    memory_connection,
    messages,
    retry_all,
)
from tsumugi_emulator.queues import Batch, BatchResult, QueueSettings, QueueStore
from tsumugi_emulator.queues.events import (
    BatchDone,
    DeadLettered,
    DelayClamped,
    DeliveryFailed,
    Dropped,
    OverranWallTime,
    Retried,
)

NOW = {"max_batch_timeout_s": 0}
LOCAL = {"max_batch_size": 5, "max_batch_timeout_s": 1, "max_retries": 2}


def retrying(letters: str, *, delay_s: int | None = None, outcome: str = "ok") -> Handler:
    def handler(batch: Batch) -> BatchResult:
        retries = dict.fromkeys(ids(batch, letters), delay_s)
        return BatchResult(outcome, retries=retries)

    return handler


def failing(_: Batch) -> BatchResult:
    return BatchResult("exception")


def in_turn(*handlers: Handler) -> Handler:
    """The first handler for the first batch and so on; the last for all that follow."""
    remaining = list(handlers)
    return lambda batch: (remaining.pop(0) if len(remaining) > 1 else remaining[0])(batch)


def attempts(it: Emulated) -> list[str]:
    return [
        "".join(f"{stored.body.decode()}{stored.attempts}" for stored in batch.messages)
        for batch in it.delivered
    ]


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
    it.consume(failing, **NOW)
    await it.send("a")
    assert attempts(it) == ["a1", "a2", "a3", "a4"]


@emulated
async def test_dead_letters_keep_id_and_timestamp_and_start_counting_again(it: Emulated) -> None:
    it.consume(retrying("bc"), max_retries=0, dead_letter_queue="dlq", **NOW)
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
    it.consume(queue="dlq", **NOW)
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
    it.consume(failing, max_retries=0, dead_letter_queue="dlq", **NOW)
    it.consume(queue="dlq", **NOW)
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

    it.consume(in_turn(ack_then_fail, acked), **NOW)
    await it.send("abcd")
    assert attempts(it) == ["a1b1c1d1", "b2d2"]


@emulated
async def test_ack_all_survives_a_handler_that_fails_later(it: Emulated) -> None:
    it.consume(lambda _: BatchResult("exception", ack_all=True), **NOW)
    await it.send("ab")
    assert it.contents == ["ab"]


@emulated
async def test_a_messages_own_call_beats_the_batch_call(it: Emulated) -> None:
    def handler(batch: Batch) -> BatchResult:
        return BatchResult(
            explicit_acks=tuple(ids(batch, "a")), retry_all=True, retry_all_delay_s=1
        )

    it.consume(in_turn(handler, acked), **NOW)
    await it.send("ab")
    await it.after(SECOND)
    assert it.contents == ["ab", "b"]


@emulated
async def test_a_retry_made_before_ack_all_holds(it: Emulated) -> None:
    def handler(batch: Batch) -> BatchResult:
        return BatchResult(ack_all=True, retries=dict.fromkeys(ids(batch, "a")))

    it.consume(in_turn(handler, acked), **NOW)
    await it.send("ab")
    assert it.contents == ["ab", "a"]


@emulated
async def test_the_most_specific_retry_delay_wins_and_zero_is_a_delay(it: Emulated) -> None:
    def handler(batch: Batch) -> BatchResult:
        own = {**dict.fromkeys(ids(batch, "a"), 0), **dict.fromkeys(ids(batch, "b"), 3)}
        own |= dict.fromkeys(ids(batch, "c"))
        return BatchResult(retry_all=True, retry_all_delay_s=2, retries=own)

    it.consume(in_turn(handler, acked), retry_delay_s=1, **NOW)
    await it.send("abcd")
    await it.after(10 * SECOND)
    assert it.contents == ["abcd", "a", "cd", "b"]
    assert it.delivered_ms == [0, 0, 2_000, 3_000]


@emulated
async def test_a_failure_takes_the_consumers_retry_delay_except_where_a_message_asked(
    it: Emulated,
) -> None:
    it.consume(
        in_turn(retrying("a", delay_s=0, outcome="exception"), acked), retry_delay_s=1, **NOW
    )
    await it.send("ab")
    await it.after(10 * SECOND)
    assert it.contents == ["ab", "a", "b"]
    assert it.delivered_ms == [0, 0, 1_000]


@emulated
async def test_retry_delays_and_max_retries_of_the_consumer(it: Emulated) -> None:
    it.consume(retry_all, retry_delay_s=5, max_retries=2, max_batch_size=100, **NOW)
    await it.after(2 * SECOND)
    await it.send("a")
    await it.after(DAY)
    assert it.delivered_ms == [2_000, 7_000, 12_000]


@emulated
async def test_a_retry_delay_out_of_range_is_clamped_with_a_warning(it: Emulated) -> None:
    it.consume(in_turn(retrying("a", delay_s=100_000), retrying("a", delay_s=-5), acked), **NOW)
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
    it.consume(in_turn(retrying("a"), acked), max_batch_size=2, max_concurrency=1, **NOW)
    await it.send("abcde")
    assert it.contents == ["ab", "cd", "ea"]


@emulated
async def test_a_consumer_that_raises_costs_the_batch_its_attempt_and_nothing_else(
    it: Emulated,
) -> None:
    def crash(_: Batch) -> BatchResult:
        raise ConnectionResetError("the child is gone")

    it.consume(in_turn(crash, acked), **NOW)
    await it.send("ab")
    assert attempts(it) == ["a1b1", "a2b2"]
    assert it.happened(DeliveryFailed) == [
        DeliveryFailed("q", "ConnectionResetError: the child is gone")
    ]


@emulated
async def test_a_delivery_cancelled_from_outside_is_retried(it: Emulated) -> None:
    def cancelled(_: Batch) -> BatchResult:
        raise asyncio.CancelledError

    it.consume(in_turn(cancelled, acked), **NOW)
    await it.send("a")
    assert attempts(it) == ["a1", "a2"]
    assert it.happened(BatchDone)[0].outcome == "canceled"


@emulated
async def test_a_handler_running_for_15_minutes_is_cut_off_and_retried(it: Emulated) -> None:
    it.consume(in_turn(hanging, acked), **NOW)
    await it.send("a")
    await it.after(15 * MINUTE - 1)
    assert it.contents == ["a"]
    await it.after(1)
    assert attempts(it) == ["a1", "a2"]
    assert it.happened(BatchDone)[0].outcome == "exceededWallTime"
    assert len(it.happened(OverranWallTime)) == 1


@emulated
async def test_acks_reported_when_cut_off_are_kept(it: Emulated) -> None:
    async def forever(batch: Batch) -> BatchResult:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            return BatchResult("canceled", explicit_acks=tuple(ids(batch, "a")))
        raise AssertionError

    it.consume(in_turn(forever, acked), **NOW)
    await it.send("ab")
    await it.after(15 * MINUTE)
    assert attempts(it) == ["a1b1", "b2"]


@emulated
async def test_a_handler_that_will_not_be_cut_off_is_no_longer_waited_for(it: Emulated) -> None:
    late: asyncio.Future[BatchResult] = asyncio.get_running_loop().create_future()

    async def stubborn(_: Batch) -> BatchResult:
        for _ in range(3):
            try:
                return await asyncio.shield(late)
            except asyncio.CancelledError:
                continue
        raise AssertionError

    it.consume(in_turn(stubborn, acked), **NOW)
    await it.send("a")
    await it.after(15 * MINUTE + SECOND)
    assert attempts(it) == ["a1", "a2"]
    late.set_result(BatchResult())
    await it.clock.settle()
    assert len(it.happened(BatchDone)) == 2, "its late report changes nothing"


@emulated
async def test_once_there_are_two_consumers_batches_flow_while_one_hangs(it: Emulated) -> None:
    async def first_hangs(batch: Batch) -> BatchResult:
        if bodies(batch) == "b":
            await asyncio.get_running_loop().create_future()
        return BatchResult()

    it.consume(first_hangs, max_batch_size=1, max_concurrency=2, **NOW)
    await it.send("abcd")
    assert it.contents == ["a", "b", "c", "d"]
    assert it.broker.metrics("q").backlog_count == 0


@emulated
async def test_a_handler_may_send_to_its_own_queue(it: Emulated) -> None:
    sent: list[str] = []

    async def chain(batch: Batch) -> BatchResult:
        if len(sent) < 3:
            sent.append("x")
            it.broker.send("q", messages("x"))
        return BatchResult()

    it.consume(chain, max_concurrency=1, **NOW)
    await it.send("a")
    await it.clock.settle()
    assert it.contents == ["a", "x", "x", "x"]


@emulated
async def test_what_takes_the_whole_emulator_down_is_not_delivered_for_ever(it: Emulated) -> None:
    connection = memory_connection()
    for life in range(1, 5):
        it = Emulated(QueueStore(connection))
        it.consume(hanging, max_retries=2, dead_letter_queue="dlq", **NOW)
        if life == 1:
            it.broker.send("q", messages("ab"))
        await it.clock.settle()
        assert attempts(it) == ([f"a{life}b{life}"] if life <= 3 else [])
    assert [(gone.message_id, gone.attempts) for gone in it.happened(DeadLettered)] == [
        (stored.id, 3) for stored in it.store.lease("dlq", size=9)[1]
    ]


@emulated
async def test_stop_waits_for_what_is_in_flight(it: Emulated) -> None:
    held: asyncio.Future[BatchResult] = asyncio.get_running_loop().create_future()
    it.consume(lambda _: held, **NOW)
    await it.send("a")
    stopping = asyncio.ensure_future(it.broker.stop(limit_ms=MINUTE))
    await it.after(30 * SECOND)
    assert not stopping.done()
    held.set_result(BatchResult())
    await it.clock.settle()
    assert stopping.done()
    assert it.happened(BatchDone)[0].acked == 1


@emulated
async def test_stop_gives_up_on_what_does_not_end_and_keeps_its_messages(it: Emulated) -> None:
    it.consume(hanging, **NOW)
    await it.send("a")
    stopping = asyncio.ensure_future(it.broker.stop(limit_ms=MINUTE))
    await it.after(MINUTE)
    assert stopping.done()
    assert it.broker.metrics("q").backlog_count == 1


@emulated
async def test_every_message_of_a_batch_is_told_about(it: Emulated) -> None:
    def handler(batch: Batch) -> BatchResult:
        return BatchResult(retries=dict.fromkeys(ids(batch, "abc")))

    it.consume(in_turn(handler, handler, acked), max_retries=1, dead_letter_queue="dlq", **NOW)
    await it.send("abcd")
    assert [
        (done.acked, done.retried, done.dead_lettered, done.dropped)
        for done in it.happened(BatchDone)
    ] == [(1, 3, 0, 0), (0, 0, 3, 0)]
    assert len(it.happened(Retried)) == 3
    assert len(it.happened(DeadLettered)) == 3
    assert it.happened(Dropped) == []
