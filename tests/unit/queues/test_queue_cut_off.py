"""Deliveries that fail, hang, are cut off or are in flight when the emulator stops."""

from __future__ import annotations

import asyncio

from queue_harness import (
    AT_ONCE,
    MINUTE,
    SECOND,
    Emulated,
    acked,
    attempts,
    bodies,
    emulated,
    hanging,
    ids,
    in_turn,
    memory_connection,
    messages,
)
from tsumugi_emulator.queues import Batch, BatchResult, QueueStore
from tsumugi_emulator.queues.events import BatchDone, DeadLettered, DeliveryFailed, OverranWallTime


@emulated
async def test_a_consumer_that_raises_costs_the_batch_its_attempt_and_nothing_else(
    it: Emulated,
) -> None:
    def crash(_: Batch) -> BatchResult:
        raise ConnectionResetError("the child is gone")

    it.consume(in_turn(crash, acked), **AT_ONCE)
    await it.send("ab")
    assert attempts(it) == ["a1b1", "a2b2"]
    assert it.happened(DeliveryFailed) == [
        DeliveryFailed("q", "ConnectionResetError: the child is gone")
    ]


@emulated
async def test_a_delivery_cancelled_from_outside_is_retried(it: Emulated) -> None:
    def cancelled(_: Batch) -> BatchResult:
        raise asyncio.CancelledError

    it.consume(in_turn(cancelled, acked), **AT_ONCE)
    await it.send("a")
    assert attempts(it) == ["a1", "a2"]
    assert it.happened(BatchDone)[0].outcome == "canceled"


@emulated
async def test_a_handler_running_for_15_minutes_is_cut_off_and_retried(it: Emulated) -> None:
    it.consume(in_turn(hanging, acked), **AT_ONCE)
    await it.send("a")
    await it.after(15 * MINUTE - 1)
    assert it.contents == ["a"]
    await it.after(1)
    assert attempts(it) == ["a1", "a2"]
    assert it.happened(BatchDone)[0].outcome == "exceededWallTime"
    assert len(it.happened(OverranWallTime)) == 1


@emulated
async def test_a_handler_that_somebody_debugs_when_its_time_is_up_gets_it_again(
    it: Emulated,
) -> None:
    it.consume(in_turn(hanging, acked), **AT_ONCE)
    await it.send("a")
    it.somebody_debugs = True
    await it.after(15 * MINUTE)
    it.somebody_debugs = False
    await it.after(15 * MINUTE - 1)
    assert attempts(it) == ["a1"]
    await it.after(1)
    assert attempts(it) == ["a1", "a2"]


@emulated
async def test_acks_reported_when_cut_off_are_kept(it: Emulated) -> None:
    async def forever(batch: Batch) -> BatchResult:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            return BatchResult("canceled", explicit_acks=tuple(ids(batch, "a")))
        raise AssertionError

    it.consume(in_turn(forever, acked), **AT_ONCE)
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

    it.consume(in_turn(stubborn, acked), **AT_ONCE)
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

    it.consume(first_hangs, max_batch_size=1, max_concurrency=2, **AT_ONCE)
    await it.send("abcd")
    assert it.contents == ["a", "b", "c", "d"]
    assert it.broker.metrics("q").backlog_count == 0


@emulated
async def test_what_takes_the_whole_emulator_down_is_not_delivered_for_ever(it: Emulated) -> None:
    connection = memory_connection()
    for life in range(1, 5):
        it = Emulated(QueueStore(connection))
        it.consume(hanging, max_retries=2, dead_letter_queue="dlq", **AT_ONCE)
        if life == 1:
            it.broker.send("q", messages("ab"))
        await it.clock.settle()
        assert attempts(it) == ([f"a{life}b{life}"] if life <= 3 else [])
    assert [(gone.message_id, gone.attempts) for gone in it.happened(DeadLettered)] == [
        (stored.id, 3) for stored in it.store.lease("dlq", size=9)[1]
    ]


@emulated
async def test_the_consumer_of_dead_letters_hears_at_once_of_one_that_crashes_wore_out(
    it: Emulated,
) -> None:
    connection = memory_connection()
    once = {"max_retries": 0, "dead_letter_queue": "dlq", **AT_ONCE}
    it = Emulated(QueueStore(connection))
    it.consume(hanging, **once)
    await it.send("a")
    it = Emulated(QueueStore(connection))
    it.consume(**once)
    it.consume(queue="dlq", **AT_ONCE)
    it.broker.serve("q", None)
    await it.clock.settle()
    it.broker.serve("q", it.delivering(acked))
    await it.clock.settle()
    assert [(batch.queue, bodies(batch)) for batch in it.delivered] == [("dlq", "a")]


@emulated
async def test_stop_waits_for_what_is_in_flight(it: Emulated) -> None:
    held: asyncio.Future[BatchResult] = asyncio.get_running_loop().create_future()
    it.consume(lambda _: held, **AT_ONCE)
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
    it.consume(hanging, **AT_ONCE)
    await it.send("a")
    stopping = asyncio.ensure_future(it.broker.stop(limit_ms=MINUTE))
    await it.after(MINUTE)
    assert stopping.done()
    assert it.broker.metrics("q").backlog_count == 1
