"""Lines for the terminal: levels, colours, one system call each. Layout is ``banner``'s."""

from __future__ import annotations

import os
import sys

from tsumugi_emulator.worker.output import write_all

#: In wrangler's order: "log" shows what "info" shows.
LEVELS = {"debug": 0, "log": 1, "info": 2, "warn": 3, "warning": 3, "error": 4, "none": 5}

RED, GREEN, YELLOW, BLUE, DIM, BOLD = "31", "32", "33", "34", "2", "1"


def wants_colour(descriptor: int = 1) -> bool:
    """Whether to colour: a terminal, and neither NO_COLOR nor a dumb one (no-color.org)."""
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return os.isatty(descriptor)


class Terminal:
    """Prints log lines of the emulator itself."""

    def __init__(self, level: str = "info", *, colour: bool | None = None) -> None:
        self._threshold = LEVELS[level]
        self.colour = wants_colour() if colour is None else colour

    def paint(self, text: str, *codes: str) -> str:
        if not self.colour or not codes:
            return text
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"

    def log(self, level: str, text: str) -> None:
        """One message, whatever its lines, at ``level``."""
        if LEVELS.get(level, LEVELS["info"]) < self._threshold:
            return
        if level == "error":
            self.write(f"{self.paint('✘ [ERROR]', RED)} {text}", 2)
        elif level in ("warn", "warning"):
            self.write(f"{self.paint('▲ [WARNING]', YELLOW)} {text}", 2)
        elif level == "debug":
            self.write(self.paint(text, DIM))
        elif text.startswith("QUEUE "):
            self.write(self._queue_line(text))
        else:
            self.write(text)

    def _queue_line(self, text: str) -> str:
        # wrangler's colours: all acknowledged, some, none.
        word, name_and_counts = text.split(" ", 1)
        rest, _, duration = name_and_counts.rpartition(" ")
        name, _, counts = rest.rpartition(" ")
        acked, _, total = counts.partition("/")
        colour = GREEN if acked == total else RED if acked == "0" else YELLOW
        return (
            f"{self.paint(word, BOLD)} {name} {self.paint(counts, colour)} "
            f"{self.paint(duration, DIM)}"
        )

    def write(self, text: str, descriptor: int = 1) -> None:
        sys.stdout.flush()
        write_all(descriptor, f"{text}\n".encode("utf-8", "backslashreplace"))

    def clear(self) -> None:
        if os.isatty(1):
            write_all(1, b"\x1b[2J\x1b[3J\x1b[H")
