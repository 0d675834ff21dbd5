"""A consumer whose shards fail, whose event is stopped, whose Workers elsewhere break."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from consumer_harness import Consumer, dispatch, performer
from fake_time import START_MS
from pydantic import BaseModel
from shard_fakes import local_id
from tsumugi import Performer, remote
from tsumugi.testing import build_batch, build_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi import JobContext

type MakeConsumer = Callable[..., Consumer]


async def echo(payload: Any, ctx: JobContext) -> Any:
    return payload


async def for_seconds(payload: Any, ctx: JobContext) -> None:
    await asyncio.sleep(payload)


def failing(times: int, then: Any) -> Any:
    """A method of a shard that fails so often."""
    left = [times]

    def method(shard: str, request: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise ConnectionError("Network connection lost.")
        return then(shard, request)

    return method


# -- Shards that fail -----------------------------------------------------------------------------


def test_a_report_that_was_not_taken_is_told_again(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", echo))
    under_test.shards.on["settle"] = failing(3, lambda *_: {"stale": []})
    under_test.consume(dispatch(1))
    assert [method for _, method, _ in under_test.shards.calls] == ["settle"] * 4
    requests = under_test.shards.of("settle")
    assert all(request == requests[0] for request in requests)
    assert under_test.loop.time() == pytest.approx(1.05)


def test_a_report_that_is_never_taken_is_left_to_the_reaper(
    consumer: MakeConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    under_test = consumer(performer("Work", echo))
    under_test.shards.on["settle"] = failing(99, None)
    batch = under_test.consume(dispatch(1))
    assert batch.decisions.ack_all
    assert len(under_test.shards.of("settle")) == 5
    assert "given up" in caplog.text
    assert under_test.loop.time() < 5


def test_a_shard_that_fails_holds_back_no_other(consumer: MakeConsumer) -> None:
    def one_fails(shard: str, request: Any) -> Any:
        if shard == "Work#0":
            raise ConnectionError("Network connection lost.")
        assert under_test.loop.time() == 0
        return {"stale": []}

    under_test = consumer(performer("Work", echo))
    under_test.shards.on["settle"] = one_fails
    under_test.consume(dispatch(1, shard=0), dispatch(2, shard=1))


def test_a_claim_that_cannot_be_asked_for_is_not_begun(consumer: MakeConsumer) -> None:
    performed: list[Any] = []

    async def note(payload: Any, ctx: JobContext) -> None:
        performed.append(payload)

    under_test = consumer(performer("Work", note))
    under_test.shards.on["begin"] = failing(99, None)
    under_test.consume(dispatch(1, claim=True), dispatch(2, payload=...))
    assert performed == []
    assert under_test.shards.outcomes() == {local_id(1): "not-started", local_id(2): "failed"}


def test_a_claim_is_asked_for_again(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", echo))
    under_test.shards.on["begin"] = failing(2, lambda *_: {"jobs": [{"refused": None}]})
    under_test.consume(dispatch(1, claim=True))
    assert under_test.shards.outcomes() == {local_id(1): "succeeded"}


def test_each_delivery_asks_for_its_claim_under_a_name_of_its_own_and_keeps_it(
    consumer: MakeConsumer,
) -> None:
    under_test = consumer(performer("Work", echo))
    under_test.shards.on["begin"] = failing(9, None)
    # Jobs that are over at once stand between them.
    messages = [dispatch(1, claim=True), dispatch(2), dispatch(1, epoch=2, claim=True), dispatch(3)]
    under_test.consume(*messages)
    first, *others = [
        [job["claimant"] for job in request["jobs"]] for request in under_test.shards.of("begin")
    ]
    assert len(set(first)) == 2
    assert others == [first] * 4
    told = [r["claimant"] for r in under_test.shards.reports() if r["outcome"] == "not-started"]
    assert told == first
    under_test.consume(dispatch(1, claim=True))
    (again,) = under_test.shards.of("begin")[-1]["jobs"]
    assert again["claimant"] not in first


@pytest.mark.parametrize("claim", [False, True])
def test_a_dispatch_that_comes_twice_in_a_batch_is_performed_once(
    consumer: MakeConsumer, claim: bool
) -> None:
    performed: list[Any] = []

    async def note(payload: Any, ctx: JobContext) -> None:
        performed.append(payload)

    under_test = consumer(performer("Work", note))
    batch = under_test.consume(*[dispatch(1, claim=claim)] * 3, dispatch(2, shard=1))
    assert (sorted(performed), batch.decisions.ack_all) == ([1, 2], True)
    assert under_test.shards.outcomes() == {local_id(1): "succeeded", local_id(2): "succeeded"}


def test_a_batch_that_is_stopped_stops_every_dispatch_of_a_job(consumer: MakeConsumer) -> None:
    stopped: list[Any] = []

    async def work(payload: Any, ctx: JobContext) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append(ctx.attempt)

    async def stop() -> None:
        batch = build_batch(
            "jobs",
            [build_message(dispatch(1, epoch=n, attempt=n), content_type="text") for n in (1, 2)],
        )
        task = asyncio.ensure_future(under_test.app.consume(batch, under_test.env))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)

    under_test = consumer(performer("Work", work))
    under_test.loop.run(stop())
    assert sorted(stopped) == [1, 2]


def test_who_needs_no_claim_has_no_name(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", echo))
    under_test.shards.on["begin"] = lambda *_: {"jobs": [{"refused": None, "payload": 1}]}
    under_test.consume(dispatch(1, payload=...))
    assert "claimant" not in under_test.shards.of("begin")[0]["jobs"][0]


def test_a_shard_that_puts_off_everything_ends_the_batch(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", echo))
    under_test.shards.on["begin"] = lambda *_: {"jobs": [{"refused": "later"}]}
    with pytest.raises(RuntimeError, match="puts off every job"):
        under_test.consume(dispatch(1, payload=...), dispatch(2))
    assert under_test.shards.outcomes() == {local_id(2): "succeeded"}


# -- An event that is stopped ---------------------------------------------------------------------


def test_a_batch_that_is_stopped_stops_its_performers(consumer: MakeConsumer) -> None:
    stopped: list[Any] = []

    async def work(payload: Any, ctx: JobContext) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append((payload, ctx.cancelled.is_set()))

    async def stop_after_a_while() -> None:
        task = asyncio.ensure_future(
            under_test.app.consume(
                build_batch(
                    "jobs",
                    [build_message(dispatch(n), content_type="text") for n in range(2)],
                ),
                under_test.env,
            )
        )
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)

    under_test = consumer(performer("Work", work))
    under_test.loop.run(stop_after_a_while())
    assert stopped == [(0, True), (1, True)]
    assert under_test.shards.reports() == []


# -- Performers in other Workers ------------------------------------------------------------------


class Payment(BaseModel):
    amount: int


class Charge(Performer[Payment]):
    async def perform(self, payload: Payment, ctx: JobContext) -> dict[str, Any]:
        await ctx.log(f"attempt {ctx.attempt}")
        await ctx.heartbeat(0.25)
        await asyncio.sleep(payload.amount)
        return {"charged": payload.amount, "by": self.env.NAME, "key": ctx.idempotency_key}


class Refuse(Performer[Any]):
    async def perform(self, payload: Any, ctx: JobContext) -> None:
        raise ValueError("no")


def asked(timeout_ms: int | None = None) -> dict[str, Any]:
    """What one Worker asks another to perform."""
    return {
        "performer": "Charge",
        "job": f"Charge#0:{local_id(1)}",
        "attempt": 1,
        "timeout_ms": timeout_ms,
        "traceparent": None,
        "payload": {"amount": 1},
    }


def two_workers(consumer: MakeConsumer) -> Consumer:
    """Jobs are coordinated in one and performed in another, over its entrypoint's RPC."""
    there = consumer(Charge, Refuse)
    here = consumer(
        *(remote("BILLING", name) for name in ("Charge", "Refuse", "Unknown", "Elsewhere"))
    )
    there.app.now_ms = here.loop.now_ms
    here.env.BILLING = there.app.Entrypoint(None, SimpleNamespace(NAME="billing"))
    return here


def test_a_remote_performer_has_the_same_context(consumer: MakeConsumer) -> None:
    here = two_workers(consumer)
    here.consume(dispatch(5, binding="Charge", attempt=2, payload={"amount": 2}))
    (report,) = here.shards.reports()
    assert report["result"] == {"charged": 2, "by": "billing", "key": f"Charge#0:{local_id(5)}"}
    assert (report["outcome"], report["finished_ms"]) == ("succeeded", START_MS + 2_000)
    assert here.shards.lines() == ["attempt 2"]
    assert [beat["progress"] for beat in here.shards.beats()] == [0.25]


def test_a_remote_performer_fails_with_its_own_error(consumer: MakeConsumer) -> None:
    here = two_workers(consumer)
    here.consume(dispatch(1, binding="Refuse"), dispatch(2, binding="Unknown"))
    first, second = sorted(here.shards.reports(), key=lambda report: str(report["id"]))
    assert (first["outcome"], first["error"]["type"]) == ("failed", "ValueError")
    assert second["outcome"] == "impossible"
    assert "asked to perform 'Unknown' performs Charge, Refuse" in second["error"]["message"]


def test_a_remote_performer_that_takes_too_long_is_cancelled_there(consumer: MakeConsumer) -> None:
    here = two_workers(consumer)
    here.consume(dispatch(1, binding="Charge", payload={"amount": 3_600}, timeout_ms=5_000))
    assert here.shards.outcomes() == {local_id(1): "timed-out"}


def test_a_worker_that_performs_for_another_keeps_to_the_time_out_itself() -> None:
    unwound: list[bool] = []

    async def too_long(payload: Any, ctx: JobContext) -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            unwound.append(ctx.cancelled.is_set())

    there = Consumer(performer("Charge", too_long))
    answer = there.loop.run(
        there.app.perform_for(json.dumps(asked(timeout_ms=5_000)), None, SimpleNamespace())
    )
    assert json.loads(answer)["outcome"] == "timed-out"
    assert (unwound, there.loop.time()) == ([True], 5)
    there.close()


@pytest.mark.parametrize(
    ("fault", "outcome", "said"),
    [
        ("Network connection lost.", "timed-out", "connection lost"),
        (
            'TypeError: The RPC receiver does not implement the method "perform".',
            "impossible",
            "entrypoint has to derive from Entrypoint",
        ),
    ],
)
def test_a_call_that_breaks_is_told_apart_from_one_that_can_never_work(
    consumer: MakeConsumer, fault: str, outcome: str, said: str
) -> None:
    async def perform(text: str, hear: Any) -> str:
        raise RuntimeError(fault)

    here = consumer(remote("BILLING", "Charge"))
    here.env.BILLING = SimpleNamespace(perform=perform)
    here.consume(dispatch(1, binding="Charge"))
    (report,) = here.shards.reports()
    assert report["outcome"] == outcome
    assert said in report["error"]["message"]


def test_a_missing_service_binding_is_named_with_the_entry_to_add(consumer: MakeConsumer) -> None:
    here = consumer(remote("BILLING", "Charge"))
    here.consume(dispatch(1, binding="Charge"))
    (report,) = here.shards.reports()
    assert report["outcome"] == "impossible"
    assert '"services": [{ "binding": "BILLING"' in report["error"]["message"]


def test_a_caller_that_does_not_listen_any_more_is_not_the_performers_fault() -> None:
    there = Consumer(Charge)

    async def gone(_text: str) -> None:
        raise ConnectionError

    answer = there.loop.run(
        there.app.perform_for(json.dumps(asked()), gone, SimpleNamespace(NAME="b"))
    )
    assert json.loads(answer)["outcome"] == "succeeded"
    there.close()
