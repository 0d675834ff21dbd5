"""A job in a consumer's hands: its context's voice, its signs of life. Performs nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tsumugi.jobs.consumer.deliveries import LEFT_BEHIND
from tsumugi.jobs.context import JobContext
from tsumugi.jobs.core.reports import is_beat_due

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.consumer.deliveries import Dispatched
    from tsumugi.jobs.consumer.link import Link
    from tsumugi.jobs.registry import Registered
    from tsumugi.jobs.wire import BeginJob


class Running:
    """The ``Voice`` of one job, from when it was delivered until it was reported."""

    __slots__ = (
        "_now_ms",
        "_on_news",
        "_progress",
        "beat_ms",
        "claimant",
        "ctx",
        "dispatched",
        "is_open",
        "is_waiting",
        "link",
        "payload",
        "registered",
        "started_ms",
        "task",
    )

    def __init__(
        self,
        dispatched: Dispatched,
        registered: Registered,
        link: Link,
        *,
        claimant: str | None,
        now_ms: Callable[[], int],
        on_news: Callable[[], None],
    ) -> None:
        self.dispatched = dispatched
        self.registered = registered
        self.link = link
        self.payload = dispatched.payload
        #: The name of this delivery, if its job is to be claimed.
        self.claimant = claimant
        self._now_ms = now_ms
        self._on_news = on_news
        self._progress: float | None = None
        #: When its last sign of life was given.
        self.beat_ms: int | None = None
        #: Until it is reported, or given up.
        self.is_open = True
        #: It is here and its performer was not called yet.
        self.is_waiting = True
        self.started_ms = 0
        self.task: asyncio.Task[None] | None = None
        self.ctx: JobContext

    def start(self) -> JobContext:
        """Its context, from now on."""
        job = self.dispatched
        self.is_waiting = False
        self.started_ms = now_ms = self._now_ms()
        self.ctx = JobContext(
            self,
            job_id=job.job_id,
            attempt=job.attempt,
            deadline_at_ms=None if job.timeout_ms is None else now_ms + job.timeout_ms,
            traceparent=job.traceparent,
        )
        return self.ctx

    def begin_job(self) -> BeginJob:
        """What the shard is asked before it may start."""
        job = self.dispatched
        asked: BeginJob = {
            "id": job.local,
            "epoch": job.epoch,
            "claim": job.claim,
            "payload": job.payload is LEFT_BEHIND,
        }
        if self.claimant is not None:
            asked["claimant"] = self.claimant
        return asked

    async def heartbeat(self, progress: float | None) -> None:
        if progress is not None:
            self._progress = progress
        if not self.is_open or not is_beat_due(self.beat_ms, now_ms=self._now_ms()):
            return
        self.beat()
        sent = self.link.send()
        if sent is not None:
            # Not the task itself: whoever cancels this performer must not stop the sending.
            await asyncio.shield(sent)

    async def log(self, text: str) -> None:
        if self.is_open:
            job = self.dispatched
            self.link.log(job.local, job.epoch, text, at_ms=self._now_ms())
            self._on_news()

    def beat(self) -> None:
        """A sign of life, with the progress known last. It leaves with the next call."""
        self.beat_ms = self._now_ms()
        self.link.beat(self.dispatched.local, self.dispatched.epoch, self._progress)

    def is_due_for_beat(self) -> bool:
        """Whether the shard does not know yet, or long since, that somebody has the job."""
        if self.dispatched.claim and not self.is_waiting:
            return False  # RUNNING since it was claimed; from here on its performer speaks for it
        return is_beat_due(self.beat_ms, now_ms=self._now_ms())
