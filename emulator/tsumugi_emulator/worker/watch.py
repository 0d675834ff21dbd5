"""Which saves are changes: watch the project, compare contents, report what really differs."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

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
#: The watching thread looks up this often even if nothing happens.
CHECK_STOP_MS = 5_000
#: File times may be this much behind the clock.
CLOCK_LAG_S = 0.01
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


def _modified_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


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

    def saved_since(self, time_s: float) -> set[Path]:
        """Of the files known, those written since; they may not be what the Worker was made of."""
        return {path for path in self._known if _modified_s(path) >= time_s}

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
) -> AsyncGenerator[set[Path]]:
    """Sets of files whose contents changed, until ``stop`` is set.

    Changes count from the call on: files that are saved while the watcher starts are found too.
    """
    started_s = time.time() - CLOCK_LAG_S
    base = [root.resolve() for root in roots]
    directories = {*base, *(path.parent for path in extra if path.parent.is_dir())}
    loop = asyncio.get_running_loop()
    # In a thread: setting up takes a while in a project with many directories.
    watcher, contents, missed = await loop.run_in_executor(
        None, _begin, base, directories, extra, started_s
    )
    if missed:
        yield missed
    while True:
        batch = await loop.run_in_executor(
            None, watcher.watch, DEBOUNCE_MS, STEP_MS, CHECK_STOP_MS, stop
        )
        if stop.is_set() or batch == "stop":
            return
        if isinstance(batch, str):  # nothing happened for a while
            continue
        paths = [Path(path) for _, path in batch]
        sources = [path for path in paths if any(is_source(path, root, extra) for root in base)]
        changed = contents.changed(sources)
        if changed:
            yield changed


def _begin(
    base: list[Path], directories: set[Path], extra: frozenset[Path], started_s: float
) -> tuple[Any, Contents, set[Path]]:
    """The watcher, the contents it starts from, and what was saved since ``started_s``."""
    from watchfiles._rust_notify import RustNotify

    polling = os.environ.get("WATCHFILES_FORCE_POLLING", "") not in ("", "0", "false")
    watcher = RustNotify([str(path) for path in directories], False, polling, 300, True, True)
    contents = Contents()
    for root in base:
        contents.learn(root, extra)
    return watcher, contents, contents.saved_since(started_s)
