"""What the read model has to learn, in portions. Knows no read model (ADR-0125).

The outbox names jobs, once each however often they change. Their snapshots are read when they are
sent, and a job leaves the outbox only if it has not changed since.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.shard.snapshots import SIZE, fitting, snapshots

if TYPE_CHECKING:
    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import Snapshot

#: Jobs of one portion.
PORTION: Final = 500

_NEXT: Final = f"""
SELECT json_group_array(json_array(id, size)) AS answer FROM (
  SELECT o.id, {SIZE} AS size FROM outbox AS o CROSS JOIN jobs AS j ON j.id = o.id
  WHERE o.id > ?1 ->> '$.after' ORDER BY o.id LIMIT {PORTION}
)
"""
_LEARNT: Final = """
DELETE FROM outbox WHERE id IN (
  SELECT j.id FROM json_each(?1, '$.rows') AS v CROSS JOIN jobs AS j ON j.id = v.value ->> '$[0]'
  WHERE j.version = v.value ->> '$[1]'
)
"""
_ANY: Final = "SELECT json_array(EXISTS (SELECT 1 FROM outbox)) AS answer WHERE ?1 IS NOT NULL"
_COUNT: Final = """
SELECT json_array(count(*)) AS answer FROM (SELECT 1 FROM outbox LIMIT ?1 ->> '$.limit')
"""

STATEMENTS: Final = (_NEXT, _LEARNT, _ANY, _COUNT)


@dataclass(frozen=True, slots=True)
class Portion:
    #: Of the last job in it, to go on from.
    last_id: str
    snapshots: list[Snapshot]
    #: Local ids with the versions that are sent.
    versions: list[tuple[str, int]]
    #: There may be others after it.
    more: bool


def next_portion(sql: Sql, after: str, *, binding: str, shard: int) -> Portion | None:
    """The jobs after this one that the read model has to learn of; None: no more."""
    sized = sql.read(_NEXT, after=after)
    if not sized:
        return None
    ids = fitting(sized)
    found = snapshots(sql, ids, binding=binding, shard=shard)
    versions = [(each["id"].rpartition(":")[2], each["version"]) for each in found]
    return Portion(ids[-1], found, versions, more=len(ids) < len(sized) or len(sized) == PORTION)


def learnt(sql: Sql, portion: Portion) -> None:
    """The read model has these: those that did not change meanwhile leave the outbox."""
    sql.write_rows(_LEARNT, rows=portion.versions)


def is_empty(sql: Sql) -> bool:
    (some,) = sql.read(_ANY)
    return not some


def count(sql: Sql, *, limit: int) -> int:
    """How many there are, up to ``limit``."""
    (found,) = sql.read(_COUNT, limit=limit)
    return int(found)
