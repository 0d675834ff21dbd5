"""The nine rules of choosing what runs, on a shard over real SQLite, and what breaks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from shard_harness import HOUR, MINUTE, SECOND, T0, World
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy

if TYPE_CHECKING:
    from collections.abc import Callable


type Shards = Callable[..., World]


def started(world: World) -> list[str]:
    return [local_id for local_id, _ in world.take()]


def many(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [dict(fields) for _ in range(count)]


def chosen_in_a_window(world: World, size: int = 200) -> list[str]:
    """What a design starts that sorts the oldest jobs only."""
    window = world.db.execute(
        "SELECT id FROM (SELECT * FROM jobs WHERE state = 'SCHEDULED' ORDER BY ready_ms, id"
        f" LIMIT {size}) ORDER BY priority DESC, ready_ms, id"
    )
    return [local_id for (local_id,) in window]


class TestRule1ExactOrderAtAnyBacklog:
    def test_an_urgent_job_behind_many_is_first(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=1, paused=True))
        world.enqueue(*many(3_000))
        world.now += SECOND
        (urgent,) = world.enqueue({"priority": 1})
        assert urgent not in chosen_in_a_window(world)
        world.set_policy(paused=False)
        assert started(world) == [urgent]

    def test_jobs_start_by_effective_priority_then_age_then_id(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        (old,) = world.enqueue({"priority": 0})
        world.now += 2 * MINUTE
        first, second = world.enqueue({"priority": 1}, {"priority": 1, "concurrency_key": "k"})
        (urgent,) = world.enqueue({"priority": 3})
        world.set_policy(paused=False)
        assert started(world) == [urgent, old, first, second]

    @pytest.mark.parametrize("key", [{}, {"concurrency_key": "k"}])
    def test_older_is_who_may_run_for_longer_whoever_was_made_first(
        self, key: dict[str, str], shard: Shards
    ) -> None:
        world = shard(Policy(paused=True, per_key_concurrency=9))
        delays = (30, 10, 20)
        made = world.enqueue(*({"delay_ms": n * SECOND, **key} for n in delays))
        world.now += MINUTE
        world.set_policy(paused=False)
        assert started(world) == [made[1], made[2], made[0]]

    def test_strict_priorities_ignore_age(self, shard: Shards) -> None:
        world = shard(Policy(paused=True, aging_interval_ms=None))
        (old,) = world.enqueue({})
        world.now += 24 * HOUR
        (urgent,) = world.enqueue({"priority": 1})
        world.set_policy(paused=False)
        assert started(world) == [urgent, old]


class TestRule2AFullKeyBlocksNobodyElse:
    def test_behind_a_long_line_of_a_full_key_the_next_tick_starts_another_job(
        self, shard: Shards
    ) -> None:
        world = shard(Policy(concurrency=10))
        world.enqueue(*many(2_000, concurrency_key="busy", priority=5))
        assert len(started(world)) == 1
        world.now += SECOND
        (other,) = world.enqueue({"concurrency_key": "other"})
        assert other not in chosen_in_a_window(world)
        assert started(world) == [other]

    def test_a_key_holds_over_all_priorities_and_frees_the_next_in_line(
        self, shard: Shards
    ) -> None:
        world = shard(Policy(per_key_concurrency=2))
        ids = world.enqueue(
            *many(3, concurrency_key="k"), *many(2, concurrency_key="k", priority=7)
        )
        assert started(world) == ids[3:]
        world.report((ids[3], 1))
        assert started(world) == ids[:1]
        world.report((ids[4], 1), (ids[0], 1))
        assert started(world) == ids[1:3]

    def test_jobs_without_a_key_are_exempt(self, shard: Shards) -> None:
        world = shard()
        world.enqueue(*many(50))
        assert len(started(world)) == 50


class TestRule4TheBucketIsDurable:
    def test_losing_the_object_gives_no_free_burst(self, shard: Shards) -> None:
        world = shard(Policy(rate=Rate(10, MINUTE)))
        world.enqueue(*many(30))
        assert len(started(world)) == 10
        for _ in range(3):
            world.restart()
        assert started(world) == []
        world.wait(6 * SECOND)
        assert len(started(world)) == 1

    def test_over_a_day_no_token_is_lost_or_won(self, shard: Shards) -> None:
        world = shard(Policy(rate=Rate(7, 1_000), concurrency=1_000_000))
        world.enqueue(*many(2_000))
        count = len(started(world))
        for step in range(100):
            if step % 10 == 0:
                world.restart()
            world.wait(137)
            count += len(started(world))
        assert count == 7 + 7 * 13_700 // 1_000


class TestRule5AFailedHandOverCostsNothing:
    @pytest.mark.parametrize("guarantee", ["at-least-once", "at-most-once"])
    def test_the_jobs_wait_again_with_no_attempt_counted(
        self, guarantee: str, shard: Shards
    ) -> None:
        world = shard(Policy(rate=Rate(5, HOUR)))
        world.queue_error = RuntimeError("Queue sendBatch failed: Internal Server Error")
        ids = world.enqueue(*many(3, guarantee=guarantee, max_attempts=1))
        assert world.states() == dict.fromkeys(ids, "SCHEDULED")
        rows = [world.row(local_id) for local_id in ids]
        assert [(row["attempts"], row["ready_ms"]) for row in rows] == [(0, T0)] * 3
        assert world.diagnostics()["tokens"] == 5
        world.queue_error = None
        world.wait(SECOND)
        assert [each["attempt"] for each in world.sent()] == [1, 1, 1]
        assert world.diagnostics()["tokens"] == 2

    def test_a_queue_that_refuses_for_an_hour_costs_no_attempt_and_few_wake_ups(
        self, shard: Shards
    ) -> None:
        world = shard()
        world.queue_error = RuntimeError("unavailable")
        (local_id,) = world.enqueue({"max_attempts": 1, "timeout_ms": 1_000})
        assert world.wait(HOUR) < 200
        assert world.row(local_id)["attempts"] == 0
        assert world.diagnostics()["handover"]["error"] == "RuntimeError: unavailable"
        world.queue_error = None
        world.wait(MINUTE)
        assert started(world) == [local_id]
        assert world.diagnostics()["handover"]["failures"] == 0

    def test_a_delivery_that_arrived_all_the_same_cannot_claim(self, shard: Shards) -> None:
        world = shard()
        world.queue_error = TimeoutError()
        (local_id,) = world.enqueue({"guarantee": "at-most-once"})
        claim = {"id": local_id, "epoch": 1, "claim": True, "payload": False}
        assert world.call("begin", {"jobs": [claim]})["jobs"] == [{"refused": "settled"}]


class TestRule6HandOverRespectsBytes:
    def test_batches_end_by_count_and_by_bytes(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=1_000))
        world.enqueue(*many(250))  # the harness refuses what a queue would refuse
        assert [len(batch) for batch in world.queue] == [100, 100, 50]
        world.queue.clear()
        world.enqueue(*many(7, payload="\u3042" * 30_000))
        assert [len(batch) for batch in world.queue] == [2, 2, 2, 1]

    @pytest.mark.parametrize("size", [126_000, 127_500, 128_000, 900_000])
    def test_a_payload_too_large_for_a_message_stays_behind_and_is_fetched(
        self, size: int, shard: Shards
    ) -> None:
        world = shard()
        payload = {"text": "x" * size}
        (local_id,) = world.enqueue({"payload": payload})
        (delivery,) = world.sent()
        assert ("payload" in delivery) == (size <= 126_000)
        asked = {"id": local_id, "epoch": 1, "claim": False, "payload": True}
        assert world.call("begin", {"jobs": [asked]})["jobs"] == [
            {"refused": None, "payload": payload}
        ]


class TestRule7EveryDispatchCarriesAToken:
    def test_a_late_first_attempt_cannot_complete_the_second(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({"backoff": {"kind": "fixed", "delay_ms": 0}})
        world.wait(2 * MINUTE)
        assert [each["epoch"] for each in world.sent()] == [1, 2]
        stale = world.report((local_id, 1))
        assert stale == [{"id": local_id, "epoch": 1, "because": "superseded"}]
        assert world.states()[local_id] == "QUEUED"
        assert world.report((local_id, 2)) == []
        assert world.report((local_id, 2))[0]["because"] == "settled"
        assert world.report(("f" * 28, 1))[0]["because"] == "gone"
        assert world.diagnostics()["stale"] == {"superseded": 1, "settled": 1, "gone": 1}

    def test_stale_claims_beats_and_lines_change_nothing(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({"backoff": {"kind": "fixed", "delay_ms": 0}})
        world.wait(2 * MINUTE)
        before = world.row(local_id)
        old = {"id": local_id, "epoch": 1}
        told = {
            "beats": [{**old, "progress": 0.5}],
            "logs": [{**old, "at_ms": world.now, "text": "late"}],
        }
        stale = world.call("settle", told)["stale"]
        assert [each["because"] for each in stale] == ["superseded", "superseded"]
        claim = {**old, "claim": True, "payload": False}
        assert world.call("begin", {"jobs": [claim]})["jobs"] == [{"refused": "superseded"}]
        assert world.row(local_id) == before
        assert world.show(local_id)["logs"] == []


class TestRule8WaitingIsNoAttempt:
    @pytest.mark.parametrize(
        "policy",
        [Policy(paused=True), Policy(concurrency=1), Policy(rate=Rate(1, 400 * 24 * HOUR))],
        ids=["paused", "full", "throttled"],
    )
    def test_a_job_held_back_for_a_year_is_left_as_it_is(
        self, policy: Policy, shard: Shards
    ) -> None:
        world = shard(policy)
        _, held = world.enqueue({"timeout_ms": None}, {"timeout_ms": None})
        before = world.row(held)
        world.wait(365 * 24 * HOUR)
        assert world.row(held) == before
        assert world.states()[held] == "SCHEDULED"


class TestRule9TheAnswerSaysWhyNothingMoved:
    @pytest.mark.parametrize(
        ("policy", "reason"),
        [
            (Policy(paused=True), {"paused": True}),
            (Policy(concurrency=1), {"capacity": True}),
            (Policy(rate=Rate(1, HOUR)), {"tokens": True}),
        ],
    )
    def test_of_the_whole_shard(
        self, policy: Policy, reason: dict[str, bool], shard: Shards
    ) -> None:
        world = shard(policy)
        world.enqueue({}, {})
        nothing = {"capacity": False, "tokens": False, "paused": False, "handover": False}
        assert world.diagnostics()["blocked"] == {**nothing, "per_key": [], **reason}
        world.restart()
        assert world.diagnostics()["blocked"] == {**nothing, "per_key": [], **reason}

    def test_of_a_key(self, shard: Shards) -> None:
        world = shard()
        world.enqueue({"concurrency_key": "k"})
        world.enqueue({"concurrency_key": "k"})
        assert world.diagnostics()["blocked"]["per_key"] == ["k"]

    def test_of_a_queue_that_refuses(self, shard: Shards) -> None:
        world = shard()
        world.queue_error = RuntimeError("unavailable")
        world.enqueue({})
        blocked = world.diagnostics()["blocked"]
        assert (blocked["handover"], blocked["paused"]) == (True, False)

    def test_and_no_more_once_it_moved(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        world.enqueue({})
        world.set_policy(paused=False)
        assert not any(world.diagnostics()["blocked"].values())
