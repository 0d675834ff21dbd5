"""Batches on their way: several at a time, some refused, some never answered, some orphaned."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from unittest import mock

from shard_harness import HOUR, MINUTE, SECOND, T0, World
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.shard import sending
from tsumugi.jobs.shard.handover import Batch, messages
from tsumugi.jobs.shard.sql import Sql

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

type Shards = Callable[..., World]

WIDE = Policy(concurrency=1_000)


def test_several_batches_travel_at_once_but_not_all(shard: Shards) -> None:
    world = shard(WIDE)
    send, travelling, most = world.send, 0, 0

    async def slowly(bodies: Sequence[str]) -> None:
        nonlocal travelling, most
        travelling += 1
        most = max(most, travelling)
        for _ in range(5):
            await asyncio.sleep(0)
        await send(bodies)
        travelling -= 1

    world.send = slowly  # type: ignore[method-assign]
    world.enqueue(*({} for _ in range(950)))
    assert (most, len(world.queue)) == (sending.AT_ONCE, 10)


def test_the_next_tick_does_not_wait_for_batches_that_travel(shard: Shards) -> None:
    world = shard(Policy(concurrency=2))
    send, arrived, gate = world.send, asyncio.Event(), asyncio.Event()

    async def held(bodies: Sequence[str]) -> None:
        if not world.queue:
            await send(bodies)
            arrived.set()
            await gate.wait()
        else:
            await send(bodies)
            gate.set()

    world.send = held  # type: ignore[method-assign]

    async def all_of_it() -> None:
        await world.shard.enqueue('{"jobs":[{"payload":1},{"payload":2},{"payload":3}]}')
        await arrived.wait()
        (job_id, epoch), *_ = [(each["job"][-28:], each["epoch"]) for each in world.sent()]
        report = f'{{"id":"{job_id}","epoch":{epoch},"outcome":"succeeded"'
        await world.shard.settle(f'{{"reports":[{report},"started_ms":0,"finished_ms":0}}]}}')

    world.run(all_of_it())
    assert [each["payload"] for each in world.sent()] == [1, 2, 3]


def test_of_batches_that_are_refused_only_their_jobs_wait_again(shard: Shards) -> None:
    world = shard(WIDE)
    send = world.send

    async def every_second(bodies: Sequence[str]) -> None:
        if '"n":1' in bodies[0]:
            raise RuntimeError("refused")
        await send(bodies)

    world.send = every_second  # type: ignore[method-assign]
    ids = world.enqueue(*({"payload": {"n": n // 100}} for n in range(200)))
    states = world.states()
    assert [states[local_id] for local_id in ids] == ["QUEUED"] * 100 + ["SCHEDULED"] * 100
    assert world.diagnostics()["handover"]["failures"] == 1
    assert world.count("handovers") == 0


def test_batches_that_fail_together_are_one_failure(shard: Shards) -> None:
    world = shard(WIDE)
    world.queue_error = RuntimeError("refused")
    world.enqueue(*({} for _ in range(500)))
    told = world.diagnostics()["handover"]
    assert (told["failures"], told["retry_at"]) == (1, T0 + SECOND)


def test_while_it_holds_back_silence_and_expiry_are_noticed_all_the_same(shard: Shards) -> None:
    world = shard()
    (silent,) = world.enqueue({"max_attempts": 1})
    world.queue_error = RuntimeError("refused")
    (late,) = world.enqueue({"expires_in_ms": MINUTE})
    world.wait(2 * MINUTE)
    assert world.states() == {silent: "FAILED", late: "CANCELLED"}


def test_a_report_that_overtakes_the_refusal_holds(shard: Shards) -> None:
    """The queue took the batch, answered late, and a consumer was faster."""
    world = shard()
    send = world.send

    async def taken_and_refused(bodies: Sequence[str]) -> None:
        await send(bodies)
        local_id, epoch = world.take()[0]
        report = f'{{"id":"{local_id}","epoch":{epoch},"outcome":"succeeded"'
        await world.shard.settle(f'{{"reports":[{report},"started_ms":0,"finished_ms":0}}]}}')
        raise TimeoutError

    world.send = taken_and_refused  # type: ignore[method-assign]
    (local_id,) = world.enqueue({})
    assert world.states() == {local_id: "COMPLETED"}
    assert world.wait(MINUTE) < 10


def test_a_queue_that_never_answers_has_refused(shard: Shards) -> None:
    world = shard()

    async def never(bodies: Sequence[str]) -> None:
        await asyncio.Event().wait()

    send, world.send = world.send, never  # type: ignore[method-assign]
    with mock.patch.object(sending, "TIMEOUT_S", 0.0):
        (local_id,) = world.enqueue({"timeout_ms": None})
    assert world.states() == {local_id: "SCHEDULED"}
    world.send = send  # type: ignore[method-assign]
    world.wait(SECOND)
    assert world.take() == [(local_id, 2)]


def test_a_job_that_does_not_wait_for_a_delivery_any_more_has_no_message(shard: Shards) -> None:
    world = shard()
    ids = world.enqueue({}, {})
    world.report((ids[1], 1))
    sql = Sql(world.instance.storage)
    batch = Batch("x", ((ids[0], 1), (ids[1], 1), ("gone", 1)))
    assert [each[:30] for each in messages(sql, batch, shard="Mail#0")] == [
        f'{{"v":1,"job":"Mail#0:{ids[0]}'[:30]
    ]
    assert messages(sql, Batch("x", ((ids[0], 0),)), shard="Mail#0") == []


class TestOrphans:
    """The object was lost between dispatching a batch and knowing that it was sent."""

    def lost_while_sending(self, world: World, *jobs: dict[str, Any]) -> list[str]:
        world.loses = lambda what: what == "send"
        ids = world.enqueue(*jobs)
        world.loses = lambda what: False
        assert set(world.states().values()) == {"QUEUED"}
        return ids

    def test_are_put_back_at_once_with_their_tokens(self, shard: Shards) -> None:
        world = shard(Policy(rate=Rate(10, HOUR)))
        ids = self.lost_while_sending(world, *({} for _ in range(10)))
        world.restart()
        assert world.take() == [(local_id, 2) for local_id in ids]
        assert {world.row(local_id)["attempts"] for local_id in ids} == {0}
        assert world.count("handovers") == 0

    def test_wake_the_shard_even_if_nobody_calls(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = self.lost_while_sending(world, {"timeout_ms": None})
        assert world.alarm is not None
        world.lose()
        world.now = max(world.now, world.alarm)
        world.boot()  # the platform makes the object to run its alarm
        assert world.take() == [(local_id, 2)]

    def test_at_most_once_jobs_of_them_run_once(self, shard: Shards) -> None:
        world = shard()
        world.loses = lambda what: what == "sent"
        (local_id,) = world.enqueue({"guarantee": "at-most-once"})
        world.loses = lambda what: False
        world.restart()
        first, second = world.take()
        claims = [
            {"id": local_id, "epoch": epoch, "claim": True, "payload": False}
            for _, epoch in (first, second)
        ]
        assert world.call("begin", {"jobs": claims})["jobs"] == [
            {"refused": "superseded"},
            {"refused": None},
        ]
