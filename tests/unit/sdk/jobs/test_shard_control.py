"""What people do to jobs and policies of a shard, and what it tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from shard_harness import HOUR, MINUTE, SECOND, T0, World
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.core.retention import Retention
from tsumugi.jobs.shard.policies import PolicyError
from tsumugi.jobs.shard.shard import MalformedRequest

if TYPE_CHECKING:
    from collections.abc import Callable

type Shards = Callable[..., World]

PAUSED = Policy(paused=True)


def outcomes(answers: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(each["outcome"], each["state"]) for each in answers]


class TestCancel:
    def test_only_jobs_that_wait_can_be_cancelled(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=1))
        running, waiting = world.enqueue({}, {})
        answers = world.control("cancel", running, waiting, waiting, "0" * 28)
        assert outcomes(answers) == [
            ("invalid-state", "QUEUED"),
            ("done", "CANCELLED"),
            ("invalid-state", "CANCELLED"),
            ("gone", None),
        ]
        shown = world.show(waiting)
        assert (shown["cancelled_because"], shown["finished_at"]) == ("requested", T0)

    def test_the_next_of_the_line_starts_in_its_place(self, shard: Shards) -> None:
        world = shard(PAUSED)
        first, second = world.enqueue({"concurrency_key": "k"}, {"concurrency_key": "k"})
        world.control("cancel", first)
        world.set_policy(paused=False)
        assert [local_id for local_id, _ in world.take()] == [second]


class TestReschedule:
    def test_another_time_and_another_priority(self, shard: Shards) -> None:
        world = shard(PAUSED)
        first, second = world.enqueue({"concurrency_key": "k"}, {"concurrency_key": "k"})
        world.control("reschedule", first, delay_ms=HOUR)
        world.control("reschedule", second, priority=4)
        rows = [world.row(first), world.row(second)]
        assert [(row["ready_ms"], row["priority"]) for row in rows] == [(T0 + HOUR, 0), (T0, 4)]
        world.set_policy(paused=False)
        assert [local_id for local_id, _ in world.take()] == [second]
        world.report((second, 1))
        world.wait(HOUR)
        assert [local_id for local_id, _ in world.take()] == [first]

    def test_of_many_the_one_that_could_never_run_is_left_alone(self, shard: Shards) -> None:
        world = shard(PAUSED)
        ids = world.enqueue({}, {"expires_in_ms": MINUTE})
        answers = world.control("reschedule", *ids, delay_ms=HOUR)
        assert outcomes(answers) == [("done", "SCHEDULED"), ("invalid-option", "SCHEDULED")]
        assert "expire before it may start" in answers[1]["problem"]

    @pytest.mark.parametrize("change", [{}, {"delay_ms": -1}, {"delay_ms": 1, "run_at_ms": 1}])
    def test_what_no_job_can_have_is_a_fault_of_the_call(
        self, change: dict[str, int], shard: Shards
    ) -> None:
        world = shard(PAUSED)
        ids = world.enqueue({}, {})
        before = [world.row(local_id) for local_id in ids]
        with pytest.raises(OptionError):
            world.control("reschedule", *ids, **change)
        assert [world.row(local_id) for local_id in ids] == before


class TestRetry:
    @pytest.mark.parametrize("guarantee", ["at-least-once", "at-most-once"])
    def test_a_job_that_failed_or_stalled_starts_afresh(
        self, guarantee: str, shard: Shards
    ) -> None:
        world = shard()
        (local_id,) = world.enqueue({"guarantee": guarantee, "max_attempts": 2})
        world.take()
        world.report((local_id, 1), outcome="impossible")
        world.now += MINUTE
        assert outcomes(world.control("retry", local_id)) == [("done", "SCHEDULED")]
        (delivery,) = world.sent()
        assert (delivery["attempt"], delivery["epoch"]) == (1, 2)
        shown = world.show(local_id)
        assert (shown["attempts"], shown["ready_at"], shown["finished_at"]) == (0, world.now, None)
        assert len(shown["attempts_log"]) == 1

    def test_it_is_accepted_to_the_millisecond_as_long_as_the_job_is_kept(
        self, shard: Shards
    ) -> None:
        world = shard(retention=Retention(failed_retention_ms=HOUR))
        ids = world.enqueue({"max_attempts": 1}, {"max_attempts": 1})
        world.report(*world.take(), outcome="failed")
        world.now += HOUR - 1
        assert outcomes(world.control("retry", ids[0])) == [("done", "SCHEDULED")]
        world.now += 1
        assert outcomes(world.control("retry", ids[1])) == [("gone", None)]

    def test_more_jobs_than_a_call_takes_are_refused(self, shard: Shards) -> None:
        world = shard()
        with pytest.raises(ValueError, match="at most 200"):
            world.control("retry", *(["x"] * 201))

    def test_an_action_nobody_knows_is_refused(self, shard: Shards) -> None:
        world = shard()
        with pytest.raises(ValueError, match="'destroy' is no action"):
            world.control("destroy", "x")
        with pytest.raises(MalformedRequest):
            world.call("control", {"action": "cancel"})


class TestPolicy:
    def test_what_is_set_outranks_the_code_until_it_is_reset(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=5))
        answer = world.set_policy(concurrency=1, rate={"tokens": 10, "per_ms": 1_000})
        assert answer["policy"]["concurrency"] == 1
        assert answer["overrides"] == {
            "concurrency": 1,
            "rate": {"tokens": 10, "per_ms": 1_000},
        }
        world.set_policy(paused=True)
        world.policy = Policy(concurrency=7, reaper_grace_ms=5)  # the code was deployed anew
        world.restart()
        told = world.diagnostics()
        assert (told["policy"]["concurrency"], told["policy"]["reaper_grace_ms"]) == (1, 5)
        world.set_policy()
        told = world.diagnostics()
        assert (told["policy"]["concurrency"], told["overrides"]) == (7, {})

    def test_a_change_holds_for_the_next_tick_which_it_causes(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=1))
        world.enqueue({}, {}, {})
        world.set_policy(concurrency=3)
        assert len(world.sent()) == 3

    def test_a_rate_may_be_taken_away(self, shard: Shards) -> None:
        world = shard(Policy(rate=Rate(1, HOUR)))
        world.enqueue({}, {}, {})
        world.set_policy(rate=None)
        assert len(world.sent()) == 3
        assert world.diagnostics()["tokens"] is None

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"concurrency": 0}, "concurrency must be a whole number from 1"),
            ({"concurency": 1}, "concurency is no field of a policy"),
            ({"rate": 5}, "rate must be null or"),
            ({"rate": {"tokens": 0, "per_ms": 1}}, "tokens must be a whole number"),
            ({"paused": "yes"}, "paused must be true or false"),
        ],
    )
    def test_what_no_policy_can_have_is_refused(
        self, change: dict[str, Any], problem: str, shard: Shards
    ) -> None:
        world = shard()
        with pytest.raises(PolicyError, match=problem):
            world.set_policy(**change)
        assert world.diagnostics()["overrides"] == {}


class TestWhatItTells:
    def test_stats_count_every_state(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=2))
        ids = world.enqueue({}, {}, {}, {"delay_ms": HOUR})
        world.report((ids[0], 1))
        world.now += SECOND
        stats = world.call("stats")
        assert stats["counts"] == {
            "SCHEDULED": 1, "QUEUED": 2, "RUNNING": 0, "COMPLETED": 1, "FAILED": 0,
            "CANCELLED": 0, "STALLED": 0,
        }  # fmt: skip
        assert stats["oldest_ready_at"] is None

    def test_diagnostics_say_what_waits_and_when_it_wakes(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=1))
        world.enqueue({}, {})
        world.now += SECOND
        told = world.diagnostics()
        assert (told["binding"], told["shard"], told["at"]) == ("Mail", 0, world.now)
        assert (told["oldest_ready_at"], told["ticked_at"], told["outbox"]) == (T0, T0, 2)
        assert (told["alarm_at"], told["handovers"]) == (T0 + 500, 0)

    def test_show_answers_in_order_and_none_for_what_is_not_kept(self, shard: Shards) -> None:
        world = shard()
        first, second = world.enqueue({}, {})
        shown = world.call("show", {"ids": [second, "x", first, second]})["jobs"]
        assert [each and each["id"][-28:] for each in shown] == [second, None, first, second]

    def test_show_leaves_out_at_the_end_what_does_not_fit(self, shard: Shards) -> None:
        world = shard(PAUSED)
        ids = []
        for _ in range(3):
            ids += world.enqueue(*({"payload": "x" * 900_000} for _ in range(4)))
        shown = world.call("show", {"ids": ids})["jobs"]
        assert [each["id"][-28:] for each in shown] == ids[:8]

    def test_figures_are_one_point_per_event_and_lane(self, shard: Shards) -> None:
        world = shard()
        world.enqueue(*({} for _ in range(50)))
        world.now += SECOND
        taken = world.take()
        world.report(*taken[:40], started_ms=T0)
        world.report(*taken[40:], outcome="impossible", started_ms=T0 + 900)
        world.wait(SECOND)
        points = {each["blobs"][2]: (each["blobs"], each["doubles"]) for each in world.points}
        assert points == {
            "enqueued": (["Mail", "0", "enqueued", "1"], [50, 0, 0, 0]),
            "dispatched": (["Mail", "0", "dispatched", "1"], [50, 0, 0, 0]),
            "completed": (["Mail", "0", "completed", "1024"], [40, 40_000, 1_000, 40]),
            "failed": (["Mail", "0", "failed", "128"], [10, 1_000, 100, 10]),
        }
        assert {each["indexes"][0] for each in world.points} == {"Mail"}
