"""The control plane meets batches in flight: purges, deletions, new names, switched consumers."""

from __future__ import annotations

from typing import Any

import pytest
from queue_harness import (
    DAY,
    SECOND,
    Emulated,
    emulated,
    hanging,
    memory_connection,
    memory_store,
    message,
    messages,
    retry_all,
)
from tsumugi_emulator.queues import (
    Batch,
    BatchResult,
    ConsumerSettings,
    Metrics,
    QueueError,
    QueueSettings,
    QueueStore,
)
from tsumugi_emulator.queues.control import QueueControl
from tsumugi_emulator.queues.events import DeadLettered
from tsumugi_emulator.queues.messages import PullSettings

NOW: dict[str, Any] = {"max_batch_timeout_s": 0, "max_concurrency": 1}


def control_of(it: Emulated) -> QueueControl:
    return QueueControl(it.store, it.broker, it.clock)


def id_of(it: Emulated, queue: str = "q") -> str:
    return it.store.queue(queue).queue_id


def switch_to_pulling(it: Emulated, control: QueueControl) -> None:
    known = control.get(id_of(it)).consumer
    assert known is not None
    control.remove_consumer(id_of(it), known.consumer_id)
    control.add_consumer(id_of(it), PullSettings("q"))


def pulled(
    it: Emulated, control: QueueControl, *, timeout_ms: int = 60_000
) -> list[tuple[str, int]]:
    found = control.pull(id_of(it), size=100, timeout_ms=timeout_ms).messages
    return [(stored.body.decode(), stored.attempts) for stored, _ in found]


async def held(it: Emulated, text: str, **settings: Any) -> Any:
    """A batch in flight; calling the answer ends it with a result."""
    waiting = hanging(None)  # type: ignore[arg-type]
    it.consume(lambda _: waiting, **NOW, **settings)
    await it.send(text)
    assert it.contents[-1] == text
    return waiting.set_result


@emulated
async def test_what_is_purged_in_flight_is_not_retried(it: Emulated) -> None:
    end = await held(it, "ab")
    await it.send("c")
    control_of(it).purge(id_of(it))
    end(BatchResult(retry_all=True))
    await it.after(DAY)
    assert it.contents == ["ab"]
    assert it.broker.metrics("q").backlog_count == 0


@emulated
async def test_what_is_purged_in_flight_is_not_retried_before_its_rows_are_collected(
    it: Emulated,
) -> None:
    for _ in range(15):
        it.broker.send("q", [message()] * 100)
    waiting = hanging(None)  # type: ignore[arg-type]
    it.consume(lambda _: waiting, queue="other", **NOW)
    await it.send("a", queue="other")
    control = control_of(it)
    control.purge(id_of(it))
    control.purge(id_of(it, "other"))
    waiting.set_result(BatchResult(retry_all=True))
    await it.after(DAY)
    assert it.contents == ["a"]


@emulated
async def test_a_new_queue_keeps_its_messages_while_those_of_a_deleted_one_are_collected(
    it: Emulated,
) -> None:
    for _ in range(15):
        it.broker.send("q", [message()] * 100)
    control = control_of(it)
    control.delete(id_of(it))
    control.create(QueueSettings("new"))
    await it.send("a", queue="new")
    await it.after(DAY)
    assert it.broker.metrics("new") == Metrics(1, 1, it.started_ms)


@emulated
async def test_what_is_purged_in_flight_becomes_no_dead_letter(it: Emulated) -> None:
    end = await held(it, "a", max_retries=0, dead_letter_queue="dead")
    control_of(it).purge(id_of(it))
    end(BatchResult("exception"))
    await it.after(SECOND)
    assert it.broker.metrics("dead").backlog_count == 0


@emulated
async def test_a_deleted_queue_takes_its_batches_along(it: Emulated) -> None:
    end = await held(it, "ab")
    control_of(it).delete(id_of(it))
    end(BatchResult(retry_all=True))
    await it.after(SECOND)
    assert it.store.queues() == []
    with pytest.raises(QueueError, match="does not exist"):
        it.broker.send("q", messages("c"))


@emulated
async def test_a_batch_of_a_renamed_queue_is_retried_under_the_new_name(it: Emulated) -> None:
    end = await held(it, "ab")
    control_of(it).change(id_of(it), QueueSettings("new"))
    end(BatchResult(retry_all=True))
    await it.clock.settle()
    assert [record.name for record in it.store.queues()] == ["new"]
    assert it.contents == ["ab"] * 4, "the first delivery and three retries"


@emulated
async def test_a_consumer_added_by_api_is_delivered_to_by_its_name(it: Emulated) -> None:
    async def deliver(batch: Batch) -> BatchResult:
        it.delivered.append(batch)
        return BatchResult()

    it.broker.serve("mailer", deliver)
    control = control_of(it)
    control.add_consumer(id_of(it), ConsumerSettings("q", max_batch_timeout_s=0, script="mailer"))
    await it.send("a")
    assert it.contents == ["a"]
    it.broker.serve("mailer", None)
    await it.send("b")
    assert it.contents == ["a"]
    it.broker.serve("mailer", deliver)
    await it.clock.settle()
    assert it.contents == ["a", "b"]


@emulated
async def test_a_queue_switches_from_pushing_to_pulling_and_back(it: Emulated) -> None:
    end = await held(it, "a")
    control = control_of(it)
    switch_to_pulling(it, control)
    end(BatchResult(retry_all=True))
    await it.clock.settle()
    assert pulled(it, control, timeout_ms=1_000) == [("a", 2)]
    known = control.get(id_of(it)).consumer
    assert known is not None
    control.remove_consumer(id_of(it), known.consumer_id)
    control.add_consumer(id_of(it), ConsumerSettings("q", script="q", **NOW))
    it.broker.serve("q", it.delivering(lambda _: BatchResult()))
    await it.after(SECOND)
    assert it.contents == ["a", "a"]
    assert it.delivered[-1].messages[0].attempts == 3


@emulated
async def test_an_ack_from_before_the_switch_holds_for_the_worker_too(it: Emulated) -> None:
    control = control_of(it)
    control.add_consumer(id_of(it), PullSettings("q"))
    await it.send("a")
    [(_, lease)] = control.pull(id_of(it), size=1, timeout_ms=1_000).messages
    await it.after(SECOND)
    known = control.get(id_of(it)).consumer
    assert known is not None
    control.remove_consumer(id_of(it), known.consumer_id)
    it.consume(retry_all, max_batch_size=1, retry_delay_s=60, **NOW)
    await it.clock.settle()
    assert it.contents == ["a"]
    control.settle(id_of(it), [lease], {})
    await it.after(DAY)
    assert it.contents == ["a"]


@emulated
async def test_a_retry_from_before_the_switch_keeps_its_delay_and_uses_nothing_up(
    it: Emulated,
) -> None:
    control = control_of(it)
    control.add_consumer(id_of(it), PullSettings("q", max_retries=1))
    await it.send("a")
    [(_, lease)] = control.pull(id_of(it), size=1, timeout_ms=60_000).messages
    known = control.get(id_of(it)).consumer
    assert known is not None
    control.remove_consumer(id_of(it), known.consumer_id)
    it.consume(**NOW)
    control.settle(id_of(it), [], {lease: 10})
    await it.after(10 * SECOND - 1)
    assert it.contents == []
    await it.after(1)
    assert it.contents == ["a"]


@emulated
async def test_a_pull_that_finds_a_message_worn_out_does_not_count_as_its_delivery(
    it: Emulated,
) -> None:
    control = control_of(it)
    consumer = control.add_consumer(id_of(it), PullSettings("q", max_retries=3))
    await it.send("a")
    for _ in range(2):
        assert len(pulled(it, control, timeout_ms=SECOND)) == 1
        await it.after(SECOND)
    lowered = PullSettings("q", max_retries=1, dead_letter_queue="dead")
    control.change_consumer(id_of(it), consumer.consumer_id, lowered)
    assert pulled(it, control) == []
    assert [buried.attempts for buried in it.happened(DeadLettered)] == [2]


@emulated
async def test_what_a_worker_had_when_all_died_rejoins_behind_what_pullers_hold(
    it: Emulated,
) -> None:
    connection = memory_connection()
    it = Emulated(QueueStore(connection))
    await held(it, "ab")
    switch_to_pulling(it, control_of(it))
    await it.send("cd")
    assert pulled(it, control_of(it)) == [("c", 1), ("d", 1)]
    again = Emulated(QueueStore(connection))
    assert pulled(again, control_of(again)) == [("a", 2), ("b", 2)]


@emulated
async def test_sends_of_v8_are_refused_for_a_queue_that_is_pulled_from(it: Emulated) -> None:
    it.broker.send("q", [message("a", content_type="v8")])
    control_of(it).add_consumer(id_of(it), PullSettings("q"))
    with pytest.raises(QueueError, match="cannot be read by an http_pull consumer") as refused:
        it.broker.send("q", [message("b", content_type="v8")])
    assert refused.value.code == 10203


def test_a_key_of_leases_is_made_once() -> None:
    store = memory_store()
    first = store.pulled.lease_key(lambda count: b"a" * count)
    assert store.pulled.lease_key(lambda count: b"b" * count) == first == b"a" * 32
