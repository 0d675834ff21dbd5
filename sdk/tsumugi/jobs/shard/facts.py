"""What a shard stores beside its jobs: counts, bucket, overrides, last tick. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.bucket import Bucket
from tsumugi.jobs.wire import dumps

if TYPE_CHECKING:
    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import Json

_READ: Final = """
SELECT json_array(
  json((SELECT json_group_object(name, json(value)) FROM meta)),
  json((SELECT json_group_object(name, n) FROM counts)),
  json((SELECT json_group_array(name) FROM handovers))
) AS answer WHERE ?1 IS NOT NULL
"""
_WRITE: Final = """
INSERT INTO meta (name, value) SELECT key, value FROM json_each(?1, '$.facts') WHERE true
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""

STATEMENTS: Final = (_READ, _WRITE)


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it, in one statement: it is small whatever the shard holds."""

    meta: dict[str, Any]
    counts: dict[str, int]
    #: Names of the batches that are not known to be sent.
    handovers: list[str]

    @property
    def bucket(self) -> Bucket | None:
        """None: there never was a rate."""
        stored = self.meta.get("bucket")
        return None if stored is None else Bucket(*stored)

    @property
    def overrides(self) -> dict[str, Json]:
        """Fields of the policy that were changed at run time."""
        return dict(self.meta.get("overrides") or {})

    @property
    def last_id(self) -> str | None:
        """The newest local id that was given out."""
        last: str | None = self.meta.get("last_id")
        return last

    @property
    def in_flight(self) -> int:
        return self.counts.get("QUEUED", 0) + self.counts.get("RUNNING", 0)


def read_facts(sql: Sql) -> Facts:
    return Facts(*sql.read(_READ))


def write_facts(sql: Sql, **values: Any) -> None:
    """Store these by name; the others stay."""
    if values:
        sql.write(_WRITE, facts={name: dumps(value) for name, value in values.items()})


def stored_bucket(bucket: Bucket | None) -> list[int] | None:
    return None if bucket is None else [bucket.parts, bucket.per_ms, bucket.at_ms]
