"""What a clock that went back leaves wrong, and how it is put right. Reads no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.reports import HEARTBEAT_EVERY_MS
from tsumugi.jobs.shard import lines
from tsumugi.jobs.shard.moves import mark
from tsumugi.jobs.shard.rows import PORTION

if TYPE_CHECKING:
    from tsumugi.jobs.shard.sql import Sql

# It could run when it was last changed, so it can run now; a job that is delayed is later than its
# last change.
_STRANDED: Final = f"""
SELECT json_group_array(json_array(id, concurrency_key, priority)) AS answer FROM (
  SELECT j.id, j.concurrency_key, j.priority FROM jobs AS j
  WHERE j.state = 'SCHEDULED' AND j.ready_ms > ?1 ->> '$.now' AND j.ready_ms <= ?1 ->> '$.latest'
    AND j.ready_ms <= j.updated_ms
  ORDER BY j.ready_ms, j.id LIMIT {PORTION}
)
"""
_READY: Final = """
UPDATE jobs SET ready_ms = ?1 ->> '$.now', behind = 0, version = version + 1,
  updated_ms = ?1 ->> '$.now'
FROM json_each(?1, '$.rows') AS v WHERE jobs.id = v.value ->> '$[0]'
"""
_AWAIT: Final = f"""
UPDATE jobs SET
  report_due_ms = ?1 ->> '$.now' + max(timeout_ms, {HEARTBEAT_EVERY_MS})
WHERE report_due_ms IS NOT NULL AND timeout_ms IS NOT NULL
  AND report_due_ms > ?1 ->> '$.now' + max(timeout_ms, {HEARTBEAT_EVERY_MS})
"""

STATEMENTS: Final = (_STRANDED, _READY, _AWAIT)


def latest_ms(meta: dict[str, Any]) -> int:
    """The latest time at which this shard is known to have changed anything."""
    return max(meta.get("latest_ms") or 0, meta.get("ticked_ms") or 0)


def straighten(sql: Sql, *, now_ms: int, latest_ms: int) -> bool:
    """Jobs that could run by the clock as it was can run now, and no report is awaited for longer
    than its job allows. Whether that is all; else call again. In a transaction.
    """
    stranded = sql.read(_STRANDED, now=now_ms, latest=latest_ms)
    sql.write_rows(_READY, rows=stranded, now=now_ms)
    mark(sql, [row[0] for row in stranded])
    shaken = {(key, priority) for _, key, priority in stranded if key is not None}
    lines.settle(sql, set(), shaken)
    sql.write(_AWAIT, now=now_ms)
    return len(stranded) < PORTION
