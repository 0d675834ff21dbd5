"""Jobs that do nothing, from enqueue to COMPLETED: ``python -m benchmarks.jobs``.

``tsumugi dev`` runs as for anybody: client, shard, queue, consumer and read model. What one tick
costs by itself is ``benchmarks.jobs_tick``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import urllib.request
from dataclasses import replace
from typing import Any

from benchmarks.processes import cpu_seconds
from benchmarks.tools import TSUMUGI, Running

JOBS = replace(TSUMUGI, worker="jobs-python")
SIZES = (1_000, 5_000, 10_000)
BACKLOGS = (100_000, 1_000_000)
#: Jobs enqueued with one request while a backlog is made.
CHUNK = 50_000
#: How long the rate of a drained backlog is taken.
DRAIN_S = 5.0
LONE_JOBS = 100
#: How long a paused shard is watched.
QUIET_S = 3.0
ANSWER_LIMIT_S = 300.0


def ask(tool: Running, path: str, **query: Any) -> Any:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    url = f"http://127.0.0.1:{tool.port}/{path}?{text}"
    with urllib.request.urlopen(url, timeout=ANSWER_LIMIT_S) as answer:
        return json.load(answer)


def throughput(count: int, *, name: str = "Noop", keys: int = 0) -> tuple[float, float]:
    """Jobs a second of enqueue_many, and from before it until all are COMPLETED."""
    with Running(JOBS) as tool:
        warm_up(tool, name)
        start = time.perf_counter()
        enqueued = ask(tool, "enqueue", name=name, count=count, keys=keys)
        states = ask(tool, "completed", name=name, count=count + 100)
        seconds = time.perf_counter() - start
        if states.get("COMPLETED", 0) < count + 100:
            raise RuntimeError(f"stopped at {states}")
        return count / enqueued["ms"] * 1000, count / seconds


def warm_up(tool: Running, name: str) -> None:
    ask(tool, "enqueue", name=name, count=100)
    ask(tool, "completed", name=name, count=100)
    time.sleep(1.0)  # the read model catches up


def idle_ms() -> list[float]:
    with Running(JOBS) as tool:
        warm_up(tool, "Noop")
        return [ask(tool, "one", count=101 + number)["ms"] for number in range(LONE_JOBS)]


def drained(backlog: int) -> tuple[float, float]:
    """Jobs a second once a backlog may run, and how busy the processors were before."""
    with Running(JOBS) as tool:
        warm_up(tool, "Noop")
        ask(tool, "paused", paused=1)
        for _ in range(backlog // CHUNK):
            ask(tool, "enqueue", count=CHUNK)
        ask(tool, "projected")
        before = cpu_seconds(tool.pid)
        time.sleep(QUIET_S)
        quiet = (cpu_seconds(tool.pid) - before) / QUIET_S
        done = ask(tool, "states").get("COMPLETED", 0)
        ask(tool, "paused", paused=0)
        start = time.perf_counter()
        time.sleep(DRAIN_S)
        moved = ask(tool, "states").get("COMPLETED", 0) - done
        return moved / (time.perf_counter() - start), quiet


def row(text: str, *figures: str) -> None:
    print(f"{text:<52} " + "  ".join(f"{figure:>14}" for figure in figures), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each row; medians are told")
    parser.add_argument("--backlogs", action="store_true", help="also with many jobs waiting")
    parser.add_argument("--endurance", type=int, default=0, help="consecutive runs of 1 000 jobs")
    options = parser.parse_args()
    row("", "enqueue jobs/s", "total jobs/s")
    for count in SIZES:
        runs = [throughput(count) for _ in range(options.repeat)]
        row(
            f"{count} jobs",
            *(f"{statistics.median(figures):,.0f}" for figures in zip(*runs, strict=True)),
        )
        runs = [throughput(count, name="AllAxes", keys=count) for _ in range(options.repeat)]
        row(
            f"{count} jobs, all axes",
            *(f"{statistics.median(f):,.0f}" for f in zip(*runs, strict=True)),
        )
    lone = sorted(idle_ms())
    row(
        "idle, enqueue to COMPLETED (ms)",
        f"p50 {lone[len(lone) // 2]:.0f}",
        f"p95 {lone[int(len(lone) * 0.95)]:.0f}",
    )
    for backlog in BACKLOGS if options.backlogs else ():
        rate, quiet = drained(backlog)
        row(
            f"{backlog} waiting: jobs/s once resumed, ticks/s paused",
            f"{rate:,.0f}",
            f"{quiet:.1f}",
        )
    if options.endurance:
        endure(options.endurance)


def endure(runs: int) -> None:
    """Many runs in one process: none may stop for good."""
    with Running(JOBS) as tool:
        total = 0
        for number in range(runs):
            total += 1_000
            ask(tool, "enqueue", count=1_000)
            states = ask(tool, "completed", count=total)
            if states.get("COMPLETED", 0) < total:
                print(f"run {number + 1} stopped at {states}", file=sys.stderr)
                raise SystemExit(1)
    row(f"{runs} consecutive runs of 1 000", "none wedged")


if __name__ == "__main__":
    main()
