"""The tables of one bucket. DDL only; bodies have their own in ``bodies``."""

from __future__ import annotations

TABLES = (
    """
CREATE TABLE IF NOT EXISTS objects (
  key BLOB NOT NULL PRIMARY KEY,
  version TEXT NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  uploaded_ms INTEGER NOT NULL,
  http TEXT NOT NULL,        -- JSON
  custom TEXT NOT NULL,      -- JSON
  checksums TEXT NOT NULL,   -- JSON: name to hexadecimal
  storage_class TEXT NOT NULL,
  body INTEGER NOT NULL
)
""",
    """
CREATE TABLE IF NOT EXISTS uploads (
  id TEXT NOT NULL PRIMARY KEY,
  key BLOB NOT NULL,
  http TEXT NOT NULL,
  custom TEXT NOT NULL,
  storage_class TEXT NOT NULL,
  over INTEGER NOT NULL DEFAULT 0   -- completed or aborted
)
""",
    """
CREATE TABLE IF NOT EXISTS parts (
  upload TEXT NOT NULL,
  number INTEGER NOT NULL,
  etag TEXT NOT NULL,       -- the MD5
  size INTEGER NOT NULL,
  body INTEGER NOT NULL,
  PRIMARY KEY (upload, number)
) WITHOUT ROWID
""",
)

OBJECT_COLUMNS = (
    "key, version, size, etag, uploaded_ms, http, custom, checksums, storage_class, body"
)
#: Queries of all bodies that are in use.
BODIES_IN_USE = ("SELECT body FROM objects", "SELECT body FROM parts")
