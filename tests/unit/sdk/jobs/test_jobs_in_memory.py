"""Jobs from enqueue to their end, as users test them: real shards, real consumer, a moved clock."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel
from tsumugi import (
    Binding,
    FixedBackoff,
    Job,
    Performer,
    Policy,
    Rate,
    Reject,
    Tsumugi,
)
from tsumugi.testing import FakeJobContext, InMemoryJobs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tsumugi import JobContext


class Mail(BaseModel):
    to: str
    fail_times: int = 0


class SendMail(Performer[Mail]):
    backoff = FixedBackoff(10_000, jitter=False)

    async def perform(self, payload: Mail, ctx: JobContext) -> dict[str, str]:
        await ctx.log(f"attempt {ctx.attempt}")
        if payload.to == "nowhere":
            raise Reject("no such address")
        if ctx.attempt <= payload.fail_times:
            raise ConnectionError("busy")
        self.env.outbox.append(payload.to)
        return {"sent": payload.to}


class Charge(Performer[Any]):
    guarantee = "at-most-once"
    requires = ("unique_key",)

    def perform(self, payload: Any, ctx: JobContext) -> None:
        self.env.outbox.append(payload)


def scenario(test: Callable[[Tsumugi, InMemoryJobs], Awaitable[None]], **policy: Any) -> list[Any]:
    """Run it; what was sent, in order."""
    tsumugi = Tsumugi(
        performers=[SendMail, Charge], bindings={"SendMail": Binding(policy=Policy(**policy))}
    )
    outbox: list[Any] = []
    with InMemoryJobs(tsumugi, env={"outbox": outbox}) as jobs:

        async def run() -> None:
            await test(tsumugi, jobs)

        asyncio.run(run())
    return outbox


def test_a_job_runs_from_enqueue_to_completed() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        job_id = await tsumugi.enqueue(jobs.env, SendMail, Mail(to="a"))
        await jobs.run()
        job = await jobs.get(job_id)
        assert job is not None
        assert (job["state"], job["attempts"]) == ("COMPLETED", 1)
        assert job["result"] == {"sent": "a"}
        assert [line["text"] for line in job["logs"]] == ["attempt 1"]

    assert scenario(test) == ["a"]


def test_a_failed_attempt_is_tried_again_after_its_backoff() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        job_id = await tsumugi.enqueue(jobs.env, SendMail, Mail(to="a", fail_times=2))
        await jobs.run()
        for attempts in (1, 2):
            job = await jobs.get(job_id)
            assert job is not None
            assert (job["state"], job["attempts"]) == ("SCHEDULED", attempts)
            await jobs.advance(9_999)
            await jobs.advance(1)
        job = await jobs.get(job_id)
        assert job is not None
        assert (job["state"], job["attempts"]) == ("COMPLETED", 3)
        outcomes = [record["outcome"] for record in job["attempts_log"]]
        assert outcomes == ["failed", "failed", "succeeded"]

    assert scenario(test) == ["a"]


def test_a_rejected_job_fails_at_once_and_can_be_retried_by_hand() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        job_id = await tsumugi.enqueue(jobs.env, SendMail, Mail(to="nowhere"))
        await jobs.run()
        job = await jobs.get(job_id)
        assert job is not None
        assert (job["state"], job["attempts"]) == ("FAILED", 1)
        assert job["error"] is not None
        assert job["error"]["message"] == "no such address"
        assert await tsumugi.retry(jobs.env, job_id)
        await jobs.advance(8 * 86_400_000)
        assert (await tsumugi.retry(jobs.env, job_id)).outcome == "gone"
        job = await jobs.get(job_id)
        assert job is not None, "the read model keeps what its shard has swept"

    assert scenario(test) == []


def test_limits_hold_and_jobs_start_in_order() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        await tsumugi.enqueue_many(
            jobs.env, SendMail, [Job(Mail(to=f"{n}"), priority=n) for n in range(6)]
        )
        await jobs.run()
        assert jobs.env.outbox == ["5", "4"]
        await jobs.advance(60_000)

    assert scenario(test, rate=Rate(2, per_ms=30_000)) == ["5", "4", "3", "2", "1", "0"]


def test_a_paused_binding_starts_nothing_until_it_is_resumed() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        await tsumugi.pause(jobs.env, SendMail)
        job_id = await tsumugi.enqueue(jobs.env, SendMail, Mail(to="a"))
        await jobs.advance(3_600_000)
        assert jobs.env.outbox == []
        assert (await tsumugi.reschedule(jobs.env, job_id, priority=7)).outcome == "done"
        await tsumugi.resume(jobs.env, SendMail)
        await jobs.run()

    assert scenario(test) == ["a"]


def test_a_unique_key_makes_enqueueing_idempotent() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        ids = [await tsumugi.enqueue(jobs.env, Charge, 5, unique_key="order-1") for _ in range(3)]
        assert len(set(ids)) == 1
        await jobs.run()

    assert scenario(test) == [5]


def test_a_payload_too_large_for_a_message_is_fetched() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        await tsumugi.enqueue(jobs.env, SendMail, Mail(to="x" * 300_000))
        await jobs.run()

    assert [len(to) for to in scenario(test)] == [300_000]


def test_a_job_that_expires_is_cancelled_and_never_run_late() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        await tsumugi.pause(jobs.env, SendMail)
        job_id = await tsumugi.enqueue(jobs.env, SendMail, Mail(to="a"), expires_in_ms=1_000)
        await jobs.advance(1_000)
        await tsumugi.resume(jobs.env, SendMail)
        await jobs.run()
        job = await jobs.get(job_id)
        assert job is not None
        assert (job["state"], job["cancelled_because"]) == ("CANCELLED", "expired")

    assert scenario(test) == []


def test_a_queue_that_fails_costs_nothing_but_time() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        jobs.queue_error = ConnectionError("Queue send failed")
        job_id = await tsumugi.enqueue(jobs.env, SendMail, Mail(to="a"))
        await jobs.advance(1_000)
        jobs.queue_error = None
        await jobs.advance(60_000)
        job = await jobs.get(job_id)
        assert job is not None
        assert (job["state"], job["attempts"]) == ("COMPLETED", 1)

    assert scenario(test) == ["a"]


def test_a_read_model_that_fails_loses_nothing() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        jobs.read_model_error = ConnectionError("D1_ERROR")
        job_id = await tsumugi.enqueue(jobs.env, SendMail, Mail(to="a"))
        await jobs.advance(10_000)
        assert jobs.read_model == {}
        jobs.read_model_error = None
        await jobs.advance(600_000)
        assert jobs.read_model[job_id]["state"] == "COMPLETED"

    assert scenario(test) == ["a"]


def test_who_stops_waiting_for_a_shard_stops_nothing_in_it() -> None:
    async def test(tsumugi: Tsumugi, jobs: InMemoryJobs) -> None:
        enqueueing = asyncio.ensure_future(tsumugi.enqueue(jobs.env, SendMail, Mail(to="a")))
        await asyncio.sleep(0)
        enqueueing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await enqueueing
        await jobs.run()

    assert scenario(test) == ["a"]


def test_the_clock_is_given_back() -> None:
    tsumugi = Tsumugi(performers=[SendMail])
    before = tsumugi.now_ms
    with InMemoryJobs(tsumugi, now_ms=5):
        assert tsumugi.now_ms() == 5
    assert tsumugi.now_ms is before


def test_a_performer_is_tested_without_any_job() -> None:
    async def perform(payload: Mail) -> Any:
        return await SendMail(InMemoryJobs(Tsumugi(performers=[])).env).perform(payload, ctx)

    ctx = FakeJobContext(attempt=2)
    with pytest.raises(Reject):
        asyncio.run(perform(Mail(to="nowhere")))
    assert ctx.lines == ["attempt 2"]
    assert ctx.idempotency_key == ctx.job_id


def collect_here() -> None:
    gc.collect()


def collect_in_a_thread() -> None:
    thread = threading.Thread(target=gc.collect)
    thread.start()
    thread.join()


@pytest.mark.parametrize("collect", [collect_here, collect_in_a_thread])
def test_jobs_that_nobody_closed_are_closed_when_they_are_dropped(
    collect: Callable[[], None],
) -> None:
    tsumugi = Tsumugi(performers=[SendMail])
    jobs: InMemoryJobs | None = InMemoryJobs(tsumugi)
    assert jobs is not None
    asyncio.run(tsumugi.enqueue(jobs.env, SendMail, Mail(to="a")))
    [shard] = jobs._shards.values()
    connection = shard._platform._database._db
    gc.disable()  # nowhere but where it is asked for
    del jobs, shard
    collect()
    gc.enable()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
