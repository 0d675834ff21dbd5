"""Handing objects from one child to the next, as the supervisor does it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.durable.alarm_index import AlarmIndex
from tsumugi_emulator.durable.limits import HANDOVER_LIMIT_MS
from tsumugi_emulator.object_services import ObjectServices
from tsumugi_emulator.worker.frames import (
    AcquireObject,
    ObjectGranted,
    ObjectWanted,
    ReleaseObject,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


class Process:
    """Hears what the supervisor tells a child, and runs alarms that do nothing."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.told: list[Any] = []
        self.alarms: list[str] = []

    def send(self, frame: Any) -> None:
        self.told.append(frame)

    async def alarm(self, namespace: str, object_id: str, *_: int) -> None:
        self.alarms.append(f"{namespace}/{object_id}")
        index = AlarmIndex.open(self._directory)
        index.remove([(namespace, object_id)])
        index.close()


class Supervised:
    def __init__(self, directory: Path) -> None:
        self.clock = FakeClock()
        self.old, self.new = Process(directory), Process(directory)
        self.services = ObjectServices(directory, self.clock, self._serving)

    def _serving(self) -> Any:
        return self.new

    def says(self, process: Process, frame: Any) -> None:
        self.services.take(frame, process)  # type: ignore[arg-type]


def run(directory: Path, test: Callable[[Supervised], Awaitable[None]]) -> None:
    asyncio.run(test(Supervised(directory)))  # type: ignore[arg-type]


def test_an_object_is_handed_over_when_its_owner_lets_go(tmp_path: Path) -> None:
    async def test(it: Supervised) -> None:
        it.says(it.old, AcquireObject("k"))
        assert it.old.told == [ObjectGranted("k", False)]
        it.says(it.new, AcquireObject("k"))
        assert it.old.told[1:] == [ObjectWanted("k", False)]
        assert it.new.told == []
        it.says(it.old, ReleaseObject("k"))
        assert it.new.told == [ObjectGranted("k", False)]
        await it.clock.advance(2 * HANDOVER_LIMIT_MS)
        assert it.new.told == [ObjectGranted("k", False)]

    run(tmp_path, test)


def test_an_owner_that_does_not_let_go_in_time_is_forced_to(tmp_path: Path) -> None:
    async def test(it: Supervised) -> None:
        it.says(it.old, AcquireObject("k"))
        it.says(it.new, AcquireObject("k"))
        await it.clock.advance(HANDOVER_LIMIT_MS - 1)
        assert it.old.told[-1] == ObjectWanted("k", False)
        await it.clock.advance(1)
        assert it.old.told[-1] == ObjectWanted("k", True)

    run(tmp_path, test)


def test_an_object_somebody_else_waits_for_comes_with_that_word(tmp_path: Path) -> None:
    async def test(it: Supervised) -> None:
        it.says(it.old, AcquireObject("k"))
        it.says(it.new, AcquireObject("k"))
        it.says(it.old, AcquireObject("k"))
        it.says(it.old, ReleaseObject("k"))
        assert it.new.told == [ObjectGranted("k", True)]
        await it.clock.advance(HANDOVER_LIMIT_MS)
        assert it.new.told[-1] == ObjectWanted("k", True)

    run(tmp_path, test)


def test_what_a_dead_process_held_is_given_to_who_waits(tmp_path: Path) -> None:
    async def test(it: Supervised) -> None:
        it.says(it.old, AcquireObject("k"))
        it.says(it.new, AcquireObject("k"))
        it.services.gone(it.old)  # type: ignore[arg-type]
        assert it.new.told == [ObjectGranted("k", False)]

    run(tmp_path, test)


def test_an_alarm_of_a_process_that_died_before_it_could_tell_runs_when_it_is_due(
    tmp_path: Path,
) -> None:
    async def test(it: Supervised) -> None:
        it.services.serve(["n"])
        index = AlarmIndex.open(tmp_path)
        index.announce("n", "a", it.clock.now_ms() + 5_000)
        it.services.gone(it.old)  # type: ignore[arg-type]
        await it.clock.advance(4_999)
        assert it.new.alarms == []
        await it.clock.advance(1)
        assert it.new.alarms == ["n/a"]
        index.close()
        it.services.close()

    run(tmp_path, test)
