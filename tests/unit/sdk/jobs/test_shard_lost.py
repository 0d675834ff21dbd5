"""The object is lost at any point of its work: every job ends as if nothing had happened.

One life is played through again and again, and each time the object is lost at another point:
before or after a commit, a send, a projection, an alarm that is set. Callers whose call failed call
again, as consumers do. What must come out is the same every time.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from shard_harness import HOUR, MINUTE, SECOND, Lost, World, local
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.retention import Retention

if TYPE_CHECKING:
    from collections.abc import Callable

#: Statements in a transaction are not points of their own: losing the object undoes all of it.
POINTS = {"COMMIT", "COMMITTED", "send", "sent", "project", "projected", "set_alarm"}

NO_WAIT = {"kind": "fixed", "delay_ms": 1_000, "jitter": False}
JOBS: dict[str, dict[str, Any]] = {
    "succeeds": {},
    "fails twice": {"backoff": NO_WAIT},
    "fails for good": {"backoff": NO_WAIT, "max_attempts": 2},
    "silent once": {"backoff": NO_WAIT, "concurrency_key": "k", "priority": 1},
    "too late": {"concurrency_key": "k", "expires_in_ms": MINUTE},
    "next in line": {"concurrency_key": "k"},
    "cancelled": {"delay_ms": HOUR},
    "delayed": {"delay_ms": 10 * SECOND},
    "once": {"guarantee": "at-most-once"},
    "once and fails": {"guarantee": "at-most-once", "max_attempts": 1},
    "once and silent": {"guarantee": "at-most-once"},
}
#: How each ends, and after how many attempts. Of a claim whose answer was lost nobody knows.
ENDS = {
    "succeeds": {("COMPLETED", 1)},
    "fails twice": {("COMPLETED", 3)},
    "fails for good": {("FAILED", 2)},
    "silent once": {("COMPLETED", 2)},
    "too late": {("CANCELLED", 0)},
    "next in line": {("COMPLETED", 1)},
    "cancelled": {("CANCELLED", 0)},
    "delayed": {("COMPLETED", 1)},
    "once": {("COMPLETED", 1), ("STALLED", 1)},
    "once and fails": {("FAILED", 1)},
    "once and silent": {("STALLED", 1)},
}


class Life:
    """One life of all those jobs, with a consumer that tries again what failed."""

    def __init__(self, lost_at: int | None, points: set[str] = POINTS) -> None:
        self.world = World(
            Policy(concurrency=6, rate=Rate(1_000, SECOND)),
            retention=Retention(sweep_after_ms=10 * HOUR),
        )
        self.points = 0
        self.losses = 0

        def loses(what: str) -> bool:
            self.points += what in points or (points is ALL)
            lost = self.points == lost_at and not self.losses
            self.losses += lost
            return lost

        self.world.loses = loses
        self.names: dict[str, str] = {}
        self.performed: Counter[str] = Counter()

    def call(self, method: str, request: object) -> Any:
        for _ in range(3):
            try:
                return self.world.call(method, request)
            except Lost:
                self.world.restart()
        raise AssertionError("lost more than once")

    def wait(self, duration_ms: int) -> None:
        """The platform makes the object anew to run its alarm."""
        world = self.world
        until = world.now + duration_ms
        while world.alarm is not None and world.alarm <= until:
            world.now, due = max(world.now, world.alarm), world.alarm
            world.alarm = None
            try:
                if not world.instance.alive:
                    world.restart()
                world.run(world.shard.alarm())
            except Lost:
                world.lose()
                world.alarm = due  # an alarm that was not run to its end is run again
            self.consume()
        world.now = until

    def consume(self) -> None:
        """Everything in the queue, each delivery twice, until nothing new comes."""
        while self.world.queue:
            deliveries = [each for batch in self.world.queue for each in batch]
            self.world.queue.clear()
            for delivery in [*deliveries, *deliveries]:
                self.perform(delivery)

    def perform(self, delivery: dict[str, Any]) -> None:
        local_id, epoch = local(delivery["job"]), delivery["epoch"]
        name = self.names[local_id]
        if delivery.get("claim"):
            asked = {"id": local_id, "epoch": epoch, "claim": True, "payload": False}
            (begun,) = self.call("begin", {"jobs": [asked]})["jobs"]
            if begun["refused"]:
                return
        self.performed[name] += 1
        outcome = "succeeded"
        if name == "once and silent" or (name == "silent once" and delivery["attempt"] == 1):
            return
        if "fails" in name and (name != "fails twice" or delivery["attempt"] < 3):
            outcome = "failed"
        report = {"id": local_id, "epoch": epoch, "outcome": outcome,
                  "started_ms": self.world.now, "finished_ms": self.world.now}  # fmt: skip
        self.call("settle", {"reports": [report]})

    def play(self) -> None:
        jobs = [{"payload": name, "unique_key": name, **job} for name, job in JOBS.items()]
        for first in (0, 6):
            some = jobs[first : first + 6]
            ids = self.call("enqueue", {"jobs": some})["ids"]
            self.names |= {local(i): job["payload"] for i, job in zip(ids, some, strict=True)}
            self.consume()
        (cancelled,) = [i for i, name in self.names.items() if name == "cancelled"]
        self.call("control", {"action": "cancel", "ids": [cancelled]})
        self.wait(10 * MINUTE)
        self.call("stats", None)
        self.wait(10 * MINUTE)

    def ends(self) -> dict[str, tuple[str, int]]:
        return {
            self.names[i]: (state, attempts)
            for i, state, attempts in self.world.db.execute("SELECT id, state, attempts FROM jobs")
        }

    def check(self) -> None:
        world = self.world
        ends = self.ends()
        assert len(self.names) == len(JOBS)
        assert {name: end for name, end in ends.items() if end not in ENDS[name]} == {}
        assert all(self.performed[name] <= 1 for name in JOBS if name.startswith("once"))
        if ends["once"][0] == "STALLED":
            assert self.performed["once"] == 0
        world.check()
        assert (world.count("outbox"), world.count("handovers")) == (0, 0)
        learnt = {self.names[local(i)]: row for i, row in world.read_model.items()}
        assert {n: (r["state"], r["attempts"]) for n, r in learnt.items()} == ends
        for name, row in learnt.items():
            assert len(row["attempts_log"]) == ends[name][1]


#: Every statement as well.
ALL: set[str] = set()


def played(lost_at: int | None, points: set[str] = POINTS) -> Life:
    life = Life(lost_at, points)
    try:
        life.play()
        life.check()
    except BaseException:
        life.world.close()
        raise
    return life


def everywhere(points: set[str], step: int) -> int:
    whole = played(None, points)
    assert whole.performed["once"] == 1
    count = whole.points
    whole.world.close()
    for lost_at in range(1, count + 1, step):
        try:
            life = played(lost_at, points)
        except AssertionError as error:
            raise AssertionError(f"lost at point {lost_at} of {count}: {error}") from error
        assert life.losses == 1
        life.world.close()
    return count


def test_the_object_may_be_lost_at_any_point() -> None:
    assert everywhere(POINTS, step=7) > 100


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("points", [POINTS, ALL], ids=["boundaries", "statements"])
def test_the_object_may_be_lost_at_every_single_point(points: set[str]) -> None:
    assert everywhere(points, step=1) > 100


def test_a_sender_that_forgets_what_it_was_doing_fails_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tsumugi.jobs.shard.ticking._recover", lambda *_: False)
    forgetful: Callable[[], int] = lambda: everywhere(POINTS, step=1)  # noqa: E731
    with pytest.raises(AssertionError, match="lost at point"):
        forgetful()
