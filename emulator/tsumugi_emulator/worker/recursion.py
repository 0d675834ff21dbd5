"""How deep the Worker's code may call itself. Runs in Pyodide, too."""

from __future__ import annotations

import sys

#: Deeper than what ends a Worker in production, and still cheap here.
MAX_RECURSION = 100_000


def cap() -> None:
    """Keep ``sys.setrecursionlimit`` from turning endless recursion into endless memory."""
    set_limit = sys.setrecursionlimit

    def setrecursionlimit(limit: int, /) -> None:
        set_limit(min(limit, MAX_RECURSION))

    sys.setrecursionlimit = setrecursionlimit
