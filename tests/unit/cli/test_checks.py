"""What ``tsumugi dev`` tells of the check; the checking itself is replaced."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.check.exchange import Answer, Request
from tsumugi_emulator.check.findings import Finding, Severity
from tsumugi_emulator.cli.checks import MAX_TOLD, Checks

if TYPE_CHECKING:
    from tsumugi_emulator.config.model import WorkerConfig

FAULT = Finding(
    code="TSU420",
    severity=Severity.ERROR,
    path="/project/src/entry.py",
    line=3,
    column=5,
    message="It is ignored.",
    next_step="Spell it right.",
)
OTHER = replace(FAULT, line=9, message="It is ignored too.")
HINT = replace(FAULT, code="TSU502", severity=Severity.WARNING, message="It may be lost.")
REMARK = replace(FAULT, code="TSU605", severity=Severity.NOTE, message="Nothing sends.")


class Terminal:
    colour = False

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def log(self, level: str, text: str) -> None:
        self.told.append((level, text))

    def messages(self) -> list[str]:
        """The faults of each block that was told, and forget them."""
        lines = [line for _, text in self.told for line in text.split("\n")]
        self.told.clear()
        return [line.partition(": ")[2] for line in lines if " TSU" in line]


class Checker:
    """Answers what it is told to."""

    def __init__(self, *findings: Finding) -> None:
        self.findings: tuple[Finding, ...] = findings
        self.requests: list[Request] = []
        self.fault: Exception | None = None
        self.was_asked = asyncio.Event()

    async def __call__(self, request: Request, _nice: bool) -> Answer:
        self.requests.append(request)
        self.was_asked.set()
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        return Answer(self.findings, f"memory {len(self.requests)}".encode(), 1)


def config(name: str = "a") -> WorkerConfig:
    known: Any = SimpleNamespace(path=Path(f"/project/{name}/wrangler.jsonc"), name=name)
    return known


def checks(checker: Checker, *, strict: bool = False, quiet_s: float = 0) -> tuple[Checks, Any]:
    terminal: Any = Terminal()
    return Checks(terminal, strict=strict, ask=checker, quiet_s=quiet_s), terminal


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_findings_are_warnings_once_the_worker_is_up() -> None:
    async def run() -> None:
        checker = Checker(FAULT, HINT, REMARK)
        watched, terminal = checks(checker)
        watched.loaded(config())
        await settle()
        assert checker.requests == []
        watched.begin()
        await settle()
        assert [level for level, _ in terminal.told] == ["warn"]
        assert terminal.messages() == [
            "error TSU420: It is ignored.",
            "warning TSU502: It may be lost.",
        ]

    asyncio.run(run())


def test_a_save_tells_only_what_it_brings() -> None:
    async def run() -> None:
        checker = Checker(FAULT)
        watched, terminal = checks(checker)
        watched.begin()
        seen = []
        moved = replace(FAULT, line=30)
        for findings in ((FAULT,), (moved,), (moved, OTHER), (), (FAULT,)):
            checker.findings = findings
            watched.loaded(config())
            await settle()
            seen.append(terminal.messages())
        assert seen == [
            ["error TSU420: It is ignored."],
            [],
            ["error TSU420: It is ignored too."],
            [],
            ["error TSU420: It is ignored."],
        ]

    asyncio.run(run())


def test_an_answer_is_remembered_for_the_next_request() -> None:
    async def run() -> None:
        checker = Checker()
        watched, _ = checks(checker)
        watched.begin()
        for _ in range(3):
            watched.loaded(config())
            await settle()
        assert [request.memory for request in checker.requests] == [None, b"memory 1", b"memory 2"]

    asyncio.run(run())


def test_loads_during_a_check_are_one_more_check_of_all_workers() -> None:
    async def run() -> None:
        checker = Checker()
        watched, _ = checks(checker)
        watched.begin()
        watched.loaded(config("a"))
        await checker.was_asked.wait()
        watched.loaded(config("b"))
        watched.loaded(config("a"))
        await settle()
        names = [[one.name for one in request.configs] for request in checker.requests]
        assert names == [["a"], ["a", "b"]]

    asyncio.run(run())


def test_loads_that_follow_each_other_are_checked_once() -> None:
    async def run() -> None:
        checker = Checker()
        watched, _ = checks(checker, quiet_s=0.05)
        watched.begin()
        for name in ("a", "b", "a"):
            watched.loaded(config(name))
            await asyncio.sleep(0)
        await checker.was_asked.wait()
        names = [[one.name for one in request.configs] for request in checker.requests]
        assert names == [["a", "b"]]

    asyncio.run(run())


def test_what_the_worker_says_itself_is_not_said_twice() -> None:
    async def run() -> None:
        watched, terminal = checks(Checker(replace(FAULT, code="TSU101")))
        watched.begin()
        watched.loaded(config())
        await settle()
        assert terminal.told == []

    asyncio.run(run())


def test_many_findings_are_counted() -> None:
    async def run() -> None:
        many = [replace(FAULT, message=f"Fault {number}.") for number in range(MAX_TOLD + 3)]
        watched, terminal = checks(Checker(*many))
        watched.begin()
        watched.loaded(config())
        await settle()
        assert terminal.told[0][1].endswith("and 3 more: tsumugi check lists them all")
        assert len(terminal.messages()) == MAX_TOLD

    asyncio.run(run())


def test_a_check_that_fails_is_told_and_tried_again() -> None:
    async def run() -> None:
        checker = Checker(FAULT)
        checker.fault = ValueError("no memory")
        watched, terminal = checks(checker)
        watched.begin()
        watched.loaded(config())
        await settle()
        assert terminal.told == [("warn", "The code was not checked: no memory")]
        checker.fault = None
        terminal.told.clear()
        watched.loaded(config())
        await settle()
        assert terminal.messages() == ["error TSU420: It is ignored."]

    asyncio.run(run())


def test_strictly_an_error_keeps_the_worker_from_starting() -> None:
    async def run() -> None:
        watched, terminal = checks(Checker(FAULT, HINT), strict=True)
        fault = await watched.fault(config())
        assert fault is not None
        assert "error TSU420: It is ignored.\n      Spell it right." in fault
        assert "TSU502" not in fault
        assert terminal.told == []

    asyncio.run(run())


def test_strictly_a_warning_is_only_told() -> None:
    async def run() -> None:
        checker = Checker(HINT)
        watched, terminal = checks(checker, strict=True)
        assert await watched.fault(config()) is None
        assert terminal.messages() == ["warning TSU502: It may be lost."]
        watched.begin()
        watched.loaded(config())
        await settle()
        assert len(checker.requests) == 1

    asyncio.run(run())


def test_stopping_ends_a_check_that_is_under_way() -> None:
    async def run() -> None:
        started, ended = asyncio.Event(), []

        async def never(_request: Request, _nice: bool) -> Answer:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)
            raise AssertionError

        terminal: Any = Terminal()
        watched = Checks(terminal, strict=False, ask=never, quiet_s=0)
        watched.begin()
        watched.loaded(config())
        await started.wait()
        await watched.stop()
        assert ended == [True]
        assert terminal.told == []

    asyncio.run(run())
