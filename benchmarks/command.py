"""What the measuring commands have in common: their options, the order of runs, the output."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchmarks import report
from benchmarks.processes import load_average
from benchmarks.tools import peer_is_ready

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.targets import Figure
    from benchmarks.tools import Tool

type Rows = Mapping[str, Callable[[Tool], dict[str, float]]]


def run(
    arguments: Sequence[str] | None,
    *,
    prog: str,
    tools: tuple[Tool, Tool],
    rows: Rows,
    figures: Sequence[Figure],
) -> int:
    """Measure the rows asked for, print them; 0 even where a target is missed.

    ``tools`` are ours and the peer, which is left out where it cannot run.
    """
    options = _parse(arguments, prog, rows)
    ours, peer = tools
    compared = [ours]
    if not options.no_peer:
        if peer_is_ready():
            compared.append(peer)
        else:
            _note("Node or npm is missing: no comparison")
    facts: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "repeat": options.repeat,
        "load_before": load_average(),
    }
    samples = _measure(compared, rows, options.only, options.repeat)
    facts["load_after"] = load_average()
    entries = report.results(samples, figures)
    if options.json:
        print(report.document(entries, facts))
        return 0
    print(report.table(entries))
    print(
        f"\nbest of {facts['repeat']}, {facts['cores']} cores, {facts['date']}, "
        f"load {facts['load_before']:.1f} before and {facts['load_after']:.1f} after"
    )
    return 0


def _measure(
    tools: Sequence[Tool], rows: Rows, names: Sequence[str], repeat: int
) -> report.Samples:
    """Each row ``repeat`` times, the tools taking turns, so that both see the same machine."""
    samples: report.Samples = {tool.name: {} for tool in tools}
    for name in names:
        for number in range(1, repeat + 1):
            for tool in tools:
                _note(f"({name}) {tool.name} {number}/{repeat}")
                measured = samples[tool.name].setdefault(name, {})
                for key, value in rows[name](tool).items():
                    measured.setdefault(key, []).append(value)
    return samples


def _parse(arguments: Sequence[str] | None, prog: str, rows: Rows) -> argparse.Namespace:
    def known(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",") if name.strip()]
        if unknown := [name for name in names if name not in rows]:
            raise argparse.ArgumentTypeError(
                f"no row {', '.join(unknown)}; there are {', '.join(rows)}"
            )
        return names

    some = ",".join(list(rows)[:2])
    parser = argparse.ArgumentParser(prog=prog)
    parser.add_argument("--only", type=known, default=list(rows), metavar=some, help="these rows")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each row [3]")
    parser.add_argument("--no-peer", action="store_true", help="do not run wrangler")
    parser.add_argument("--json", action="store_true", help="print JSON, with every run's figures")
    return parser.parse_args(arguments)


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
