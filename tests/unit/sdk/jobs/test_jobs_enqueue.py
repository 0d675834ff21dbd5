"""Enqueueing: what reaches which shard, and everything that is refused before any I/O."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel
from shard_fakes import FakeShards, env_of
from tsumugi import (
    Binding,
    ExponentialBackoff,
    FixedBackoff,
    Job,
    MissingBinding,
    OptionError,
    PartlyEnqueued,
    PayloadError,
    Performer,
    Policy,
    ShardError,
    Tsumugi,
    UnknownPerformer,
)
from tsumugi.jobs.client import enqueueing
from tsumugi.jobs.core.sharding import fnv1a

if TYPE_CHECKING:
    from tsumugi import JobContext

NOW_MS = 1_750_000_000_000
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Mail(BaseModel):
    to: str


class SendMail(Performer[Mail]):
    async def perform(self, payload: Mail, ctx: JobContext) -> None: ...


class Charge(Performer[Any]):
    requires = ("unique_key",)
    max_attempts = 1
    guarantee = "at-most-once"

    async def perform(self, payload: Any, ctx: JobContext) -> None: ...


def app(**bindings: Binding) -> Tsumugi:
    return Tsumugi(performers=[SendMail, Charge], bindings=bindings, now_ms=lambda: NOW_MS)


def enqueue(performer: Any, payload: Any, shards: FakeShards | None = None, **options: Any) -> Any:
    """The job as the shard was told."""
    shards = shards or FakeShards()
    asyncio.run(app().enqueue(env_of(shards), performer, payload, **options))
    ((shard, method, request),) = shards.calls
    assert (shard, method) == (f"{app().registry.of(performer).name}#0", "enqueue")
    (job,) = request["jobs"]
    return job


def test_a_job_says_no_more_than_its_payload_where_all_is_default() -> None:
    assert enqueue(SendMail, Mail(to="a")) == {"payload": {"to": "a"}}


def test_the_answer_is_the_id() -> None:
    job_id = asyncio.run(app().enqueue(env_of(FakeShards()), SendMail, Mail(to="a")))
    assert job_id == "SendMail#0:0000000000000000000000000001"


def test_every_option_reaches_the_shard() -> None:
    job = enqueue(
        SendMail,
        Mail(to="a"),
        priority=5,
        max_attempts=9,
        backoff=FixedBackoff(2_000, jitter=False),
        timeout_ms=None,
        delay_ms=1_000,
        guarantee="at-most-once",
        concurrency_key="c",
        unique_key="u",
        unique_for_ms=60_000,
        partition_key="p",
        expires_in_ms=5_000,
        traceparent=TRACE,
    )
    assert job == {
        "payload": {"to": "a"},
        "priority": 5,
        "max_attempts": 9,
        "backoff": {"kind": "fixed", "delay_ms": 2_000, "jitter": False},
        "timeout_ms": None,
        "delay_ms": 1_000,
        "guarantee": "at-most-once",
        "concurrency_key": "c",
        "unique_key": "u",
        "unique_for_ms": 60_000,
        "partition_key": "p",
        "expires_in_ms": 5_000,
        "traceparent": TRACE,
    }


def test_what_the_performer_declares_is_its_jobs_default() -> None:
    assert enqueue(Charge, 5, unique_key="order-1") == {
        "payload": 5,
        "max_attempts": 1,
        "guarantee": "at-most-once",
        "unique_key": "order-1",
    }
    assert "max_attempts" not in enqueue(Charge, 5, unique_key="order-1", max_attempts=3)


def test_a_time_is_given_with_its_zone() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert enqueue(SendMail, Mail(to="a"), run_at=at)["run_at_ms"] == 1_767_225_600_000
    assert enqueue(SendMail, Mail(to="a"), run_at=NOW_MS + 5)["run_at_ms"] == NOW_MS + 5
    with pytest.raises(OptionError, match="no time zone"):
        enqueue(SendMail, Mail(to="a"), run_at=datetime(2026, 1, 1))


def test_a_backoff_is_written_in_full() -> None:
    job = enqueue(SendMail, Mail(to="a"), backoff=ExponentialBackoff(factor=3))
    assert job["backoff"] == {
        "kind": "exponential",
        "base_ms": 1_000,
        "factor": 3,
        "max_ms": 3_600_000,
        "jitter": True,
    }


@pytest.mark.parametrize(
    ("performer", "payload", "options", "error", "said"),
    [
        (Charge, 5, {}, OptionError, "unique_key: this performer requires it"),
        (SendMail, {"no": 1}, {}, PayloadError, "SendMail takes Mail"),
        (SendMail, Mail(to="a"), {"prio": 1}, TypeError, "no option 'prio' (there are: backoff"),
        (SendMail, Mail(to="a"), {"delay_ms": 1, "run_at": 5}, OptionError, "exclude each other"),
        (SendMail, Mail(to="a"), {"guarantee": "once"}, OptionError, "'at-least-once' or"),
        (SendMail, Mail(to="a"), {"backoff": 5}, OptionError, "ExponentialBackoff(...) or"),
        (SendMail, Mail(to="a"), {"traceparent": "x"}, OptionError, "not W3C trace context"),
        (SendMail, Mail(to="a"), {"priority": "high"}, OptionError, "priority: must be a whole"),
        ("SendMails", Mail(to="a"), {}, UnknownPerformer, "known: Charge, SendMail"),
    ],
)
def test_what_no_job_can_be_is_refused_before_anything_is_sent(
    performer: Any, payload: Any, options: Any, error: type[Exception], said: str
) -> None:
    shards = FakeShards()
    with pytest.raises(error) as refused:
        asyncio.run(app().enqueue(env_of(shards), performer, payload, **options))
    assert said in str(refused.value)
    assert shards.calls == []


def test_a_missing_binding_is_named_with_the_entry_to_add() -> None:
    with pytest.raises(MissingBinding) as missing:
        asyncio.run(app().enqueue(env_of(None), SendMail, Mail(to="a")))  # type: ignore[arg-type]
    assert "env.TSUMUGI_SHARD is missing" in str(missing.value)
    assert '"new_sqlite_classes": ["TsumugiJobShard"]' in str(missing.value)


def test_an_env_parameter_of_a_handler_is_recognised() -> None:
    with pytest.raises(TypeError, match=r"pass self\.env"):
        asyncio.run(app().enqueue(None, SendMail, Mail(to="a")))


def test_a_class_that_is_no_shard_is_recognised() -> None:
    def refuse(_shard: str, _request: Any) -> Any:
        raise RuntimeError('TypeError: The RPC receiver does not implement the method "enqueue".')

    shards = FakeShards()
    shards.on["enqueue"] = refuse
    with pytest.raises(ShardError, match=r"bind the one made with `class TsumugiJobShard"):
        asyncio.run(app().enqueue(env_of(shards), SendMail, Mail(to="a")))


def test_a_shard_that_fails_is_named_without_its_traceback() -> None:
    def fail(_shard: str, _request: Any) -> Any:
        raise RuntimeError('PythonError: Traceback\n  File "x", line 1\nValueError: no\n')

    shards = FakeShards()
    shards.on["enqueue"] = fail
    with pytest.raises(ShardError) as failed:
        asyncio.run(app().enqueue(env_of(shards), SendMail, Mail(to="a")))
    assert str(failed.value) == "shard SendMail#0 did not do enqueue(): ValueError: no"


# -- Many -----------------------------------------------------------------------------------------


def enqueue_many(
    payloads: Any, shards: FakeShards | None = None, bindings: Any = None, **options: Any
) -> list[str]:
    return asyncio.run(
        app(**(bindings or {})).enqueue_many(
            env_of(shards or FakeShards()), SendMail, payloads, **options
        )
    )


def test_many_jobs_are_one_call_and_answer_in_order() -> None:
    shards = FakeShards()
    ids = enqueue_many([Mail(to=str(n)) for n in range(3)], shards, priority=2)
    assert [job_id[-1] for job_id in ids] == ["1", "2", "3"]
    (request,) = shards.of("enqueue")
    assert request["jobs"] == [{"payload": {"to": str(n)}, "priority": 2} for n in range(3)]


def test_one_of_many_may_have_options_of_its_own() -> None:
    shards = FakeShards()
    enqueue_many([Mail(to="a"), Job(Mail(to="b"), priority=9)], shards, priority=2, delay_ms=5)
    first, second = shards.of("enqueue")[0]["jobs"]
    assert (first["priority"], second["priority"]) == (2, 9)
    assert second["delay_ms"] == 5


def test_no_jobs_are_no_call() -> None:
    shards = FakeShards()
    assert enqueue_many([], shards) == []
    assert shards.calls == []


def test_jobs_go_to_the_shard_of_their_partition_and_answer_in_order() -> None:
    shards = FakeShards()
    jobs = [Job(Mail(to=key), partition_key=key) for key in "abcdefgh"]
    ids = enqueue_many(jobs, shards, {"SendMail": Binding(shards=4)})
    assert [job_id.partition(":")[0] for job_id in ids] == [
        f"SendMail#{fnv1a(key) % 4}" for key in "abcdefgh"
    ]
    assert len(shards.calls) == len({fnv1a(key) % 4 for key in "abcdefgh"})


def test_a_partition_key_is_required_as_soon_as_there_are_shards() -> None:
    shards = FakeShards()
    with pytest.raises(OptionError, match="partition_key: is required: this binding has 2 shards"):
        enqueue_many([Mail(to="a")], shards, {"SendMail": Binding(shards=2)})
    assert shards.calls == []


def test_one_wrong_job_keeps_all_from_being_sent_and_is_named() -> None:
    shards = FakeShards()
    with pytest.raises(PayloadError) as refused:
        enqueue_many([Mail(to="a"), {"to": 5}], shards)
    assert refused.value.__notes__ == ["in job 1 of enqueue_many; none was sent"]
    assert shards.calls == []


def test_calls_stay_within_what_a_call_may_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enqueueing, "PORTION", 2)
    monkeypatch.setattr(enqueueing, "ENQUEUE_BYTES", 100)
    shards = FakeShards()
    ids = enqueue_many([Mail(to=to) for to in ("a", "b", "c", "d" * 90, "e")], shards)
    assert [len(request["jobs"]) for request in shards.of("enqueue")] == [2, 1, 1, 1]
    assert ids == sorted(ids)


def test_more_jobs_than_an_event_can_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enqueueing, "MANY_JOBS", 2)
    with pytest.raises(ValueError, match="call it several times"):
        enqueue_many([Mail(to="a")] * 3)


def test_partly_enqueued_jobs_are_told_apart() -> None:
    shards = FakeShards()
    plain = shards.on["enqueue"]

    def fail_one(shard: str, request: Any) -> Any:
        if shard == f"SendMail#{fnv1a('b') % 4}":
            raise RuntimeError("overloaded")
        return plain(shard, request)

    shards.on["enqueue"] = fail_one
    with pytest.raises(PartlyEnqueued) as partly:
        enqueue_many(
            [Job(Mail(to=key), partition_key=key) for key in "abc"],
            shards,
            {"SendMail": Binding(shards=4)},
        )
    assert [job_id is None for job_id in partly.value.ids] == [False, True, False]
    assert list(partly.value.failures) == [f"SendMail#{fnv1a('b') % 4}"]
    assert "1 of 3 jobs may not be enqueued (SendMail#" in str(partly.value)


def test_where_nothing_was_enqueued_the_shard_is_named() -> None:
    def fail(_shard: str, _request: Any) -> Any:
        raise RuntimeError("overloaded")

    shards = FakeShards()
    shards.on["enqueue"] = fail
    with pytest.raises(ShardError, match="overloaded"):
        enqueue_many([Mail(to="a")], shards)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"performers": SendMail}, "is a list of classes, not <class"),
        ({"performers": "SendMail"}, "is a list of classes, not 'SendMail' alone"),
        ({"auth": "secret"}, "auth is bearer_auth(lambda env: env.TSUMUGI_TOKEN) or the like, not"),
        ({"metrics": {}}, "metrics is a function of env or the like, not a dict"),
        ({"env": {}}, "env is EnvNames(...), not {}"),
        ({"retention": 5}, "retention is Retention(...), not 5"),
    ],
)
def test_settings_of_the_wrong_kind_are_refused_when_the_module_loads(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(TypeError) as refused:
        Tsumugi(**{"performers": [SendMail], **settings})
    assert said in str(refused.value)


def test_a_policy_of_the_wrong_kind_is_refused_when_the_module_loads() -> None:
    with pytest.raises(
        ValueError, match=r"rate must be a Rate\(tokens, per_ms=...\) or None, not 5"
    ):
        Policy(rate=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="paused must be True or False, not 'no'"):
        Policy(paused="no")  # type: ignore[arg-type]


def test_settings_that_fit_no_performer_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'SendMails'.*fits no performer: there are Charge, Send"):
        app(SendMails=Binding())
    with pytest.raises(TypeError, match=r"bindings\['SendMail'\] is a Binding"):
        app(SendMail={"shards": 2})  # type: ignore[arg-type]
