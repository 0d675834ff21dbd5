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

    def __init__(self, descriptor: int, prefix: str, errors: str) -> None:
        """``errors`` says what becomes of text that UTF-8 has no form for, as in ``open()``."""
        self._descriptor = descriptor
        self._prefix = prefix
        self._errors = errors
        self._held = ""
        #: Whether the beginning of the line has been written: it was too long to be held.
        self._within_line = False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return self._errors

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        if not text.isascii():
            text.encode("utf-8", self._errors)  # refused here, not with a later line
        complete, newline, self._held = (self._held + text).rpartition("\n")
        if newline:
            self._emit(complete, newline)
        if len(self._held) > MAX_HELD_BYTES:
            held, self._held = self._held, ""
            self._emit(held, "")
        return len(text)

    def flush_partial(self) -> None:
        """End the line that has begun, and show it."""
        held, self._held = self._held, ""
        if held or self._within_line:
            self._emit(held, "\n")

    def _emit(self, text: str, end: str) -> None:
        first = "" if self._within_line else self._prefix
        self._within_line = not end
        shown = first + text.replace("\n", "\n" + self._prefix) + end
        write_all(self._descriptor, shown.encode("utf-8", self._errors))


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
    """Route standard output and standard error through prefixed line writers.

    Both take and refuse the text that they do in Pyodide.
    """
    prefix = prefix_of(name, colour=colour)
    sys.stdout = LineWriter(1, prefix, "surrogateescape")
    sys.stderr = LineWriter(2, prefix, "backslashreplace")
