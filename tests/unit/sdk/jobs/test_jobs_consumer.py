"""A batch of dispatches: what is performed, with what, and what the shards are told."""

from __future__ import annotations

import asyncio
import json
import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from consumer_harness import Consumer, dispatch, performer
from fake_time import START_MS
from pydantic import BaseModel
from shard_fakes import local_id
from tsumugi import MissingBinding, Performer, Reject
from tsumugi.testing import build_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi import JobContext

type MakeConsumer = Callable[..., Consumer]


async def echo(payload: Any, ctx: JobContext) -> Any:
    return payload


class Mail(BaseModel):
    to: str


class SendMail(Performer[Mail]):
    async def perform(self, payload: Mail, ctx: JobContext) -> dict[str, str]:
        return {"sent": payload.to, "from": self.env.SENDER}


def test_a_job_is_performed_and_its_result_reported(consumer: MakeConsumer) -> None:
    under_test = consumer(SendMail)
    under_test.env.SENDER = "me"
    batch = under_test.consume(dispatch(7, binding="SendMail", payload={"to": "you"}))
    ((shard, method, request),) = under_test.shards.calls
    assert (shard, method) == ("SendMail#0", "settle")
    assert request == {
        "reports": [
            {
                "id": local_id(7),
                "epoch": 1,
                "outcome": "succeeded",
                "started_ms": START_MS,
                "finished_ms": START_MS,
                "result": {"sent": "you", "from": "me"},
            }
        ]
    }
    assert batch.decisions.ack_all


def test_a_plain_function_performs_as_well(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", lambda payload, ctx: payload + 1))
    under_test.consume(dispatch(1), dispatch(2))
    assert [report["result"] for report in under_test.shards.reports()] == [2, 3]


def test_a_plain_function_may_answer_an_awaitable(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", lambda payload, ctx: echo(payload, ctx)))
    under_test.consume(dispatch(5))
    assert under_test.shards.reports()[0]["result"] == 5


def test_the_performer_knows_its_attempt(consumer: MakeConsumer) -> None:
    seen: list[Any] = []

    async def look(payload: Any, ctx: JobContext) -> None:
        seen.append(ctx)

    under_test = consumer(performer("Work", look))
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    under_test.consume(
        dispatch(3, attempt=2, epoch=5, timeout_ms=1_000, traceparent=trace),
        dispatch(4, timeout_ms=None),
    )
    first, second = seen
    assert first.job_id == first.idempotency_key == f"Work#0:{local_id(3)}"
    assert (first.attempt, first.deadline_at_ms, first.traceparent) == (2, START_MS + 1_000, trace)
    assert (second.deadline_at_ms, second.traceparent) == (None, None)
    assert under_test.shards.reports()[0]["epoch"] == 5


def test_a_batch_is_one_call_per_shard(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", echo), performer("Other", echo))
    under_test.consume(
        *(dispatch(n, shard=n % 2) for n in range(10)), dispatch(11, binding="Other")
    )
    assert sorted(shard for shard, _, _ in under_test.shards.calls) == [
        "Other#0",
        "Work#0",
        "Work#1",
    ]
    assert len(under_test.shards.reports()) == 11


def test_jobs_of_a_batch_run_at_the_same_time(consumer: MakeConsumer) -> None:
    async def wait(payload: Any, ctx: JobContext) -> None:
        await asyncio.sleep(10)

    under_test = consumer(performer("Work", wait))
    under_test.consume(*(dispatch(n) for n in range(100)))
    assert under_test.loop.time() == pytest.approx(10, abs=0.1)


# -- Failures -------------------------------------------------------------------------------------


async def divide(payload: Any, ctx: JobContext) -> None:
    1 / payload


def test_an_exception_fails_the_attempt_with_its_traceback(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", divide))
    under_test.consume(dispatch(payload=0))
    (report,) = under_test.shards.reports()
    assert (report["outcome"], report["error"]["type"]) == ("failed", "ZeroDivisionError")
    assert "1 / payload" in report["error"]["traceback"]
    assert "tsumugi/jobs/consumer" not in report["error"]["traceback"]


@pytest.mark.parametrize("ending", [SystemExit(3), asyncio.CancelledError()])
def test_what_would_take_down_more_than_its_job_fails_the_job_alone(
    consumer: MakeConsumer, ending: BaseException
) -> None:
    async def end(payload: Any, ctx: JobContext) -> None:
        if payload == 1:
            raise ending

    under_test = consumer(performer("Work", end))
    under_test.consume(dispatch(1), dispatch(2))
    assert list(under_test.shards.outcomes().values()) == ["failed", "succeeded"]


def test_what_stops_the_event_is_handed_on_after_all_that_is_known_was_told(
    consumer: MakeConsumer,
) -> None:
    class CpuLimitExceeded(BaseException): ...

    async def end(payload: Any, ctx: JobContext) -> None:
        if payload == 2:
            await asyncio.sleep(1)
            raise CpuLimitExceeded
        if payload == 3:
            await asyncio.sleep(5)

    under_test = consumer(performer("Work", end))
    with pytest.raises(CpuLimitExceeded):
        under_test.consume(dispatch(1), dispatch(2), dispatch(3))
    assert under_test.shards.outcomes() == {local_id(1): "succeeded", local_id(2): "failed"}


def test_a_rejected_job_is_not_tried_again(consumer: MakeConsumer) -> None:
    async def refuse(payload: Any, ctx: JobContext) -> None:
        raise Reject("no such address")

    under_test = consumer(performer("Work", refuse))
    under_test.consume(dispatch())
    (report,) = under_test.shards.reports()
    assert (report["outcome"], report["error"]["message"]) == ("impossible", "no such address")


def test_a_payload_the_model_does_not_take_any_more_cannot_be_performed(
    consumer: MakeConsumer,
) -> None:
    under_test = consumer(SendMail)
    under_test.consume(dispatch(binding="SendMail", payload={"too": "you"}))
    (report,) = under_test.shards.reports()
    assert report["outcome"] == "impossible"
    assert "SendMail takes Mail" in report["error"]["message"]


def test_a_performer_that_is_not_listed_is_named_with_what_to_do(consumer: MakeConsumer) -> None:
    under_test = consumer(SendMail, performer("Work", echo))
    under_test.consume(dispatch(1, binding="Charge"), dispatch(2))
    assert list(under_test.shards.outcomes().values()) == ["impossible", "succeeded"]
    message = under_test.shards.reports()[0]["error"]["message"]
    assert "no performer 'Charge' (it has: SendMail, Work)" in message
    assert "Tsumugi(performers=[...])" in message


def test_a_constructor_that_fails_fails_the_attempt(consumer: MakeConsumer) -> None:
    def fail(self: Any, env: Any) -> None:
        raise KeyError("API_KEY")

    under_test = consumer(performer("Work", echo, __init__=fail))
    under_test.consume(dispatch())
    assert under_test.shards.reports()[0]["error"]["type"] == "KeyError"


def test_a_job_that_is_too_late_to_start_is_not_started(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", echo))
    under_test.consume(
        dispatch(1, expires_ms=START_MS),
        dispatch(2, expires_ms=START_MS + 1),
        dispatch(3, expires_ms=START_MS, attempt=2),
    )
    assert under_test.shards.outcomes() == {
        local_id(1): "not-started",
        local_id(2): "succeeded",
        local_id(3): "succeeded",
    }


# -- Messages -------------------------------------------------------------------------------------


def without(field: str) -> str:
    body = json.loads(dispatch())
    del body[field]
    return json.dumps(body)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        (dispatch(v=2), "version is 2"),
        (without("v"), "version is None"),
        (dispatch(job="Work#0:xyz"), "is not a job id"),
        (dispatch(job=None), "is not a job id"),
        (dispatch(epoch="1"), "epoch is '1'"),
        (dispatch(attempt=True), "attempt is True"),
        (without("epoch"), "epoch is None"),
        (dispatch(timeout_ms="60"), "timeout_ms is '60'"),
        (build_message({"order": 1}), "the body is a JsDict, not a text"),
    ],
)
def test_a_message_that_is_no_dispatch_is_logged_and_acknowledged(
    consumer: MakeConsumer, caplog: pytest.LogCaptureFixture, body: Any, said: str
) -> None:
    under_test = consumer(performer("Work", echo))
    batch = under_test.consume(body, dispatch(2))
    assert batch.decisions.ack_all
    assert list(under_test.shards.outcomes()) == [local_id(2)]
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "message message-1 of queue 'jobs' is no dispatch" in record.message
    assert said in record.message


def test_a_body_that_cannot_be_read_keeps_no_other_job_back(consumer: MakeConsumer) -> None:
    class Unreadable:
        id = "message-1"

        @property
        def body(self) -> str:
            raise OverflowError("a number too large")

    under_test = consumer(performer("Work", echo))
    acknowledged: list[bool] = []
    messages = [Unreadable(), build_message(dispatch(2), content_type="text")]
    batch = SimpleNamespace(
        queue="jobs", messages=messages, ackAll=lambda: acknowledged.append(True)
    )
    under_test.loop.run(under_test.app.consume(batch, under_test.env))  # type: ignore[arg-type]
    assert (list(under_test.shards.outcomes()), acknowledged) == ([local_id(2)], [True])


def test_a_missing_shard_binding_is_named_although_all_is_acknowledged(
    consumer: MakeConsumer,
) -> None:
    under_test = consumer(performer("Work", echo))
    del under_test.env.TSUMUGI_SHARD
    with pytest.raises(MissingBinding):
        under_test.consume(dispatch())


# -- Claims and payloads that were left behind -----------------------------------------------------


def test_claims_and_payloads_are_asked_for_in_one_call(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", echo))
    under_test.shards.on["begin"] = lambda _shard, _request: {
        "jobs": [{"refused": None}, {"refused": None, "payload": "large"}]
    }
    under_test.consume(dispatch(1, claim=True), dispatch(2, payload=...), dispatch(3))
    (request,) = under_test.shards.of("begin")
    assert request["jobs"][0].pop("claimant")
    assert request["jobs"] == [
        {"id": local_id(1), "epoch": 1, "claim": True, "payload": False},
        {"id": local_id(2), "epoch": 1, "claim": False, "payload": True},
    ]
    results = {report["id"]: report["result"] for report in under_test.shards.reports()}
    assert results == {local_id(1): 1, local_id(2): "large", local_id(3): 3}


@pytest.mark.parametrize("refused", ["taken", "gone", "superseded", "settled", "expired"])
def test_a_job_that_is_refused_is_neither_performed_nor_reported(
    consumer: MakeConsumer, refused: str
) -> None:
    performed: list[Any] = []

    async def note(payload: Any, ctx: JobContext) -> None:
        performed.append(payload)

    under_test = consumer(performer("Work", note))
    under_test.shards.on["begin"] = lambda _shard, _request: {
        "jobs": [{"refused": refused}, {"refused": None}]
    }
    under_test.consume(dispatch(1, claim=True), dispatch(2, claim=True))
    assert performed == [2]
    assert list(under_test.shards.outcomes()) == [local_id(2)]


def test_jobs_that_are_put_off_are_asked_for_again(consumer: MakeConsumer) -> None:
    def two_at_a_time(_shard: str, request: Any) -> Any:
        answers = [{"refused": None, "payload": job["id"]} for job in request["jobs"][:2]]
        return {"jobs": answers + [{"refused": "later"}] * (len(request["jobs"]) - 2)}

    under_test = consumer(performer("Work", echo))
    under_test.shards.on["begin"] = two_at_a_time
    under_test.consume(*(dispatch(n, payload=...) for n in range(5)))
    assert [len(request["jobs"]) for request in under_test.shards.of("begin")] == [5, 3, 1]
    assert len(under_test.shards.reports()) == 5


def test_jobs_that_need_no_claim_do_not_wait_for_those_that_do(consumer: MakeConsumer) -> None:
    finished: list[Any] = []

    async def note(payload: Any, ctx: JobContext) -> None:
        finished.append((payload, asyncio.get_running_loop().time()))

    async def slowly(_shard: str, request: Any) -> Any:
        await asyncio.sleep(3)
        return {"jobs": [{"refused": None}]}

    under_test = consumer(performer("Work", note))
    under_test.shards.on["begin"] = slowly
    under_test.consume(dispatch(1, claim=True), dispatch(2))
    assert finished == [(2, 0.0), (1, 3.0)]
    first, _ = under_test.shards.of("settle")
    assert [r["id"] for r in first["reports"]] == [local_id(2)]
