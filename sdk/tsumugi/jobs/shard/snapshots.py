"""Jobs as people see them, read from all tables at once. Sends none and changes none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.model import DEFAULT_BACKOFF
from tsumugi.jobs.shard.rows import backoff_fields, read_backoff
from tsumugi.jobs.wire import ATTEMPTS_LOGGED

if TYPE_CHECKING:
    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import Snapshot

#: Bytes of the jobs that are read in one statement (or one job): SQLite's texts hold 2 MB.
BYTES: Final = 1_000_000

#: What a character of a key, an error or a log line can take in a JSON text.
_BYTES_OF_CHARACTER: Final = 6

#: For a job ``j``: an upper bound of its snapshot's bytes.
SIZE: Final = f"""(
  j.message_bytes + {_BYTES_OF_CHARACTER} * (
    coalesce((SELECT sum(length(a.error)) FROM attempts AS a WHERE a.id = j.id), 0)
    + coalesce((SELECT sum(length(l.text)) FROM log_lines AS l WHERE l.id = j.id), 0)
    + coalesce((SELECT length(r.result) FROM results AS r WHERE r.id = j.id), 0)
    + length(coalesce(j.concurrency_key, ''))
    + (SELECT length(coalesce(i.unique_key, '')) + length(coalesce(i.partition_key, ''))
       FROM inputs AS i WHERE i.id = j.id)
  )
)"""
_SIZES: Final = f"""
SELECT json_group_array(json_array(j.id, {SIZE})) AS answer
FROM json_each(?1, '$.ids') AS v CROSS JOIN jobs AS j ON j.id = v.value
"""
#: What a snapshot calls the columns.
_COLUMNS: Final = {
    "id": "j.id", "version": "j.version", "state": "j.state", "priority": "j.priority",
    "attempts": "j.attempts", "max_attempts": "j.max_attempts", "guarantee": "j.guarantee",
    "backoff": "j.backoff", "timeout_ms": "j.timeout_ms",
    "concurrency_key": "j.concurrency_key", "unique_key": "i.unique_key",
    "partition_key": "i.partition_key", "traceparent": "i.traceparent",
    "payload": "json(i.payload)", "result": "json(r.result)", "note": "r.note",
    "progress": "j.progress", "cancelled_because": "j.cancelled_because",
    "created_at": "i.created_ms", "ready_at": "j.ready_ms", "queued_at": "j.queued_ms",
    "started_at": "j.started_ms", "finished_at": "j.finished_ms", "expires_at": "j.expires_ms",
    "updated_at": "j.updated_ms",
}  # fmt: skip
_SNAPSHOTS: Final = f"""
SELECT json_group_array(json_array(
  {", ".join(_COLUMNS.values())},
  json((SELECT json_group_array(json_object(
    'attempt', a.attempt, 'outcome', a.outcome, 'started_at', a.started_ms,
    'finished_at', a.finished_ms, 'error', json(a.error)
  )) FROM (SELECT * FROM attempts AS b WHERE b.id = j.id ORDER BY b.epoch) AS a)),
  json((SELECT json_group_array(json_object('attempt', l.attempt, 'at', l.at_ms, 'text', l.text))
    FROM (SELECT * FROM log_lines AS m WHERE m.id = j.id ORDER BY m.number) AS l))
)) AS answer
FROM json_each(?1, '$.ids') AS v
  CROSS JOIN jobs AS j ON j.id = v.value
  CROSS JOIN inputs AS i ON i.id = j.id
  LEFT JOIN results AS r ON r.id = j.id
"""

STATEMENTS: Final = (_SIZES, _SNAPSHOTS)


def sizes(sql: Sql, ids: list[str]) -> dict[str, int]:
    """For those that are kept: no less than their snapshots' bytes."""
    return dict(sql.read(_SIZES, ids=ids))


def fitting(sized: list[tuple[str, int]], *, limit_bytes: int = BYTES) -> list[str]:
    """The first of these that fit together; the first one always does."""
    ids: list[str] = []
    for local_id, size in sized:
        limit_bytes -= size
        if ids and limit_bytes < 0:
            break
        ids.append(local_id)
    return ids


def snapshots(sql: Sql, ids: list[str], *, binding: str, shard: int) -> list[Snapshot]:
    """Of those that are kept, in the order of ``ids``."""
    rows = sql.read(_SNAPSHOTS, ids=ids)
    return [_snapshot(row, binding, shard) for row in rows]


def _snapshot(row: list[Any], binding: str, shard: int) -> Snapshot:
    *values, log, lines = row
    made: Any = dict(zip(_COLUMNS, values, strict=True))
    backoff = made["backoff"]
    failures = [each["error"] for each in log if each["error"] is not None]
    if made["state"] == "COMPLETED":
        # The attempt that succeeded is the job itself: it has no row of its own.
        log.append(
            {
                "attempt": made["attempts"],
                "outcome": "succeeded",
                "started_at": made["started_at"],
                "finished_at": made["finished_at"],
                "error": None,
            }
        )
    made |= {
        "id": f"{binding}#{shard}:{made['id']}",
        "binding": binding,
        "shard": shard,
        "backoff": _DEFAULT_BACKOFF if backoff is None else backoff_fields(read_backoff(backoff)),
        "error": failures[-1] if failures else None,
        "attempts_log": log[-ATTEMPTS_LOGGED:],
        "logs": lines,
    }
    snapshot: Snapshot = made
    return snapshot


_DEFAULT_BACKOFF: Final = backoff_fields(DEFAULT_BACKOFF)
