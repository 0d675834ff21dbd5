"""Time in a batch: early reports, time-outs, heartbeats, log lines. The clock jumps."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from consumer_harness import Consumer, dispatch, performer
from fake_time import START_MS
from shard_fakes import local_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi import JobContext

type MakeConsumer = Callable[..., Consumer]


async def for_seconds(payload: Any, ctx: JobContext) -> None:
    await asyncio.sleep(payload)


class Told:
    """When the shard was told what, in milliseconds from the start."""

    def __init__(self, consumer: Consumer, takes_s: float = 0) -> None:
        self.at: list[tuple[float, str, str]] = []
        self._consumer = consumer
        self._takes_s = takes_s
        consumer.shards.on["settle"] = self._settle

    async def _settle(self, _shard: str, request: Any) -> Any:
        now_ms = round(self._consumer.loop.time() * 1_000)
        for kind in ("reports", "beats", "logs"):
            self.at.extend((now_ms, kind, entry["id"]) for entry in request.get(kind, ()))
        await asyncio.sleep(self._takes_s)
        return {"stale": []}

    def times(self, kind: str, number: int) -> list[float]:
        return [at for at, told, job in self.at if (told, job) == (kind, local_id(number))]


# -- Reports --------------------------------------------------------------------------------------


def test_a_lone_job_is_reported_without_waiting_for_any_timer(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    told = Told(under_test)
    under_test.consume(dispatch(1, payload=0))
    assert told.times("reports", 1) == [0]
    assert under_test.loop.time() == 0


def test_a_fast_job_is_not_held_back_by_a_slow_one(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    told = Told(under_test)
    under_test.consume(dispatch(1, payload=0), dispatch(2, payload=0.1), dispatch(3, payload=20))
    assert told.times("reports", 1) == [25]
    assert told.times("reports", 2) == [125]
    assert told.times("reports", 3) == [20_000]


def test_jobs_that_end_close_together_are_reported_together(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    under_test.consume(
        *(dispatch(n, payload=n / 1_000) for n in range(1, 21)), dispatch(99, payload=5)
    )
    assert [len(request.get("reports", ())) for request in under_test.shards.of("settle")] == [
        20,
        0,
        1,
    ]


def test_while_a_call_is_under_way_reports_gather_for_the_next(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    told = Told(under_test, takes_s=0.5)
    under_test.consume(*(dispatch(n, payload=n / 10) for n in range(1, 10)))
    starts = sorted({at for at, _, _ in told.at})
    assert starts == [125, 625, 1_125]


def test_what_gathers_during_a_call_leaves_right_after_it(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    told = Told(under_test, takes_s=0.5)
    under_test.consume(*(dispatch(n, payload=takes) for n, takes in enumerate((0, 0.1, 20))))
    assert told.times("reports", 0) == [25]
    assert told.times("reports", 1) == [525]


def test_a_job_whose_claim_is_awaited_holds_back_no_refusal(consumer: MakeConsumer) -> None:
    async def slowly(_shard: str, _request: Any) -> Any:
        await asyncio.sleep(3)
        return {"jobs": [{"refused": None}]}

    under_test = consumer(performer("Work", for_seconds))
    under_test.shards.on["begin"] = slowly
    told = Told(under_test)
    under_test.consume(dispatch(1, binding="Gone"), dispatch(2, claim=True, payload=0))
    assert told.times("reports", 1) == [25]


# -- Time-outs ------------------------------------------------------------------------------------


def test_a_performer_that_takes_too_long_is_reported_and_cancelled(consumer: MakeConsumer) -> None:
    unwound: list[bool] = []

    async def too_long(payload: Any, ctx: JobContext) -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            unwound.append(ctx.cancelled.is_set())

    under_test = consumer(performer("Work", too_long))
    under_test.consume(dispatch(1, timeout_ms=5_000))
    (report,) = under_test.shards.reports()
    assert (report["outcome"], report["finished_ms"]) == ("timed-out", START_MS + 5_000)
    assert "within its timeout_ms of 5000" in report["error"]["message"]
    assert unwound == [True]


def test_a_performer_that_goes_on_after_its_time_out_is_left_behind(
    consumer: MakeConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    async def deaf(payload: Any, ctx: JobContext) -> str:
        while True:
            try:
                await asyncio.sleep(3_600)
            except asyncio.CancelledError:
                if under_test.loop.time() > 1_000:
                    raise

    under_test = consumer(performer("Work", deaf))
    under_test.consume(dispatch(1, timeout_ms=5_000))
    assert under_test.shards.outcomes() == {local_id(1): "timed-out"}
    assert under_test.loop.time() == pytest.approx(6)
    assert "goes on; the runtime drops it" in caplog.text
    under_test.loop.spend(2_000_000)
    for task in asyncio.all_tasks(under_test.loop):
        task.cancel()
    under_test.loop.run(asyncio.sleep(0))


def test_what_a_performer_says_after_its_time_out_is_not_told(consumer: MakeConsumer) -> None:
    async def late(payload: Any, ctx: JobContext) -> str:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            await ctx.heartbeat(1)
            await ctx.log("cleaning up")
            await asyncio.sleep(0.5)
        return "too late"

    under_test = consumer(performer("Work", late))
    under_test.consume(dispatch(1, timeout_ms=500), dispatch(2, timeout_ms=5_000))
    reported = [(report["id"], report["outcome"]) for report in under_test.shards.reports()]
    assert reported == [(local_id(1), "timed-out"), (local_id(2), "timed-out")]
    assert under_test.shards.lines() == []
    assert [beat["id"] for beat in under_test.shards.beats()] == [local_id(2)], "its first second"


def test_without_a_time_out_a_job_may_take_for_ever(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    under_test.consume(dispatch(1, payload=800_000, timeout_ms=None))
    assert under_test.shards.outcomes() == {local_id(1): "succeeded"}


def test_a_time_out_counts_from_the_claim(consumer: MakeConsumer) -> None:
    async def slowly(_shard: str, _request: Any) -> Any:
        await asyncio.sleep(3)
        return {"jobs": [{"refused": None}]}

    under_test = consumer(performer("Work", for_seconds))
    under_test.shards.on["begin"] = slowly
    under_test.consume(dispatch(1, claim=True, payload=4, timeout_ms=5_000))
    assert under_test.shards.outcomes() == {local_id(1): "succeeded"}


# -- Heartbeats -----------------------------------------------------------------------------------


def test_a_job_that_runs_for_a_second_shows_as_running(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    told = Told(under_test)
    under_test.consume(dispatch(1, payload=0.9), dispatch(2, payload=30))
    assert told.times("beats", 1) == []
    assert told.times("beats", 2) == [1_000]
    (beat,) = under_test.shards.beats()
    assert beat == {"id": local_id(2), "epoch": 1, "progress": None}


def test_a_claimed_job_shows_as_running_without_a_beat(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    under_test.consume(dispatch(1, payload=30, claim=True))
    assert under_test.shards.beats() == []


def test_heartbeats_are_sent_at_most_once_in_five_seconds(consumer: MakeConsumer) -> None:
    async def beat(payload: Any, ctx: JobContext) -> None:
        for n in range(12):
            await ctx.heartbeat(n / 12)
            await asyncio.sleep(1)

    under_test = consumer(performer("Work", beat))
    told = Told(under_test)
    under_test.consume(dispatch(1))
    assert told.times("beats", 1) == [0, 5_000, 10_000]
    assert [round(beat["progress"] * 12) for beat in under_test.shards.beats()] == [0, 5, 10]


def test_a_heartbeat_returns_when_the_shard_has_it(consumer: MakeConsumer) -> None:
    returned: list[float] = []

    async def beat(payload: Any, ctx: JobContext) -> None:
        await ctx.heartbeat()
        returned.append(under_test.loop.time())

    under_test = consumer(performer("Work", beat))
    Told(under_test, takes_s=2)
    under_test.consume(dispatch(1), dispatch(2))
    assert returned == [2, 2]
    assert len(under_test.shards.of("settle")[0]["beats"]) == 2


def test_progress_stays_between_0_and_1(consumer: MakeConsumer) -> None:
    async def beat(payload: Any, ctx: JobContext) -> None:
        await ctx.heartbeat(payload)

    under_test = consumer(performer("Work", beat))
    wrong = ["half", True]
    under_test.consume(*(dispatch(n, payload=p) for n, p in enumerate([-1, 0.5, 7, *wrong])))
    assert [beat["progress"] for beat in under_test.shards.beats()] == [0, 0.5, 1]
    assert list(under_test.shards.outcomes().values()).count("failed") == 2


def test_a_job_nobody_waits_for_any_more_is_cancelled(consumer: MakeConsumer) -> None:
    ended: list[Any] = []

    async def work(payload: Any, ctx: JobContext) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append((payload, ctx.cancelled.is_set(), under_test.loop.time()))

    def stale(_shard: str, request: Any) -> Any:
        return {
            "stale": [
                {"id": beat["id"], "epoch": beat["epoch"], "because": "superseded"}
                for beat in request.get("beats", ())
                if beat["id"] == local_id(1)
            ]
        }

    under_test = consumer(performer("Work", work))
    under_test.shards.on["settle"] = stale
    under_test.consume(dispatch(1), dispatch(2))
    assert ended == [(1, True, 1.0), (2, False, 30.0)]
    assert list(under_test.shards.outcomes()) == [local_id(2)]


def test_a_stale_answer_about_an_earlier_dispatch_stops_nothing(consumer: MakeConsumer) -> None:
    under_test = consumer(performer("Work", for_seconds))
    under_test.shards.on["settle"] = lambda _shard, _request: {
        "stale": [{"id": local_id(1), "epoch": 1, "because": "superseded"}]
    }
    under_test.consume(dispatch(1, epoch=2, payload=3))
    assert under_test.shards.outcomes() == {local_id(1): "succeeded"}


# -- Log lines ------------------------------------------------------------------------------------


def test_log_lines_are_told_soon_and_with_their_time(consumer: MakeConsumer) -> None:
    async def work(payload: Any, ctx: JobContext) -> None:
        await ctx.log("first")
        await asyncio.sleep(0.01)
        await ctx.log({"second": 2})
        await asyncio.sleep(10)

    under_test = consumer(performer("Work", work))
    told = Told(under_test)
    under_test.consume(dispatch(1))
    assert told.times("logs", 1) == [25, 25]
    first = under_test.shards.of("settle")[0]["logs"][0]
    assert first == {"id": local_id(1), "epoch": 1, "at_ms": START_MS, "text": "first"}
    assert under_test.shards.lines() == ["first", "{'second': 2}"]


def test_lines_are_cut_and_only_the_last_twenty_are_told(consumer: MakeConsumer) -> None:
    async def work(payload: Any, ctx: JobContext) -> None:
        for n in range(30):
            await ctx.log(f"{n} " + "x" * 3_000)

    under_test = consumer(performer("Work", work))
    under_test.consume(dispatch(1))
    lines = under_test.shards.lines()
    assert [line.split()[0] for line in lines] == [str(n) for n in range(10, 30)]
    assert {len(line) for line in lines} == {2_000}


def test_what_a_database_cannot_keep_is_replaced(consumer: MakeConsumer) -> None:
    async def work(payload: Any, ctx: JobContext) -> None:
        await ctx.log("nul \0, half \ud800, whole \N{SNOWMAN}")

    under_test = consumer(performer("Work", work))
    under_test.consume(dispatch(1))
    assert under_test.shards.lines() == ["nul \ufffd, half \ufffd, whole \N{SNOWMAN}"]


# -- Performers that block ------------------------------------------------------------------------


def test_between_blocking_performers_the_batch_reports_and_shows_that_it_lives(
    consumer: MakeConsumer,
) -> None:
    def block(payload: Any, ctx: JobContext) -> None:
        under_test.loop.spend(2_000)

    under_test = consumer(performer("Work", block))
    told = Told(under_test)
    under_test.consume(*(dispatch(n) for n in range(1, 11)))
    assert len(under_test.shards.reports()) == 10
    assert told.times("reports", 1)[0] <= 6_000
    # The last one waits for 18 seconds, and nobody may take it for dead meanwhile.
    assert len(told.times("beats", 10)) >= 3


def test_a_blocking_performer_that_took_too_long_is_believed(
    consumer: MakeConsumer, caplog: pytest.LogCaptureFixture
) -> None:
    def block(payload: Any, ctx: JobContext) -> str:
        under_test.loop.spend(9_000)
        return "done"

    caplog.set_level(logging.WARNING)
    under_test = consumer(performer("Work", block))
    under_test.consume(dispatch(1, timeout_ms=5_000))
    assert under_test.shards.outcomes() == {local_id(1): "succeeded"}
