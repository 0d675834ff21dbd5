"""The real clock's timers keep their promise: never early, on the wall clock."""

from __future__ import annotations

import asyncio

from tsumugi_emulator.clock import SystemClock


def test_a_timer_never_fires_before_its_time() -> None:
    async def scenario() -> list[int]:
        clock = SystemClock()
        lateness_ms: list[int] = []
        done = asyncio.Event()
        for delay_ms in (0, 1, 3, 7):
            when_ms = clock.now_ms() + delay_ms

            def fired(when_ms: int = when_ms) -> None:
                lateness_ms.append(clock.now_ms() - when_ms)
                if len(lateness_ms) == 4:
                    done.set()

            clock.call_at(when_ms, fired)
        await done.wait()
        return lateness_ms

    assert min(asyncio.run(scenario())) >= 0


def test_a_cancelled_timer_does_not_fire() -> None:
    async def scenario() -> bool:
        clock = SystemClock()
        fired, done = asyncio.Event(), asyncio.Event()
        clock.call_at(clock.now_ms() + 1, fired.set).cancel()
        clock.call_at(clock.now_ms() + 3, done.set)
        await done.wait()
        return fired.is_set()

    assert asyncio.run(scenario()) is False
