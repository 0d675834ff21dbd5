"""What a job costs its shard in statements and rows: ``python -m benchmarks.jobs_rows``.

Production bills rows as its patched SQLite counts them. So the statements of a shard, whose jobs
are enqueued, run a hundred at a time and told to the read model, are run again in an object of
workerd, under ``wrangler dev``, which tells the rows it read and wrote.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.retention import Retention
from tsumugi.jobs.shard.projecting import GATHER_MS
from tsumugi.jobs.shard.shard import Identity, Shard

from benchmarks.jobs_tick import ALL_AXES, BATCH, Load, Platform, Storage, own_key, plain
from benchmarks.tools import PEER, Running, peer_is_ready

if TYPE_CHECKING:
    from collections.abc import Iterator

JOBS = 1_000
LOADS = (
    Load("no key, no rate", Policy(concurrency=BATCH), plain),
    Load("all axes, a key each", ALL_AXES, own_key),
)
REPLAY = replace(PEER, worker="jobs-javascript")
#: Characters of one request to workerd.
PORTION = 4_000_000
ANSWER_LIMIT_S = 120.0

type Statement = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a job's life, and the statements that it took for all jobs."""

    name: str
    statements: list[Statement]


class Recording(Storage):
    """Keeps every statement that is run."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.ran: list[Statement] = []

    def read(self, sql: str, given: str) -> str:
        self.ran.append((sql, given))
        return super().read(sql, given)

    def write(self, sql: str, given: str | None) -> None:
        self.ran.append((sql, given))
        super().write(sql, given)

    def part(self, name: str) -> Part:
        """What was run since the last part."""
        ran, self.ran = self.ran, []
        return Part(name, ran)


class LaterPlatform(Platform):
    """Its clock is ``late_ms`` ahead."""

    late_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.late_ms


async def life(load: Load, path: Path) -> list[Part]:
    """The parts of the lives of ``JOBS`` jobs; the first one is not theirs."""
    storage = Recording(path)
    platform = LaterPlatform(storage)
    identity = Identity(binding="Mail", shard=0, policy=load.policy, retention=Retention())
    shard = Shard(identity, platform)
    await shard.boot()
    await platform.quiet()
    parts = [storage.part("tables")]
    await shard.enqueue(json.dumps({"jobs": [load.job(n) for n in range(JOBS)]}))
    parts.append(storage.part("enqueue"))
    await platform.quiet()
    done = 0
    while platform.queue:
        deliveries = [json.loads(body) for body in platform.queue]
        platform.queue.clear()
        now_ms = platform.now_ms()
        ended = {"outcome": "succeeded", "started_ms": now_ms, "finished_ms": now_ms}
        reports = [
            {"id": each["job"].rpartition(":")[2], "epoch": each["epoch"], **ended}
            for each in deliveries
        ]
        await shard.settle(json.dumps({"reports": reports}))
        await platform.quiet()
        done += len(reports)
    if done < JOBS:
        raise RuntimeError(f"only {done} of {JOBS} jobs ran")
    parts.append(storage.part("run"))
    platform.late_ms = GATHER_MS
    await shard.alarm()
    await platform.quiet()
    parts.append(storage.part("tell the read model"))
    storage.db.close()
    return parts


def portions(statements: list[Statement]) -> Iterator[list[Statement]]:
    portion: list[Statement] = []
    size = 0
    for statement in statements:
        length = sum(len(text or "") for text in statement)
        if portion and size + length > PORTION:
            yield portion
            portion, size = [], 0
        portion.append(statement)
        size += length
    if portion:
        yield portion


def replay(tool: Running, name: str, statements: list[Statement]) -> tuple[int, int]:
    """Rows read and written, as workerd counts them."""
    read = written = 0
    for portion in portions(statements):
        url = f"http://127.0.0.1:{tool.port}/{name}"
        asked = urllib.request.Request(url, json.dumps(portion).encode(), method="POST")
        with urllib.request.urlopen(asked, timeout=ANSWER_LIMIT_S) as answer:
            counted: dict[str, Any] = json.load(answer)
        read += counted["read"]
        written += counted["written"]
    return read, written


def row(*cells: str) -> None:
    print(f"{cells[0]:<24}{cells[1]:<22}" + "".join(f"{cell:>16}" for cell in cells[2:]))


def main() -> None:
    if not peer_is_ready():
        print("statements and rows per job: workerd counts them, and Node and npm are missing")
        return
    row("per job", "", "statements", "rows read", "rows written")
    with Running(REPLAY) as tool, tempfile.TemporaryDirectory() as directory:
        for place, load in enumerate(LOADS):
            tables, *parts = asyncio.run(life(load, Path(directory) / f"{place}.sqlite"))
            replay(tool, str(place), tables.statements)
            totals = [0, 0, 0]
            for part in parts:
                figures = (len(part.statements), *replay(tool, str(place), part.statements))
                totals = [total + figure for total, figure in zip(totals, figures, strict=True)]
                row(load.name, part.name, *(f"{figure / JOBS:.2f}" for figure in figures))
            row(load.name, "together", *(f"{total / JOBS:.2f}" for total in totals))


if __name__ == "__main__":
    main()
