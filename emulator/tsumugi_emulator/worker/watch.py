"""Which saves are changes: watch the project, compare contents, report what really differs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Iterable

#: Directories that never hold the Worker's own code.
IGNORED_DIRECTORIES = frozenset(
    {
        ".git",
        ".hg",
        ".hypothesis",
        ".idea",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        ".venv-workers",
        ".vscode",
        ".wrangler",
        "__pycache__",
        "node_modules",
        "python_modules",
        "site-packages",
        "venv",
    }
)

#: How often the watcher looks at the events it collected, and for how long it collects.
STEP_MS = 5
DEBOUNCE_MS = 20
#: More Python files than this are not hashed at start: their first save always counts.
MAX_FILES = 20_000


def is_source(path: Path, root: Path, extra: frozenset[Path]) -> bool:
    """Whether a save of ``path`` may change the Worker."""
    if path in extra:
        return True
    if path.suffix != ".py":
        return False
    try:
        parts = path.relative_to(root).parts
    except ValueError:
        parts = path.parts
    return not IGNORED_DIRECTORIES.intersection(parts[:-1])


def digest(path: Path) -> bytes | None:
    """The content's hash; None for a file that is not there."""
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
    except OSError:
        return None


class Contents:
    """Hashes of the files last seen; a save that changes nothing is not a change."""

    def __init__(self) -> None:
        self._known: dict[Path, bytes | None] = {}

    def learn(self, root: Path, extra: Iterable[Path]) -> None:
        """Remember the present contents below ``root``."""
        for path in extra:
            self._known[path] = digest(path)
        for path in _python_files(root):
            self._known[path] = digest(path)

    def changed(self, paths: Iterable[Path]) -> set[Path]:
        found = set()
        for path in paths:
            now = digest(path)
            if path not in self._known or self._known[path] != now:
                self._known[path] = now
                found.add(path)
        return found


def _python_files(root: Path) -> list[Path]:
    found: list[Path] = []
    pending = [root]
    while pending and len(found) < MAX_FILES:
        directory = pending.pop()
        try:
            entries = list(directory.iterdir())
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir() and not entry.is_symlink():
                if entry.name not in IGNORED_DIRECTORIES:
                    pending.append(entry)
            elif entry.suffix == ".py":
                found.append(entry)
    return found


async def changes(
    roots: Iterable[Path], extra: frozenset[Path], stop: asyncio.Event
) -> AsyncIterator[set[Path]]:
    """Sets of files whose contents changed, until ``stop`` is set."""
    from watchfiles import awatch

    base = [root.resolve() for root in roots]
    contents = Contents()
    for root in base:
        contents.learn(root, extra)

    def wanted(_change: object, path: str) -> bool:
        return any(is_source(Path(path), root, extra) for root in base)

    directories = {*base, *(path.parent for path in extra if path.parent.is_dir())}
    async for batch in awatch(
        *directories,
        watch_filter=wanted,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        stop_event=stop,
        recursive=True,
    ):
        changed = contents.changed(Path(path) for _, path in batch)
        if changed:
            yield changed
