"""The read model: what shards project, and what is left of it after replays and old news."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from local_d1 import MIGRATIONS as FILES, LocalD1
from snapshot_builder import T0, finished, job_id, snapshot
from tsumugi.jobs.read_model import project, schema
from tsumugi.jobs.read_model.projection import CHUNK_ROWS, DETAILS
from tsumugi.jobs.read_model.queries import Filter, Page, counts, find, page_of
from tsumugi.jobs.read_model.schema import MIGRATIONS, missing_migrations
from tsumugi_emulator.storage.d1 import D1Error, Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.wire import Snapshot

TEMPLATES = Path(__file__).parents[4] / "templates"
VALUE_BYTES = 2_000_000
STATEMENT_BYTES = 100_000
PARAMETERS = 100


@pytest.fixture
def database() -> LocalD1:
    return LocalD1()


def write(database: LocalD1, *snapshots: Snapshot) -> None:
    asyncio.run(project(database, snapshots))


def read(database: LocalD1, number: int = 1) -> Any:
    return asyncio.run(find(database, job_id(number)))


def everything(database: LocalD1) -> list[Any]:
    tables = ("tsumugi_jobs", "tsumugi_job_counts")
    return [database.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]


def test_a_job_is_read_as_it_was_written(database: LocalD1) -> None:
    rich = finished(
        attempts=2,
        concurrency_key='quo"ted',
        unique_key="雪",
        progress=0.5,
        payload={"deep": [1, 2.5, None, True, {"ünï": 'x"\\'}]},
        result=[1],
        error={"type": "E", "message": "m", "traceback": "t"},
        attempts_log=[
            {
                "attempt": 1,
                "outcome": "failed",
                "started_at": T0,
                "finished_at": T0 + 1,
                "error": None,
            }
        ],
        logs=[{"attempt": 1, "at": T0, "text": "half way"}],
    )
    write(database, rich)
    assert read(database) == rich


def test_a_job_that_nobody_projected_is_not_found(database: LocalD1) -> None:
    assert read(database) is None


def test_an_older_snapshot_changes_nothing(database: LocalD1) -> None:
    write(database, finished(version=5))
    before = everything(database)
    write(database, snapshot(version=4))
    assert everything(database) == before


def test_replaying_snapshots_changes_nothing(database: LocalD1) -> None:
    snapshots = [snapshot(1), finished(2), finished(3, "FAILED")]
    write(database, *snapshots)
    before = everything(database)
    for _ in range(3):
        write(database, *snapshots)
    assert everything(database) == before


def test_of_one_job_twice_in_a_call_the_newer_counts(database: LocalD1) -> None:
    write(database, finished(version=3), snapshot(version=1), snapshot(version=2))
    assert read(database)["state"] == "COMPLETED"
    assert counted(database) == {"COMPLETED": 1}


def counted(database: LocalD1) -> dict[str, int]:
    return asyncio.run(counts(database)).by_state


def test_counts_follow_every_change_of_state(database: LocalD1) -> None:
    write(database, *(snapshot(number) for number in range(5)))
    assert counted(database) == {"SCHEDULED": 5}
    write(database, finished(0), finished(1, "FAILED"), snapshot(2, "RUNNING", 2))
    assert counted(database) == {"SCHEDULED": 2, "RUNNING": 1, "COMPLETED": 1, "FAILED": 1}
    write(database, snapshot(1, "SCHEDULED", 3))
    assert counted(database) == {"SCHEDULED": 3, "RUNNING": 1, "COMPLETED": 1}


def test_counts_keep_bindings_apart(database: LocalD1) -> None:
    write(database, snapshot(1), snapshot(2, binding="Charge"), finished(3, binding="Charge"))
    assert asyncio.run(counts(database)).by_binding == {
        "Charge": {"COMPLETED": 1, "SCHEDULED": 1},
        "SendMail": {"SCHEDULED": 1},
    }


def test_the_oldest_waiting_job_is_known(database: LocalD1) -> None:
    assert asyncio.run(counts(database)).oldest_scheduled_at is None
    write(database, finished(1), snapshot(7), snapshot(9))
    assert asyncio.run(counts(database)).oldest_scheduled_at == T0 + 7


# -- Limits of D1 ---------------------------------------------------------------------------------


def sent(database: LocalD1) -> list[Query]:
    return [query for batch in database.batches for query in batch]


def assert_within_limits(database: LocalD1) -> None:
    for query in sent(database):
        assert len(query.sql.encode()) < STATEMENT_BYTES
        assert len(query.params) <= PARAMETERS
        for value in query.params:
            assert isinstance(value, str)
            assert len(value.encode()) <= VALUE_BYTES


def test_many_jobs_are_few_statements(database: LocalD1) -> None:
    database.batches.clear()
    write(database, *(snapshot(number) for number in range(3 * CHUNK_ROWS)))
    assert [len(batch) for batch in database.batches] == [2, 2, 2]
    assert counted(database) == {"SCHEDULED": 3 * CHUNK_ROWS}
    assert_within_limits(database)


@pytest.mark.parametrize("character", ['"', "\\", "雪", "\x01", "a"])
def test_payloads_of_any_characters_fit(database: LocalD1, character: str) -> None:
    # A payload has a million bytes as JSON at most.
    length = 999_990 // len(json.dumps(character, ensure_ascii=False)[1:-1].encode())
    huge = [snapshot(number, payload=character * length) for number in range(2)]
    # Keys and logs come on top of it.
    error = {"type": "E", "message": "", "traceback": character * 1_999}
    attempt = {"attempt": 1, "outcome": "failed", "started_at": None, "finished_at": T0}
    rich = {
        "logs": [{"attempt": 1, "at": T0, "text": character * 2_000}] * 20,
        "attempts_log": [attempt | {"error": error}] * 20,
    }
    huge.append(snapshot(99, payload=character * length, unique_key="k" * 512, **rich))
    middling = [snapshot(number, payload=character * (length // 9)) for number in range(2, 20)]
    write(database, *huge, *middling)
    assert_within_limits(database)
    for one in (*huge, *middling):
        assert asyncio.run(find(database, one["id"])) == one


def test_the_longest_keys_of_many_jobs_fit(database: LocalD1) -> None:
    key = "\U0001f4e6" * 512
    write(
        database,
        *(snapshot(number, concurrency_key=key, unique_key=key) for number in range(500)),
    )
    assert_within_limits(database)
    assert counted(database) == {"SCHEDULED": 500}


def test_a_payload_that_is_nested_too_deep_for_sqlite_is_kept(database: LocalD1) -> None:
    payload: Any = "core"
    for _ in range(900):
        payload = [payload]
    payload = {"a": payload, "b": payload}
    write(database, snapshot(payload=payload))
    assert read(database)["payload"] == payload


def test_a_row_that_could_never_fit_is_written_without_its_payload(database: LocalD1) -> None:
    write(database, snapshot(1, payload="x" * VALUE_BYTES), snapshot(2))
    found = read(database, 1)
    assert (found["payload"], found["state"]) == (None, "SCHEDULED")
    assert "too large" in found["note"]
    assert read(database, 2) == snapshot(2)


def test_what_was_written_before_a_failure_stays_and_a_repetition_completes_it(
    database: LocalD1,
) -> None:
    snapshots = [snapshot(number) for number in range(2 * CHUNK_ROWS)]
    calls = iter(range(1, 10))

    def fail_second(_queries: list[Query]) -> None:
        if next(calls) == 2:
            raise D1Error("D1 is down")

    database.fail = fail_second
    with pytest.raises(D1Error):
        write(database, *snapshots)
    database.fail = lambda _queries: None
    assert counted(database) == {"SCHEDULED": CHUNK_ROWS}
    write(database, *snapshots)
    assert counted(database) == {"SCHEDULED": 2 * CHUNK_ROWS}


def test_every_field_of_a_snapshot_is_kept_somewhere() -> None:
    from tsumugi.jobs.read_model.projection import COLUMNS

    assert sorted((*COLUMNS, *DETAILS)) == sorted(snapshot())


# -- Migrations -----------------------------------------------------------------------------------


def test_every_shipped_migration_is_known_and_notes_its_name() -> None:
    assert tuple(sorted(file.stem for file in FILES.glob("*.sql"))) == MIGRATIONS
    for name in MIGRATIONS:
        assert (
            f"INSERT INTO tsumugi_migrations (name) VALUES ('{name}');"
            in (FILES / f"{name}.sql").read_text()
        )


def test_comments_of_migrations_hold_nothing_that_splits_statements() -> None:
    # Tools that apply migrations differ in how well they read comments.
    for name in MIGRATIONS:
        for line in (FILES / f"{name}.sql").read_text().splitlines():
            comment = line.partition("--")[2]
            assert not set(comment) & set(";'\"")


def test_a_database_without_migrations_lacks_all() -> None:
    database = LocalD1(migrated=False)
    assert asyncio.run(missing_migrations(database)) == list(MIGRATIONS)


def test_a_database_lacks_the_migration_that_came_later(
    database: LocalD1, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asyncio.run(missing_migrations(database)) == []
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, "0002_later"))
    assert asyncio.run(missing_migrations(database)) == ["0002_later"]


# -- Plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda db: page_of(db, Filter(), Page()), "tsumugi_jobs_by_update"),
        (lambda db: page_of(db, Filter(states=["FAILED"]), Page()), "tsumugi_jobs_by_state"),
        (lambda db: page_of(db, Filter(binding="A"), Page()), "tsumugi_jobs_by_binding"),
        (
            lambda db: page_of(db, Filter(concurrency_key="k"), Page()),
            "tsumugi_jobs_by_concurrency_key",
        ),
        (lambda db: page_of(db, Filter(unique_key="k"), Page()), "tsumugi_jobs_by_unique_key"),
        (
            lambda db: page_of(db, Filter(created_from=1, created_to=2), Page(sort="created_at")),
            "tsumugi_jobs_by_creation",
        ),
        (counts, "tsumugi_jobs_waiting"),
    ],
)
def test_no_question_reads_all_jobs(
    database: LocalD1, ask: Callable[[Any], Any], index: str
) -> None:
    database.batches.clear()
    asyncio.run(ask(database))
    plans = [detail for query in sent(database) for detail in database.plan(query)]
    assert any(index in detail for detail in plans), plans
    assert not [
        detail
        for detail in plans
        if detail.startswith("SCAN tsumugi_jobs") and "INDEX" not in detail
    ]


def test_templates_hold_the_migrations_that_ship() -> None:
    copies = [file for name in MIGRATIONS for file in TEMPLATES.glob(f"*/migrations/{name}.sql")]
    assert copies
    for copy in copies:
        assert copy.read_bytes() == (FILES / copy.name).read_bytes(), copy
        there = {file.stem for file in copy.parent.glob("*.sql")}
        assert there >= set(MIGRATIONS), f"{copy.parent}: run `tsumugi jobs migrations`"
