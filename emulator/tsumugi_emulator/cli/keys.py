"""Single key presses from the terminal, lent to the debugger while a breakpoint is open."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.cli.terminal import Terminal


class Keys:
    """Reads keys while entered; restores the terminal however it is left."""

    def __init__(self, on_key: Callable[[str], None], terminal: Terminal) -> None:
        self._on_key = on_key
        self._terminal = terminal
        self._saved: Any = None
        self.active = False

    def __enter__(self) -> Self:
        if _is_foreground_terminal():
            self._take()
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def lend(self, debugging: bool) -> None:
        """Give the terminal to a debugger in the child, or take it back."""
        if debugging:
            self._release()
        elif not self.active and _is_foreground_terminal():
            self._take()

    def _take(self) -> None:
        import termios
        import tty

        self._saved = termios.tcgetattr(0)
        tty.setcbreak(0)
        asyncio.get_running_loop().add_reader(0, self._read)
        self.active = True

    def _release(self) -> None:
        if not self.active:
            return
        import termios

        self.active = False
        asyncio.get_running_loop().remove_reader(0)
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
