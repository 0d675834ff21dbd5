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
from typing import Any

from benchmarks import jobs_rows
from benchmarks.processes import cpu_seconds
from benchmarks.tools import TSUMUGI, Running

JOBS = replace(TSUMUGI, worker="jobs-python")
#: Jobs in a run, and how many runs of each kind one process makes.
SIZES = {1_000: 20, 5_000: 6, 10_000: 4}
WARM_UP = 100
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
    """Seconds a job: in enqueue_many, from before it until all are COMPLETED, and of all
    processors together.
    """

    enqueue_s: float
    total_s: float
    cpu_s: float


def throughput(tool: Running, count: int, *, after: int, axes: bool) -> Run:
    """``count`` jobs, of a kind of which ``after`` jobs are done."""
    name, keys = ("AllAxes", count) if axes else ("Noop", 0)
    cpu_s, start = cpu_seconds(tool.pid), time.perf_counter()
    enqueued = ask(tool, "enqueue", name=name, count=count, keys=keys)
    states = ask(tool, "completed", name=name, count=after + count)
    seconds, cpu_s = time.perf_counter() - start, cpu_seconds(tool.pid) - cpu_s
    if states.get("COMPLETED", 0) < after + count:
        raise RuntimeError(f"stopped at {states}")
    ask(tool, "projected", name=name)
    return Run(enqueued["ms"] / 1000 / count, seconds / count, cpu_s / count)


def pairs(count: int, repeat: int) -> list[tuple[Run, Run]]:
    """Without and with all axes, in turns within ``repeat`` processes.

    The speed of a machine changes, and so does that of two processes of the same program: what is
    compared are runs that follow each other in one.
    """
    runs = []
    for _ in range(repeat):
        with Running(JOBS) as tool:
            warm_up(tool, "Noop")
            warm_up(tool, "AllAxes")
            for number in range(SIZES[count]):
                after = WARM_UP + number * count
                order = (False, True) if number % 2 == 0 else (True, False)
                pair = {axes: throughput(tool, count, after=after, axes=axes) for axes in order}
                runs.append((pair[False], pair[True]))
    return runs


def warm_up(tool: Running, name: str) -> None:
    ask(tool, "enqueue", name=name, count=WARM_UP)
    ask(tool, "completed", name=name, count=WARM_UP)
    ask(tool, "projected", name=name)


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


def tell(count: int, runs: list[tuple[Run, Run]]) -> None:
    for text, of_kind in zip(("jobs", "jobs, all axes"), zip(*runs, strict=True), strict=True):
        row(
            f"{count} {text}",
            f"{1 / statistics.median(run.enqueue_s for run in of_kind):,.0f}",
            f"{1 / statistics.median(run.total_s for run in of_kind):,.0f}",
            f"{1e6 * statistics.median(run.cpu_s for run in of_kind):,.1f}",
        )
    fields = ("enqueue_s", "total_s", "cpu_s")
    by_field = [[(getattr(p, name), getattr(a, name)) for p, a in runs] for name in fields]
    row(
        f"  what the axes cost, median of {len(runs)} pairs",
        *(cost(statistics.median(axes / plain for plain, axes in each)) for each in by_field),
    )
    row(
        "  all runs together",
        *(cost(sum(axes for _, axes in each) / sum(p for p, _ in each)) for each in by_field),
    )


def cost(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f}%"


def row(text: str, *figures: str) -> None:
    print(f"{text:<52} " + "  ".join(f"{figure:>14}" for figure in figures), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="processes; medians are told")
    parser.add_argument("--backlogs", action="store_true", help="also with many jobs waiting")
    parser.add_argument("--endurance", type=int, default=0, help="consecutive runs of 1 000 jobs")
    options = parser.parse_args()
    row("", "enqueue jobs/s", "total jobs/s", "CPU us/job")
    for count in SIZES:
        tell(count, pairs(count, options.repeat))
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
