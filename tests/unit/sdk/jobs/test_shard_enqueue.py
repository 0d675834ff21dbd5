"""What a shard makes of new jobs: ids, options, unique keys, limits, requests it cannot read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from shard_harness import HOUR, MINUTE, SECOND, T0, World, local
from tsumugi.jobs.core.ids import created_ms
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.shard.shard import MalformedRequest
from tsumugi.jobs.wire import ENQUEUE_JOBS

if TYPE_CHECKING:
    from collections.abc import Callable

type Shards = Callable[..., World]

PAUSED = Policy(paused=True)
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_job_with_nothing_but_a_payload_has_every_default(shard: Shards) -> None:
    world = shard(PAUSED)
    (local_id,) = world.enqueue({"payload": {"to": "a"}})
    shown = world.show(local_id)
    expected = {
        "id": f"Mail#0:{local_id}",
        "version": 1,
        "binding": "Mail",
        "shard": 0,
        "state": "SCHEDULED",
        "priority": 0,
        "attempts": 0,
        "max_attempts": 3,
        "guarantee": "at-least-once",
        "timeout_ms": 60_000,
        "payload": {"to": "a"},
        "result": None,
        "created_at": T0,
        "ready_at": T0,
        "attempts_log": [],
        "logs": [],
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["backoff"] == {
        "kind": "exponential",
        "base_ms": 1_000,
        "factor": 2.0,
        "max_ms": 3_600_000,
        "jitter": True,
    }


def test_every_option_is_kept(shard: Shards) -> None:
    world = shard(PAUSED)
    options: dict[str, Any] = {
        "priority": -3,
        "max_attempts": 7,
        "backoff": {"kind": "fixed", "delay_ms": 5, "jitter": False},
        "timeout_ms": None,
        "guarantee": "at-most-once",
        "concurrency_key": "c",
        "unique_key": "u",
        "partition_key": "p",
        "traceparent": TRACE,
    }
    (local_id,) = world.enqueue({**options, "delay_ms": SECOND, "expires_in_ms": HOUR})
    shown = world.show(local_id)
    assert {name: shown[name] for name in options} == options
    assert (shown["ready_at"], shown["expires_at"]) == (T0 + SECOND, T0 + HOUR)


@pytest.mark.parametrize(
    "payload",
    [
        None,
        True,
        0,
        -1.5,
        "",
        'a "quoted" \\ text\n',
        [],
        {},
        [1, [2, {"x": None}]],
        "\u3042",
        2**53,
    ],
)
def test_a_payload_comes_back_and_travels_as_it_was(payload: object, shard: Shards) -> None:
    world = shard()
    (local_id,) = world.enqueue({"payload": payload})
    assert world.show(local_id)["payload"] == payload
    assert world.sent()[0]["payload"] == payload


def test_half_of_a_surrogate_pair_in_a_payload_is_kept(shard: Shards) -> None:
    world = shard()
    text = '{"jobs":[{"payload":"a\\ud83d"}]}'
    world.run(world.shard.enqueue(text))
    assert world.sent()[0]["payload"] == "a\ud83d"


def test_a_delivery_says_what_a_consumer_has_to_know(shard: Shards) -> None:
    world = shard()
    (local_id,) = world.enqueue(
        {"payload": 1, "guarantee": "at-most-once", "expires_in_ms": HOUR, "traceparent": TRACE}
    )
    assert world.sent() == [
        {
            "v": 1,
            "job": f"Mail#0:{local_id}",
            "epoch": 1,
            "attempt": 1,
            "timeout_ms": 60_000,
            "claim": True,
            "expires_ms": T0 + HOUR,
            "traceparent": TRACE,
            "payload": 1,
        }
    ]


class TestIds:
    def test_they_ascend_through_calls_restarts_and_clocks_that_go_back(
        self, shard: Shards
    ) -> None:
        world = shard(PAUSED)
        ids = world.enqueue({}, {})
        world.now -= HOUR
        ids += world.enqueue({})
        world.restart()
        ids += world.enqueue({})
        world.now += 2 * HOUR
        ids += world.enqueue({})
        assert ids == sorted(set(ids))
        assert created_ms(ids[-1]) == T0 + HOUR

    def test_they_go_on_after_the_newest_job_was_swept(self, shard: Shards) -> None:
        world = shard(PAUSED)
        (first,) = world.enqueue({"delay_ms": 2 * HOUR})
        world.control("cancel", first)
        world.wait(HOUR)
        assert world.states() == {}
        world.now -= 2 * HOUR
        (second,) = world.enqueue({})
        assert second > first


class TestUniqueKeys:
    def test_a_taken_key_answers_the_job_that_has_it(self, shard: Shards) -> None:
        world = shard(PAUSED)
        request = {"jobs": [{"payload": 1, "unique_key": "u"}]}
        first, second = world.call("enqueue", request), world.call("enqueue", request)
        assert (first["created"], second["created"]) == ([True], [False])
        assert first["ids"] == second["ids"]
        assert world.count("jobs") == 1

    def test_the_same_key_twice_in_one_call_is_one_job(self, shard: Shards) -> None:
        world = shard(PAUSED)
        jobs = [{"payload": n, "unique_key": "u"} for n in range(3)]
        answer = world.call("enqueue", {"jobs": [*jobs, {"payload": 9}]})
        assert answer["created"] == [True, False, False, True]
        assert world.show(local(answer["ids"][2]))["payload"] == 0

    def test_only_the_end_of_its_window_frees_it(self, shard: Shards) -> None:
        world = shard()
        unique = {"unique_key": "u", "unique_for_ms": MINUTE}
        (first,) = world.enqueue(unique)
        world.report(*world.take())
        world.wait(MINUTE - 1)
        assert world.enqueue(unique) == [first]
        world.wait(1)
        assert world.enqueue(unique) != [first]

    def test_keys_that_are_free_again_leave_the_tables(self, shard: Shards) -> None:
        world = shard()
        world.enqueue(*({"unique_key": f"u{n}", "unique_for_ms": HOUR} for n in range(50)))
        assert world.count("holds") == 50
        world.wait(2 * HOUR)
        assert world.count("holds") == 0


class TestLimits:
    def test_thousands_of_jobs_with_long_payloads_fit_one_call(self, shard: Shards) -> None:
        world = shard(PAUSED)
        ids = world.enqueue(*({"payload": "\u3042" * 1_000} for _ in range(3_000)))
        assert world.count("inputs") == len(set(ids)) == 3_000

    def test_a_payload_of_a_megabyte_fits(self, shard: Shards) -> None:
        world = shard(PAUSED)
        payload = "\u3042" * 333_000
        (local_id,) = world.enqueue({"payload": payload})
        assert world.show(local_id)["payload"] == payload

    def test_a_larger_payload_is_refused_with_what_to_do(self, shard: Shards) -> None:
        world = shard(PAUSED)
        with pytest.raises(ValueError, match="job 1 has 1010002 bytes and a job holds 1000000"):
            world.enqueue({}, {"payload": "x" * 1_010_000})
        assert world.count("jobs") == 0

    def test_keys_of_any_length_fit(self, shard: Shards) -> None:
        world = shard()
        key = "\x01" * 500
        ids = []
        for first in range(0, 1_500, 500):
            ids += world.enqueue(
                *(
                    {"concurrency_key": f"{key}{n}", "unique_key": f"{key}{n}",
                     "partition_key": key, "priority": n % 3}
                    for n in range(first, first + 500)
                )
            )  # fmt: skip
        world.now -= HOUR  # all that wait are put right
        for _ in range(15):
            world.report(*world.take())
        world.wait(MINUTE)
        assert {row["state"] for row in world.read_model.values()} == {"COMPLETED"}
        assert len(world.read_model) == len(ids)

    def test_more_jobs_than_fit_are_refused_as_a_whole(self, shard: Shards) -> None:
        world = shard(PAUSED)
        with pytest.raises(ValueError, match=f"at most {ENQUEUE_JOBS}"):
            world.enqueue(*({} for _ in range(ENQUEUE_JOBS + 1)))
        assert world.count("jobs") == 0

    def test_no_jobs_are_no_fault(self, shard: Shards) -> None:
        world = shard()
        assert world.call("enqueue", {"jobs": []}) == {"ids": [], "created": []}
        assert world.alarms_set == 0


class TestRequestsThatCannotBe:
    @pytest.mark.parametrize(
        ("job", "error"),
        [
            ({"delay_ms": 1, "run_at_ms": 1}, OptionError),
            ({"delay_ms": -1}, OptionError),
            ({"delay_ms": 2, "expires_in_ms": 1}, OptionError),
            ({"guarantee": "exactly-once"}, ValueError),
            ({"backoff": {"kind": "random"}}, ValueError),
            ({"backoff": {"kind": "fixed"}}, ValueError),
            ({"priority": "high"}, Exception),
            ({"max_attempts": None}, Exception),
        ],
    )
    def test_change_nothing(self, job: dict[str, Any], error: type, shard: Shards) -> None:
        world = shard()
        with pytest.raises(error):
            world.enqueue({}, job)
        assert world.count("jobs") == 0

    @pytest.mark.parametrize("text", ["[]", "{}", '{"jobs":[{}]}', '{"jobs":[1]}', '{"jobs":1}'])
    def test_are_told_to_be_malformed(self, text: str, shard: Shards) -> None:
        world = shard()
        with pytest.raises(MalformedRequest, match="enqueue"):
            world.run(world.shard.enqueue(text))
        assert world.count("jobs") == 0


class TestTimes:
    def test_a_delayed_job_starts_when_its_time_has_come(self, shard: Shards) -> None:
        world = shard()
        world.enqueue({"delay_ms": 10 * SECOND})
        world.wait(10 * SECOND - 1)
        assert world.sent() == []
        world.wait(1)
        assert len(world.sent()) == 1

    def test_a_job_of_next_year_waits_a_year(self, shard: Shards) -> None:
        world = shard()
        world.enqueue({"run_at_ms": T0 + 365 * 24 * HOUR})
        assert world.wait(364 * 24 * HOUR) < 100
        assert world.sent() == []
        world.wait(24 * HOUR)
        assert len(world.sent()) == 1

    def test_a_job_that_did_not_start_in_time_is_cancelled_and_never_runs(
        self, shard: Shards
    ) -> None:
        world = shard(PAUSED)
        (local_id,) = world.enqueue({"expires_in_ms": MINUTE})
        world.wait(MINUTE)
        assert world.show(local_id)["cancelled_because"] == "expired"
        world.set_policy(paused=False)
        assert (world.sent(), world.states()) == ([], {local_id: "CANCELLED"})
