"""Single key presses from the terminal, lent to the debugger while a breakpoint is open."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable


class Keys:
    """Reads keys while entered; leaves the terminal as it was, however a debugger left it."""

    def __init__(self, on_key: Callable[[str], None]) -> None:
        self._on_key = on_key
        #: The terminal's modes before anything here touched them.
        self._saved: Any = None
        self._entered = False
        self._lent = False
        self.active = False

    def __enter__(self) -> Self:
        self._entered = True
        if _is_foreground_terminal():
            import termios

            self._saved = termios.tcgetattr(0)
            # After Ctrl-Z and fg the shell has put its own modes back.
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGCONT, self._continued)
            self._take()
        return self

    def __exit__(self, *_: object) -> None:
        self._entered = False
        self._release()
        self._restore()

    def lend(self, lent: bool) -> None:
        """Give the terminal to a debugger in the child, or take it back."""
        self._lent = lent
        if lent:
            self._release()
            self._restore()
        else:
            self._take()

    def _continued(self) -> None:
        if self.active:
            self._release()
            self._take()

    def _take(self) -> None:
        if self.active or self._lent or not self._entered or not _is_foreground_terminal():
            return
        import tty

        # Flushes what was typed ahead: an answer meant for the debugger is no hotkey.
        tty.setcbreak(0)
        asyncio.get_running_loop().add_reader(0, self._read)
        # The loop made it non-blocking, and with it the same terminal in every other process.
        os.set_blocking(0, True)
        self.active = True

    def _release(self) -> None:
        if self.active:
            self.active = False
            asyncio.get_running_loop().remove_reader(0)

    def _restore(self) -> None:
        if self._saved is not None and _is_foreground_terminal():
            import termios

            with contextlib.suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(0, termios.TCSADRAIN, self._saved)

    def _read(self) -> None:
        try:
            data = os.read(0, 64)
        except OSError:
            data = b""
        if not data:
            self._release()
            return
        for key in data.decode("utf-8", "ignore"):
            self._on_key(key)


def _is_foreground_terminal() -> bool:
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpgrp()
    except (OSError, ValueError):
        return False
