"""``tsumugi check`` under ``tsumugi dev``: what fails in production, told after each load.

The work is done by another process (ADR-0204), so that neither requests nor reloads wait for it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tsumugi_emulator.check.exchange import Answer, Request
    from tsumugi_emulator.check.findings import Finding
    from tsumugi_emulator.cli.terminal import Terminal
    from tsumugi_emulator.config.model import WorkerConfig

#: A check that takes longer is given up; the largest projects take a second.
LIMIT_S = 60.0
#: How long after a load the check begins: the first requests to new code are answered before it,
#: and saves that follow each other are checked once.
QUIET_S = 0.3
#: More new findings than this are only counted.
MAX_TOLD = 12
#: The Worker itself says these when it is loaded, where it can go on with them.
TOLD_BY_THE_WORKER = frozenset({"TSU101", "TSU104", "TSU107", "TSU108"})

HEADING = "This will not work in production (`tsumugi check` lists it again):"
REFUSED = "This would not work in production, and --strict does not start it:"


type Ask = Callable[[Request, bool], Awaitable[Answer]]


class Checks:
    """Checks the Workers that are being edited."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        strict: bool,
        ask: Ask | None = None,
        quiet_s: float = QUIET_S,
    ) -> None:
        """``ask`` has a request answered; a process does by default."""
        self.strict = strict
        self._terminal = terminal
        self._ask_somebody = ask or ask_a_process
        self._quiet_s = quiet_s
        #: By their file: the Workers that were loaded last.
        self._configs: dict[Path, WorkerConfig] = {}
        self._memory: bytes | None = None
        #: What has been told already, so that a save tells only what it brings.
        self._told: set[tuple[str, str, str]] = set()
        self._is_due = False
        self._has_begun = False
        self._task: asyncio.Task[None] | None = None
        self._asking = asyncio.Lock()

    # -- Ordinarily: warnings, when there is time -------------------------------------------------

    def begin(self) -> None:
        """The Workers are up and have said so: from now on there is time."""
        self._has_begun = True
        self._schedule()

    def loaded(self, config: WorkerConfig) -> None:
        """``config`` has begun to serve."""
        self._configs[config.path] = config
        self._is_due = True
        self._schedule()

    def _schedule(self) -> None:
        is_running = self._task is not None and not self._task.done()
        if self._is_due and self._has_begun and not self.strict and not is_running:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self._is_due:
            await asyncio.sleep(self._quiet_s)
            self._is_due = False
            found = await self._ask(tuple(self._configs.values()), nice=True)
            self._tell([one for one in found if one.code not in TOLD_BY_THE_WORKER])

    def _tell(self, found: Sequence[Finding]) -> None:
        """Warn of what has not been told before."""
        known, self._told = self._told, {_identity(finding) for finding in found}
        new = [finding for finding in found if _identity(finding) not in known]
        if new:
            self._terminal.log("warn", self._text(HEADING, new))

    # -- Strictly: errors, before anything serves -------------------------------------------------

    async def fault(self, config: WorkerConfig) -> str | None:
        """Why ``config`` is not to serve, or None."""
        from tsumugi_emulator.check.findings import Severity

        found = await self._ask((config,), nice=False)
        errors = [finding for finding in found if finding.severity is Severity.ERROR]
        if errors:
            return self._text(REFUSED, errors)
        self._tell(found)
        return None

    # -- Both -------------------------------------------------------------------------------------

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _ask(self, configs: tuple[WorkerConfig, ...], *, nice: bool) -> list[Finding]:
        """Errors and warnings about the Workers; nothing if they cannot be checked."""
        from tsumugi_emulator.check import exchange
        from tsumugi_emulator.check.findings import Severity

        async with self._asking:
            try:
                answer = await self._ask_somebody(exchange.Request(configs, self._memory), nice)
            except (OSError, ValueError, TimeoutError) as error:
                self._terminal.log("warn", f"The code was not checked: {error}")
                return []
        self._memory = answer.memory
        return [finding for finding in answer.findings if finding.severity is not Severity.NOTE]

    def _text(self, heading: str, findings: Sequence[Finding]) -> str:
        from tsumugi_emulator.check.report import lines

        entries = lines(findings[:MAX_TOLD], cwd=Path.cwd(), colour=self._terminal.colour)
        left = len(findings) - len(entries)
        if left:
            entries.append(f"and {left} more: tsumugi check lists them all")
        return "\n".join([heading, *("  " + entry.replace("\n", "\n  ") for entry in entries)])


def _identity(finding: Finding) -> tuple[str, str, str]:
    """What makes it the same one although lines have moved."""
    return finding.code, finding.path, finding.message


async def ask_a_process(request: Request, nice: bool) -> Answer:
    """Have a new process answer.

    Raises:
        OSError: it does not start.
        ValueError: it gives no answer.
        TimeoutError: it takes too long.
    """
    import pickle  # only now: a start does not wait for it

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "tsumugi_emulator.check.background"),
        *(("--nice",) if nice else ()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            output, errors = await process.communicate(pickle.dumps(request))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ValueError(last or f"the checker ended with {process.returncode}")
    answer: Answer = pickle.loads(output)  # our own
    return answer
