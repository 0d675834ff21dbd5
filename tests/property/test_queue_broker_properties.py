"""The broker against its model: any interleaving of sends, handlers, time, restarts and kills."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import event, given, settings, strategies as st
from queue_model import QueueModel, Settings, Told
from tsumugi_emulator.clock import FakeClock, Timer
from tsumugi_emulator.queues import (
    Batch,
    BatchResult,
    Broker,
    ConsumerSettings,
    OutgoingMessage,
    QueueSettings,
    QueueStore,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Send:
    delays_s: tuple[int | None, ...]
    batch_delay_s: int | None


@dataclass(frozen=True)
class Advance:
    duration_ms: int


@dataclass(frozen=True)
class Plan:
    """What a handler will do. ``acks`` and ``retries`` go by position in the batch."""

    outcome: str = "ok"
    ack_all: bool = False
    retry_all_delay_s: int | None = None
    retry_all: bool = False
    acks: frozenset[int] = frozenset()
    retries: dict[int, int | None] = field(default_factory=dict)

    def told(self, labels: list[str]) -> Told:
        retries = {labels[i]: delay for i, delay in self.retries.items() if i < len(labels)}
        acks = {labels[i] for i in self.acks if i < len(labels)} - retries.keys()
        return Told(
            self.outcome,
            self.ack_all,
            self.retry_all,
            self.retry_all_delay_s if self.retry_all else None,
            frozenset(acks),
            retries,
        )


@dataclass(frozen=True)
class Hang:
    """The handler does not return until told to."""


@dataclass(frozen=True)
class Report:
    """The handler that hangs longest returns after all."""

    plan: Plan


@dataclass(frozen=True)
class Die:
    """The whole emulator is gone, and after a while another one starts on its state."""

    down_ms: int


delays = st.none() | st.sampled_from([0, 0, 1, 2, 7, 60, 3_600, 86_400])
plans = st.builds(
    Plan,
    outcome=st.sampled_from(["ok", "exception"]),
    ack_all=st.just(False),
    retry_all=st.booleans(),
    retry_all_delay_s=st.none() | st.sampled_from([0, 1, 30]),
    acks=st.frozensets(st.integers(0, 4), max_size=3),
    retries=st.dictionaries(
        st.integers(0, 4), st.none() | st.sampled_from([0, 1, 5, -3, 100_000]), max_size=3
    ),
) | st.builds(Plan, outcome=st.sampled_from(["ok", "exception"]), ack_all=st.booleans())
operations = st.one_of(
    st.builds(
        Send,
        delays_s=st.lists(delays, min_size=1, max_size=7).map(tuple),
        batch_delay_s=st.none() | st.sampled_from([0, 1, 10]),
    ),
    st.builds(
        Advance,
        duration_ms=st.sampled_from([0, 333, 1_000, 2_500, 8_000, 61_000, 1_000_003, 90_000_000]),
    ),
    st.builds(Report, plan=plans),
    st.builds(Die, down_ms=st.sampled_from([0, 0, 3_000, 50_000])),
)
worlds = st.builds(
    Settings,
    size=st.integers(1, 6),
    timeout_ms=st.sampled_from([0, 1_000, 5_000]),
    retries=st.integers(0, 2),
    retry_delay_s=st.sampled_from([0, 0, 2]),
    concurrency=st.integers(1, 3),
    dead_letter=st.booleans(),
    retention_ms=st.sampled_from([10_000, 60_000, 345_600_000]),
    # Odd, so that hardly anything else becomes due at the same moment.
    wall_ms=st.just(900_007),
)


class MortalClock:
    """A clock whose timers die with the emulator that set them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.dead = False

    def now_ms(self) -> int:
        return self.clock.now_ms()

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        return self.clock.call_at(when_ms, lambda: None if self.dead else callback())


_numbers = itertools.count()


class World:
    """The real broker, driven like the model."""

    def __init__(self, rules: Settings, handling: list[Plan | Hang], clock: FakeClock) -> None:
        self.rules = rules
        self.clock = clock
        self.handling = handling
        self.turn = 0
        # One database in memory; each emulator opens it anew.
        self.address = f"file:queues{next(_numbers)}?mode=memory&cache=shared"
        self.keeper = sqlite3.connect(self.address, uri=True)
        self.hanging: list[tuple[Batch, asyncio.Future[BatchResult]]] = []
        self.buried = [*self.hanging]
        self.delivered: list[tuple[int, list[tuple[str, int]]]] = []
        self.ids: dict[str, set[str]] = {}
        self.timestamps: dict[str, set[int]] = {}
        self.start()

    def start(self) -> None:
        rules = self.rules
        self.mortal = MortalClock(self.clock)
        self.store = QueueStore(sqlite3.connect(self.address, uri=True, isolation_level=None))
        self.broker = Broker(
            self.store, self.mortal, events=lambda _: None, wall_limit_ms=rules.wall_ms
        )
        self.broker.configure(
            queues=[QueueSettings("q", retention_s=rules.retention_ms // 1000)],
            consumers=[
                ConsumerSettings(
                    "q",
                    max_batch_size=rules.size,
                    max_batch_timeout_s=rules.timeout_ms / 1000,
                    max_retries=rules.retries,
                    max_concurrency=rules.concurrency,
                    retry_delay_s=rules.retry_delay_s,
                    dead_letter_queue="dlq" if rules.dead_letter else None,
                    script="worker",
                )
            ],
        )
        self.broker.serve("worker", self.deliver)

    async def deliver(self, batch: Batch) -> BatchResult:
        labels = self.note(batch)
        self.delivered.append(
            (
                self.clock.now_ms(),
                [(stored.body.decode().rstrip("."), stored.attempts) for stored in batch.messages],
            )
        )
        handling = self.handling[self.turn % len(self.handling)]
        self.turn += 1
        if isinstance(handling, Hang):
            future: asyncio.Future[BatchResult] = asyncio.get_running_loop().create_future()
            self.hanging.append((batch, future))
            return await future
        return result_of(batch, handling.told(labels))

    def note(self, batch: Batch) -> list[str]:
        labels = [stored.body.decode().rstrip(".") for stored in batch.messages]
        for label, stored in zip(labels, batch.messages, strict=True):
            self.ids.setdefault(label, set()).add(stored.id)
            self.timestamps.setdefault(label, set()).add(stored.timestamp_ms)
        return labels

    def report(self, plan: Plan) -> bool:
        self.hanging = [entry for entry in self.hanging if not entry[1].done()]
        if not self.hanging:
            return False
        batch, future = self.hanging.pop(0)
        labels = [stored.body.decode().rstrip(".") for stored in batch.messages]
        future.set_result(result_of(batch, plan.told(labels)))
        return True

    async def die(self, *, down_ms: int) -> None:
        self.mortal.dead = True
        self.store.close()
        self.buried += self.hanging
        self.hanging = []
        await self.clock.advance(down_ms)
        self.start()

    async def end(self) -> None:
        await self.die(down_ms=0)
        self.store.close()
        self.keeper.close()
        for _, future in self.buried:
            future.cancel()
        await self.clock.settle()

    async def dead_letters(self) -> list[str]:
        found: list[str] = []

        async def collect(batch: Batch) -> BatchResult:
            assert {stored.attempts for stored in batch.messages} == {1}
            found.extend(self.note(batch))
            return BatchResult()

        self.broker.serve("undertaker", collect)
        self.broker.configure(
            consumers=[ConsumerSettings("dlq", max_batch_timeout_s=0, script="undertaker")]
        )
        await self.clock.settle()
        return found


def result_of(batch: Batch, told: Told) -> BatchResult:
    ids = {stored.body.decode().rstrip("."): stored.id for stored in batch.messages}
    return BatchResult(
        told.outcome,
        told.ack_all,
        told.retry_all,
        told.retry_all_delay_s,
        frozenset(ids[label] for label in told.acks),
        {ids[label]: delay_s for label, delay_s in told.retries.items()},
    )


async def compare(
    rules: Settings, handling: list[Plan | Hang], script: list[Send | Advance | Report | Die]
) -> None:
    clock = FakeClock()
    world = World(rules, handling, clock)
    turns = itertools.count()

    def model_handler(labels: list[str]) -> Told | None:
        planned = handling[next(turns) % len(handling)]
        return None if isinstance(planned, Hang) else planned.told(labels)

    model = QueueModel(rules, model_handler, now_ms=clock.now_ms())
    sent: list[str] = []
    for step in script:
        match step:
            case Send():
                batch = []
                for delay_s in step.delays_s:
                    label = f"m{len(sent)}"
                    sent.append(label)
                    asked = (delay_s, step.batch_delay_s, 0)
                    effective_s = next(delay for delay in asked if delay is not None)
                    body = label + "." * (len(sent) % 5)
                    batch.append((label, len(body), effective_s, delay_s, body))
                metrics = world.broker.send(
                    "q",
                    [OutgoingMessage(body.encode(), "text", asked) for *_, asked, body in batch],
                    batch_delay_s=step.batch_delay_s,
                    as_batch=True,
                )
                before = (metrics.backlog_count, metrics.backlog_bytes)
                assert before == model.metrics[:2]
                model.send([entry[:3] for entry in batch])
                await clock.settle()
            case Advance():
                await clock.advance(step.duration_ms)
                model.advance(step.duration_ms)
            case Report():
                if world.report(step.plan):
                    labels = [item.label for item in model.flights[0].items]
                    model.report(step.plan.told(labels))
                    event("a hanging handler reported")
                await clock.settle()
            case Die():
                event(f"died with {len(model.flights)} in flight")
                await world.die(down_ms=step.down_ms)
                model.die(down_ms=step.down_ms)
                await clock.settle()
        if model.ambiguous:
            event("ambiguous")
            break
        assert world.delivered == model.delivered
        seen = world.broker.metrics("q")
        assert (
            seen.backlog_count,
            seen.backlog_bytes,
            seen.oldest_message_timestamp_ms,
        ) == model.metrics
        assert model.everywhere == sorted(sent)
    else:
        await check_the_end(world, model)
    await world.end()


async def check_the_end(world: World, model: QueueModel) -> None:
    """Dead letters kept their identity, and nobody else took it."""
    event(f"{min(3, len(model.dead))} or more dead letters")
    event(f"{min(1, len(model.expired))} or more expired")
    if model.settings.dead_letter:
        assert await world.dead_letters() == [item.label for item in model.dead]
    for label, known in world.ids.items():
        assert len(known) == 1, f"{label} changed its id"
        assert len(world.timestamps[label]) == 1, f"{label} changed its timestamp"
    assert len({next(iter(known)) for known in world.ids.values()}) == len(world.ids)
    for delivered in (world.delivered, model.delivered):
        fresh = [label for _, batch in delivered for label, attempts in batch if attempts == 1]
        assert len(fresh) == len(set(fresh)), "a first delivery happens once"


@settings(max_examples=200, deadline=None)
@given(
    rules=worlds,
    handling=st.lists(plans | st.just(Hang()), min_size=1, max_size=5),
    script=st.lists(operations, min_size=4, max_size=20),
)
def test_the_broker_does_what_its_model_does(
    rules: Settings, handling: list[Plan | Hang], script: list[Send | Advance | Report | Die]
) -> None:
    asyncio.run(compare(rules, handling, script))
