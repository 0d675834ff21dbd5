"""What the Worker prints: whole lines, once, under its name.

``print``, ``logging``, ``warnings`` and ``console.*`` all end here. A process that debugs
(``breakpoint()``) writes to the terminal directly instead.
"""

from __future__ import annotations

import io
import os
import sys

#: Longest run of text without a newline that is held back for its line's end.
MAX_HELD_BYTES = 64 * 1024


class LineWriter(io.TextIOBase):
    """A text stream that writes complete lines, each with a prefix, in one system call."""

    def __init__(self, descriptor: int, prefix: str) -> None:
        self._descriptor = descriptor
        self._prefix = prefix
        self._held = ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        held = self._held + text
        complete, newline, self._held = held.rpartition("\n")
        if newline:
            self._emit(complete)
        if len(self._held) > MAX_HELD_BYTES:
            self.flush_partial()
        return len(text)

    def flush_partial(self) -> None:
        """Write what is held although its line has not ended."""
        held, self._held = self._held, ""
        if held:
            self._emit(held)

    def _emit(self, text: str) -> None:
        data = "".join(f"{self._prefix}{line}\n" for line in text.split("\n"))
        write_all(self._descriptor, data.encode("utf-8", "backslashreplace"))


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            os.set_blocking(descriptor, True)
        except (BrokenPipeError, OSError):
            return  # the terminal is gone; the Worker goes on


def prefix_of(name: str, *, colour: bool) -> str:
    return f"\x1b[2m[{name}]\x1b[0m " if colour else f"[{name}] "


def flush() -> None:
    """Show what was written without a newline; nothing more may come for a long time."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, LineWriter):
            stream.flush_partial()


def install(name: str, *, colour: bool) -> None:
    """Route standard output and standard error through prefixed line writers."""
    prefix = prefix_of(name, colour=colour)
    sys.stdout = LineWriter(1, prefix)
    sys.stderr = LineWriter(2, prefix)
