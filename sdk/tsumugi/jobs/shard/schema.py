"""The shard's tables, version by version. Creates and upgrades; reads and writes no job.

A version that was released is never edited: a live shard has it. What changes is a further entry of
``MIGRATIONS``, in the same transaction for all that are missing (ADR-0121).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tsumugi.jobs.shard.sql import Sql

_JOBS: Final = (
    # Hot: what decisions need, small, rewritten with every change. A job's rows of other tables
    # are as old as it is and change seldom, so no change rewrites a payload. A message is a payload
    # of a megabyte at most, with envelope and trace context: more would fit no answer.
    """
    CREATE TABLE jobs (
      id TEXT PRIMARY KEY,
      state TEXT NOT NULL,
      priority INTEGER NOT NULL,
      ready_ms INTEGER NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      max_attempts INTEGER NOT NULL,
      epoch INTEGER NOT NULL DEFAULT 0,
      guarantee TEXT NOT NULL,
      backoff TEXT,
      timeout_ms INTEGER,
      concurrency_key TEXT,
      expires_ms INTEGER,
      report_due_ms INTEGER,
      beat_ms INTEGER,
      finished_ms INTEGER,
      message_bytes INTEGER NOT NULL CHECK (message_bytes <= 1001024),
      version INTEGER NOT NULL DEFAULT 1,
      updated_ms INTEGER NOT NULL,
      queued_ms INTEGER,
      started_ms INTEGER,
      progress REAL,
      cancelled_because TEXT,
      behind INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID
    """,
    # A job waits behind another one of its key and priority, or in the front, as all without a key
    # do. A long line is one entry in the front.
    """
    CREATE INDEX jobs_front ON jobs (priority, ready_ms, id)
    WHERE state = 'SCHEDULED' AND behind = 0
    """,
    """
    CREATE INDEX jobs_behind ON jobs (concurrency_key, priority, ready_ms, id)
    WHERE state = 'SCHEDULED' AND behind = 1
    """,
    # Of every key: what is in flight, and who waits in the front. Nothing here changes when a job
    # is dispatched, so a job alone with its key is one entry, written and deleted once. The last
    # two columns always have the same values: without them each entry's job would be read.
    """
    CREATE INDEX jobs_of_keys ON jobs (concurrency_key, priority, id, finished_ms, behind)
    WHERE concurrency_key IS NOT NULL AND finished_ms IS NULL AND behind = 0
    """,
    "CREATE INDEX jobs_waiting ON jobs (ready_ms) WHERE state = 'SCHEDULED'",
    """
    CREATE INDEX jobs_expiring ON jobs (expires_ms, id)
    WHERE state = 'SCHEDULED' AND attempts = 0 AND expires_ms IS NOT NULL
    """,
    "CREATE INDEX jobs_awaited ON jobs (report_due_ms, id) WHERE report_due_ms IS NOT NULL",
    "CREATE INDEX jobs_finished ON jobs (state, finished_ms) WHERE finished_ms IS NOT NULL",
)

_COLD: Final = (
    # With row ids: long rows would make a tree that is ordered by text deep.
    """
    CREATE TABLE inputs (
      id TEXT PRIMARY KEY NOT NULL,
      created_ms INTEGER NOT NULL,
      unique_key TEXT,
      partition_key TEXT,
      traceparent TEXT,
      payload TEXT NOT NULL
    ) STRICT
    """,
    "CREATE TABLE results (id TEXT PRIMARY KEY NOT NULL, result TEXT, note TEXT) STRICT",
    # Attempts that ended without success; the one that succeeded is the job itself.
    """
    CREATE TABLE attempts (
      id TEXT NOT NULL,
      epoch INTEGER NOT NULL,
      attempt INTEGER NOT NULL,
      outcome TEXT NOT NULL,
      started_ms INTEGER,
      finished_ms INTEGER NOT NULL,
      error TEXT,
      PRIMARY KEY (id, epoch)
    ) STRICT
    """,
    """
    CREATE TABLE log_lines (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL,
      attempt INTEGER NOT NULL,
      at_ms INTEGER NOT NULL,
      text TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX log_lines_of_job ON log_lines (id, number)",
)

_REST: Final = (
    # How many jobs are in each state, and how much came too late for each reason.
    "CREATE TABLE counts (name TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL) STRICT",
    """
    CREATE TABLE holds (
      unique_key TEXT PRIMARY KEY NOT NULL,
      job_id TEXT NOT NULL,
      until_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX holds_ending ON holds (until_ms)",
    # Jobs whose last change the read model does not have.
    "CREATE TABLE outbox (id TEXT PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID",
    # Batches that were dispatched and are not known to be sent: [[id, epoch], ...].
    """
    CREATE TABLE handovers (
      name TEXT PRIMARY KEY NOT NULL,
      jobs TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)

#: Who won the claim of an at-most-once job, under the epoch it has while it is RUNNING.
_CLAIMANTS: Final = ("ALTER TABLE jobs ADD COLUMN claimant TEXT",)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = ((*_JOBS, *_COLD, *_REST), _CLAIMANTS)

#: The one table that never changes: it says what the others are.
_META: Final = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY NOT NULL, value TEXT) STRICT, WITHOUT ROWID
"""
_VERSION: Final = """
SELECT json_array((SELECT value FROM meta WHERE name = ?1 ->> '$.name')) AS answer
"""
_SET_VERSION: Final = """
INSERT INTO meta (name, value) VALUES ('schema', ?1 ->> '$.version')
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


STATEMENTS: Final = (_VERSION, _SET_VERSION)


class NewerSchema(RuntimeError):
    """The shard was upgraded by a later version of the SDK than this one."""


def migrate(sql: Sql) -> None:
    """Bring the database up to date. Raises ``NewerSchema`` rather than touch a later one."""
    version = _version(sql)
    if version > len(MIGRATIONS):
        raise NewerSchema(
            f"this shard's tables have version {version} and this SDK knows up to"
            f" {len(MIGRATIONS)}: deploy the version of the SDK that upgraded them, or a later one"
        )
    if version < len(MIGRATIONS):
        sql.transaction(lambda: _upgrade(sql, version))


def _version(sql: Sql) -> int:
    sql.define(_META)
    (version,) = sql.read(_VERSION, name="schema")
    return int(version or 0)


def _upgrade(sql: Sql, version: int) -> None:
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            sql.define(statement)
    sql.write(_SET_VERSION, version=str(len(MIGRATIONS)))
