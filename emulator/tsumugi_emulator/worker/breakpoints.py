"""``breakpoint()`` and ``pdb.set_trace()`` in user code: a debugger on a borrowed terminal.

Not here: the debugger itself (``debugger``, imported at the first breakpoint only).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from tsumugi_emulator.javascript import io_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.machinery import ModuleSpec

    from tsumugi_emulator.worker.lifeline import Lifeline

OWN_DEBUGGER = ("", "pdb.set_trace")


class Streams(NamedTuple):
    stdin: TextIO
    stdout: TextIO
    #: Whether these are descriptors 0 and 1 on a terminal, where ``input()`` can edit lines.
    editable: bool


class Loan:
    """The terminal while a debugger has it: taken once, given back at the latest with the event."""

    def __init__(self, lifeline: Lifeline) -> None:
        self._lifeline = lifeline
        self._streams: Streams | None = None
        self._on_end: Callable[[], None] | None = None
        self.held = False

    def take(self, *, on_end: Callable[[], None]) -> None:
        """Borrow the terminal unless this loan has it; ``on_end`` runs when the event ends."""
        self._on_end = on_end
        if self.held:
            return
        self._lifeline.borrow_terminal()
        self.held = True
        event = io_context.current()
        if event is not None:
            event.on_end.append(self._event_ended)
        else:  # at import: the loop turns when the module has run
            asyncio.get_running_loop().call_soon(self._event_ended)

    def give_back(self) -> None:
        if self.held:
            self.held = False
            self._lifeline.return_terminal()

    def _event_ended(self) -> None:
        if self.held and self._on_end is not None:
            self._on_end()
        self.give_back()

    @property
    def streams(self) -> Streams:
        if self._streams is None:
            self._streams = _open_terminal()
        return self._streams

    @contextlib.contextmanager
    def standard_streams(self) -> Iterator[None]:
        """Let ``sys.stdin`` and ``sys.stdout`` be the terminal instead of the Worker's output."""
        before = sys.stdin, sys.stdout
        sys.stdin, sys.stdout = self.streams.stdin, self.streams.stdout
        try:
            yield
        finally:
            sys.stdin, sys.stdout = before


def _open_terminal() -> Streams:
    """Standard input and output, or the controlling terminal where those are redirected."""
    stdin: Any = sys.__stdin__
    stdout: Any = sys.__stdout__
    keyboard, screen = os.isatty(0), os.isatty(1)
    if not (keyboard and screen):
        with contextlib.suppress(OSError):
            terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)  # open until the process ends
            stdin = stdin if keyboard else os.fdopen(terminal, closefd=False)
            stdout = stdout if screen else os.fdopen(terminal, "w", buffering=1, closefd=False)
    return Streams(stdin, stdout, editable=keyboard and screen)


def install(lifeline: Lifeline) -> None:
    loan = Loan(lifeline)

    def hook(*args: Any, **options: Any) -> Any:
        """As Python's own: PYTHONBREAKPOINT is read at each call, "0" turns breakpoints off."""
        chosen = os.environ.get("PYTHONBREAKPOINT", "")
        if chosen == "0":
            return None
        if chosen in OWN_DEBUGGER:
            from tsumugi_emulator.worker import debugger

            debugger.start(loan, sys._getframe(1), **options)
            return None
        return _run_chosen(loan, args, options)

    def set_trace(**options: Any) -> None:
        from tsumugi_emulator.worker import debugger

        debugger.start(loan, sys._getframe(1), **options)

    async def set_trace_async(**options: Any) -> None:
        from tsumugi_emulator.worker import debugger

        await debugger.start_async(loan, sys._getframe(1), **options)

    sys.breakpointhook = hook
    sys.meta_path.insert(0, _PdbFinder(set_trace, set_trace_async))


class _PdbFinder:
    """Gives ``pdb.set_trace`` the terminal too, without importing pdb for those who do not."""

    def __init__(self, *functions: Callable[..., Any]) -> None:
        self._functions = functions

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != "pdb" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = find_spec("pdb")
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                for function in self._functions:
                    if hasattr(module, function.__name__):  # set_trace_async is 3.14's
                        setattr(module, function.__name__, function)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _run_chosen(loan: Loan, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A debugger that only its user knows: it gets the terminal until the event ends."""
    scope = contextlib.ExitStack()
    if not loan.held:
        loan.take(on_end=scope.close)
        scope.enter_context(loan.standard_streams())
    return sys.__breakpointhook__(*args, **options)
