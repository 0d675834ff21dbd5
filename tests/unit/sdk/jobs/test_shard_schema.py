"""The tables of a shard: new, upgraded while it is in use, and too new."""

from __future__ import annotations

import hashlib
import sqlite3
from unittest import mock

import pytest
from shard_harness import SqliteStorage, World, connect
from tsumugi.jobs.shard import schema
from tsumugi.jobs.shard.schema import MIGRATIONS, NewerSchema, migrate
from tsumugi.jobs.shard.sql import Sql


@pytest.fixture
def sql() -> Sql:
    return Sql(SqliteStorage(connect()))


def version(sql: Sql) -> int:
    return schema._version(sql)


NEXT = ("ALTER TABLE jobs ADD COLUMN colour TEXT", "CREATE TABLE more (id TEXT PRIMARY KEY) STRICT")


def test_a_new_shard_gets_every_version_and_a_known_one_nothing(sql: Sql) -> None:
    migrate(sql)
    assert version(sql) == len(MIGRATIONS)
    migrate(sql)
    assert version(sql) == len(MIGRATIONS)


def test_a_later_version_upgrades_a_live_shard_and_keeps_its_jobs() -> None:
    world = World()
    (local_id,) = world.enqueue({"payload": "kept"})
    world.lose()
    with mock.patch.object(schema, "MIGRATIONS", (*MIGRATIONS, NEXT)):
        world.boot()
        assert world.show(local_id)["payload"] == "kept"
        world.report(*world.take())
        assert world.states() == {local_id: "COMPLETED"}
        assert world.count("more") == 0
    world.close()


def test_an_upgrade_that_fails_changes_nothing_and_is_tried_again(sql: Sql) -> None:
    migrate(sql)
    broken = (*MIGRATIONS, NEXT, ("CREATE TABLE jobs (id TEXT)",))
    with (
        mock.patch.object(schema, "MIGRATIONS", broken),
        pytest.raises(sqlite3.OperationalError, match="already exists"),
    ):
        migrate(sql)
    assert version(sql) == len(MIGRATIONS)
    with mock.patch.object(schema, "MIGRATIONS", (*MIGRATIONS, NEXT)):
        migrate(sql)
    assert version(sql) == len(MIGRATIONS) + 1


def test_a_shard_of_a_later_version_is_left_alone(sql: Sql) -> None:
    with mock.patch.object(schema, "MIGRATIONS", (*MIGRATIONS, NEXT)):
        migrate(sql)
    with pytest.raises(NewerSchema, match="knows up to"):
        migrate(sql)


#: Of each version's statements, white space aside. A line is added with a version, never changed.
RELEASED = ("ae082fc2ac4be1a6", "efafeaadfce56cf0")


def test_a_version_that_was_released_is_what_it_was() -> None:
    # A change here would leave live shards without it: add a version instead.
    texts = ("\n".join(" ".join(text.split()) for text in version) for version in MIGRATIONS)
    digests = tuple(hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts)
    assert digests == RELEASED
