"""How file names are shown: short where that is as clear. Touches no files."""

from __future__ import annotations

import os


def shown(path: str) -> str:
    """``path`` relative to the current directory if it is below it, else unchanged."""
    try:
        prefix = os.getcwd() + os.sep  # noqa: PTH109 - strings in, strings out
    except OSError:  # the directory was removed
        return path
    return path.removeprefix(prefix)
