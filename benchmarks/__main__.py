"""One command, one table: ``python -m benchmarks`` (see benchmarks/README.md)."""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in (None, ""):  # run as `python benchmarks`
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.command import run
from benchmarks.rows import ROWS
from benchmarks.targets import FIGURES
from benchmarks.tools import PEER, TSUMUGI


def main() -> int:
    """Measure queues, start, reload, requests and memory."""
    return run(None, prog="python -m benchmarks", tools=(TSUMUGI, PEER), rows=ROWS, figures=FIGURES)


if __name__ == "__main__":
    raise SystemExit(main())
