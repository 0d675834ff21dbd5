"""Delete what is over, in portions: finished jobs after their time, and unique keys."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.retention import leaves_at_ms
from tsumugi.jobs.core.states import TERMINAL, JobState
from tsumugi.jobs.shard.moves import count

if TYPE_CHECKING:
    from tsumugi.jobs.core.retention import Retention
    from tsumugi.jobs.shard.sql import Sql

#: Jobs of one state, and unique keys, that one sweep deletes at most.
PORTION: Final = 1_000

# A job that the read model has not learnt of stays.
_OVER: Final = f"""
SELECT json_array(
  (SELECT count(*) FROM (
    SELECT 1 FROM jobs AS j WHERE j.state = ?1 ->> '$.state' AND j.finished_ms IS NOT NULL
      AND j.finished_ms <= ?1 ->> '$.by' ORDER BY j.finished_ms LIMIT {PORTION}
  )),
  json((SELECT json_group_array(id) FROM (
    SELECT j.id FROM jobs AS j WHERE j.state = ?1 ->> '$.state' AND j.finished_ms IS NOT NULL
      AND j.finished_ms <= ?1 ->> '$.by' ORDER BY j.finished_ms LIMIT {PORTION}
  ) AS over WHERE NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.id = over.id)))
) AS answer
"""
_TABLES: Final = ("jobs", "inputs", "results", "attempts", "log_lines")
_DELETES: Final = tuple(
    f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?1, '$.ids'))"
    for table in _TABLES
)
_FREE: Final = f"""
DELETE FROM holds WHERE unique_key IN (
  SELECT unique_key FROM holds WHERE until_ms <= ?1 ->> '$.now' ORDER BY until_ms LIMIT {PORTION}
)
"""
_NEXT: Final = """
SELECT json_array(
  json((SELECT json_group_array(json_array(v.value, (
    SELECT j.finished_ms FROM jobs AS j WHERE j.state = v.value AND j.finished_ms IS NOT NULL
    ORDER BY j.finished_ms LIMIT 1
  ))) FROM json_each(?1, '$.states') AS v)),
  (SELECT until_ms FROM holds ORDER BY until_ms LIMIT 1)
) AS answer
"""

STATEMENTS: Final = (_OVER, *_DELETES, _FREE, _NEXT)


@dataclass(frozen=True, slots=True)
class Swept:
    jobs: int
    #: Some are over and have to wait until the read model has learnt of them.
    waits: bool
    #: There may be more to delete at once.
    more: bool


def sweep(sql: Sql, *, now_ms: int, retention: Retention) -> Swept:
    """Delete a portion of each kind. Call it in a transaction."""
    gone: Counter[str] = Counter()
    waits = more = False
    for state in sorted(TERMINAL):
        kept_ms = leaves_at_ms(state, finished_ms=0, retention=retention) or 0
        over, ids = sql.read(_OVER, state=state, by=now_ms - kept_ms)
        waits = waits or over > len(ids)
        more = more or len(ids) == PORTION
        if ids:
            for delete in _DELETES:
                sql.write(delete, ids=ids)
            gone[state] -= len(ids)
    count(sql, gone)
    sql.write(_FREE, now=now_ms)
    return Swept(-gone.total(), waits, more)


def next_sweep_ms(sql: Sql, *, retention: Retention) -> int | None:
    """When something is over next; None: nothing will be."""
    oldest, until_ms = sql.read(_NEXT, states=sorted(TERMINAL))
    times = [] if until_ms is None else [until_ms]
    for state, finished_ms in oldest:
        if finished_ms is not None:
            leaves_ms = leaves_at_ms(JobState(state), finished_ms=finished_ms, retention=retention)
            times += [] if leaves_ms is None else [leaves_ms]
    return min(times, default=None)
