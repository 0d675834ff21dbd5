"""Claims, reports, heartbeats, log lines and silence, as a shard takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from shard_harness import HOUR, MINUTE, SECOND, T0, World
from tsumugi.jobs.shard import settling
from tsumugi.jobs.shard.shard import MalformedRequest
from tsumugi.jobs.shard.sql import Sql

if TYPE_CHECKING:
    from collections.abc import Callable

type Shards = Callable[..., World]

ONCE = {"guarantee": "at-most-once"}
AT_ONCE = {"backoff": {"kind": "fixed", "delay_ms": 0, "jitter": False}}
ERROR = {"type": "ValueError", "message": "no", "traceback": "Traceback ..."}


def begin(world: World, *asked: tuple[str, int], claim: bool = True, payload: bool = False) -> Any:
    jobs = [{"id": i, "epoch": e, "claim": claim, "payload": payload} for i, e in asked]
    return world.call("begin", {"jobs": jobs})["jobs"]


def beat(world: World, local_id: str, epoch: int = 1, progress: float | None = None) -> Any:
    told = {"id": local_id, "epoch": epoch, "progress": progress}
    return world.call("settle", {"beats": [told]})["stale"]


class TestReports:
    def test_a_job_that_succeeded_keeps_its_result_and_its_attempt(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        world.now += SECOND
        world.report((local_id, 1), result={"sent": 3}, started_ms=T0 + 10)
        shown = world.show(local_id)
        assert (shown["state"], shown["attempts"]) == ("COMPLETED", 1)
        assert (shown["result"], shown["note"], shown["error"]) == ({"sent": 3}, None, None)
        assert (shown["queued_at"], shown["started_at"]) == (T0, T0 + 10)
        assert (shown["finished_at"], shown["updated_at"]) == (T0 + SECOND, T0 + SECOND)
        assert shown["attempts_log"] == [
            {
                "attempt": 1,
                "outcome": "succeeded",
                "started_at": T0 + 10,
                "finished_at": T0 + SECOND,
                "error": None,
            }
        ]

    def test_a_job_that_failed_waits_for_its_backoff_and_then_fails_for_good(
        self, shard: Shards
    ) -> None:
        world = shard()
        backoff = {"kind": "exponential", "base_ms": 1_000, "jitter": False}
        (local_id,) = world.enqueue({"max_attempts": 3, "backoff": backoff})
        for attempt, wait_ms in ((1, 1_000), (2, 2_000)):
            assert world.report(*world.take(), outcome="failed", error=ERROR) == []
            assert world.row(local_id)["attempts"] == attempt
            world.wait(wait_ms - 1)
            assert world.sent() == []
            world.wait(1)
        (delivery,) = world.sent()
        assert (delivery["attempt"], delivery["epoch"]) == (3, 3)
        world.report(*world.take(), outcome="failed", error={**ERROR, "message": "last"})
        shown = world.show(local_id)
        assert (shown["state"], shown["attempts"]) == ("FAILED", 3)
        assert shown["error"]["message"] == "last"
        assert [each["error"]["message"] for each in shown["attempts_log"]] == ["no", "no", "last"]

    @pytest.mark.parametrize(
        ("outcome", "options", "state", "attempts"),
        [
            ("timed-out", {}, "SCHEDULED", 1),
            ("timed-out", ONCE, "STALLED", 1),
            ("timed-out", {"max_attempts": 1}, "FAILED", 1),
            ("failed", ONCE, "SCHEDULED", 1),
            ("impossible", {}, "FAILED", 1),
            ("impossible", ONCE, "FAILED", 1),
        ],
    )
    def test_each_outcome_leads_where_the_rules_say(
        self, outcome: str, options: dict[str, Any], state: str, attempts: int, shard: Shards
    ) -> None:
        world = shard()
        (local_id,) = world.enqueue(options)
        world.report((local_id, 1), outcome=outcome)
        shown = world.show(local_id)
        assert (shown["state"], shown["attempts"]) == (state, attempts)
        assert [each["outcome"] for each in shown["attempts_log"]] == [outcome]

    def test_what_was_not_started_waits_again_and_no_attempt_is_counted(
        self, shard: Shards
    ) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        world.report(*world.take(), outcome="not-started")
        assert [(each["epoch"], each["attempt"]) for each in world.sent()] == [(2, 1)]
        assert world.show(local_id)["attempts_log"] == []

    def test_many_reports_of_one_job_in_one_call_count_once(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        stale = world.report((local_id, 1), (local_id, 1), (local_id, 1), outcome="failed")
        assert [each["because"] for each in stale] == ["settled", "settled"]
        assert world.row(local_id)["attempts"] == 1

    def test_hundreds_of_jobs_are_settled_at_once(self, shard: Shards) -> None:
        world = shard()
        world.enqueue(*({} for _ in range(100)))
        taken = world.take()
        world.report(*taken, result="x" * 8_000)
        assert set(world.states().values()) == {"COMPLETED"}

    def test_a_result_that_is_too_long_is_null_with_a_note(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        world.report((local_id, 1), result="x" * 8_191)
        shown = world.show(local_id)
        assert (shown["result"], shown["note"]) == (
            None,
            "the result has more than 8192 characters",
        )

    def test_a_result_that_is_nested_too_deeply_is_null_with_a_note(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        world.report((local_id, 1))
        # Deeper than SQLite reads, on any machine on which Python can write it.
        rows = [[local_id, "[" * 5_000 + "]" * 5_000, None]]
        Sql(world.instance.storage).write_rows(settling._RESULTS, rows=rows)
        shown = world.show(local_id)
        assert (shown["result"], shown["note"]) == (None, "the result is nested too deeply")
        world.wait(SECOND)
        assert len(world.read_model) == 1

    def test_errors_are_cut_and_only_the_last_twenty_attempts_are_kept(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({**AT_ONCE, "max_attempts": 1_000})
        for number in range(30):
            error = {**ERROR, "message": str(number), "traceback": "x" * 5_000}
            world.report(*world.take(), outcome="failed", error=error)
        shown = world.show(local_id)
        log = shown["attempts_log"]
        assert [each["attempt"] for each in log] == list(range(11, 31))
        assert sum(map(len, log[-1]["error"].values())) == 2_000
        assert shown["error"]["message"] == "29"

    @pytest.mark.parametrize("report", [{"id": "x"}, {"id": 1, "epoch": 1}, 5])
    def test_a_report_that_cannot_be_read_changes_nothing(
        self, report: object, shard: Shards
    ) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        good = {
            "id": local_id, "epoch": 1, "outcome": "succeeded", "started_ms": T0,
            "finished_ms": T0,
        }  # fmt: skip
        with pytest.raises(MalformedRequest, match="settle"):
            world.call("settle", {"reports": [good, report]})
        assert world.states() == {local_id: "QUEUED"}

    def test_an_outcome_nobody_knows_changes_nothing(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        with pytest.raises(ValueError, match="perhaps"):
            world.report((local_id, 1), outcome="perhaps")
        assert world.states() == {local_id: "QUEUED"}


class TestClaims:
    def test_one_delivery_wins_and_the_others_find_it_taken(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue(ONCE)
        answers = begin(world, (local_id, 1), (local_id, 1))
        answers += begin(world, (local_id, 1))
        assert answers == [{"refused": None}, {"refused": "taken"}, {"refused": "taken"}]
        assert world.states() == {local_id: "RUNNING"}

    def test_a_consumer_that_forgets_to_claim_claims_all_the_same(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue(ONCE)
        asked = {"claim": False, "payload": True}
        first = begin(world, (local_id, 1), **asked)
        second = begin(world, (local_id, 1), **asked)
        assert (first, second) == ([{"refused": None, "payload": None}], [{"refused": "taken"}])

    def test_a_claim_moves_the_deadline(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue(ONCE)
        world.wait(MINUTE)
        begin(world, (local_id, 1))
        assert world.row(local_id)["report_due_ms"] == T0 + 2 * MINUTE

    def test_a_claim_that_comes_after_the_expiry_is_refused_and_the_job_cancelled(
        self, shard: Shards
    ) -> None:
        world = shard()
        (local_id,) = world.enqueue({**ONCE, "expires_in_ms": SECOND})
        world.now += SECOND
        assert begin(world, (local_id, 1)) == [{"refused": "expired"}]
        shown = world.show(local_id)
        assert (shown["state"], shown["cancelled_because"]) == ("CANCELLED", "expired")

    def test_an_answer_that_is_full_decides_nothing_about_the_rest(self, shard: Shards) -> None:
        world = shard()
        payload = "x" * 900_000
        ids = world.enqueue(*({**ONCE, "payload": payload} for _ in range(9)))
        ids += world.enqueue({**ONCE, "payload": payload})
        answers = begin(world, *((local_id, 1) for local_id in ids), payload=True)
        assert [each["refused"] for each in answers] == [None] * 8 + ["later"] * 2
        assert [world.states()[local_id] for local_id in ids[8:]] == ["QUEUED"] * 2
        again = begin(world, *((local_id, 1) for local_id in ids[8:]), payload=True)
        assert [each["payload"] == payload for each in again] == [True, True]


class TestSilence:
    def test_at_least_once_runs_again_and_fails_in_the_end(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({**AT_ONCE, "max_attempts": 2})
        world.wait(90 * SECOND - 1)
        assert len(world.sent()) == 1
        world.wait(1)
        assert len(world.sent()) == 2
        world.wait(90 * SECOND)
        shown = world.show(local_id)
        assert (shown["state"], shown["attempts"]) == ("FAILED", 2)
        assert [each["outcome"] for each in shown["attempts_log"]] == ["silent", "silent"]

    def test_at_most_once_stalls_and_never_runs_again_by_itself(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue(ONCE)
        world.wait(24 * HOUR)
        assert (world.states(), len(world.sent())) == ({local_id: "STALLED"}, 1)

    def test_without_a_timeout_a_job_is_awaited_for_ever(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({"timeout_ms": None})
        world.wait(365 * 24 * HOUR)
        assert world.states() == {local_id: "QUEUED"}


class TestHeartbeats:
    def test_they_move_the_deadline_and_carry_progress(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({"timeout_ms": 10_000})
        for step in range(1, 10):
            world.wait(8 * SECOND)
            assert beat(world, local_id, progress=step / 10) == []
        shown = world.show(local_id)
        assert (shown["state"], shown["progress"], len(world.sent())) == ("RUNNING", 0.9, 1)
        assert world.row(local_id)["report_due_ms"] == world.now + 10_000

    def test_within_five_seconds_one_is_written(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        beat(world, local_id, progress=0.1)
        version = world.row(local_id)["version"]
        world.now += 4_999
        beat(world, local_id, progress=0.2)
        assert world.row(local_id)["version"] == version
        world.now += 1
        beat(world, local_id, progress=0.3)
        assert world.row(local_id)["progress"] == 0.3

    def test_before_a_claim_they_are_too_early(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue(ONCE)
        assert [each["because"] for each in beat(world, local_id)] == ["unclaimed"]

    def test_a_beat_and_the_report_may_come_together(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        told = {
            "beats": [{"id": local_id, "epoch": 1, "progress": 0.9}],
            "reports": [
                {
                    "id": local_id, "epoch": 1, "outcome": "succeeded", "started_ms": T0,
                    "finished_ms": T0,
                }
            ],
        }  # fmt: skip
        assert world.call("settle", told) == {"stale": []}
        shown = world.show(local_id)
        assert (shown["state"], shown["progress"]) == ("COMPLETED", 0.9)


class TestLogLines:
    def test_the_last_twenty_are_kept_in_order(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        for first in (0, 15):
            lines = [
                {"id": local_id, "epoch": 1, "at_ms": T0 + n, "text": f"{n} \ud83d" + "x" * 3_000}
                for n in range(first, first + 15)
            ]
            world.call("settle", {"logs": lines})
        logs = world.show(local_id)["logs"]
        assert [each["at"] - T0 for each in logs] == list(range(10, 30))
        assert {(each["attempt"], len(each["text"])) for each in logs} == {(1, 2_000)}
        assert logs[0]["text"].startswith("10 \ufffd")
        assert world.row(local_id)["version"] == 4  # enqueued, dispatched, and twice written to
