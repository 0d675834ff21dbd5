"""The heads of keyed lines: the first waiting job of every key and priority. Keeps them true.

``head`` is 1 for those and 0 for all others, so an index lists the heads in order however long the
lines behind them are. Jobs without a key have no head (ADR-0122).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.control import Rescheduled
from tsumugi.jobs.core.states import JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tsumugi.jobs.shard.moves import Change
    from tsumugi.jobs.shard.sql import Sql

type Line = tuple[str, int]

#: Lines from which on it is asked first whether there is any.
ASKED: Final = 8

_LINE = """
  j.state = 'SCHEDULED' AND j.concurrency_key IS NOT NULL
  AND j.concurrency_key = l.value ->> '$[0]' AND j.priority = l.value ->> '$[1]'
"""
_FIRST = f"(SELECT j.id FROM jobs AS j WHERE {_LINE} ORDER BY j.ready_ms, j.id LIMIT 1)"

_HEADS: Final = f"""
SELECT json_group_array(json_array(h.concurrency_key, h.priority, h.ready_ms, h.id)) AS answer
FROM json_each(?1, '$.rows') AS l CROSS JOIN jobs AS h ON h.id = {_FIRST}
"""
_ANY: Final = """
SELECT json_array(EXISTS (
  SELECT 1 FROM jobs AS j WHERE j.state = 'SCHEDULED' AND j.concurrency_key IS NOT NULL
)) AS answer WHERE ?1 IS NOT NULL
"""
_DEMOTE: Final = """
UPDATE jobs SET head = 0 WHERE id IN (SELECT value FROM json_each(?1, '$.rows'))
"""
_PROMOTE: Final = f"""
UPDATE jobs SET head = 1 WHERE head = 0
  AND id IN (SELECT {_FIRST} FROM json_each(?1, '$.rows') AS l)
"""
# Where at most so many joined a line, its former head is still among the first ones.
_DEMOTE_FORMER: Final = f"""
UPDATE jobs SET head = 0 WHERE head = 1 AND id IN (
  SELECT f.id FROM json_each(?1, '$.rows') AS l CROSS JOIN jobs AS f ON f.id IN (
    SELECT j.id FROM jobs AS j WHERE {_LINE}
    ORDER BY j.ready_ms, j.id LIMIT ?1 ->> '$.most' OFFSET 1
  )
)
"""

STATEMENTS: Final = (_HEADS, _ANY, _DEMOTE, _PROMOTE, _DEMOTE_FORMER)


def heads_among(sql: Sql, new: Iterable[tuple[Line, int, str]]) -> set[str]:
    """Which of these new jobs (line, ``ready_ms``, id) will be heads; who was one is no more."""
    first: dict[Line, tuple[int, str]] = {}
    for line, ready_ms, local_id in new:
        place = (ready_ms, local_id)
        if line not in first or place < first[line]:
            first[line] = place
    former = []
    # Asking for each line is dearer than asking whether there is any.
    known = list(first) if len(first) < ASKED or sql.read(_ANY)[0] else []
    for key, priority, ready_ms, local_id in sql.read_rows(_HEADS, known):
        if (ready_ms, local_id) < first[key, priority]:
            del first[key, priority]
        else:
            former.append(local_id)
    sql.write_rows(_DEMOTE, rows=former)
    return {local_id for _, local_id in first.values()}


def refresh(sql: Sql, changes: Mapping[type[Any], list[Change]]) -> None:
    """Make the heads true after these changes, which left all that wait among them no heads."""
    left: set[Line] = set()
    joined: Counter[Line] = Counter()
    for of_kind in changes.values():
        for change in of_kind:
            job, move = change.job, change.move
            key = job.concurrency_key
            if key is None:
                continue
            if job.state is JobState.SCHEDULED:
                left.add((key, job.priority))
            if isinstance(move, Rescheduled):
                joined[key, move.priority] += 1
            elif getattr(move, "to", None) is JobState.SCHEDULED:
                joined[key, job.priority] += 1
    settle(sql, left, joined)


def settle(sql: Sql, left: set[Line], joined: Counter[Line]) -> None:
    """Make the heads true of lines that jobs left, and that so many joined as no heads."""
    most = max(joined.values(), default=0)
    sql.write_rows(_DEMOTE_FORMER, rows=sorted(joined), most=most)
    sql.write_rows(_PROMOTE, rows=sorted(left | set(joined)))
