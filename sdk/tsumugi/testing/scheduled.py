"""Run a scheduled handler once, as a cron trigger does. No schedule, no clock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tsumugi.testing.batch import DEFAULT_TIMESTAMP
from tsumugi.testing.event import (
    FakeContext,
    bindings_of,
    check_result,
    drop_tasks,
    finished,
    in_event,
    instance_of,
)


@dataclass(frozen=True, slots=True)
class ScheduledOutcome:
    """What a run said of itself: ``no_retry`` is true after ``controller.noRetry()``."""

    no_retry: bool


class _Controller:
    """Attributes alone, as in the runtime."""

    def __init__(self, cron: str, scheduled_time_ms: int) -> None:
        self.cron = cron
        self.scheduledTime = scheduled_time_ms
        self._no_retry = False

    def noRetry(self) -> None:
        self._no_retry = True


async def run_scheduled_handler(
    worker: Any,
    cron: str = "* * * * *",
    *,
    scheduled_time: datetime = DEFAULT_TIMESTAMP,
    env: object = None,
    ctx: FakeContext | None = None,
) -> ScheduledOutcome:
    """Run the ``scheduled`` method of an entrypoint class, or of an instance of one, once.

    It is called with ``(controller, None, None)``, like the runtime does, so
    ``scheduled(self, controller)`` fails here too. A ``scheduled_time`` without a time zone is UTC.
    Work handed to ``waitUntil`` is finished on return, and tasks that are left running are
    cancelled with a ``RuntimeWarning``. What the handler raises is raised here.
    """
    context = FakeContext() if ctx is None else ctx
    if scheduled_time.tzinfo is None:
        scheduled_time = scheduled_time.replace(tzinfo=UTC)
    controller = _Controller(cron, round(scheduled_time.timestamp() * 1_000))

    async def event() -> ScheduledOutcome:
        bystanders = asyncio.all_tasks()
        instance = instance_of(worker, "scheduled", env=bindings_of(env), ctx=context)
        check_result(await finished(instance.scheduled(controller, None, None)))
        await context.settle()
        await drop_tasks("scheduled", asyncio.all_tasks() - bystanders)
        return ScheduledOutcome(controller._no_retry)

    return await in_event("scheduled", event)
