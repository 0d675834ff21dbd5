"""Claims of at-most-once jobs, asked for again and again: one delivery begins, whatever is lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from shard_harness import MINUTE, SECOND, T0, World
from tsumugi import Performer, Reject, Tsumugi
from tsumugi.jobs.consumer import link
from tsumugi.testing import InMemoryJobs

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi import JobContext

type Shards = Callable[..., World]

ONCE = {"guarantee": "at-most-once"}
GRACE = 30 * SECOND


def ask(world: World, local_id: str, *claimants: str | None, epoch: int = 1) -> list[str | None]:
    """Why each of these claimants, who ask in one call, is refused."""
    asked = [
        {"id": local_id, "epoch": epoch, "claim": True, "payload": False}
        | ({} if name is None else {"claimant": name})
        for name in claimants
    ]
    return [answer["refused"] for answer in world.call("begin", {"jobs": asked})["jobs"]]


# -- The shard ------------------------------------------------------------------------------------


def test_the_same_claimant_is_granted_its_claim_again_and_no_other(shard: Shards) -> None:
    world = shard()
    (local_id,) = world.enqueue(ONCE)
    assert ask(world, local_id, "a.1", "a.2") == [None, "taken"]
    assert ask(world, local_id, "a.1", "a.2", "b.1") == [None, "taken", "taken"]
    world.restart()
    assert ask(world, local_id, "b.1", "a.1") == ["taken", None]


def test_a_claimant_without_a_name_is_granted_it_once(shard: Shards) -> None:
    world = shard()
    (local_id,) = world.enqueue(ONCE)
    assert ask(world, local_id, None) == [None]
    assert ask(world, local_id, None, "a.1") == ["taken", "taken"]


def test_a_claim_that_is_granted_again_moves_the_deadline_and_not_the_start(shard: Shards) -> None:
    world = shard()
    (local_id,) = world.enqueue(ONCE)
    ask(world, local_id, "a.1")
    world.wait(4 * SECOND)
    assert ask(world, local_id, "a.1") == [None]
    row = world.row(local_id)
    assert (row["started_ms"], row["report_due_ms"]) == (T0, T0 + 4 * SECOND + MINUTE)


def test_who_began_and_died_is_not_followed_by_anybody(shard: Shards) -> None:
    world = shard()
    (local_id,) = world.enqueue(ONCE)
    ask(world, local_id, "a.1")
    assert ask(world, local_id, "b.1") == ["taken"], "the queue delivers it to another invocation"
    world.wait(MINUTE + GRACE)
    assert world.states() == {local_id: "STALLED"}
    assert ask(world, local_id, "a.1", "b.1") == ["settled", "settled"]


def test_a_claimant_that_gives_up_asking_gives_its_claim_back(shard: Shards) -> None:
    world = shard()
    (local_id,) = world.enqueue(ONCE)
    ask(world, local_id, "a.1")
    stale = world.report((local_id, 1), outcome="not-started", claimant="b.1")
    assert [each["because"] for each in stale] == ["settled"]
    assert world.report((local_id, 1), outcome="not-started", claimant="a.1") == []
    assert world.show(local_id)["attempts_log"] == []
    assert [(each["epoch"], each["attempt"]) for each in world.sent()] == [(1, 1), (2, 1)]
    assert ask(world, local_id, "a.1") == ["superseded"], "a question that travelled for long"
    assert ask(world, local_id, "a.1", epoch=2) == [None]


def test_a_claim_of_an_attempt_before_is_none(shard: Shards) -> None:
    world = shard()
    backoff = {"kind": "fixed", "delay_ms": 0, "jitter": False}
    (local_id,) = world.enqueue({**ONCE, "backoff": backoff})
    ask(world, local_id, "a.1")
    world.report((local_id, 1), outcome="failed")
    assert ask(world, local_id, None, "a.1", epoch=2) == [None, "taken"]


# -- The consumer with it -------------------------------------------------------------------------


class Charge(Performer[Any]):
    guarantee = "at-most-once"

    async def perform(self, payload: Any, ctx: JobContext) -> None:
        self.env.begun.append((payload, ctx.attempt))
        if payload == "never":
            raise Reject("it can never be charged")


def test_a_claimed_job_that_can_never_succeed_fails_at_once() -> None:
    tsumugi = Tsumugi(performers=[Charge])
    with InMemoryJobs(tsumugi, env={"begun": []}) as jobs:

        async def story() -> Any:
            job_id = await tsumugi.enqueue(jobs.env, Charge, "never")
            await jobs.run()
            return await jobs.get(job_id)

        job = asyncio.run(story())
        assert (job["state"], job["error"]["message"]) == ("FAILED", "it can never be charged")


def test_a_consumer_without_the_performer_does_not_end_what_another_one_runs(
    shard: Shards,
) -> None:
    world = shard()
    (local_id,) = world.enqueue(ONCE)
    ask(world, local_id, "new.1")
    stale = world.report((local_id, 1), outcome="impossible")
    assert [each["because"] for each in stale] == ["settled"]
    assert world.states() == {local_id: "RUNNING"}


@pytest.mark.parametrize("lost", [1, 4, 5, 7])
@pytest.mark.parametrize("call", ["begin", "settle"])
def test_answers_that_are_lost_cost_no_decision_of_a_person(
    call: str, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "RETRY_AFTER_MS", (0, 0, 0, 0))
    tsumugi = Tsumugi(performers=[Charge])
    with InMemoryJobs(tsumugi, env={"begun": []}) as jobs:

        async def story() -> Any:
            ids = await tsumugi.enqueue_many(jobs.env, Charge, [1, 2])
            shard = jobs.getByName("Charge#0")
            answer, left = getattr(shard, call), [lost]

            async def forgetful(text: str) -> str:
                told: str = await answer(text)
                left[0] -= 1
                if left[0] >= 0:
                    raise ConnectionError("Network connection lost.")
                return told

            monkeypatch.setattr(shard, call, forgetful, raising=False)
            jobs.queue[0] += jobs.queue[0]  # every delivery comes twice
            await jobs.run()
            return [await jobs.get(job_id) for job_id in ids]

        ended = asyncio.run(story())
        assert [(job["state"], job["attempts"]) for job in ended] == [("COMPLETED", 1)] * 2
        assert jobs.env.begun == [(1, 1), (2, 1)]
