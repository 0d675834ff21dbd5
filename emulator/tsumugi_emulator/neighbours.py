"""The emulators of this user that run, and which queues they consume. Talks to none of them.

Each writes a file into a directory of the user's; one whose process is gone is removed by whoever
notices. The files hold tokens, so nobody else may read them.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tsumugi_emulator.running import Running, is_alive
from tsumugi_emulator.tokens import write_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Files looked at, at most: more emulators than anybody runs.
LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class Neighbour:
    running: Running
    consumes: frozenset[str]


def directory(environ: Mapping[str, str]) -> Path:
    """Where the files are: gone at the next boot if the system has such a place."""
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "tsumugi"
    state = environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(state) / "tsumugi" / "running"


class Neighbours:
    def __init__(self, where: Path, own: Running) -> None:
        self._where = where
        self._own = own
        # One file per state directory: an emulator that was killed leaves none behind for long.
        self._file = where / f"{sha256(own.state.encode()).hexdigest()[:16]}.json"
        self._published: frozenset[str] | None = None

    def publish(self, consumes: Iterable[str]) -> None:
        """Tell which queues this emulator consumes; cheap when nothing changed."""
        now = frozenset(consumes)
        if now == self._published:
            return
        self._where.mkdir(mode=0o700, parents=True, exist_ok=True)
        described = asdict(self._own) | {"consumes": sorted(now)}
        write_private(self._file, json.dumps(described, indent=2))
        self._published = now

    def withdraw(self) -> None:
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)
        self._published = None

    def consuming(self, queue: str) -> Running | None:
        """Another emulator that runs and consumes the queue."""
        for neighbour in self.all():
            if queue in neighbour.consumes:
                return neighbour.running
        return None

    def all(self) -> list[Neighbour]:
        found = []
        for path in self._paths():
            neighbour = _read(path)
            if neighbour is None:
                continue
            if not is_alive(neighbour.running.pid):
                with contextlib.suppress(OSError):
                    path.unlink()
            elif neighbour.running.state != self._own.state:
                found.append(neighbour)
        return found

    def _paths(self) -> list[Path]:
        with contextlib.suppress(OSError):
            return sorted(self._where.glob("*.json"))[:LIMIT]
        return []


def _read(path: Path) -> Neighbour | None:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        if path.stat().st_uid != os.getuid():
            return None
        values = json.loads(path.read_text("utf-8"))
        consumes = frozenset(map(str, values.pop("consumes")))
        return Neighbour(Running(**values), consumes)
    return None
