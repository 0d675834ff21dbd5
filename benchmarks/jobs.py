"""Jobs that do nothing, from enqueue to COMPLETED: ``python -m benchmarks.jobs``.

``tsumugi dev`` runs as for anybody: client, shard, queue, consumer and read model. What one tick
costs by itself is ``benchmarks.jobs_tick``; what a job costs in rows is ``benchmarks.jobs_rows``,
which runs at the end.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import urllib.request
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks import jobs_rows
from benchmarks.processes import cpu_seconds
from benchmarks.tools import TSUMUGI, Running

if TYPE_CHECKING:
    from collections.abc import Iterable

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


@dataclass(frozen=True, slots=True)
class Run:
    """Jobs a second of enqueue_many, and from before it until all are COMPLETED."""

    enqueued_per_s: float
    completed_per_s: float
    #: Microseconds of processor time a job, of all processes together.
    cpu_us: float


def throughput(count: int, *, axes: bool) -> Run:
    """``count`` jobs, as often as makes the most jobs there are in one run: few are soon done."""
    name, keys = ("AllAxes", count) if axes else ("Noop", 0)
    times = SIZES[-1] // count
    with Running(JOBS) as tool:
        warm_up(tool, name)
        cpu_s, enqueue_s, seconds = cpu_seconds(tool.pid), 0.0, 0.0
        for number in range(times):
            wanted = 100 + count * (number + 1)
            start = time.perf_counter()
            enqueued = ask(tool, "enqueue", name=name, count=count, keys=keys)
            states = ask(tool, "completed", name=name, count=wanted)
            seconds += time.perf_counter() - start
            enqueue_s += enqueued["ms"] / 1000
            if states.get("COMPLETED", 0) < wanted:
                raise RuntimeError(f"stopped at {states}")
        cpu_s = cpu_seconds(tool.pid) - cpu_s
    total = count * times
    return Run(total / enqueue_s, total / seconds, cpu_s / total * 1e6)


def pairs(count: int, repeat: int) -> list[tuple[Run, Run]]:
    """Without and with all axes, in turns: what else runs on the machine meets both."""
    runs = []
    for number in range(repeat):
        order = (False, True) if number % 2 == 0 else (True, False)
        pair = {axes: throughput(count, axes=axes) for axes in order}
        runs.append((pair[False], pair[True]))
    return runs


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
        return resumed_per_s(tool), quiet


def fresh_per_s(backlog: int) -> float:
    """Jobs a second while the read model has yet to learn of the whole backlog."""
    with Running(JOBS) as tool:
        warm_up(tool, "Noop")
        ask(tool, "paused", paused=1)
        for _ in range(backlog // CHUNK):
            ask(tool, "enqueue", count=CHUNK)
        return resumed_per_s(tool)


def resumed_per_s(tool: Running) -> float:
    done = ask(tool, "states").get("COMPLETED", 0)
    ask(tool, "paused", paused=0)
    start = time.perf_counter()
    time.sleep(DRAIN_S)
    moved: int = ask(tool, "states").get("COMPLETED", 0) - done
    return moved / (time.perf_counter() - start)


def cost(ratios: Iterable[float]) -> str:
    return f"{100 * (statistics.median(ratios) - 1):+.1f}%"


def row(text: str, *figures: str) -> None:
    print(f"{text:<52} " + "  ".join(f"{figure:>14}" for figure in figures), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="pairs of runs; medians are told")
    parser.add_argument("--backlogs", action="store_true", help="also with many jobs waiting")
    parser.add_argument("--endurance", type=int, default=0, help="consecutive runs of 1 000 jobs")
    options = parser.parse_args()
    row("", "enqueue jobs/s", "total jobs/s", "CPU us/job")
    for count in SIZES:
        runs = pairs(count, options.repeat)
        for text, of_kind in zip(("jobs", "jobs, all axes"), zip(*runs, strict=True), strict=True):
            row(
                f"{count} {text}",
                f"{statistics.median(run.enqueued_per_s for run in of_kind):,.0f}",
                f"{statistics.median(run.completed_per_s for run in of_kind):,.0f}",
                f"{statistics.median(run.cpu_us for run in of_kind):,.1f}",
            )
        row(
            "  what the axes cost, median of pairs",
            cost(plain.enqueued_per_s / axes.enqueued_per_s for plain, axes in runs),
            cost(plain.completed_per_s / axes.completed_per_s for plain, axes in runs),
            cost(axes.cpu_us / plain.cpu_us for plain, axes in runs),
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
    if options.backlogs:
        row(f"{BACKLOGS[0]} fresh: jobs/s while projected", f"{fresh_per_s(BACKLOGS[0]):,.0f}")
    if options.endurance:
        endure(options.endurance)
    print()
    jobs_rows.main()


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
