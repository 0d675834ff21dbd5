"""One emulator per state directory. A lock between processes, not between threads.

The kernel holds the lock, the file only says who: a holder that crashed leaves no lock behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING, Self

from .errors import StateInUseError

if TYPE_CHECKING:
    from pathlib import Path

LOCK_FILE = "lock"


class StateLock:
    """Held from ``acquire`` until ``release`` or the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, directory: Path) -> Self:
        """Create the directory if needed; StateInUseError names the process that holds it."""
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            pid = _read_pid(descriptor)
            os.close(descriptor)
            raise StateInUseError(directory, pid) from exc
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Idempotent. The file stays: removing it would let two processes lock two files."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _read_pid(descriptor: int) -> int | None:
    # The holder may be between locking and writing.
    with contextlib.suppress(ValueError):
        return int(os.pread(descriptor, 32, 0).decode("ascii", "replace"))
    return None
