"""Pulling over the queues API under load: ``python -m benchmarks.pull``.

First 2 producers and 8 pullers move 200 000 messages through a queue, and every one of them has to
arrive exactly once. Then the backlog is filled to 200 000 and to 2 000 000, and the latency of
pulls, and of what must not depend on the backlog, is taken. ``tsumugi dev`` runs as for anybody.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from tsumugi_emulator.clock import SystemClock
from tsumugi_emulator.queues import OutgoingMessage, QueueSettings, QueueStore
from tsumugi_emulator.queues.messages import PullSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

QUEUE = "load"
PULLERS = 8
PRODUCERS = 2
BATCH = 100
TOTAL = 200_000
BACKLOGS = (200_000, 2_000_000)
#: Pulls of each puller in a latency row.
PULLS = 100
START_LIMIT_S = 60.0

WRANGLER = '{"name": "load", "main": "worker.py", "compatibility_date": "2026-11-01"}'
WORKER = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("ok")
"""


class Connection(asyncio.Protocol):
    """One keep-alive connection to the API: a request, then its answer."""

    def __init__(self, head: str) -> None:
        self._head = head
        self._transport: Any = None
        self._held = b""
        self._answer: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, separator, body = self._held.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        if len(body) < length or self._answer is None:
            return
        self._held = b""
        if head.startswith(b"HTTP/1.1 200"):
            self._answer.set_result(body)
        else:
            self._answer.set_exception(RuntimeError(body.decode()))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("the API closed the connection"))

    async def ask(self, path: str, body: Any = None) -> Any:
        """The result; a body is POSTed."""
        data = b"" if body is None else orjson.dumps(body)
        method = "GET" if body is None else "POST"
        self._answer = asyncio.get_running_loop().create_future()
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n"
        self._transport.write(head.encode() + data)
        return orjson.loads(await self._answer)["result"]


@dataclass
class Api:
    port: int
    token: str
    queue_id: str = ""

    async def connect(self) -> Connection:
        head = (
            f"Host: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
            "Content-Type: application/json\r\n"
        )
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(lambda: Connection(head), "127.0.0.1", self.port))[1]

    def path(self, rest: str = "") -> str:
        return f"/client/v4/accounts/local/queues/{self.queue_id}{rest}"


@dataclass
class Counted:
    received: list[int] = field(default_factory=list)
    pull_s: list[float] = field(default_factory=list)
    ack_s: list[float] = field(default_factory=list)


async def pull_and_ack(api: Api, connection: Connection, counted: Counted) -> int:
    """One pull and its acknowledgement; how many messages."""
    started = time.perf_counter()
    pulled = await connection.ask(api.path("/messages/pull"), {"batch_size": BATCH})
    counted.pull_s.append(time.perf_counter() - started)
    messages = pulled["messages"]
    if messages:
        started = time.perf_counter()
        acks = [{"lease_id": message["lease_id"]} for message in messages]
        answer = await connection.ask(api.path("/messages/ack"), {"acks": acks})
        counted.ack_s.append(time.perf_counter() - started)
        assert answer["ackCount"] == len(messages), answer
        counted.received += [int(message["body"]) for message in messages]
    return len(messages)


async def through(api: Api, total: int) -> dict[str, Any]:
    """Producers and pullers at once; every message has to arrive exactly once."""
    counted = Counted()

    async def produce(first: int) -> None:
        connection = await api.connect()
        for start in range(first, total, BATCH * PRODUCERS):
            messages = [
                {"body": str(number), "content_type": "text"}
                for number in range(start, min(start + BATCH, total))
            ]
            await connection.ask(api.path("/messages/batch"), {"messages": messages})

    async def consume() -> None:
        connection = await api.connect()
        while len(counted.received) < total:
            if not await pull_and_ack(api, connection, counted):
                await asyncio.sleep(0.005)

    started = time.perf_counter()
    await asyncio.gather(
        *(produce(number * BATCH) for number in range(PRODUCERS)),
        *(consume() for _ in range(PULLERS)),
    )
    took_s = time.perf_counter() - started
    assert sorted(counted.received) == list(range(total)), "not every message exactly once"
    return {"sent, pulled and acked msg/s": round(total / took_s), **latencies(counted)}


async def drain(api: Api, pulls: int) -> dict[str, Any]:
    """Pull and acknowledge from a long backlog."""
    counted = Counted()

    async def consume() -> None:
        connection = await api.connect()
        for _ in range(pulls):
            await pull_and_ack(api, connection, counted)

    started = time.perf_counter()
    await asyncio.gather(*(consume() for _ in range(PULLERS)))
    took_s = time.perf_counter() - started
    assert len(counted.received) == len(set(counted.received)) == pulls * PULLERS * BATCH
    figures: dict[str, Any] = {"pulled and acked msg/s": round(len(counted.received) / took_s)}
    connection = await api.connect()
    for name, rest, body in (
        ("peek", "/messages/peek", {"batch_size": BATCH}),
        ("metrics", "/metrics", None),
        ("list", "?page=1", None),
    ):
        taken = []
        for _ in range(100):
            path = api.path(rest) if not rest.startswith("?") else api.path()[:-33] + rest
            started = time.perf_counter()
            await connection.ask(path, body)
            taken.append(time.perf_counter() - started)
        figures[f"{name} p99 ms"] = percentile(taken, 99)
    return figures | latencies(counted)


def latencies(counted: Counted) -> dict[str, Any]:
    return {
        "pull p50 ms": percentile(counted.pull_s, 50),
        "pull p99 ms": percentile(counted.pull_s, 99),
        "ack p99 ms": percentile(counted.ack_s, 99),
    }


def percentile(seconds: Sequence[float], percent: int) -> float:
    ordered = sorted(seconds)
    return round(1000 * ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 2)


def fill(state: Path, count: int) -> None:
    """A pulled queue with ``count`` messages, as an emulator that was stopped leaves it."""
    store = QueueStore.open(state)
    now_ms = SystemClock().now_ms()
    store.declare(QueueSettings(QUEUE), now_ms=now_ms)
    with store.transaction():
        store.consumers.put(PullSettings(QUEUE), now_ms=now_ms)
    for start in range(0, count, 1_000):
        messages = [
            OutgoingMessage(b"%d" % number, "text") for number in range(start, start + 1_000)
        ]
        store.put(QUEUE, messages, default_delay_s=0, now_ms=now_ms)
    store.close()


def measure(backlog: int, work: Callable[[Api], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Run ``work`` against ``tsumugi dev`` on a queue with so many messages."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        project, state = Path(name), Path(name) / "state"
        (project / "wrangler.json").write_text(WRANGLER)
        (project / "worker.py").write_text(WORKER)
        fill(state, backlog)
        command = "from tsumugi_emulator.cli.main import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", command, "dev", "--port", "0", "--api-port", "0",
             "--persist-to", str(state), "--no-reload"],
            cwd=project, stdout=(project / "output.log").open("wb"), stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, env=os.environ | {"CI": "1"},
        )  # fmt: skip
        try:
            return _run(_with_api(state, work))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(START_LIMIT_S)


async def _with_api(
    state: Path, work: Callable[[Api], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    deadline = time.monotonic() + START_LIMIT_S
    while not (state / "dev.json").exists():
        assert time.monotonic() < deadline, "tsumugi dev did not start"
        await asyncio.sleep(0.01)
    running = json.loads((state / "dev.json").read_text())
    api = Api(int(running["api"].split(":")[2].partition("/")[0]), running["token"])
    connection = await api.connect()
    [queue] = await connection.ask(f"{api.path()[:-1]}?name={QUEUE}")
    api.queue_id = queue["queue_id"]
    return await work(api)


def _run(work: Any) -> dict[str, Any]:
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    result: dict[str, Any] = run(work)
    return result


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--total", type=int, default=TOTAL, help="messages of the first row")
    parser.add_argument("--backlogs", type=int, nargs="*", default=list(BACKLOGS))
    options = parser.parse_args()
    rows = {f"{options.total:,} through": measure(0, lambda api: through(api, options.total))}
    for backlog in options.backlogs:
        rows[f"backlog of {backlog:,}"] = measure(backlog, lambda api: drain(api, PULLS))
    for name, figures in rows.items():
        print(name)
        for what, figure in figures.items():
            print(f"  {what:<32}{figure:>12,}")


if __name__ == "__main__":
    main()
