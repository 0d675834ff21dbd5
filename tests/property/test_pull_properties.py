"""Pulling against its model: any interleaving of sends, pulls, acks, expiry, purges, restarts."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import event, given, settings, strategies as st
from pull_model import PullModel, Rules
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.queues import (
    Broker,
    OutgoingMessage,
    QueueError,
    QueueSettings,
    QueueStore,
)
from tsumugi_emulator.queues.control import QueueControl
from tsumugi_emulator.queues.messages import PullSettings

if TYPE_CHECKING:
    from pull_model import Lease


@dataclass(frozen=True)
class Send:
    count: int
    delay_s: int


@dataclass(frozen=True)
class Pull:
    size: int
    timeout_ms: int


@dataclass(frozen=True)
class Settle:
    """``acks`` and ``retries`` choose among all leases there ever were, the newest first."""

    acks: frozenset[int]
    retries: dict[int, int | None]


@dataclass(frozen=True)
class Advance:
    duration_ms: int


@dataclass(frozen=True)
class Pause:
    paused: bool


@dataclass(frozen=True)
class Purge:
    pass


@dataclass(frozen=True)
class Restart:
    down_ms: int


type Step = Send | Pull | Settle | Advance | Pause | Purge | Restart

choices = st.integers(0, 8)
sends = st.builds(Send, count=st.integers(1, 5), delay_s=st.sampled_from([0, 0, 0, 1, 7, 60]))
pulls = st.builds(
    Pull, size=st.integers(1, 6), timeout_ms=st.sampled_from([0, 1_000, 5_000, 30_000, 43_200_000])
)
settlings = st.builds(
    Settle,
    acks=st.frozensets(choices, max_size=4),
    retries=st.dictionaries(choices, st.none() | st.sampled_from([0, 1, 30]), max_size=3),
)
advances = st.builds(Advance, duration_ms=st.sampled_from([1, 999, 1_000, 5_000, 29_001, 60_000]))
restarts = st.builds(Restart, down_ms=st.sampled_from([0, 0, 4_000, 31_000]))
steps: st.SearchStrategy[Step] = st.one_of(
    sends,
    pulls,
    settlings,
    advances,
    st.builds(Pause, paused=st.booleans()),
    st.just(Purge()),
    restarts,
)
#: What makes the acknowledgements of a phrase late, in some way.
phrases = st.tuples(
    sends,
    st.builds(Pull, size=st.integers(2, 6), timeout_ms=st.sampled_from([0, 1_000])),
    st.just(Advance(1_000)) | st.just(Restart(1_000)) | advances | restarts,
    pulls | steps,
    st.builds(
        Settle,
        acks=st.frozensets(st.integers(0, 4), min_size=1, max_size=4),
        retries=st.dictionaries(choices, st.none() | st.sampled_from([0, 1]), max_size=2),
    ),
).map(list)
scripts = st.lists(phrases | steps.map(lambda step: [step]), min_size=3, max_size=8).map(
    lambda parts: [step for part in parts for step in part]
)
worlds = st.builds(
    Rules,
    max_retries=st.integers(0, 4),
    retry_delay_s=st.sampled_from([0, 0, 2]),
    dead_letter=st.booleans(),
)

_numbers = itertools.count()


class World:
    """The real thing, without HTTP."""

    def __init__(self, rules: Rules) -> None:
        self.clock = FakeClock()
        self.address = f"file:pulls{next(_numbers)}?mode=memory&cache=shared"
        self.keeper = sqlite3.connect(self.address, uri=True)
        self.start()
        self.id = self.control.create(QueueSettings("q")).record.queue_id
        self.control.add_consumer(
            self.id,
            PullSettings(
                "q",
                max_retries=rules.max_retries,
                retry_delay_s=rules.retry_delay_s,
                dead_letter_queue="dead" if rules.dead_letter else None,
            ),
        )
        self.leases: list[tuple[str, Lease]] = []
        self.acked: set[str] = set()

    def start(self) -> None:
        self.store = QueueStore(sqlite3.connect(self.address, uri=True, isolation_level=None))
        self.broker = Broker(self.store, self.clock, events=lambda _: None)
        self.control = QueueControl(self.store, self.broker, self.clock)
        self.broker.refresh()

    async def restart(self, down_ms: int) -> None:
        await self.broker.stop()
        self.store.close()
        await self.clock.advance(down_ms)
        self.start()
        await self.clock.settle()

    async def end(self) -> None:
        await self.broker.stop()
        self.store.close()
        self.keeper.close()

    def waiting(self, queue: str) -> list[str]:
        return [message.body.decode() for message in self.store.pulled.peek(queue, limit=1_000)]


async def compare(rules: Rules, script: list[Step]) -> None:
    world = World(rules)
    await world.clock.settle()
    model = PullModel(rules, world.clock.now_ms())
    sent: list[str] = []
    for step in script:
        await take(step, world, model, sent)
        await world.clock.settle()
        assert world.waiting("q") == [item.label for item in model.ready]
        assert world.control.metrics(world.id).backlog_count == model.backlog
        assert world.control.counts(world.id) == (len(model.delayed), len(model.leased))
        assert model.everywhere == sorted(sent), "every message is in one place"
        if rules.dead_letter:
            assert world.waiting("dead") == model.dead
    await drain(world, model)
    await world.end()


async def take(step: Step, world: World, model: PullModel, sent: list[str]) -> None:
    match step:
        case Send(count=count, delay_s=delay_s):
            labels = [f"m{len(sent) + number}" for number in range(count)]
            sent += labels
            messages = [OutgoingMessage(label.encode(), "text", delay_s) for label in labels]
            world.control.send(world.id, messages, as_batch=True)
            model.send(labels, delay_s)
        case Pull():
            pull(step, world, model)
        case Settle():
            settle(step, world, model)
        case Advance(duration_ms=duration_ms):
            await world.clock.advance(duration_ms)
            model.advance(duration_ms)
        case Pause(paused=paused):
            world.control.change(world.id, QueueSettings("q", paused=paused))
            model.paused = paused
        case Purge():
            world.control.purge(world.id)
            model.purge()
        case Restart(down_ms=down_ms):
            await world.restart(down_ms)
            model.down(down_ms)


def pull(step: Pull, world: World, model: PullModel) -> None:
    expected = model.pull(step.size, step.timeout_ms)
    try:
        got = world.control.pull(world.id, size=step.size, timeout_ms=step.timeout_ms).messages
    except QueueError as refused:
        got = None
        told = (refused.http_status, str(refused))
    if got is None:
        assert told == (409, "queue_delivery_paused")
        assert expected is None
        return
    assert expected is not None
    delivered = [(message.body.decode(), message.attempts) for message, _ in got]
    assert delivered == [(label, attempts) for label, attempts, _ in expected]
    assert not world.acked & {label for label, _ in delivered}, "nothing is delivered after an ack"
    world.leases += [
        (lease_id, lease) for (_, lease_id), (*_, lease) in zip(got, expected, strict=True)
    ]


def settle(step: Settle, world: World, model: PullModel) -> None:
    newest = world.leases[::-1]
    acks = [newest[number] for number in sorted(step.acks) if number < len(newest)]
    retries = {
        newest[number][0]: (newest[number][1], delay_s)
        for number, delay_s in step.retries.items()
        if number < len(newest)
    }
    late = [lease for _, lease in acks if lease.item.lease is not lease]
    event(f"{min(2, len(late))} or more late acks")
    done = model.settle([lease for _, lease in acks], list(retries.values()))
    answer = world.control.settle(
        world.id,
        [lease_id for lease_id, _ in acks],
        {lease_id: delay_s for lease_id, (_, delay_s) in retries.items()},
    )
    assert answer.acked == len(acks)
    assert answer.retried == done
    world.acked |= {lease.item.label for _, lease in acks if lease.item.label in model.acked}


async def drain(world: World, model: PullModel) -> None:
    """What is left can be had, each message once, and then there is nothing."""
    world.control.change(world.id, QueueSettings("q"))
    model.paused = False
    await world.clock.advance(43_200_000)
    model.advance(43_200_000)
    left = [item.label for item in model.ready]
    pulled = world.control.pull(world.id, size=1_000, timeout_ms=60_000)
    assert [message.body.decode() for message, _ in pulled.messages] == left
    world.control.settle(world.id, [lease_id for _, lease_id in pulled.messages], {})
    await world.clock.advance(43_200_000)
    assert world.control.pull(world.id, size=1_000, timeout_ms=0).messages == []
    assert world.control.metrics(world.id).backlog_count == 0
    assert world.control.metrics(world.id).backlog_bytes == 0


@settings(max_examples=200, deadline=None)
@given(rules=worlds, script=scripts)
def test_pulling_does_what_its_model_does(rules: Rules, script: list[Step]) -> None:
    asyncio.run(compare(rules, script))
