"""The child's second line to its supervisor: it ends with it, and borrows the terminal from it.

A thread reads it, so it works while user code never returns to the event loop. Not here: what
the terminal is borrowed for (``breakpoints``), and who else wants it (``lending``).
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

#: What a child says on the line, one byte each; any byte back grants the last BORROW.
BORROW = b"?"
RETURN = b"."


class Lifeline:
    """Exits the process when the supervisor's end closes, that is, at the latest with it."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._granted = threading.Semaphore(0)
        threading.Thread(target=self._watch, name="tsumugi-lifeline", daemon=True).start()

    def _watch(self) -> None:
        try:
            while granted := self._socket.recv(16):
                for _ in granted:
                    self._granted.release()
        finally:
            os._exit(0)

    def borrow_terminal(self) -> None:
        """Block until no one else reads from the terminal."""
        self._socket.sendall(BORROW)
        self._granted.acquire()

    def return_terminal(self) -> None:
        self._socket.sendall(RETURN)
