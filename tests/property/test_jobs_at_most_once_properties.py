"""At-most-once jobs through the real consumer and the real shard, in a world that fails at random.

Calls never arrive, arrive late, or lose their answers; deliveries double, within a batch and beside
it, vanish, and come again; consumers die at any step. A job may begin again only after its last
attempt has said that it failed, and each ends in one state.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi import FixedBackoff, Performer, Tsumugi
from tsumugi.jobs.consumer import link
from tsumugi.testing import InMemoryJobs, build_batch, build_message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tsumugi import JobContext
    from tsumugi.jobs.wire import Snapshot

pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]

SEEDS = 150
STEPS = 1_000
ENDED = {"COMPLETED", "STALLED", "FAILED"}


class Once(Performer[int]):
    guarantee = "at-most-once"
    max_attempts = 50
    backoff = FixedBackoff(0, jitter=False)

    async def perform(self, payload: int, ctx: JobContext) -> None:
        await self.env.story.performed(ctx.job_id)


class Story:
    """One life of six jobs."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.app = Tsumugi(performers=[Once])
        #: Jobs that began and did not say that they failed.
        self.unended: set[str] = set()
        self.begun_beside: list[str] = []
        #: Calls that are still on their way although their caller was told that they failed.
        self.late: list[tuple[Callable[[str], Awaitable[str]], str]] = []

    async def performed(self, job_id: str) -> None:
        if job_id in self.unended:
            self.begun_beside.append(job_id)
        self.unended.add(job_id)
        await asyncio.sleep(0)
        if self.chance.random() < 0.3:
            self.unended.discard(job_id)
            raise ValueError("not now")

    def failing(self, call: Callable[[str], Awaitable[str]]) -> Callable[[str], Awaitable[str]]:
        async def failing(text: str) -> str:
            fate = self.chance.random()
            if fate < 0.15:
                raise ConnectionError("it never arrived")
            if fate < 0.25:
                self.late.append((call, text))
                raise ConnectionError("it arrives later")
            answer = await call(text)
            if fate < 0.4:
                raise ConnectionError("its answer was lost")
            return answer

        return failing

    async def run(self, jobs: InMemoryJobs) -> list[Snapshot | None]:
        ids = await self.app.enqueue_many(jobs.env, Once, list(range(6)))
        shard = jobs.getByName("Once#0")
        for method in ("begin", "settle"):
            setattr(shard, method, self.failing(getattr(shard, method)))
        sent: list[list[str]] = []
        for _ in range(STEPS):
            sent += jobs.queue
            jobs.queue.clear()
            if self.late and self.chance.random() < 0.3:
                call, text = self.late.pop(self.chance.randrange(len(self.late)))
                await call(text)
            if sent:
                await self.deliver(jobs, sent)
                continue
            jobs.now_ms += 20_000
            if shard.alarm_ms is not None and shard.alarm_ms <= jobs.now_ms:
                await shard.ring()
            ended = [await jobs.get(job_id) for job_id in ids]
            if not self.late and all(job and job["state"] in ENDED for job in ended):
                return ended
        raise AssertionError("the jobs never came to their end")

    async def deliver(self, jobs: InMemoryJobs, sent: list[list[str]]) -> None:
        chance = self.chance.random
        bodies = sent.pop(self.chance.randrange(len(sent)))
        if chance() < 0.3:
            sent.append(bodies)
        if chance() < 0.1:
            return
        if chance() < 0.2:
            bodies = [*bodies, *bodies]
        consumers = [
            asyncio.ensure_future(self.app.consume(batch_of(bodies), jobs.env))
            for _ in range(2 if chance() < 0.2 else 1)
        ]
        if chance() < 0.2:
            for _ in range(self.chance.randrange(4)):
                await asyncio.sleep(0)
            for consumer in consumers:
                consumer.cancel()
        await asyncio.gather(*consumers, return_exceptions=True)


def batch_of(bodies: list[str]) -> Any:
    return build_batch("jobs", [build_message(body, content_type="text") for body in bodies])


def test_a_job_begins_again_only_after_it_said_that_it_failed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL")
    monkeypatch.setattr(link, "RETRY_AFTER_MS", (0, 0, 0, 0))
    for seed in range(SEEDS):
        story = Story(seed)
        with InMemoryJobs(story.app, env={"story": story}) as jobs:
            ended = asyncio.run(story.run(jobs))
        assert story.begun_beside == [], f"seed {seed}"
        assert all(job and job["attempts"] <= job["max_attempts"] for job in ended)
