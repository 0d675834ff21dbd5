"""When batches form. Settings 5 / 1 s / 2 are those the local runtime's own tests assume."""

from __future__ import annotations

import asyncio

import pytest
from queue_harness import (
    HOUR,
    SECOND,
    Emulated,
    acked,
    bodies,
    emulated,
    hanging,
    message,
    messages,
    retry_all,
)
from tsumugi_emulator.queues import Batch, BatchResult, ConsumerSettings, QueueSettings
from tsumugi_emulator.queues.events import NoConsumer

LOCAL = {"max_batch_size": 5, "max_batch_timeout_s": 1, "max_retries": 2}


@emulated
async def test_a_single_message_waits_for_the_batch_timeout(it: Emulated) -> None:
    it.consume(**LOCAL)
    await it.send("a")
    await it.after(500)
    assert it.delivered == []
    await it.after(500)
    assert it.contents == ["a"]
    [stored] = it.delivered[0].messages
    assert len(stored.id) == 32
    assert int(stored.id, 16) >= 0
    assert stored.timestamp_ms == it.started_ms
    assert stored.attempts == 1


@emulated
async def test_the_timeout_starts_with_the_first_waiting_message(it: Emulated) -> None:
    it.consume(**LOCAL)
    await it.send("a")
    await it.after(900)
    await it.send("bc")
    await it.after(99)
    assert it.delivered == []
    await it.after(1)
    assert it.contents == ["abc"]


@emulated
async def test_a_full_batch_does_not_wait(it: Emulated) -> None:
    it.consume(**LOCAL)
    await it.send("abcde")
    assert it.contents == ["abcde"]


@emulated
async def test_what_does_not_fill_a_batch_waits_for_the_timeout(it: Emulated) -> None:
    it.consume(**LOCAL)
    await it.send("abcdefg")
    assert it.contents == ["abcde"]
    await it.after(500)
    assert it.contents == ["abcde"]
    await it.after(500)
    assert it.contents == ["abcde", "fg"]


@emulated
async def test_later_messages_complete_a_started_batch(it: Emulated) -> None:
    it.consume(**LOCAL)
    await it.send("abcdef")
    await it.send("ghijk")
    assert it.contents == ["abcde", "fghij"]
    await it.after(SECOND)
    assert it.contents == ["abcde", "fghij", "k"]


@emulated
async def test_without_a_timeout_a_send_is_delivered_in_the_next_loop_turn(it: Emulated) -> None:
    it.consume(max_batch_timeout_s=0)
    await it.clock.settle()
    it.broker.send("q", [message("a")])
    assert it.delivered == []
    await asyncio.sleep(0)
    assert it.contents == ["a"]


@emulated
async def test_without_a_timeout_what_was_sent_together_is_delivered_together(
    it: Emulated,
) -> None:
    it.consume(max_batch_timeout_s=0)
    it.broker.send("q", messages("ab"))
    it.broker.send("q", [message("c")])
    await it.clock.settle()
    assert it.contents == ["abc"]


@emulated
async def test_an_idle_queue_never_delivers_an_empty_batch(it: Emulated) -> None:
    it.consume(max_batch_timeout_s=0)
    await it.send("a")
    await it.after(HOUR)
    assert it.sizes == [1]


@emulated
async def test_a_batch_holds_messages_of_one_queue(it: Emulated) -> None:
    it.broker.configure(queues=[QueueSettings("other/ Queue")])
    it.consume(max_batch_timeout_s=0)
    it.consume(queue="other/ Queue", max_batch_timeout_s=0)
    it.broker.send("q", messages("a"))
    it.broker.send("other/ Queue", messages("b"))
    await it.clock.settle()
    assert [(batch.queue, len(batch.messages)) for batch in it.delivered] == [
        ("q", 1),
        ("other/ Queue", 1),
    ]


@emulated
async def test_a_batch_carries_the_backlog_it_leaves_behind(it: Emulated) -> None:
    it.consume(max_batch_size=2, max_batch_timeout_s=60, max_concurrency=1)
    await it.send("abc")
    metrics = it.delivered[0].metrics
    assert metrics.backlog_count == 1
    assert metrics.backlog_bytes == 1
    assert metrics.oldest_message_timestamp_ms == it.started_ms


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_no_more_batches_are_in_flight_than_max_concurrency(limit: int) -> None:
    async def scenario(it: Emulated) -> None:
        first = "a" * 20

        def hanging_later(batch: Batch) -> BatchResult | asyncio.Future[BatchResult]:
            return BatchResult() if bodies(batch) == "a" else hanging(batch)

        it.consume(hanging_later, max_batch_size=1, max_batch_timeout_s=0, max_concurrency=limit)
        await it.send(first + "b" * 20)
        assert it.contents.count("b") == limit

    emulated(scenario)()


@emulated
async def test_consumers_start_at_one_and_fewer_remain_when_batches_fail(it: Emulated) -> None:
    async def failing(_: Batch) -> BatchResult:
        woken = asyncio.Event()
        it.clock.call_at(it.clock.now_ms() + SECOND, woken.set)
        await woken.wait()
        return BatchResult("ok" if it.clock.now_ms() - it.started_ms < 4 * SECOND else "exception")

    it.consume(failing, max_batch_size=1, max_batch_timeout_s=0, max_concurrency=100)
    await it.send("m" * 60)
    counts = []
    for _ in range(6):
        counts.append(len(it.delivered) - sum(counts))
        await it.after(SECOND)
    assert counts == [1, 2, 4, 8, 1, 1]


@emulated
async def test_concurrency_grows_with_the_backlog_on_its_own(it: Emulated) -> None:
    async def waiting(batch: Batch) -> BatchResult:
        woken = asyncio.Event()
        it.clock.call_at(it.clock.now_ms() + SECOND, woken.set)
        await woken.wait()
        return BatchResult()

    it.consume(waiting, max_batch_size=1, max_batch_timeout_s=0)
    await it.send("m" * 40)
    counts = []
    for _ in range(4):
        counts.append(len(it.delivered) - sum(counts))
        await it.after(SECOND)
    assert counts == [1, 2, 4, 8]


@emulated
async def test_messages_wait_for_a_consumer_and_the_queue_says_so_once(it: Emulated) -> None:
    await it.send("a")
    await it.send("b")
    await it.after(HOUR)
    assert it.happened(NoConsumer) == [NoConsumer("q", 1)]
    it.consume(max_batch_timeout_s=0)
    await it.clock.settle()
    assert it.contents == ["ab"]


@emulated
async def test_a_removed_consumer_gets_no_further_batches(it: Emulated) -> None:
    it.consume(max_batch_timeout_s=0)
    it.broker.configure(consumers=[])
    await it.send("a")
    await it.after(HOUR)
    assert it.delivered == []
    assert it.broker.metrics("q").backlog_count == 1


@emulated
async def test_that_messages_wait_is_told_once_until_a_consumer_came_and_went(it: Emulated) -> None:
    await it.send("a")
    await it.send("b")
    assert it.happened(NoConsumer) == [NoConsumer("q", 1)]
    it.consume(max_batch_timeout_s=0)
    await it.clock.settle()
    it.broker.configure(consumers=[])
    await it.send("c")
    assert it.happened(NoConsumer) == [NoConsumer("q", 1), NoConsumer("q", 1)]


@emulated
async def test_a_worker_that_cannot_serve_gets_no_further_batches(it: Emulated) -> None:
    it.consume(max_batch_timeout_s=0)
    it.broker.serve("q", None)
    await it.send("a")
    assert it.delivered == []
    assert it.happened(NoConsumer) == []
    it.broker.serve("q", it.delivering(retry_all))
    await it.clock.settle()
    assert it.contents[0] == "a"


@emulated
async def test_changed_settings_hold_from_the_next_batch_on(it: Emulated) -> None:
    held: asyncio.Future[BatchResult] = asyncio.get_running_loop().create_future()
    handlers = [lambda _: held, acked]
    it.consume(lambda batch: handlers.pop(0)(batch), max_batch_timeout_s=0, max_retries=0)
    await it.send("a")
    it.broker.configure(
        consumers=[ConsumerSettings("q", max_batch_size=1, max_batch_timeout_s=9, script="q")]
    )
    held.set_result(BatchResult(retry_all=True))
    await it.send("b")
    assert [line for line in it.log if "Dropped" in line], "the old max_retries still holds"
    assert it.contents == ["a", "b"], "the new max_batch_size is full with one message"


@pytest.mark.parametrize(("change", "at_once"), [({}, 3), ({"max_retries": 9}, 1)])
def test_consumers_start_at_one_again_only_when_their_settings_change(
    change: dict[str, int], at_once: int
) -> None:
    @emulated
    async def test(it: Emulated) -> None:
        it.consume(max_batch_size=1, max_batch_timeout_s=0)
        await it.send("abcdefgh")
        it.delivered.clear()
        it.consume(hanging, max_batch_size=1, max_batch_timeout_s=0, **change)
        await it.send("ijklmnop")
        assert len(it.delivered) == at_once

    test()


@emulated
async def test_a_paused_queue_accepts_messages_and_delivers_none(it: Emulated) -> None:
    it.consume(max_batch_timeout_s=0)
    it.broker.change(QueueSettings("q", paused=True))
    await it.send("a")
    await it.after(HOUR)
    assert it.delivered == []
    it.broker.change(QueueSettings("q"))
    await it.clock.settle()
    assert it.contents == ["a"]
