"""One command, one table: ``python -m benchmarks`` (see benchmarks/README.md)."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __package__ in (None, ""):  # run as `python benchmarks`
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import report
from benchmarks.processes import load_average
from benchmarks.rows import ROWS
from benchmarks.tools import PEER, TSUMUGI, peer_is_ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.tools import Tool


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows asked for, print them; 0 even where a target is missed."""
    options = _parse(arguments)
    tools = [TSUMUGI]
    if not options.no_peer:
        if peer_is_ready():
            tools.append(PEER)
        else:
            _note("Node or npm is missing: no comparison")
    facts: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "repeat": options.repeat,
        "load_before": load_average(),
    }
    samples = measure(tools, options.only, options.repeat)
    facts["load_after"] = load_average()
    entries = report.results(samples)
    if options.json:
        print(report.document(entries, facts))
        return 0
    print(report.table(entries))
    print(
        f"\nbest of {facts['repeat']}, {facts['cores']} cores, {facts['date']}, "
        f"load {facts['load_before']:.1f} before and {facts['load_after']:.1f} after"
    )
    return 0


def measure(tools: Sequence[Tool], rows: Sequence[str], repeat: int) -> report.Samples:
    """Each row ``repeat`` times, the tools taking turns, so that both see the same machine."""
    samples: report.Samples = {tool.name: {} for tool in tools}
    for row in rows:
        for number in range(1, repeat + 1):
            for tool in tools:
                _note(f"({row}) {tool.name} {number}/{repeat}")
                measured = samples[tool.name].setdefault(row, {})
                for key, value in ROWS[row](tool).items():
                    measured.setdefault(key, []).append(value)
    return samples


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", type=_rows, default=list(ROWS), metavar="a,c", help="these rows")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each row [3]")
    parser.add_argument("--no-peer", action="store_true", help="do not run wrangler")
    parser.add_argument("--json", action="store_true", help="print JSON, with every run's figures")
    return parser.parse_args(arguments)


def _rows(text: str) -> list[str]:
    rows = [row.strip() for row in text.split(",") if row.strip()]
    if unknown := [row for row in rows if row not in ROWS]:
        raise argparse.ArgumentTypeError(
            f"no row {', '.join(unknown)}; there are {', '.join(ROWS)}"
        )
    return rows


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
