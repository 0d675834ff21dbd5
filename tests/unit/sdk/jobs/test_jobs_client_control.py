"""Control of jobs and of whole bindings, over all shards, with failures named."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from local_d1 import LocalD1
from shard_fakes import FakeShards, env_of, local_id
from snapshot_builder import snapshot
from tsumugi import (
    Binding,
    Job,
    MissingBinding,
    OptionError,
    PartialFailure,
    Performer,
    Rate,
    ShardError,
    Tsumugi,
    UnknownPerformer,
)
from tsumugi.jobs.core.ids import MalformedJobId
from tsumugi.jobs.read_model import project

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tsumugi import JobContext

NOW_MS = 1_750_000_000_000


class Work(Performer[Any]):
    async def perform(self, payload: Any, ctx: JobContext) -> None: ...


APP = Tsumugi(performers=[Work], bindings={"Work": Binding(shards=3)}, now_ms=lambda: NOW_MS)
SHARDS = ["Work#0", "Work#1", "Work#2"]


def job_id(number: int, shard: int = 0) -> str:
    return f"Work#{shard}:{local_id(number)}"


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


@pytest.fixture
def shards() -> FakeShards:
    made = FakeShards()
    made.on["control"] = lambda _shard, request: {
        "jobs": [{"id": one, "outcome": "done", "state": "CANCELLED"} for one in request["ids"]]
    }
    made.on["set_policy"] = lambda _shard, request: {"policy": request["change"], "overrides": {}}
    made.on["diagnostics"] = made.on["stats"] = lambda shard, _request: {"shard": shard}
    return made


def fail_on(shards: FakeShards, method: str, shard: str) -> None:
    plain = shards.on[method]

    def answer(called: str, request: Any) -> Any:
        if called == shard:
            raise ConnectionError("Network connection lost.")
        return plain(called, request)

    shards.on[method] = answer


# -- Jobs -----------------------------------------------------------------------------------------


def test_a_job_is_controlled_where_its_id_says(shards: FakeShards) -> None:
    result = run(APP.cancel(env_of(shards), job_id(7, shard=2)))
    assert shards.calls == [("Work#2", "control", {"action": "cancel", "ids": [local_id(7)]})]
    assert (result.outcome, result.state, result.id) == ("done", "CANCELLED", job_id(7, shard=2))
    assert result


@pytest.mark.parametrize("outcome", ["gone", "invalid-state"])
def test_what_was_not_done_is_false_and_says_why(shards: FakeShards, outcome: str) -> None:
    shards.on["control"] = lambda _shard, request: {
        "jobs": [{"id": request["ids"][0], "outcome": outcome, "state": None}]
    }
    result = run(APP.retry(env_of(shards), job_id(1)))
    assert not result
    assert result.outcome == outcome


def test_many_jobs_are_grouped_by_shard_and_answered_in_order(shards: FakeShards) -> None:
    ids = [job_id(n, shard=n % 3) for n in (5, 1, 3, 2, 5)]
    results = run(APP.cancel_many(env_of(shards), ids))
    assert [result.id for result in results] == ids
    assert sorted(shard for shard, _, _ in shards.calls) == ["Work#0", "Work#1", "Work#2"]


def test_a_call_controls_no_more_than_a_shard_takes(shards: FakeShards) -> None:
    results = run(APP.retry_many(env_of(shards), [job_id(n) for n in range(450)]))
    assert [len(request["ids"]) for request in shards.of("control")] == [200, 200, 50]
    assert len(results) == 450


def test_control_says_which_shards_failed(shards: FakeShards) -> None:
    fail_on(shards, "control", "Work#1")
    with pytest.raises(PartialFailure) as partly:
        run(APP.cancel_many(env_of(shards), [job_id(n, shard=n) for n in range(3)]))
    assert list(partly.value.failures) == ["Work#1"]
    assert "cancel failed on 1 of 3 shards (Work#1: Network connection lost.)" in str(partly.value)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("Work#0:1", MalformedJobId),
        (f"Other#0:{local_id(1)}", LookupError),
        (f"Work#99999:{local_id(1)}", LookupError),
    ],
)
def test_an_id_that_cannot_be_is_refused_before_any_shard_is_asked(
    shards: FakeShards, wrong: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        run(APP.cancel_many(env_of(shards), [job_id(1), wrong]))
    assert shards.calls == []


def test_a_job_is_rescheduled(shards: FakeShards) -> None:
    run(APP.reschedule(env_of(shards), job_id(1), delay_ms=500, priority=3))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    run(APP.reschedule(env_of(shards), job_id(1), run_at=at))
    first, second = shards.of("control")
    assert first == {"action": "reschedule", "ids": [local_id(1)], "delay_ms": 500, "priority": 3}
    assert second["run_at_ms"] == 1_767_225_600_000


@pytest.mark.parametrize(
    "change", [{}, {"delay_ms": -1}, {"delay_ms": 1, "run_at": 1}, {"priority": 0.5}]
)
def test_a_reschedule_that_can_never_be_is_refused(shards: FakeShards, change: Any) -> None:
    with pytest.raises(OptionError):
        run(APP.reschedule(env_of(shards), job_id(1), **change))
    assert shards.calls == []


def test_why_a_job_could_never_run_that_way_is_told(shards: FakeShards) -> None:
    shards.on["control"] = lambda _shard, request: {
        "jobs": [
            {
                "id": request["ids"][0],
                "outcome": "invalid-option",
                "state": "SCHEDULED",
                "problem": "expires_in_ms: it would expire",
            }
        ]
    }
    result = run(APP.reschedule(env_of(shards), job_id(1), delay_ms=5))
    assert (bool(result), result.problem) == (False, "expires_in_ms: it would expire")


def test_a_job_is_shown_by_its_shard_and_else_by_the_read_model(shards: FakeShards) -> None:
    shards.on["show"] = lambda _shard, request: {"jobs": [{"id": request["ids"][0]}]}
    assert run(APP.get(env_of(shards), job_id(1))) == {"id": local_id(1)}
    shards.on["show"] = lambda _shard, _request: {"jobs": [None]}
    assert run(APP.get(env_of(shards), job_id(1))) is None

    database = LocalD1()
    left = snapshot(1, "COMPLETED", id=job_id(1), binding="Work")
    run(project(database, [left]))  # type: ignore[arg-type]
    assert run(APP.get(env_of(shards, TSUMUGI_DB=database), job_id(1))) == left
    assert run(APP.get(env_of(shards, TSUMUGI_DB=database), job_id(2))) is None


# -- Bindings -------------------------------------------------------------------------------------


def test_a_change_of_policy_reaches_every_shard(shards: FakeShards) -> None:
    answers = run(
        APP.set_policy(env_of(shards), Work, rate=Rate(5, per_ms=1_000), aging_interval_ms=None)
    )
    assert sorted(answers) == SHARDS
    assert (
        shards.of("set_policy")
        == [{"change": {"rate": {"tokens": 5, "per_ms": 1_000}, "aging_interval_ms": None}}] * 3
    )


def test_pausing_resuming_and_going_back_are_changes_of_policy(shards: FakeShards) -> None:
    for call in (APP.pause, APP.resume, APP.reset_policy):
        run(call(env_of(shards), "Work"))
    changes = [request["change"] for request in shards.of("set_policy")[::3]]
    assert changes == [{"paused": True}, {"paused": False}, None]


def test_a_policy_that_only_some_shards_have_is_told(shards: FakeShards) -> None:
    fail_on(shards, "set_policy", "Work#2")
    with pytest.raises(PartialFailure) as partly:
        run(APP.pause(env_of(shards), Work))
    assert sorted(partly.value.answers) == ["Work#0", "Work#1"]
    assert list(partly.value.failures) == ["Work#2"]


def test_with_one_shard_its_own_error_is_raised(shards: FakeShards) -> None:
    fail_on(shards, "set_policy", "Work#0")
    with pytest.raises(ShardError):
        run(Tsumugi(performers=[Work]).pause(env_of(shards), Work))


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({}, OptionError, "nothing to change"),
        ({"concurrency": 0}, OptionError, "concurrency must be a whole number from 1"),
        ({"concurency": 5}, TypeError, "no 'concurency' (it has: aging_interval_ms"),
        ({"rate": 5}, OptionError, "Rate(tokens, per_ms=...)"),
        ({"paused": 1}, OptionError, "paused: is True or False"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(
    shards: FakeShards, change: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as refused:
        run(APP.set_policy(env_of(shards), Work, **change))
    assert said in str(refused.value)
    assert shards.calls == []


def test_only_listed_performers_have_a_policy(shards: FakeShards) -> None:
    with pytest.raises(UnknownPerformer):
        run(APP.pause(env_of(shards), "Wrok"))


def test_diagnostics_come_from_every_shard_that_answers(shards: FakeShards) -> None:
    fail_on(shards, "diagnostics", "Work#1")
    assert run(APP.diagnostics(env_of(shards), Work)) == {
        "Work#0": {"shard": "Work#0"},
        "Work#1": "Network connection lost.",
        "Work#2": {"shard": "Work#2"},
    }
    assert sorted(run(APP.stats(env_of(shards), Work))) == SHARDS


#: Every method that reaches shards.
CALLS: dict[str, Callable[[Any], Coroutine[Any, Any, Any]]] = {
    "enqueue": lambda env: APP.enqueue(env, Work, 1, partition_key="a"),
    "enqueue_many": lambda env: APP.enqueue_many(
        env, Work, [Job(n, partition_key=str(n)) for n in range(9)]
    ),
    "get": lambda env: APP.get(env, job_id(1)),
    "cancel": lambda env: APP.cancel(env, job_id(1)),
    "retry": lambda env: APP.retry(env, job_id(1)),
    "reschedule": lambda env: APP.reschedule(env, job_id(1), priority=1),
    "cancel_many": lambda env: APP.cancel_many(env, [job_id(1), job_id(2, shard=1)]),
    "retry_many": lambda env: APP.retry_many(env, [job_id(1), job_id(2, shard=1)]),
    "pause": lambda env: APP.pause(env, Work),
    "resume": lambda env: APP.resume(env, Work),
    "reset_policy": lambda env: APP.reset_policy(env, Work),
    "diagnostics": lambda env: APP.diagnostics(env, Work),
    "stats": lambda env: APP.stats(env, Work),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_missing_binding_is_one_error_with_the_entry_to_add(call: str) -> None:
    with pytest.raises(MissingBinding, match=r"env\.TSUMUGI_SHARD is missing.*durable_objects"):
        run(CALLS[call](SimpleNamespace()))
    with pytest.raises(TypeError, match=r"env is None: pass self\.env"):
        run(CALLS[call](None))
