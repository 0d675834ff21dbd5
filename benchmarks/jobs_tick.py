"""What a shard's work costs whatever waits: ``python -m benchmarks.jobs_tick``.

The shard's own code over plain SQLite, without emulator, queue and consumer: 100 jobs run at a
time, and each round settles them, ticks and hands over the next 100. A tick may cost at most twice
as much with 1 000 000 jobs waiting as with 1 000.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.retention import Retention
from tsumugi.jobs.shard import ticking
from tsumugi.jobs.shard.shard import Identity, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

BACKLOGS = (1_000, 10_000, 100_000, 1_000_000)
BATCH = 100
ROUNDS = 100
CHUNK = 5_000
PAYLOAD = {"to": "a@example.com", "subject": "hello", "body": "x" * 40}
#: SQLite counts its work in steps of its virtual machine; they are asked for this often.
STEPS = 100


class Storage:
    """``Storage`` over a file, as durable as an object's."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.statements = 0

    def read(self, sql: str, given: str) -> str:
        self.statements += 1
        answer: str = self.db.execute(sql, {"1": given}).fetchone()[0]
        return answer

    def write(self, sql: str, given: str | None) -> None:
        self.statements += 1
        self.db.execute(sql, () if given is None else {"1": given})

    def transaction[T](self, work: Callable[[], T]) -> T:
        self.db.execute("BEGIN")
        try:
            answer = work()
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")
        return answer


class Platform:
    """A queue that takes everything, no read model, and the real clock."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.queue: list[str] = []
        self.tasks: set[asyncio.Task[None]] = set()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def chance(self) -> float:
        return random.random()

    def chance_bytes(self) -> bytes:
        return os.urandom(8)

    def start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def let_others_in(self) -> None:
        await asyncio.sleep(0)

    async def get_alarm(self) -> int | None:
        return None

    async def set_alarm(self, at_ms: int) -> None:
        pass

    async def send(self, bodies: Sequence[str]) -> None:
        self.queue += bodies

    async def project(self, snapshots: Sequence[Any]) -> None:
        pass

    def measure(self, points: Sequence[Any]) -> None:
        pass

    async def quiet(self) -> None:
        while self.tasks:
            await asyncio.wait(set(self.tasks))


@dataclass
class Figures:
    enqueue_us: float
    tick_ms: list[float] = field(default_factory=list)
    round_us: float = 0.0
    statements: float = 0.0
    rows: float = 0.0
    steps: float = 0.0


@dataclass(frozen=True)
class Load:
    name: str
    policy: Policy
    #: Which job the ``n``-th of a backlog is.
    job: Callable[[int], dict[str, Any]]


def plain(number: int) -> dict[str, Any]:
    return {"payload": PAYLOAD}


def keyed(number: int) -> dict[str, Any]:
    return {"payload": PAYLOAD, "concurrency_key": f"user-{number % 1_000}"}


def own_key(number: int) -> dict[str, Any]:
    return {"payload": PAYLOAD, "concurrency_key": f"user-{number}"}


def one_busy_key(number: int) -> dict[str, Any]:
    """All but each tenth job have the same key."""
    return {"payload": PAYLOAD, **({} if number % 10 == 0 else {"concurrency_key": "busy"})}


def many_priorities(number: int) -> dict[str, Any]:
    return {"payload": PAYLOAD, "priority": number % 100}


ALL_AXES = Policy(concurrency=BATCH, per_key_concurrency=1, rate=Rate(1_000_000, 1_000))
LOADS = (
    Load("plain", Policy(concurrency=BATCH), plain),
    Load("1 000 keys, rate", ALL_AXES, keyed),
    Load("own keys, rate", ALL_AXES, own_key),
    Load("one busy key", Policy(concurrency=BATCH), one_busy_key),
    Load("100 priorities", Policy(concurrency=BATCH), many_priorities),
)


async def measure(load: Load, backlog: int, path: Path) -> Figures:
    storage = Storage(path)
    platform = Platform(storage)
    identity = Identity(
        binding="Mail", shard=0, policy=load.policy, retention=Retention(sweep_after_ms=10**9)
    )
    shard = Shard(identity, platform)
    await shard.boot()
    await shard.set_policy('{"change":{"paused":true}}')
    began = time.process_time()
    for first in range(0, backlog, CHUNK):
        jobs = [load.job(number) for number in range(first, min(first + CHUNK, backlog))]
        text = json.dumps({"jobs": jobs})
        await shard.enqueue(text)
        await platform.quiet()
    figures = Figures((time.process_time() - began) / backlog * 1e6)
    await shard.set_policy('{"change":{"paused":false}}')
    await platform.quiet()
    with timed_ticks(figures):
        await rounds(shard, platform, figures, min(ROUNDS, backlog // BATCH - 2))
    storage.db.close()
    return figures


class timed_ticks:  # noqa: N801 - reads as a statement
    """Takes the time of every tick."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def __enter__(self) -> None:
        self._tick = ticking.tick

        def tick(*args: Any) -> Any:
            began = time.process_time()
            ticked = self._tick(*args)
            if ticked.batches:
                self._figures.tick_ms.append((time.process_time() - began) * 1e3)
            return ticked

        ticking.tick = tick

    def __exit__(self, *_: object) -> None:
        ticking.tick = self._tick


async def rounds(shard: Shard, platform: Platform, figures: Figures, count: int) -> None:
    storage, moved, steps = platform.storage, 0, 0

    def step() -> None:
        nonlocal steps
        steps += STEPS

    statements, rows = storage.statements, storage.db.total_changes
    began = time.process_time()
    for number in range(count):
        if number == count // 2:
            figures.round_us = (time.process_time() - began) / max(1, moved) * 1e6
            storage.db.set_progress_handler(step, STEPS)
            counted = moved
        deliveries = [json.loads(body) for body in platform.queue]
        platform.queue.clear()
        now_ms = platform.now_ms()
        reports = [
            {
                "id": each["job"].rpartition(":")[2],
                "epoch": each["epoch"],
                "outcome": "succeeded",
                "started_ms": now_ms,
                "finished_ms": now_ms,
            }
            for each in deliveries
        ]
        await shard.settle(json.dumps({"reports": reports}))
        await platform.quiet()
        moved += len(reports)
    storage.db.set_progress_handler(None, STEPS)
    figures.statements = (storage.statements - statements) / moved
    figures.rows = (storage.db.total_changes - rows) / moved
    figures.steps = steps / max(1, moved - counted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backlogs", help="numbers of waiting jobs, with commas between")
    parser.add_argument("--only", help="loads whose name contains this text")
    options = parser.parse_args()
    backlogs = [int(each) for each in options.backlogs.split(",")] if options.backlogs else BACKLOGS
    loads = [load for load in LOADS if (options.only or "") in load.name]
    print(f"{'':20}{'waiting':>10}{'enqueue':>10}{'tick p50':>10}{'p90':>9}{'round':>10}"
          f"{'statements':>12}{'rows':>8}{'steps':>8}")  # fmt: skip
    print(f"{'':30}{'us/job':>10}{'ms':>10}{'ms':>9}{'us/job':>10}"
          f"{'per job':>12}{'changed':>8}{'per job':>8}")  # fmt: skip
    for load in loads:
        for backlog in backlogs:
            with tempfile.TemporaryDirectory() as directory:
                figures = asyncio.run(measure(load, backlog, Path(directory) / "shard.sqlite"))
            tick = sorted(figures.tick_ms) or [0.0]
            print(
                f"{load.name:20}{backlog:>10,}{figures.enqueue_us:>10.1f}"
                f"{statistics.median(tick):>10.2f}{tick[int(len(tick) * 0.9)]:>9.2f}"
                f"{figures.round_us:>10.1f}{figures.statements:>12.2f}{figures.rows:>8.1f}"
                f"{figures.steps:>8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
