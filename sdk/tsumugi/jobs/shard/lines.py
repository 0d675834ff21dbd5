"""Who waits behind whom: all but the first job of every key and priority. Keeps that true.

``behind`` is 1 for those and 0 for all others, so an index lists in order who may be next, however
long the lines are. Jobs without a key are never behind one (ADR-0122, ADR-0280).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.control import Rescheduled
from tsumugi.jobs.core.model import Dispatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi.jobs.shard.moves import Change
    from tsumugi.jobs.shard.sql import Sql

#: The jobs with a key, in flight or in the front, by a table's name: what one index holds.
OF_KEYS: Final = "{0}.concurrency_key IS NOT NULL AND {0}.finished_ms IS NULL AND {0}.behind = 0"
IN_FLIGHT: Final = "{0}.state IN ('QUEUED', 'RUNNING')"

type Line = tuple[str, int]

_OF_LINE = "{0}.concurrency_key = l.value ->> '$[0]' AND {0}.priority = l.value ->> '$[1]'"
_IN_FRONT = f"{OF_KEYS} AND {{0}}.state = 'SCHEDULED'"
_FIRST = f"{_IN_FRONT} AND {_OF_LINE}"
_BEHIND = f"{{0}}.state = 'SCHEDULED' AND {{0}}.behind = 1 AND {_OF_LINE}"

# Asked for every job with a key: to take two values out of an array would cost five times this.
_FIRSTS: Final = f"""
SELECT json_group_array(json_array(f.concurrency_key, f.ready_ms, f.id)) AS answer
FROM json_each(?1, '$.rows') AS l CROSS JOIN jobs AS f ON {_IN_FRONT.format("f")}
  AND f.concurrency_key = l.value AND f.priority = ?1 ->> '$.priority'
"""
#: Whether anybody is behind another. Any other index holds all that wait, and with nobody behind
#: all of it would be read.
ANY_BEHIND: Final = """EXISTS (
  SELECT 1 FROM jobs AS b INDEXED BY jobs_behind WHERE b.state = 'SCHEDULED' AND b.behind = 1
)"""
_ANY: Final = f"SELECT json_array({ANY_BEHIND}) AS answer WHERE ?1 IS NOT NULL"
_FALL_BEHIND: Final = """
UPDATE jobs SET behind = 1 WHERE id IN (SELECT value FROM json_each(?1, '$.rows'))
"""
_COME_FORWARD: Final = """
UPDATE jobs SET behind = 0 WHERE behind = 1 AND id IN (SELECT value FROM json_each(?1, '$.rows'))
"""
_NEXT_FORWARD: Final = f"""
UPDATE jobs SET behind = 0 WHERE id IN (
  SELECT (
    SELECT b.id FROM jobs AS b WHERE {_BEHIND.format("b")} ORDER BY b.ready_ms, b.id LIMIT 1
  ) FROM json_each(?1, '$.rows') AS l
)
"""
_ALL_BUT_FIRST_BEHIND: Final = f"""
UPDATE jobs SET behind = 1 WHERE id IN (
  SELECT f.id FROM json_each(?1, '$.rows') AS l CROSS JOIN jobs AS f ON f.id IN (
    SELECT j.id FROM jobs AS j WHERE {_FIRST.format("j")}
    ORDER BY j.ready_ms, j.id LIMIT -1 OFFSET 1
  )
)
"""

STATEMENTS: Final = (
    _FIRSTS, _ANY, _FALL_BEHIND, _COME_FORWARD, _NEXT_FORWARD, _ALL_BUT_FIRST_BEHIND,
)  # fmt: skip


def firsts(sql: Sql, priority: int, keys: Sequence[str]) -> list[tuple[str, int, str]]:
    """Key, ``ready_ms`` and id of who is first of these keys' lines of that priority.

    In the line of a key that lacks nobody waits.
    """
    return [(*first,) for first in sql.read_rows(_FIRSTS, keys, priority=priority)]


def fall_behind(sql: Sql, ids: Sequence[str]) -> None:
    """These were first and somebody comes before them now."""
    sql.write_rows(_FALL_BEHIND, rows=ids)


def make_way(
    sql: Sql, leaving: Sequence[Change], *, any_behind: bool | None = None
) -> Counter[Line]:
    """Let those come forward that are to be dispatched from behind others of their key.

    ``leaving`` are jobs with a key that wait. Answers how many of them leave each line; nothing if
    nobody is behind another, for then no line that is left has to be looked at. ``any_behind``
    says whether anybody is, if that is known.
    """
    if leaving and any_behind is None:
        (any_behind,) = sql.read(_ANY)
    if not leaving or not any_behind:
        return Counter()
    left = Counter(map(_line, leaving))
    # Jobs are dispatched from the front of a line on: who leaves it alone was its first.
    ids = [c.job.id for c in leaving if left[_line(c)] > 1 and type(c.move) is Dispatch]
    sql.write_rows(_COME_FORWARD, rows=ids)
    return left


def refresh(
    sql: Sql, leaving: Sequence[Change], joining: Sequence[Change], left: Counter[Line]
) -> None:
    """Make it true after these changes of jobs with a key, which left or joined those that wait.

    ``left`` is what ``make_way`` said before them. Whoever joined did so in the front.
    """
    shaken = {_line_joined(change) for change in joining}
    if left:
        # What is not dispatched may leave from anywhere in a line.
        shaken |= {_line(change) for change in leaving if type(change.move) is not Dispatch}
    settle(sql, set(left), shaken)


def _line(change: Change) -> Line:
    job = change.job
    return (job.concurrency_key or "", job.priority)


def _line_joined(change: Change) -> Line:
    move = change.move
    priority = move.priority if isinstance(move, Rescheduled) else change.job.priority
    return (change.job.concurrency_key or "", priority)


def settle(sql: Sql, followed: set[Line], shaken: set[Line]) -> None:
    """Let the next ones come forward in the lines ``followed``, and of those that are in the front
    of a line of ``shaken`` let only the first one stay there.
    """
    sql.write_rows(_NEXT_FORWARD, rows=sorted(followed))
    sql.write_rows(_ALL_BUT_FIRST_BEHIND, rows=sorted(shaken))
