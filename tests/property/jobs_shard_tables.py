"""Jobs put straight into a shard's tables, as if they had come there. Goes through no door."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from shard_harness import SqliteStorage, connect
from tsumugi.jobs.core.model import DEFAULT_BACKOFF, JobView
from tsumugi.jobs.shard.rows import backoff_fields
from tsumugi.jobs.shard.schema import migrate
from tsumugi.jobs.shard.sql import Sql
from tsumugi.jobs.wire import dumps

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


BEHIND = """
UPDATE jobs SET behind = 1
WHERE state = 'SCHEDULED' AND concurrency_key IS NOT NULL AND id <> (
  SELECT f.id FROM jobs AS f WHERE f.state = 'SCHEDULED' AND f.priority = jobs.priority
    AND f.concurrency_key = jobs.concurrency_key ORDER BY f.ready_ms, f.id LIMIT 1
)
"""


def tables_with(jobs: Iterable[JobView]) -> Sql:
    db = connect()
    db.deserialize(_empty())
    for job in jobs:
        insert(db, job)
    db.execute(BEHIND)
    return Sql(SqliteStorage(db))


@cache
def _empty() -> bytes:
    db = connect()
    migrate(Sql(SqliteStorage(db)))
    return db.serialize()


def insert(db: sqlite3.Connection, job: JobView) -> None:
    backoff = None if job.backoff == DEFAULT_BACKOFF else dumps(backoff_fields(job.backoff))
    values = {
        "id": job.id,
        "state": job.state.value,
        "priority": job.priority,
        "ready_ms": job.ready_ms,
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "epoch": job.epoch,
        "guarantee": job.guarantee.value,
        "backoff": backoff,
        "timeout_ms": job.timeout_ms,
        "concurrency_key": job.concurrency_key,
        "expires_ms": job.expires_ms,
        "report_due_ms": job.report_due_ms,
        "beat_ms": job.beat_ms,
        "finished_ms": job.finished_ms,
        "message_bytes": 600,
        "updated_ms": 0,
    }
    names, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT INTO jobs ({names}) VALUES ({marks})", values)
    db.execute(
        "INSERT INTO counts VALUES (?, 1) ON CONFLICT DO UPDATE SET n = n + 1", (job.state.value,)
    )
