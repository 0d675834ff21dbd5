"""The measurements, one function a row: given a tool, run the workload, return its figures.

Not here: how a figure is judged and printed (``targets``, ``report``).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks import wire
from benchmarks.processes import resident_mb
from benchmarks.tools import HERE, START_LIMIT_S, Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.tools import Tool

type Figures = dict[str, float]

BURST = 20_000
MANY = 200_000
#: Each request of the peer sends so many: it cannot hold a burst at once.
SLICE = 5_000
SENDS = 2_000
IDLE_SENDS = 60
IDLE_PAUSE_S = 0.03
SAVES = 7
#: Between two saves, as a person would at the least: the tool may prepare for the next one.
SAVE_PAUSE_S = 1.0
LOAD_S = 2.0
#: For memory to settle after start or after a run.
SETTLE_S = 1.0
CONSUME_LIMIT_S = 120.0


def burst(tool: Tool) -> Figures:
    """(a) Messages a second from the first send to the last acknowledgement."""
    with Running(tool) as running:
        _send_and_consume(running, 2_000)
        figures = {"messages_per_s": _send_and_consume(running, BURST)}
        accepted = _accepted_whole(running) if tool.outstanding else True
        return {**figures, "accepted_whole": float(accepted)}


def send_latency(tool: Tool) -> Figures:
    """(b) The time around ``await env.BULK.send(...)`` in the Worker."""
    with Running(tool) as running:
        wire.get_json(running.port, f"/send?count={SENDS // 4}")
        answer = wire.get_json(running.port, f"/send?count={SENDS}")
        times = answer["times_ms"]
        return {
            "mean_ms": answer["total_ms"] / SENDS,
            "p50_ms": percentile(times, 50),
            "p95_ms": percentile(times, 95),
        }


def idle_latency(tool: Tool) -> Figures:
    """(c) From a send to its handler, one message at a time, nothing else going on."""
    with Running(tool) as running:
        for _ in range(IDLE_SENDS):
            wire.get(running.port, "/idle")
            time.sleep(IDLE_PAUSE_S)
        time.sleep(SETTLE_S)
        times = wire.get_json(running.port, "/state")["idle_ms"]
        return {"p50_ms": percentile(times, 50), "p95_ms": percentile(times, 95)}


def start(tool: Tool) -> Figures:
    """(d) From the command to the first HTTP 200."""
    running = Running(tool)
    try:
        return {"start_s": running.wait_until_ready()}
    finally:
        running.stop()


def reload(tool: Tool) -> Figures:
    """(e) From a save to the first answer of the new code."""
    times = []
    with Running(tool) as running:
        for number in range(1, SAVES + 1):
            time.sleep(SAVE_PAUSE_S)
            version = f"{number}-{time.time_ns()}"
            running.save_version(version)
            saved = time.perf_counter()
            wire.wait_for(running.port, "/version", limit_s=START_LIMIT_S, body=version.encode())
            times.append(time.perf_counter() - saved)
    return {"p50_s": percentile(times, 50)}


def requests(tool: Tool) -> Figures:
    """(f) Hello-world requests a second."""
    with Running(tool) as running:
        return {f"{n}_connections_rps": _load(running.port, n) for n in (1, 32)}


def memory(tool: Tool) -> Figures:
    """(g) Resident memory of all of the tool's processes."""
    with Running(tool) as running:
        figures = {"idle_mb": _settled_mb(running)}
        _send_and_consume(running, BURST)
        figures["after_20k_mb"] = _settled_mb(running)
        for _ in range((MANY - BURST) // BURST):
            _send_and_consume(running, BURST)
        figures["after_200k_mb"] = _settled_mb(running)
        return figures


ROWS: dict[str, Callable[[Tool], Figures]] = {
    "a": burst,
    "b": send_latency,
    "c": idle_latency,
    "d": start,
    "e": reload,
    "f": requests,
    "g": memory,
}


def percentile(values: list[float], percent: int) -> float:
    """The value that ``percent`` of ``values`` do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _send_and_consume(running: Running, count: int) -> float:
    """Send ``count`` messages and wait for their handlers; messages a second."""
    before = _state(running)["consumed"]
    outstanding = running.tool.outstanding
    started_ms = 0.0
    for first in range(0, count, SLICE if outstanding else count):
        size = min(SLICE, count - first) if outstanding else count
        answer = wire.get_json(running.port, f"/burst?count={size}&outstanding={outstanding}")
        started_ms = started_ms or answer["started_ms"]
    state = _wait_consumed(running, before + count)
    return count * 1000 / (state["last_consumed_ms"] - started_ms)


def _accepted_whole(running: Running) -> bool:
    """Whether one request may send the whole burst at once."""
    status, _ = wire.get(running.port, f"/burst?count={BURST}&outstanding=0")
    return status == 200


def _wait_consumed(running: Running, expected: float) -> dict[str, float]:
    deadline = time.monotonic() + CONSUME_LIMIT_S
    while (state := _state(running))["consumed"] < expected:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{state['consumed']} of {expected} messages consumed")
        time.sleep(0.02)
    return state


def _state(running: Running) -> dict[str, float]:
    state: dict[str, float] = wire.get_json(running.port, "/state")
    return state


def _load(port: int, connections: int) -> float:
    command = [sys.executable, "-m", "benchmarks.load", "--port", str(port)]
    options = ["--connections", str(connections), "--seconds", str(LOAD_S)]
    done = subprocess.run(
        [*command, *options], cwd=HERE.parent, check=True, capture_output=True, text=True
    )
    rate: float = json.loads(done.stdout)
    return rate


def _settled_mb(running: Running) -> float:
    time.sleep(SETTLE_S)
    return resident_mb(running.pid)
