"""What an app exports: classes over the runtime's base, or a stand-in where there is none."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from consumer_harness import dispatch
from local_d1 import LocalD1
from shard_fakes import FakeShards, env_of
from tsumugi import (
    Entrypoint,
    JobShard,
    MissingBinding,
    Performer,
    Retention,
    ShardError,
    Tsumugi,
)
from tsumugi.jobs.read_model import MissingMigrations
from tsumugi.testing import build_batch, build_message, run_queue_handler

if TYPE_CHECKING:
    from tsumugi import JobContext


DAY_MS = 86_400_000


class Work(Performer[Any]):
    async def perform(self, payload: Any, ctx: JobContext) -> None: ...


tsumugi = Tsumugi(performers=[Work])


class Default(Entrypoint, app=tsumugi):
    async def queue(self, batch: Any, env: Any = None, ctx: Any = None) -> None:
        if batch.queue == "jobs":
            await super().queue(batch)


def test_the_queue_handler_takes_what_the_runtime_passes() -> None:
    shards = FakeShards()
    batch = build_batch("jobs", [build_message(dispatch(), content_type="text")])
    outcome = asyncio.run(run_queue_handler(tsumugi.Entrypoint, batch, env=env_of(shards)))
    assert (outcome.error, outcome.acked) == (None, ["message-1"])
    assert len(shards.reports()) == 1


def test_a_worker_may_keep_other_queues_to_itself() -> None:
    shards = FakeShards()
    for queue in ("jobs", "orders"):
        batch = build_batch(queue, [build_message(dispatch(), content_type="text")])
        outcome = asyncio.run(run_queue_handler(Default, batch, env=env_of(shards)))
        assert outcome.error is None
    assert len(shards.reports()) == 1


def test_an_app_gives_one_entrypoint_and_has_one_of_its_own() -> None:
    assert tsumugi.Entrypoint is tsumugi.Entrypoint
    assert tsumugi.Entrypoint is not Tsumugi(performers=[Work]).Entrypoint


def test_cron_names_the_database_it_needs() -> None:
    worker = tsumugi.Entrypoint(None, env_of(FakeShards()))
    with pytest.raises(MissingBinding, match=r'env\.TSUMUGI_DB.*"d1_databases"'):
        asyncio.run(worker.scheduled(None))


def test_cron_names_the_migrations_it_needs() -> None:
    worker = tsumugi.Entrypoint(None, env_of(FakeShards(), TSUMUGI_DB=LocalD1(migrated=False)))
    with pytest.raises(MissingMigrations, match="tsumugi jobs migrations"):
        asyncio.run(worker.scheduled(None))


def test_a_binding_that_is_something_else_is_told_with_the_entry_to_write() -> None:
    env = SimpleNamespace(TSUMUGI_SHARD="a variable")
    with pytest.raises(
        ShardError, match=r"TSUMUGI_SHARD is no Durable Object namespace.*class_nam"
    ):
        asyncio.run(tsumugi.enqueue(env, Work, 1))


def test_the_shard_class_knows_the_settings_of_its_app() -> None:
    class TsumugiJobShard(JobShard, app=tsumugi): ...

    assert TsumugiJobShard.settings is tsumugi.JobShard.settings is tsumugi.settings


@pytest.mark.parametrize("base", [Entrypoint, JobShard])
def test_a_base_that_is_exported_itself_says_what_to_export(base: Any) -> None:
    with pytest.raises(TypeError, match=rf"{base.__name__} serves no app: export a class of your"):
        base(None, env_of(FakeShards()))


@pytest.mark.parametrize("base", [Entrypoint, JobShard])
def test_a_class_that_names_no_app_is_refused_with_what_to_write(base: type) -> None:
    said = rf"class Default\({base.__name__}\) serves no app: .*, app=tsumugi\)"
    with pytest.raises(TypeError, match=said):
        type("Default", (base,), {})


def test_a_class_derived_from_one_that_names_its_app_need_not_name_it_again() -> None:
    class Further(Default): ...

    shards = FakeShards()
    batch = build_batch("jobs", [build_message(dispatch(), content_type="text")])
    assert asyncio.run(run_queue_handler(Further, batch, env=env_of(shards))).error is None
    assert len(shards.reports()) == 1


def test_what_is_listed_stays_as_long_as_it_can_be_retried_unless_told_otherwise() -> None:
    def kept_ms(**told: Any) -> int:
        return Tsumugi(performers=[Work], **told).settings.read_model_retention_ms

    longer = Retention(failed_retention_ms=14 * DAY_MS)
    assert kept_ms() == 7 * DAY_MS
    assert kept_ms(retention=longer) == 14 * DAY_MS
    assert kept_ms(retention=longer, read_model_retention_ms=DAY_MS) == DAY_MS
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match="read_model_retention_ms must be a whole number"):
            kept_ms(read_model_retention_ms=wrong)
