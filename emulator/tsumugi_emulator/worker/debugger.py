"""pdb at the terminal, for ``breakpoint()`` in a handler. Imported at the first breakpoint."""

from __future__ import annotations

import pdb
import sys
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.tracebacks import is_machinery

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from tsumugi_emulator.worker.breakpoints import Loan

#: Where stepping never stops: what runs between a handler and the next one.
SKIPPED = (
    "tsumugi_emulator",
    "tsumugi_emulator.*",
    "asyncio",
    "asyncio.*",
    "contextlib",
    "importlib",
    "importlib.*",
    "pyodide",
    "pyodide.*",
    "selectors",
    "workers",
    "workers.*",
)


class Debugger(pdb.Pdb):
    """pdb that holds the terminal from its first prompt until it has nothing left to stop for."""

    def __init__(self, loan: Loan) -> None:
        # The child ignores SIGINT; pdb must not put a handler of its own in place.
        super().__init__(skip=SKIPPED, nosigint=True)
        self._loan = loan
        streams = loan.streams
        self.stdin, self.stdout = streams.stdin, streams.stdout
        self.use_rawinput = streams.editable
        self._over = False

    def interaction(self, frame: Any, *args: Any, **options: Any) -> None:
        self._over = False
        self._loan.take(on_end=self.set_continue_and_forget)
        with self._loan.standard_streams():
            super().interaction(frame, *args, **options)
            self.stdout.flush()
        if self._over:
            self._loan.give_back()

    def user_exception(self, frame: FrameType, exc_info: Any) -> None:
        # pdb also stops where a coroutine it steps through hands its result to its caller.
        if not is_machinery(frame.f_code.co_filename):
            super().user_exception(frame, exc_info)

    def set_continue(self) -> None:
        super().set_continue()
        self._over = not self.breaks

    def set_quit(self) -> None:
        super().set_quit()
        self._over = True

    def set_continue_and_forget(self) -> None:
        """The event ended while it was stepped through: let the next one run."""
        self.clear_all_breaks()
        self.set_continue()
        sys.settrace(None)

    def get_stack(self, f: Any, t: Any) -> tuple[list[tuple[FrameType, int]], int]:
        """The stack from the first frame of the user's on."""
        stack, index = super().get_stack(f, t)
        for start, (frame, _) in enumerate(stack[: index + 1]):
            if not is_machinery(frame.f_code.co_filename):
                return stack[start:], index - start
        return stack, index


def start(
    loan: Loan,
    frame: FrameType,
    *,
    header: str | None = None,
    commands: Sequence[str] | None = None,
) -> None:
    """Stop at ``frame``: at its next line before Python 3.13, where it is from then on."""
    _prepared(loan, header, commands).set_trace(frame)


async def start_async(
    loan: Loan,
    frame: FrameType,
    *,
    header: str | None = None,
    commands: Sequence[str] | None = None,
) -> None:
    """The same where the prompt may ``await`` (Python 3.14)."""
    debugger: Any = _prepared(loan, header, commands)
    await debugger.set_trace_async(frame)


def _prepared(loan: Loan, header: str | None, commands: Sequence[str] | None) -> Debugger:
    debugger = Debugger(loan)
    debugger.rcLines.extend(commands or ())
    if header is not None:
        debugger.message(header)
    return debugger
