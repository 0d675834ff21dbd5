"""The tables of queues.sqlite and how older files become current. Only DDL: no queries.

A queue's messages stand in a *line*. ``place`` is a message's position: the queue's number in the
high bits and a counter in the low ones, so that the primary key alone gives first-in-first-out
order per queue, without a secondary index to maintain for each message (ADR-0022).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

#: Bits of ``place`` that count messages: 10**12 per queue, and four million queues above them.
PLACE_BITS = 40

_V1 = """
-- settings: what holds now. configured: what the configuration file said last, so that a start
-- with an unchanged file does not undo a change made through the API in between.
CREATE TABLE queues (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  queue_id TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  modified_ms INTEGER NOT NULL,
  settings TEXT NOT NULL,
  configured TEXT
) STRICT;

-- One row per queue, rewritten by every transaction that touches it: counts are never computed.
CREATE TABLE lines (
  queue INTEGER PRIMARY KEY REFERENCES queues (number),
  last_place INTEGER NOT NULL,
  ready_count INTEGER NOT NULL DEFAULT 0,
  ready_bytes INTEGER NOT NULL DEFAULT 0,
  delayed_count INTEGER NOT NULL DEFAULT 0,
  delayed_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;

-- timestamp_ms: when it was first sent. arrived_ms: when it came into this queue, from which its
-- retention counts. joined_ms: when it took its place. attempts: deliveries already counted.
-- Rows of a batch in flight stay here; leases says which they are.
CREATE TABLE ready (
  place INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL,
  id TEXT NOT NULL,
  content_type TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  arrived_ms INTEGER NOT NULL,
  joined_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;

-- Messages that never left the line are in order of arrival already. Only those that came back
-- (delayed or retried) need an index to find the oldest.
CREATE INDEX ready_rejoined ON ready (queue, arrived_ms) WHERE joined_ms > arrived_ms;

CREATE TABLE delayed (
  queue INTEGER NOT NULL,
  due_ms INTEGER NOT NULL,
  place INTEGER NOT NULL,
  id TEXT NOT NULL,
  content_type TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  arrived_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (queue, due_ms, place)
) STRICT, WITHOUT ROWID;

-- A batch in flight. Written before the handler runs: a row found at boot is a delivery that
-- counts although nobody lived to report on it.
CREATE TABLE leases (
  first_place INTEGER PRIMARY KEY,
  last_place INTEGER NOT NULL
) STRICT;
"""

_V2 = """
-- Pull consumers and the control plane.

-- pulled_*: leased by pullers and not acknowledged. Every message up to purged_place is gone,
-- although its row may wait to be collected.
ALTER TABLE lines ADD COLUMN pulled_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lines ADD COLUMN pulled_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lines ADD COLUMN purged_place INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lines ADD COLUMN purge_started_ms INTEGER;

-- What the configuration said last about the consumer, and which Workers it lets send.
ALTER TABLE queues ADD COLUMN configured_consumer TEXT;
ALTER TABLE queues ADD COLUMN producers TEXT;

-- The consumer that holds now, wherever it was configured. One for a queue.
CREATE TABLE consumers (
  queue INTEGER PRIMARY KEY REFERENCES queues (number),
  consumer_id TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  type TEXT NOT NULL,
  settings TEXT NOT NULL
) STRICT;

-- The stretch of a line handed out by one pull; what of it was acknowledged is no longer in ready.
-- Unlike a lease, it outlives the emulator, as its holder does.
CREATE TABLE pulls (
  first_place INTEGER PRIMARY KEY,
  last_place INTEGER NOT NULL,
  queue INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX pulls_expiry ON pulls (queue, expires_ms);

-- Where a message went that came back from a puller, so that the acknowledgement of an earlier
-- lease finds it. due_ms is 0 for those in ready.
CREATE TABLE returned (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  due_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Places whose rows are to be deleted a few at a time: purged and deleted queues.
CREATE TABLE garbage (
  first_place INTEGER PRIMARY KEY,
  last_place INTEGER NOT NULL
) STRICT;

CREATE TABLE facts (name TEXT PRIMARY KEY, value ANY) STRICT;
"""

#: MIGRATIONS[n] takes a file from user_version n to n + 1. Never edit one that was released.
MIGRATIONS: tuple[str, ...] = (_V1, _V2)


class NewerSchemaError(Exception):
    """The file was written by a newer version."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"queues.sqlite has schema version {found}, this version knows {known}; "
            "upgrade tsumugi-workers, or delete the file to start with empty queues"
        )


def migrate(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise NewerSchemaError(version, len(MIGRATIONS))
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.executescript(f"BEGIN;{script}PRAGMA user_version = {number};COMMIT;")
