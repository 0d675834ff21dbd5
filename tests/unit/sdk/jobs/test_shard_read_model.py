"""How the read model learns of jobs: late and together, again after failures, before the sweep."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from shard_harness import HOUR, MINUTE, SECOND, T0, World
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.retention import Retention
from tsumugi.jobs.shard.projecting import LONGEST_BEHIND_MS

if TYPE_CHECKING:
    from collections.abc import Callable

type Shards = Callable[..., World]


def learnt(world: World) -> dict[str, str]:
    return {job_id[-28:]: row["state"] for job_id, row in world.read_model.items()}


def test_a_job_that_comes_and_goes_within_the_gathering_is_one_row(shard: Shards) -> None:
    world = shard()
    ids = world.enqueue(*({} for _ in range(100)))
    world.report(*world.take())
    world.wait(SECOND)
    assert (world.projected, learnt(world)) == ([100], dict.fromkeys(ids, "COMPLETED"))


def test_while_jobs_keep_changing_it_learns_every_three_seconds(shard: Shards) -> None:
    world = shard()
    for step in range(100):
        world.enqueue({}, {})
        world.report(*world.take())
        world.wait(100)
        assert len(world.projected) == (step + 1) // 30
    assert world.projected == [60, 60, 60]


def test_every_change_is_learnt_half_a_second_later(shard: Shards) -> None:
    world = shard(Policy(paused=True))
    (local_id,) = world.enqueue({})
    world.wait(499)
    assert learnt(world) == {}
    world.wait(1)
    assert learnt(world) == {local_id: "SCHEDULED"}
    world.set_policy(paused=False)
    world.wait(SECOND)
    assert learnt(world) == {local_id: "QUEUED"}


def test_thousands_are_learnt_in_portions_of_few_and_of_few_bytes(shard: Shards) -> None:
    world = shard(Policy(paused=True))
    world.enqueue(*({} for _ in range(1_200)))
    world.enqueue(*({"payload": "\u3042" * 100_000} for _ in range(8)))
    world.wait(MINUTE)
    assert world.projected == [500, 500, 202, 3, 3]
    assert len(world.read_model) == 1_208
    assert world.count("outbox") == 0


def test_a_job_full_of_text_is_learnt_as_a_whole(shard: Shards) -> None:
    world = shard()
    (local_id,) = world.enqueue(
        {"payload": "x" * 990_000, "max_attempts": 99, "backoff": {"kind": "fixed", "delay_ms": 0}}
    )
    error = {"type": "E", "message": "", "traceback": "\x01" * 2_000}
    for _ in range(25):
        taken = world.take()
        lines = [{"id": i, "epoch": e, "at_ms": 0, "text": "\x01" * 2_000} for i, e in taken]
        world.call("settle", {"logs": lines})
        world.report(*taken, outcome="failed", error=error)
    world.wait(SECOND)
    (row,) = world.read_model.values()
    assert (len(row["attempts_log"]), len(row["logs"])) == (20, 20)
    assert world.show(local_id)["payload"] == "x" * 990_000


class TestWhileTheDatabaseFails:
    def test_nothing_stops_and_nothing_is_lost(self, shard: Shards) -> None:
        world = shard(retention=Retention(sweep_after_ms=SECOND))
        world.database_error = RuntimeError("D1_ERROR: overloaded")
        ids = world.enqueue(*({} for _ in range(30)))
        for _ in range(5):
            world.report(*world.take())
            ids += world.enqueue({}, {})
            assert world.wait(10 * MINUTE) < 50
        assert world.diagnostics()["projection"]["error"] == "RuntimeError: D1_ERROR: overloaded"
        assert set(world.states()) == set(ids)  # nothing is swept that was not learnt of
        world.database_error = None
        world.wait(2 * MINUTE)
        assert set(learnt(world)) == set(ids)
        assert world.count("outbox") == 0
        assert world.diagnostics()["projection"] == {
            "failures": 0, "error": None, "failed_at": None, "retry_at": None,
        }  # fmt: skip

    def test_it_is_tried_less_and_less_often_up_to_once_a_minute(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        world.database_error = RuntimeError()
        world.enqueue({})
        world.wait(2 * HOUR)
        failures = world.diagnostics()["projection"]["failures"]
        assert 110 < failures < 135
        world.restart()
        assert world.diagnostics()["projection"]["failures"] == failures
        assert world.wait(MINUTE - SECOND) <= 2

    def test_a_sweep_that_had_to_wait_comes_after_it(self, shard: Shards) -> None:
        world = shard(retention=Retention(sweep_after_ms=MINUTE))
        world.database_error = RuntimeError()
        world.enqueue({})
        world.report(*world.take())
        world.wait(HOUR)
        assert world.wait(HOUR) < 70  # not a wake-up for the sweep that has to wait
        world.database_error = None
        world.wait(2 * MINUTE)
        assert (world.states(), len(learnt(world))) == ({}, 1)


def test_a_change_while_it_is_being_learnt_is_learnt_as_well(shard: Shards) -> None:
    world = shard()
    ids = world.enqueue({}, {})
    taken = world.take()
    project = world.project

    async def slowly(snapshots: Any) -> None:
        world.project = project  # type: ignore[method-assign]
        await project(snapshots)
        report = {"id": ids[0], "epoch": 1, "outcome": "succeeded", "started_ms": 0,
                  "finished_ms": 0}  # fmt: skip
        import json

        await world.shard.settle(json.dumps({"reports": [report]}))

    world.project = slowly  # type: ignore[method-assign]
    world.wait(500)
    assert learnt(world) == {ids[0]: "QUEUED", ids[1]: "QUEUED"}
    assert [row for (row,) in world.db.execute("SELECT id FROM outbox")] == [ids[0]]
    world.wait(SECOND)
    assert learnt(world) == {ids[0]: "COMPLETED", ids[1]: "QUEUED"}
    assert taken == [(ids[0], 1), (ids[1], 1)]


def test_a_slow_database_is_left_room_between_passes(shard: Shards) -> None:
    world = shard(Policy(paused=True))
    project = world.project

    async def slowly(snapshots: Any) -> None:
        world.now += 1_000
        await project(snapshots)

    world.project = slowly  # type: ignore[method-assign]
    for _ in range(40):
        world.enqueue({})
        world.wait(500)
    assert len(world.projected) <= 8


def test_the_room_after_a_pass_ends_when_the_clock_goes_back(shard: Shards) -> None:
    world = shard(Policy(paused=True))
    project = world.project

    async def slowly(snapshots: Any) -> None:
        world.now += 2 * SECOND
        await project(snapshots)

    world.project = slowly  # type: ignore[method-assign]
    world.enqueue({})
    world.wait(SECOND)
    world.now -= HOUR
    world.enqueue({})
    world.wait(SECOND)
    assert len(world.read_model) == 2


class TestALongPass:
    """5 000 jobs are ten portions. Each takes D1 a while."""

    def begun(self, world: World, portion_ms: int, *, changes: int = 10) -> list[int]:
        """When each portion was begun, from now on. During the first ``changes`` jobs change."""
        project, times = world.project, []

        async def slowly(snapshots: Any) -> None:
            times.append(world.now - T0)
            world.now += portion_ms
            if len(times) <= changes:
                await world.shard.enqueue('{"jobs":[{"payload":1}]}')
            await project(snapshots)

        world.project = slowly  # type: ignore[method-assign]
        world.enqueue(*({} for _ in range(5_000)))
        return times

    def test_leaves_jobs_that_change_three_times_as_long_as_each_portion_takes(
        self, shard: Shards
    ) -> None:
        world = shard(Policy(paused=True))
        times = self.begun(world, 40)
        world.wait(3 * SECOND)
        gaps = [later - sooner for sooner, later in pairwise(times[:10])]
        assert times[0] == 500
        assert all(150 <= gap <= 160 for gap in gaps)

    def test_is_over_as_soon_as_it_can_be_when_nothing_changes(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        times = self.begun(world, 40, changes=0)
        world.wait(SECOND)
        assert times == [500 + 40 * n for n in range(10)]
        assert world.count("outbox") == 0

    def test_leaves_the_less_the_further_behind_it_is(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        times = self.begun(world, 2 * SECOND)
        world.wait(2 * MINUTE)
        rooms = [later - sooner - 2 * SECOND for sooner, later in pairwise(times[:10])]
        assert rooms[0] > 4 * SECOND
        assert rooms == sorted(rooms, reverse=True)
        assert rooms[-2:] == [0, 0]
        # Half a minute behind it goes on without a rest: what it takes is all that comes on top.
        assert times[9] + 2 * SECOND <= LONGEST_BEHIND_MS + 10 * 2 * SECOND

    def test_never_leaves_out_what_changes_behind_it(self, shard: Shards) -> None:
        world = shard(Policy(concurrency=1))
        times = self.begun(world, 40)
        world.wait(700)
        assert 1 < len(times) < 10
        taken = world.take()
        world.report(*taken)
        world.wait(10 * SECOND)
        assert learnt(world)[taken[0][0]] == "COMPLETED"
        assert len(world.read_model) == world.count("jobs")

    def test_goes_on_at_once_when_the_clock_goes_back(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        times = self.begun(world, 40)
        world.wait(SECOND)
        assert len(times) < 10
        world.now -= HOUR
        world.enqueue({})
        world.wait(5 * SECOND)
        assert world.count("outbox") == 0

    def test_begins_again_when_it_fails_or_the_shard_is_lost(self, shard: Shards) -> None:
        world = shard(Policy(paused=True))
        self.begun(world, 40)
        world.wait(SECOND)
        world.database_error = RuntimeError()
        world.wait(SECOND)
        assert world.diagnostics()["projection"]["failures"] == 1
        world.database_error = None
        world.wait(200)
        assert world.count("outbox") > 1_000
        world.restart()
        world.wait(10 * SECOND)
        assert len(world.read_model) == world.count("jobs")


class TestTheSweep:
    def test_done_jobs_leave_soon_and_failed_ones_when_no_retry_is_accepted(
        self, shard: Shards
    ) -> None:
        world = shard()
        done, failed = world.enqueue({}, {"max_attempts": 1})
        world.report((done, 1), result="x")
        world.report((failed, 1), outcome="failed", error={"type": "E", "message": ""})
        world.wait(5 * MINUTE + 10 * SECOND)
        assert set(world.states()) == {failed}
        world.wait(7 * 24 * HOUR)
        tables = ("jobs", "inputs", "results", "attempts", "log_lines", "outbox", "handovers")
        assert [world.count(table) for table in tables] == [0] * 7
        assert set(learnt(world)) == {done, failed}
        assert world.wait(24 * HOUR) == 0
