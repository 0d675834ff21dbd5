from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.config.model import (
    AnalyticsDataset,
    D1Database,
    KvNamespace,
    R2Bucket,
    RateLimit,
    Resources,
)

if TYPE_CHECKING:
    from conftest import Project


def test_every_stored_thing_is_read(project: Project) -> None:
    project.configure(
        kv_namespaces=[{"binding": "CACHE", "id": "abc"}],
        d1_databases=[
            {
                "binding": "DB",
                "database_name": "shop",
                "database_id": "123",
                "migrations_dir": "sql",
                "migrations_table": "done",
            }
        ],
        r2_buckets=[{"binding": "FILES", "bucket_name": "files"}],
        analytics_engine_datasets=[{"binding": "EVENTS", "dataset": "events"}],
        ratelimits=[{"name": "LIMIT", "namespace_id": "1", "simple": {"limit": 5, "period": 10}}],
        version_metadata={"binding": "VERSION"},
    )
    assert project.config().resources == Resources(
        kv_namespaces=(KvNamespace(binding="CACHE", id="abc"),),
        d1_databases=(
            D1Database(
                binding="DB", name="shop", id="123", migrations_dir="sql", migrations_table="done"
            ),
        ),
        r2_buckets=(R2Bucket(binding="FILES", bucket="files"),),
        analytics_datasets=(AnalyticsDataset(binding="EVENTS", dataset="events"),),
        rate_limits=(RateLimit(binding="LIMIT", namespace_id="1", limit=5, period_s=10),),
        version_metadata="VERSION",
    )
    assert project.warnings() == []
    assert project.config().unsupported == ()


def test_what_is_not_named_is_named_as_deploying_would(project: Project) -> None:
    project.configure(
        kv_namespaces=[{"binding": "MY_CACHE"}],
        d1_databases=[{"binding": "DB"}],
        r2_buckets=[{"binding": "FILES"}],
        analytics_engine_datasets=[{"binding": "EVENTS"}],
    )
    resources = project.config().resources
    assert resources.kv_namespaces[0].id == "api-my-cache"
    database = resources.d1_databases[0]
    assert (database.name, database.id) == ("api-db", "api-db")
    assert (database.migrations_dir, database.migrations_table) == ("migrations", "d1_migrations")
    assert resources.r2_buckets[0].bucket == "api-files"
    assert resources.analytics_datasets[0].dataset == "EVENTS"


def test_preview_ids_are_the_local_ones(project: Project) -> None:
    project.configure(
        kv_namespaces=[{"binding": "CACHE", "id": "abc", "preview_id": "def"}],
        d1_databases=[{"binding": "DB", "database_id": "1", "preview_database_id": "2"}],
        r2_buckets=[{"binding": "R", "bucket_name": "live", "preview_bucket_name": "test"}],
    )
    resources = project.config().resources
    assert resources.kv_namespaces[0].id == "def"
    assert resources.d1_databases[0].id == "2"
    assert resources.r2_buckets[0].bucket == "test"


def test_rate_limits_may_stand_under_unsafe(project: Project) -> None:
    limit = {"name": "LIMIT", "type": "ratelimit", "namespace_id": "1"}
    project.configure(
        unsafe={
            "bindings": [
                {**limit, "simple": {"limit": 2, "period": 60}},
                {"name": "OTHER", "type": "something"},
            ]
        }
    )
    config = project.config()
    assert config.resources.rate_limits == (
        RateLimit(binding="LIMIT", namespace_id="1", limit=2, period_s=60),
    )
    assert [binding.binding for binding in config.unsupported] == ["OTHER"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            {"kv_namespaces": [{"id": "1"}]},
            '"kv_namespaces[0]" bindings should have a string "binding" field but got {"id":"1"}.',
        ),
        ({"kv_namespaces": [5]}, '"kv_namespaces" bindings should be objects, but got 5'),
        (
            {"r2_buckets": [{"binding": "R", "bucket_name": "Upper_case"}]},
            'r2_buckets[0].bucket_name="Upper_case" is invalid. Bucket names must begin and end '
            "with an alphanumeric character, only contain lowercase letters, numbers, and hyphens, "
            "and be between 3 and 63 characters long.",
        ),
        ({"r2_buckets": {}}, 'The field "r2_buckets" should be an array but got {}.'),
        (
            {"d1_databases": [{"binding": "DB", "migrations_dir": 5}]},
            '"d1_databases[0]" bindings should, optionally, have a string "migrations_dir" field '
            'but got {"binding":"DB","migrations_dir":5}.',
        ),
        (
            {"ratelimits": [{"name": "L", "namespace_id": "1"}]},
            '"ratelimits[0]" bindings must have a "simple" configuration object but got '
            '{"name":"L","namespace_id":"1"}.',
        ),
        (
            {
                "ratelimits": [
                    {"name": "L", "namespace_id": "1", "simple": {"limit": 1, "period": 5}}
                ]
            },
            '"ratelimits[0]" bindings "simple.period" must be either 10 or 60 but got 5.',
        ),
        (
            {"version_metadata": []},
            '"version_metadata" bindings should have a string "binding" field but got [].',
        ),
    ],
)
def test_faults_are_told_in_wranglers_words(
    project: Project, block: dict[str, Any], message: str
) -> None:
    project.configure(**block)
    assert project.errors() == [message]


def test_unknown_fields_are_warned_about(project: Project) -> None:
    project.configure(kv_namespaces=[{"binding": "CACHE", "ID": "1"}])
    (warning,) = project.warnings()
    assert warning.startswith('Unexpected fields found in kv_namespaces[0] field: "ID"')


def test_a_chosen_environment_has_its_own(project: Project) -> None:
    project.configure(
        kv_namespaces=[{"binding": "CACHE", "id": "live"}],
        env={"staging": {"kv_namespaces": [{"binding": "CACHE", "id": "test"}]}},
    )
    config = project.config(environment="staging")
    assert [kv.id for kv in config.resources.kv_namespaces] == ["test"]
