"""Firing on time, on a clock that moves when told."""

from __future__ import annotations

import asyncio

from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.cron.expression import parse
from tsumugi_emulator.cron.scheduler import CronScheduler

MINUTE_MS = 60_000
START_MS = 1_700_000_000_000 // MINUTE_MS * MINUTE_MS


def run(expressions: list[str], minutes: int) -> list[tuple[str, int]]:
    fired: list[tuple[str, int]] = []

    async def scenario() -> None:
        clock = FakeClock(START_MS)

        async def fire(cron: str, time_ms: int) -> None:
            fired.append((cron, (time_ms - START_MS) // MINUTE_MS))

        scheduler = CronScheduler(clock, fire)
        scheduler.configure(parse(text) for text in expressions)
        await clock.advance(minutes * MINUTE_MS)
        scheduler.stop()
        await clock.advance(10 * MINUTE_MS)

    asyncio.run(scenario())
    return fired


def test_every_minute_fires_every_minute_and_stops_when_told() -> None:
    assert run(["* * * * *"], 3) == [("* * * * *", 1), ("* * * * *", 2), ("* * * * *", 3)]


def test_expressions_fire_independently() -> None:
    fired = run(["*/2 * * * *", "*/3 * * * *"], 6)
    assert [text for text, _ in fired].count("*/2 * * * *") == 3
    assert [text for text, _ in fired].count("*/3 * * * *") == 2


def test_a_clock_that_jumped_fires_once_not_for_every_minute_missed() -> None:
    fired: list[int] = []

    async def scenario() -> None:
        clock = FakeClock(START_MS)

        async def fire(_cron: str, time_ms: int) -> None:
            fired.append(time_ms)

        scheduler = CronScheduler(clock, fire)
        scheduler.configure([parse("* * * * *")])
        clock._now_ms += 60 * MINUTE_MS
        await clock.settle()

    asyncio.run(scenario())
    assert len(fired) == 1


def test_a_firing_that_became_due_during_a_reload_is_not_lost() -> None:
    fired: list[int] = []

    async def scenario() -> None:
        clock = FakeClock(START_MS)

        async def fire(_cron: str, time_ms: int) -> None:
            fired.append(time_ms - START_MS)

        scheduler = CronScheduler(clock, fire)
        scheduler.configure([parse("* * * * *")])
        clock._now_ms += MINUTE_MS
        scheduler.configure([parse("* * * * *")])
        await clock.settle()

    asyncio.run(scenario())
    assert fired == [MINUTE_MS]
