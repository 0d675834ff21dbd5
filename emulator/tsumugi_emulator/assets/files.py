"""The directory of assets: which files there are, their types and entity tags. Reads, never writes.

Nothing is remembered but tags of files that have not changed: a saved file is served at once.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tsumugi_emulator.assets.ignored import IGNORE_FILE, IgnoreRules
from tsumugi_emulator.assets.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SIZE = 25 * 1024 * 1024


class AssetFiles:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        #: Path -> what the file looked like, and its tag.
        self._tags: dict[str, tuple[tuple[int, int], str]] = {}
        self._rules = IgnoreRules("")
        self._rules_read: int | None = None

    def exists(self, path: str) -> bool:
        found = self._find(path)
        return found is not None and found.is_file() and not self._ignore_rules().ignores(path)

    def read(self, path: str) -> bytes:
        """The content of a file that exists.

        Raises:
            OSError: it is gone since.
        """
        found = self._find(path)
        assert found is not None, "only what exists is read"
        return found.read_bytes()

    def tag(self, path: str) -> str:
        """Names the content of a file that exists."""
        found = self._find(path)
        assert found is not None, "only what exists is asked about"
        status = found.stat()
        looks = (status.st_mtime_ns, status.st_size)
        known = self._tags.get(path)
        if known is None or known[0] != looks:
            known = looks, hashlib.blake2b(found.read_bytes(), digest_size=16).hexdigest()
            self._tags[path] = known
        return known[1]

    def too_large(self) -> Iterator[tuple[Path, int]]:
        """Files that cannot be deployed, and their sizes."""
        for folder, _, names in os.walk(self._directory):
            for path in (Path(folder, name) for name in names):
                try:
                    size = path.stat().st_size
                except OSError:
                    continue
                if size > MAX_SIZE and self._is_asset(path):
                    yield path, size

    def _is_asset(self, path: Path) -> bool:
        return not self._ignore_rules().ignores(f"/{path.relative_to(self._directory).as_posix()}")

    def content_type(self, path: str) -> str | None:
        found = TYPES.get(Path(path).suffix.lower())
        if found is not None and found.startswith("text/"):
            return f"{found}; charset=utf-8"
        return found

    def _find(self, path: str) -> Path | None:
        """Where the file would be; never outside the directory."""
        parts = path.split("/")[1:]
        if any(part in ("", ".", "..") or "\0" in part for part in parts):
            return None
        return self._directory.joinpath(*parts)

    def _ignore_rules(self) -> IgnoreRules:
        file = self._directory / IGNORE_FILE
        try:
            changed = file.stat().st_mtime_ns
            if changed != self._rules_read:
                self._rules = IgnoreRules(file.read_text(encoding="utf-8", errors="replace"))
                self._rules_read = changed
        except OSError:
            if self._rules_read is not None:
                self._rules, self._rules_read = IgnoreRules(""), None
        return self._rules
