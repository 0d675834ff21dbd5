"""What the operating system says about a process and everything it started."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections import defaultdict
from pathlib import Path


def resident_mb(root: int) -> float:
    """Resident memory of ``root`` and its descendants, summed, in MB (10^6 bytes)."""
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,rss="], check=True, capture_output=True, text=True
    ).stdout
    children: dict[int, list[int]] = defaultdict(list)
    resident_kib: dict[int, int] = {}
    for line in listing.splitlines():
        pid, parent, kib = map(int, line.split())
        children[parent].append(pid)
        resident_kib[pid] = kib
    total, pending = 0, [root]
    while pending:
        pid = pending.pop()
        total += resident_kib.get(pid, 0)
        pending += children[pid]
    return total * 1024 / 1e6


def cpu_seconds(root: int) -> float:
    """Processor time that ``root`` and its living descendants have used."""
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True
    ).stdout
    children: dict[int, list[int]] = defaultdict(list)
    for line in listing.splitlines():
        pid, parent = map(int, line.split())
        children[parent].append(pid)
    ticks, pending = 0, [root]
    while pending:
        pid = pending.pop()
        pending += children[pid]
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def load_average() -> float:
    """Runnable processes over the last minute."""
    return os.getloadavg()[0]
