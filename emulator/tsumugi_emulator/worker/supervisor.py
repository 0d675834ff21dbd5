"""Which child serves: start, replace on reload, restart after a crash, stop.

At any time at most one child is *current*; older ones finish what they have. A warm spare waits
for the next save. New code that does not load never replaces code that does.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.process import ChildDiedError, Operator, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.worker.spawn import Spawned, WarmOptions

#: Old children that may still be finishing their work; the oldest is killed beyond this.
MAX_RETIRING = 4
#: A child that dies again within this long of the last death waits before it is started anew.
CRASH_WINDOW_S = 2.0
CRASH_PAUSE_S = 0.5


class Blueprint(Protocol):
    """What a child is to become."""

    @property
    def options(self) -> WarmOptions: ...

    def boot_message(self) -> dict[str, Any]: ...


class Unavailable(Exception):
    """There is no Worker to run this; the text is its traceback or the reason."""


class _Died(frames.BootFailed):
    """There was no answer: the process has ended."""


class Supervisor:
    def __init__(
        self,
        operator: Operator,
        *,
        on_current: Callable[[Blueprint, frames.Ready], None],
        on_gone: Callable[[], None],
        log: Callable[[str, str], None],
    ) -> None:
        """``on_current`` runs when a child begins to serve, ``on_gone`` when none does."""
        self._operator = operator
        self._on_current = on_current
        self._on_gone = on_gone
        self._log = log
        self._current: WorkerProcess | None = None
        self._spare: WorkerProcess | None = None
        self._booting: WorkerProcess | None = None
        self._retiring: list[WorkerProcess] = []
        self._blueprint: Blueprint | None = None
        self._failure: str | None = None
        self._changed = asyncio.Event()
        self._stopping = False
        self._died_at = -CRASH_WINDOW_S
        self._replacing = asyncio.Lock()
        #: Calls of ``replace``; the last one counts.
        self._asked = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def warm_up(self, options: WarmOptions) -> None:
        """Start a child that is ready to boot."""
        if self._spare is None and not self._stopping:
            self._spare = await WorkerProcess.start(options)

    async def adopt(self, spawned: Spawned) -> None:
        """Take over a child that was spawned before this supervisor existed."""
        self._spare = await WorkerProcess.adopt(spawned)

    async def replace(self, blueprint: Blueprint, *, after_crash: bool = False) -> bool:
        """Serve ``blueprint`` from now on; False when it does not load (the old one serves on).

        A newer call takes over from one whose code is still importing, which then returns False.
        ``after_crash`` says that it has served before: the spare may have died of the same.
        """
        self._asked += 1
        asked = self._asked
        if self._booting is not None:
            self._booting.kill()  # what it imports, perhaps for ever, is out of date
        async with self._replacing:
            if asked != self._asked or self._stopping:
                return False
            self._blueprint = blueprint
            started = time.perf_counter()
            process, outcome = await self._boot(blueprint)
            if after_crash and isinstance(outcome, _Died):
                process, outcome = await self._boot(blueprint)
            if asked != self._asked or self._stopping:
                await process.stop()
                return False
            if isinstance(outcome, frames.BootFailed):
                self._boot_failed(process, outcome.report)
            else:
                self._promote(process, blueprint, outcome, started)
            self._background(self.warm_up(blueprint.options))
            return isinstance(outcome, frames.Ready)

    async def _boot(
        self, blueprint: Blueprint
    ) -> tuple[WorkerProcess, frames.Ready | frames.BootFailed]:
        process = self._booting = await self._take_spare(blueprint.options)
        try:
            return process, await process.boot(blueprint.boot_message(), self._operator)
        except ChildDiedError as error:
            return process, _Died(f"{error} while importing the Worker")
        finally:
            self._booting = None

    def refuse(self, report: str) -> None:
        """Do not load the present code, which ``report`` is about; what serves goes on."""
        self._failure = report
        self._log("error", report)
        if self._current is not None:
            self._log("warn", "The new code does not load: the previous version keeps serving.")
        self._announce()

    def _boot_failed(self, process: WorkerProcess, report: str) -> None:
        self.refuse(report)
        self._background(process.stop())

    def _promote(
        self, process: WorkerProcess, blueprint: Blueprint, ready: frames.Ready, started: float
    ) -> None:
        for warning in ready.warnings:
            self._log("warn", warning)
        previous, self._current = self._current, process
        failed_before, self._failure = self._failure is not None, None
        process.on_exit = self._on_child_exit
        if previous is not None:
            self._retire(previous)
        if previous is not None or failed_before:
            self._log("info", f"Reloaded in {(time.perf_counter() - started) * 1000:.0f}ms")
        self._on_current(blueprint, ready)
        self._announce()

    async def current(self, *, wait_s: float) -> WorkerProcess:
        """The child that serves, waiting for one while it starts.

        Raises:
            Unavailable: the code does not load, or no child came up in time.
        """
        if self._current is not None:
            return self._current
        deadline = asyncio.get_running_loop().time() + wait_s
        while self._current is None:
            if self._failure is not None:
                raise Unavailable(self._failure)
            changed = self._changed
            try:
                async with asyncio.timeout_at(deadline):
                    await changed.wait()
            except TimeoutError:
                raise Unavailable(f"The Worker did not start within {wait_s:.0f} s") from None
        return self._current

    @property
    def serving(self) -> WorkerProcess | None:
        return self._current

    async def stop(self) -> None:
        """End every child; in-flight work is reported as died."""
        self._stopping = True
        await asyncio.gather(*(process.stop() for process in self._processes()))
        for task in list(self._tasks):
            await asyncio.gather(task, return_exceptions=True)

    def children(self) -> list[int]:
        """Process ids of all children, for diagnostics and tests."""
        return [process.pid for process in self._processes() if process.alive]

    def _processes(self) -> list[WorkerProcess]:
        every = (self._current, self._spare, self._booting, *self._retiring)
        return [process for process in every if process is not None]

    # -- Inside -----------------------------------------------------------------------------------

    async def _take_spare(self, options: WarmOptions) -> WorkerProcess:
        spare, self._spare = self._spare, None
        if spare is not None and spare.alive and spare.options == options:
            return spare
        if spare is not None:
            self._background(spare.stop())
        return await WorkerProcess.start(options)

    def _retire(self, process: WorkerProcess) -> None:
        process.on_exit = self._forget
        self._retiring.append(process)
        process.retire()
        # One that sits in a debugger is in nobody's way.
        endable = [old for old in self._retiring if not old.debugging]
        if len(endable) > MAX_RETIRING:
            oldest = endable[0]
            self._retiring.remove(oldest)
            self._log(
                "warn",
                f"An old version of the Worker still had {oldest.busy} event(s) running after "
                f"{MAX_RETIRING} reloads and was ended; its messages are retried.",
            )
            oldest.kill()

    def _forget(self, process: WorkerProcess) -> None:
        if process in self._retiring:
            self._retiring.remove(process)

    def _on_child_exit(self, process: WorkerProcess) -> None:
        if process is not self._current or self._stopping:
            return
        self._current = None
        self._on_gone()
        self._announce()
        self._log("error", f"{process._death()}; starting it again")
        self._background(self._restart())

    async def _restart(self) -> None:
        now = time.monotonic()
        soon = now - self._died_at < CRASH_WINDOW_S
        self._died_at = now
        if soon:
            await asyncio.sleep(CRASH_PAUSE_S)
        # A save may be bringing up a new child already.
        if self._current is None and not self._stopping and not self._replacing.locked():
            assert self._blueprint is not None  # something ran
            await self.replace(self._blueprint, after_crash=True)

    def _announce(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _background(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
