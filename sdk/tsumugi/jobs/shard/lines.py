"""The heads of keyed lines, kept true set by set. Knows the tables; decides nothing.

Only jobs with a key that begin or cease to wait, or wait elsewhere in the line, touch them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.control import Rescheduled
from tsumugi.jobs.core.states import JobState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.shard.moves import Change
    from tsumugi.jobs.shard.sql import Sql

_LINE = """
  j.state = 'SCHEDULED' AND j.concurrency_key IS NOT NULL
  AND j.concurrency_key = l.value ->> '$[0]' AND j.priority = l.value ->> '$[1]'
"""
_SET: Final = f"""
INSERT INTO line_heads (concurrency_key, priority, ready_ms, id)
SELECT h.concurrency_key, h.priority, h.ready_ms, h.id
FROM json_each(?1, '$.rows') AS l CROSS JOIN jobs AS h ON h.id = (
  SELECT j.id FROM jobs AS j WHERE {_LINE} ORDER BY j.ready_ms, j.id LIMIT 1
) WHERE true
ON CONFLICT (concurrency_key, priority) DO UPDATE SET ready_ms = excluded.ready_ms, id = excluded.id
WHERE line_heads.id <> excluded.id OR line_heads.ready_ms <> excluded.ready_ms
"""
_DROP: Final = f"""
DELETE FROM line_heads WHERE (concurrency_key, priority) IN (
  SELECT l.value ->> '$[0]', l.value ->> '$[1]' FROM json_each(?1, '$.rows') AS l
  WHERE NOT EXISTS (SELECT 1 FROM jobs AS j WHERE {_LINE})
)
"""

STATEMENTS: Final = (_SET, _DROP)


def grown(sql: Sql, lines: set[tuple[str, int]]) -> None:
    """Jobs were added to these lines, each a key and a priority."""
    sql.write_rows(_SET, rows=sorted(lines))


def refresh(sql: Sql, changes: Mapping[type[Any], list[Change]]) -> None:
    """Make the heads true again after these changes."""
    left: set[tuple[str, int]] = set()
    joined: set[tuple[str, int]] = set()
    for of_kind in changes.values():
        for change in of_kind:
            job, move = change.job, change.move
            key = job.concurrency_key
            if key is None:
                continue
            if job.state is JobState.SCHEDULED:
                left.add((key, job.priority))
            if isinstance(move, Rescheduled):
                joined.add((key, move.priority))
            elif getattr(move, "to", None) is JobState.SCHEDULED:
                joined.add((key, job.priority))
    sql.write_rows(_DROP, rows=sorted(left - joined))
    sql.write_rows(_SET, rows=sorted(left | joined))
