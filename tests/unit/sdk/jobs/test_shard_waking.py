"""When a shard wakes, and that it does not wake for nothing; clocks that jump."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from shard_harness import HOUR, MINUTE, SECOND, T0, World
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.retention import Retention

if TYPE_CHECKING:
    from collections.abc import Callable

type Shards = Callable[..., World]

DAY = 24 * HOUR


class TestNoLoop:
    def test_an_empty_shard_sets_no_alarm(self, shard: Shards) -> None:
        world = shard()
        world.call("stats")
        assert (world.alarm, world.alarms_set) == (None, 0)

    @pytest.mark.parametrize(
        "policy",
        [
            Policy(paused=True),
            Policy(concurrency=1),
            Policy(rate=Rate(1, 400 * DAY)),
        ],
        ids=["paused", "saturated", "throttled"],
    )
    def test_a_shard_that_can_start_nothing_sleeps(self, policy: Policy, shard: Shards) -> None:
        world = shard(policy)
        world.enqueue(*({"timeout_ms": None, "concurrency_key": "k"} for _ in range(100)))
        world.enqueue(
            *({"timeout_ms": None, "delay_ms": n * SECOND} for _ in range(50) for n in (1,))
        )
        assert world.wait(MINUTE) <= 3
        assert world.wait(DAY) == 0

    def test_a_line_behind_a_full_key_wakes_nobody(self, shard: Shards) -> None:
        world = shard()
        world.enqueue(*({"timeout_ms": None, "concurrency_key": "k"} for _ in range(100)))
        world.wait(MINUTE)
        assert world.wait(DAY) == 0

    def test_a_busy_shard_moves_its_alarm_seldom(self, shard: Shards) -> None:
        world = shard()
        world.enqueue(*({} for _ in range(300)))
        before = world.alarms_set
        for _ in range(20):
            world.now += 10
            world.enqueue({})
            world.report(*world.take()[:1])
        assert world.alarms_set == before

    def test_an_hour_of_steady_work_costs_a_wake_up_per_gathering(self, shard: Shards) -> None:
        world = shard()
        fired = 0
        for _ in range(60):
            world.enqueue({})
            world.report(*world.take())
            fired += world.wait(MINUTE)
        assert fired <= 3 * 60

    def test_a_rate_wakes_for_its_tokens_and_no_more(self, shard: Shards) -> None:
        world = shard(Policy(rate=Rate(60, MINUTE), concurrency=200))
        world.enqueue(*({"timeout_ms": None} for _ in range(120)))
        assert world.wait(MINUTE) <= 2 * 60 + 5  # for a token, and for the read model
        assert len(world.sent()) == 120
        world.wait(MINUTE)
        assert world.wait(DAY) == 0


class TestWakingInTime:
    def test_for_a_job_that_becomes_ready(self, shard: Shards) -> None:
        world = shard()
        world.enqueue({"delay_ms": HOUR})
        world.wait(SECOND)
        assert world.alarm == T0 + HOUR

    def test_for_an_earlier_one_that_came_later(self, shard: Shards) -> None:
        world = shard()
        world.enqueue({"delay_ms": HOUR})
        world.wait(SECOND)
        world.enqueue({"delay_ms": MINUTE})
        world.wait(SECOND)
        assert world.alarm == T0 + SECOND + MINUTE

    def test_for_silence_for_expiry_and_for_the_sweep(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=1), retention=Retention(sweep_after_ms=HOUR))
        world.enqueue({"max_attempts": 1}, {"expires_in_ms": 10 * MINUTE})
        world.set_policy(paused=True)
        world.wait(SECOND)
        assert world.alarm == T0 + 90 * SECOND
        world.wait(2 * MINUTE)
        assert world.alarm == T0 + 10 * MINUTE
        world.wait(10 * MINUTE)
        assert sorted(world.states().values()) == ["CANCELLED", "FAILED"]
        world.wait(HOUR)
        assert sorted(world.states().values()) == ["FAILED"]

    def test_after_a_restart_as_before(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({"delay_ms": HOUR})
        world.wait(SECOND)
        world.alarm = None  # even if the platform had lost it
        world.restart()
        assert world.alarm == T0 + HOUR
        world.wait(HOUR)
        assert world.take() == [(local_id, 1)]


class TestTheAlarmNeverFails:
    def test_what_fails_in_it_is_tried_again(
        self, shard: Shards, caplog: pytest.LogCaptureFixture
    ) -> None:
        world = shard()
        world.enqueue({"delay_ms": MINUTE, "timeout_ms": None})
        world.wait(SECOND)
        broken = True

        def refuse(what: str) -> None:
            if broken:
                raise RuntimeError("disk I/O error")

        world.instance.storage.before = refuse
        world.wait(MINUTE)
        assert (world.sent(), world.alarm is not None) == ([], True)
        assert "disk I/O error" in caplog.text
        broken = False
        world.wait(2 * MINUTE)
        assert len(world.sent()) == 1

    def test_a_tick_that_fails_for_an_hour_is_tried_seldom(self, shard: Shards) -> None:
        world = shard()
        world.enqueue({"delay_ms": MINUTE})
        world.wait(SECOND)

        def refuse(what: str) -> None:
            raise RuntimeError("disk I/O error")

        world.instance.storage.before = refuse
        assert world.wait(HOUR) < 200
        world.instance.storage.before = lambda what: None


class TestClocks:
    def test_jobs_that_could_run_can_run_after_the_clock_went_back(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        ids = world.enqueue({}, {"concurrency_key": "k"}, {"delay_ms": MINUTE}, {"priority": 1})
        world.now -= HOUR
        world.set_policy(paused=False)
        assert [local_id for local_id, _ in world.take()] == [ids[3], ids[0], ids[1]]
        assert world.row(ids[2])["ready_ms"] == T0 + MINUTE

    def test_a_delayed_job_waits_for_its_time_again(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        (delayed,) = world.enqueue({"delay_ms": MINUTE})
        world.now += 2 * MINUTE
        (other,) = world.enqueue({})
        world.now -= 2 * MINUTE
        world.set_policy(paused=False)
        assert world.take() == [(other, 1)]
        world.wait(MINUTE)
        assert world.take() == [(delayed, 1)]

    def test_thousands_are_put_right_in_portions(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        ids = world.enqueue(*({} for _ in range(2_300)))
        world.now -= HOUR
        world.set_policy(paused=False)
        assert {row for (row,) in world.db.execute("SELECT DISTINCT ready_ms FROM jobs")} == {
            T0 - HOUR
        }
        assert [local_id for local_id, _ in world.take()] == ids[:100]

    def test_a_clock_that_was_ahead_for_a_moment_strands_nothing(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=1))
        world.now += DAY
        running, waiting = world.enqueue({}, {})
        world.now -= DAY
        world.report(*world.take())
        assert world.take() == [(waiting, 1)]
        world.wait(2 * MINUTE)
        assert world.row(waiting)["attempts"] == 1  # silence was noticed within its time
        assert world.states()[running] == "COMPLETED"

    def test_a_report_is_not_awaited_longer_than_its_job_allows(self, shard: Shards) -> None:
        world = shard()
        (local_id,) = world.enqueue({})
        world.take()
        world.now -= DAY
        world.enqueue({})
        world.wait(91 * SECOND)
        assert world.row(local_id)["attempts"] == 1

    def test_a_bucket_goes_on_filling(self, shard: Shards) -> None:
        world = shard(Policy(rate=Rate(10, 10 * SECOND)))
        world.enqueue(*({} for _ in range(30)))
        assert len(world.take()) == 10
        world.now -= DAY
        world.enqueue({})
        world.wait(5 * SECOND)
        assert len(world.take()) == 5

    def test_the_read_model_is_not_kept_waiting(self, shard: Shards) -> None:
        world = shard()
        world.enqueue({})
        world.now -= DAY
        world.enqueue({})
        world.wait(SECOND)
        assert len(world.read_model) == 2

    def test_what_failed_is_tried_again_at_once(self, shard: Shards) -> None:
        world = shard()
        world.queue_error = world.database_error = RuntimeError("unavailable")
        world.enqueue({})
        world.wait(HOUR)
        world.queue_error = world.database_error = None
        world.now -= DAY
        world.enqueue({})
        assert len(world.take()) == 2
        world.wait(SECOND)
        assert len(world.read_model) == 2

    def test_a_jump_forward_starts_what_is_due_and_reaps_what_is_silent(
        self, shard: Shards
    ) -> None:
        world = shard()
        silent, later = world.enqueue({"max_attempts": 1}, {"delay_ms": HOUR})
        world.now += DAY
        world.wait(0)
        assert world.states() == {silent: "FAILED", later: "QUEUED"}
