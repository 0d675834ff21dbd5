"""One terminal, several children with a breakpoint: lend it to one at a time, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.worker.process import WorkerProcess


class TerminalLender:
    def __init__(self, on_lend: Callable[[bool], None]) -> None:
        """``on_lend(True)`` must stop reading from the terminal before it returns."""
        self._on_lend = on_lend
        #: The first one holds the terminal.
        self._borrowers: list[WorkerProcess] = []

    @property
    def lent(self) -> bool:
        """Whether someone sits in a debugger."""
        return bool(self._borrowers)

    def borrow(self, process: WorkerProcess) -> None:
        self._borrowers.append(process)
        if len(self._borrowers) == 1:
            self._on_lend(True)
            process.grant_terminal()

    def give_back(self, process: WorkerProcess) -> None:
        """The child is done with the terminal, or gone. Safe to call for one that has nothing."""
        if process not in self._borrowers:
            return
        held = self._borrowers[0] is process
        self._borrowers.remove(process)
        if not held:
            return
        if self._borrowers:
            self._borrowers[0].grant_terminal()
        else:
            self._on_lend(False)
