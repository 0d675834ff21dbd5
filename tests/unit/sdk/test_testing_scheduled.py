"""Running a cron handler in a test, without an SDK: a plain class is a first-class citizen."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from tsumugi.testing import FakeContext, RecordingQueue, ScheduledOutcome, run_scheduled_handler

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


class Worker:
    def __init__(self, ctx: FakeContext, env: Any) -> None:
        self.ctx = ctx
        self.env = env


def run(worker: Any, *arguments: Any, **options: Any) -> ScheduledOutcome:
    return asyncio.run(run_scheduled_handler(worker, *arguments, **options))


def test_the_handler_gets_its_cron_its_time_and_its_bindings() -> None:
    class Default(Worker):
        async def scheduled(self, controller: Any, env: Any = None, ctx: Any = None) -> None:
            assert (env, ctx) == (None, None)
            await self.env.OUT.send([controller.cron, controller.scheduledTime])

    out = RecordingQueue()
    assert run(Default, "0 3 * * *", scheduled_time=AT, env={"OUT": out}).no_retry is False
    assert out.bodies == [["0 3 * * *", 1_767_323_040_000]]
    run(Default, scheduled_time=AT.replace(tzinfo=None), env={"OUT": out})
    assert out.bodies[1] == ["* * * * *", 1_767_323_040_000]


def test_what_wait_until_keeps_is_finished() -> None:
    done: list[str] = []

    class Default(Worker):
        def scheduled(self, controller: Any, *nothing: Any) -> None:
            controller.noRetry()
            self.ctx.waitUntil(self.later())

        async def later(self) -> None:
            await asyncio.sleep(0)
            done.append("later")

    assert run(Default) == ScheduledOutcome(no_retry=True)
    assert done == ["later"]


def test_what_is_left_running_is_dropped_with_a_warning() -> None:
    class Default(Worker):
        async def scheduled(self, *arguments: Any) -> None:
            self.task = asyncio.create_task(asyncio.Event().wait())

    with pytest.warns(RuntimeWarning, match="when the scheduled handler returned"):
        run(Default)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("def scheduled(self, controller): ...", "takes 2 positional arguments but 4 were given"),
        ("async def scheduled(self, *a): return 1, 2", "'tuple'> cannot be sent over RPC"),
        ("async def scheduled(self, *a): yield", "contains a yield"),
        ("async def scheduled(self, *a): raise TypeError('mine')", "mine"),
        ("other = None", "Method scheduled does not exist on Default"),
    ],
)
def test_what_fails_in_production_fails_here(body: str, error: str) -> None:
    names: dict[str, Any] = {"Worker": Worker}
    exec(f"class Default(Worker):\n    {body}", names)
    with pytest.raises(TypeError, match=error):
        run(names["Default"])
