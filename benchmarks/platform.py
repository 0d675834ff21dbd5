"""Durable Objects, D1 and alarms: ``python -m benchmarks.platform`` (see benchmarks/README.md)."""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import wire
from benchmarks.command import run
from benchmarks.processes import resident_mb
from benchmarks.targets import Figure
from benchmarks.tools import PEER, TSUMUGI, Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.tools import Tool

type Figures = dict[str, float]

CALLS = 10_000
STATEMENTS = 50_000
WRITES = 2_000
BATCHED_WRITES = 50_000
#: How often each of the above is timed; the best counts.
TRIES = 3
OBJECTS = 10_000
#: How often each tool starts with and without objects, taking turns; the median counts.
STARTS = 9
#: Objects that one request makes: clients give up on requests that last minutes.
SLICE = 1_000
#: Until the alarms that are set are due: longer than any tool takes to set them.
ALARMS_AHEAD_S = 60.0
#: When alarms that still have not run count as lost.
ALARMS_LIMIT_S = 45.0
SAMPLE_S = 0.1
DAY_S = 86_400.0

TOOLS = (replace(TSUMUGI, worker="platform-python"), replace(PEER, worker="platform-javascript"))

FIGURES = (
    Figure("rpc", "calls_per_s", "calls of an object", "calls/s", "higher", target_ratio=1.0),
    Figure("sql", "inserts_per_s", "sql.exec of an INSERT", "/s", "higher", target_ratio=2.0),
    Figure("sql", "selects_per_s", "sql.exec of a SELECT by key", "/s", "higher",
           target_ratio=2.0),
    Figure("sql", "rows_per_s", "rows of one sql.exec", "rows/s", "higher"),
    Figure("d1", "writes_per_s", "D1, one INSERT a query", "/s", "higher", target_ratio=1.0),
    Figure("d1", "batched_per_s", "D1, batches of 100 INSERTs", "/s", "higher", target_ratio=1.0),
    Figure("alarms", "all_ran", "10 000 overdue alarms all ran", "", "higher", target=1),
    Figure("alarms", "in_order", "in the order of their due times", "", "higher", target=1),
    Figure("alarms", "all_ran_s", "command to last overdue alarm", "s", "lower", target=15),
    Figure("alarms", "peak_mb", "peak resident memory meanwhile", "MB", "lower", target=250),
    Figure("start", "empty_s", "start to first 200, no object", "s", "lower"),
    Figure("start", "full_s", "start to first 200, 10 000 objects", "s", "lower"),
    Figure("start", "growth", "the one divided by the other", "x", "lower", target=1.1),
)  # fmt: skip


def calls(tool: Tool) -> Figures:
    """Calls of one object, one after the other."""
    with Running(tool) as running:
        wire.get(running.port, f"/rpc?count={CALLS // 10}")
        return {"calls_per_s": CALLS / _best_s(running, f"/rpc?count={CALLS}")}


def statements(tool: Tool) -> Figures:
    """``sql.exec`` in a loop, inside one call of an object."""
    with Running(tool) as running:
        prepare = f"/prepare?count={STATEMENTS}"
        _get(running, prepare)
        inserts_s = _best_s(running, f"/insert?count={STATEMENTS}")
        selects_s = _best_s(running, f"/select?count={STATEMENTS}")
        _get(running, prepare)
        return {
            "inserts_per_s": STATEMENTS / inserts_s,
            "selects_per_s": STATEMENTS / selects_s,
            "rows_per_s": STATEMENTS / _best_s(running, "/scan"),
        }


def database(tool: Tool) -> Figures:
    """Writes to D1: each query for itself, and in batches."""
    with Running(tool) as running:
        _get(running, "/d1-prepare")
        _get(running, f"/d1?count={WRITES // 10}")
        _get(running, f"/d1-batch?count={BATCHED_WRITES // 10}")
        return {
            "writes_per_s": WRITES / _best_s(running, f"/d1?count={WRITES}"),
            "batched_per_s": BATCHED_WRITES / _best_s(running, f"/d1-batch?count={BATCHED_WRITES}"),
        }


def alarms(tool: Tool) -> Figures:
    """Start on a state in which the alarms of many objects are overdue."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        state = Path(name) / "state"
        try:
            due_s = _make_objects(tool, state, ahead_s=ALARMS_AHEAD_S)
        except TooManyObjects:
            return {"all_ran": 0.0}
        last_due_s = due_s + OBJECTS / 1_000
        if time.time() > due_s:
            raise RuntimeError(f"setting alarms took {tool.name} longer than {ALARMS_AHEAD_S} s")
        time.sleep(max(0.0, last_due_s - time.time()))
        spawned_s = time.time()
        running = Running(tool, state)
        try:
            return _until_all_ran(running, spawned_s)
        finally:
            running.stop()


def start(tool: Tool) -> Figures:
    """From the command to the first HTTP 200, with objects on disk and without, taking turns."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        states = {"empty_s": Path(name) / "empty", "full_s": Path(name) / "full"}
        try:
            _make_objects(tool, states["full_s"], ahead_s=DAY_S)
        except TooManyObjects:
            return {}
        os.sync()  # what is still being written would slow down the first starts
        took: dict[str, list[float]] = {key: [] for key in states}
        for _ in range(STARTS):
            for key, state in states.items():
                running = Running(tool, state)
                try:
                    took[key].append(running.wait_until_ready())
                finally:
                    running.stop()
        figures = {key: statistics.median(values) for key, values in took.items()}
        return {**figures, "growth": figures["full_s"] / figures["empty_s"]}


ROWS: dict[str, Callable[[Tool], Figures]] = {
    "rpc": calls,
    "sql": statements,
    "d1": database,
    "alarms": alarms,
    "start": start,
}


class TooManyObjects(Exception):
    """The tool broke while they were made: workerd holds all of them, and runs out of mappings."""


def _make_objects(tool: Tool, state: Path, *, ahead_s: float) -> float:
    """Give each object an alarm, a millisecond apart; when the first is due.

    Raises:
        TooManyObjects: a request failed.
    """
    with Running(tool, state) as running:
        due_s = time.time() + ahead_s
        try:
            for first in range(0, OBJECTS, SLICE):
                _get(running, f"/objects?first={first}&count={SLICE}&due_ms={int(due_s * 1_000)}")
        except (OSError, RuntimeError) as error:
            raise TooManyObjects from error
    return due_s


def _until_all_ran(running: Running, spawned_s: float) -> Figures:
    """Watch alarms run and memory grow; what had happened when the limit was reached."""
    seen = {"ran": 0, "out_of_order": 0, "last_ran_ms": 0.0}
    peak_mb = 0.0
    deadline_s = spawned_s + ALARMS_LIMIT_S
    while seen["ran"] < OBJECTS and time.time() < deadline_s:
        peak_mb = max(peak_mb, resident_mb(running.pid))
        with contextlib.suppress(OSError, RuntimeError):  # it does not answer yet, or any more
            seen = wire.get_json(running.port, "/alarms", timeout_s=5)
        time.sleep(SAMPLE_S)
    all_ran = seen["ran"] >= OBJECTS
    figures = {
        "all_ran": float(all_ran),
        "in_order": float(seen["ran"] > 0 and seen["out_of_order"] == 0),
        "peak_mb": peak_mb,
    }
    if all_ran:
        figures["all_ran_s"] = seen["last_ran_ms"] / 1_000 - spawned_s
    return figures


def _best_s(running: Running, path: str) -> float:
    return min(_get(running, path) for _ in range(TRIES))


def _get(running: Running, path: str) -> float:
    """Seconds a request took.

    Raises:
        RuntimeError: it was not answered with 200.
    """
    started = time.perf_counter()
    status, body = wire.get(running.port, path)
    took_s = time.perf_counter() - started
    if status != 200:
        raise RuntimeError(f"{path} answered {status}: {body[:200]!r}")
    return took_s


def main() -> int:
    """Measure objects, SQL, D1 and alarms."""
    prog = "python -m benchmarks.platform"
    return run(None, prog=prog, tools=TOOLS, rows=ROWS, figures=FIGURES)


if __name__ == "__main__":
    raise SystemExit(main())
