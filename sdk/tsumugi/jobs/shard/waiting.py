"""The waiting jobs as ``core`` reads them: a ``ReadySource`` over the indexes. Changes nothing.

One statement answers all single facts and the first job of the best priorities. Lines are read in
chunks that grow, so that neither a short walk reads much nor a long one asks often (ADR-0122).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.options import MAX_PRIORITY
from tsumugi.jobs.shard.lines import ANY_BEHIND, IN_FLIGHT, OF_KEYS
from tsumugi.jobs.shard.rows import MESSAGE_BYTES, PORTION, VIEW, view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.shard.sql import Sql

#: Jobs in the first chunk of a line nobody expects much of, and in the largest chunk.
FIRST_CHUNK: Final = 8
LARGEST_CHUNK: Final = PORTION
#: Priorities in the first answer.
FIRST_PRIORITIES: Final = 4

_SCHEDULED = "j.state = 'SCHEDULED'"
_FRONT = f"{_SCHEDULED} AND j.behind = 0"
_BEHIND = f"{_SCHEDULED} AND j.behind = 1"
#: Above every priority there is.
_ABOVE_ALL: Final = MAX_PRIORITY + 1

_OF_ITS_KEY = (
    f"FROM jobs AS f WHERE {OF_KEYS.format('f')} AND f.concurrency_key = j.concurrency_key"
)
#: A job in the front and how many jobs of its key are in flight, if any job is. Whether it is alone
#: with its key, as most are, the index tells without any job's row.
_WITH_COUNT = f"""json_array({VIEW}, CASE
WHEN j.concurrency_key IS NOT NULL AND ?1 ->> '$.flying'
  AND EXISTS (SELECT 1 {_OF_ITS_KEY} AND f.id <> j.id)
THEN (SELECT count(*) {_OF_ITS_KEY} AND {IN_FLIGHT.format("f")})
ELSE 0 END)"""


def _best_below(bound: str) -> str:
    """The greatest priority below ``bound`` at which any job waits, ready or not."""
    return f"""(
      SELECT j.priority FROM jobs AS j WHERE {_FRONT} AND j.priority < {bound}
      ORDER BY j.priority DESC LIMIT 1
    )"""


_PRIORITIES: Final = f"""
  WITH RECURSIVE steps (priority) AS (
    SELECT {_best_below("?1 ->> '$.below'")}
    UNION ALL
    SELECT {_best_below("steps.priority")} FROM steps WHERE steps.priority IS NOT NULL
  )
  SELECT json_group_array(json_array(priority, json(first))) FROM (
    SELECT priority, first FROM (
      SELECT steps.priority,
        (SELECT {_WITH_COUNT} FROM jobs AS j
         WHERE {_FRONT} AND j.priority = steps.priority AND j.ready_ms <= ?1 ->> '$.now'
         ORDER BY j.ready_ms, j.id LIMIT 1) AS first
      FROM steps WHERE steps.priority IS NOT NULL
    ) WHERE first IS NOT NULL
    LIMIT ?1 ->> '$.limit'
  )
"""
_MORE_PRIORITIES: Final = f"SELECT ({_PRIORITIES}) AS answer"

_OVERDUE: Final = f"""
  SELECT json_group_array(json(row)) FROM (
    SELECT {VIEW} AS row FROM jobs AS j
    WHERE {_SCHEDULED} AND j.attempts = 0 AND j.expires_ms IS NOT NULL
      AND j.expires_ms <= ?1 ->> '$.now'
      AND (j.expires_ms, j.id) > (?1 ->> '$.after_ms', ?1 ->> '$.after_id')
    ORDER BY j.expires_ms, j.id LIMIT ?1 ->> '$.limit'
  )
"""
_MORE_OVERDUE: Final = f"SELECT ({_OVERDUE}) AS answer"

_FACTS: Final = f"""
SELECT json_array(
  (SELECT j.ready_ms FROM jobs AS j WHERE {_SCHEDULED} ORDER BY j.ready_ms LIMIT 1),
  (SELECT j.ready_ms FROM jobs AS j WHERE {_SCHEDULED} AND j.ready_ms > ?1 ->> '$.now'
   ORDER BY j.ready_ms LIMIT 1),
  (SELECT j.expires_ms FROM jobs AS j
   WHERE {_SCHEDULED} AND j.attempts = 0 AND j.expires_ms IS NOT NULL
     AND j.expires_ms > ?1 ->> '$.now'
   ORDER BY j.expires_ms LIMIT 1),
  {ANY_BEHIND},
  json(({_OVERDUE})),
  json(({_PRIORITIES}))
) AS answer
"""

_NEXT_IN_FRONT: Final = f"""
SELECT json_group_array(json(row)) AS answer FROM (
  SELECT {_WITH_COUNT} AS row FROM jobs AS j
  WHERE {_FRONT} AND j.priority = ?1 ->> '$.priority' AND j.ready_ms <= ?1 ->> '$.now'
    AND (j.ready_ms, j.id) > (?1 ->> '$.after_ms', ?1 ->> '$.after_id')
  ORDER BY j.ready_ms, j.id LIMIT ?1 ->> '$.limit'
)
"""
_NEXT_OF_KEY: Final = f"""
SELECT json_group_array(json(row)) AS answer FROM (
  SELECT {VIEW} AS row FROM jobs AS j
  WHERE {_BEHIND} AND j.concurrency_key = ?1 ->> '$.key' AND j.priority = ?1 ->> '$.priority'
    AND j.ready_ms <= ?1 ->> '$.now'
    AND (j.ready_ms, j.id) > (?1 ->> '$.after_ms', ?1 ->> '$.after_id')
  ORDER BY j.ready_ms, j.id LIMIT ?1 ->> '$.limit'
)
"""

#: Every statement here, for those who check how they are run.
STATEMENTS: Final = (_FACTS, _MORE_PRIORITIES, _MORE_OVERDUE, _NEXT_IN_FRONT, _NEXT_OF_KEY)


class SqlReady:
    """``expected`` is how many jobs the walk will take at most, ``of_key`` how many of one key,
    ``flying`` whether any job is in flight.

    ``seen`` and ``message_bytes`` know every job that was handed out.
    """

    def __init__(
        self,
        sql: Sql,
        *,
        now_ms: int,
        expected: int = FIRST_CHUNK,
        of_key: int = 1,
        flying: bool = True,
    ) -> None:
        self._sql = sql
        self._now_ms = now_ms
        self._flying = flying
        self._expected = max(2, min(expected, LARGEST_CHUNK))
        self._of_key = max(1, min(of_key, LARGEST_CHUNK))
        self.seen: dict[str, JobView] = {}
        self.message_bytes: dict[str, int] = {}
        #: Of the keys that were handed out with the front: how many are in flight, if any are.
        self._key_counts: dict[str, int] = {}
        facts = sql.read(
            _FACTS, now=now_ms, below=_ABOVE_ALL, after_ms=-1, after_id="",
            limit=FIRST_PRIORITIES, flying=flying,
        )  # fmt: skip
        self._oldest, self._next_ready, self._next_expiry, any_behind, overdue, priorities = facts
        #: Whether any job is behind another of its key.
        self.any_behind = bool(any_behind)
        self._first_overdue = overdue
        #: Priority -> the first row of its front, best first.
        self._priorities: dict[int, Any] = {}
        self._all_priorities = False
        self._add_priorities(priorities, FIRST_PRIORITIES)
        self._behind: dict[str, deque[JobView]] = {}

    def priority_below(self, priority: int | None) -> int | None:
        while True:
            found = next((p for p in self._priorities if priority is None or p < priority), None)
            if found is not None or self._all_priorities:
                return found
            self._read_priorities()

    def oldest_ready_ms(self) -> int | None:
        oldest: int | None = self._oldest
        return oldest

    def front(self, priority: int) -> Iterator[JobView]:
        first = self._priorities.get(priority)
        if first is not None:
            yield self._hand_out_front(first)
            yield from self._rest(priority, first)

    def in_flight_of_key(self, key: str) -> int:
        return self._key_counts.get(key, 0)

    def next_in_line(self, job: JobView) -> JobView | None:
        line = self._behind.pop(job.id, None)
        if line is None:
            rows = self._sql.read(
                _NEXT_OF_KEY,
                key=job.concurrency_key,
                priority=job.priority,
                now=self._now_ms,
                after_ms=job.ready_ms,
                after_id=job.id,
                limit=self._of_key,
            )
            line = deque(self._hand_out(row) for row in rows)
        if not line:
            return None
        following = line.popleft()
        if line:
            self._behind[following.id] = line
        return following

    def next_ready_ms(self) -> int | None:
        next_ready: int | None = self._next_ready
        return next_ready

    def overdue(self) -> Iterator[JobView]:
        rows, limit = self._first_overdue, FIRST_PRIORITIES
        while rows:
            for row in rows:
                yield self._hand_out(row)
            if len(rows) < limit:
                return
            limit = LARGEST_CHUNK
            rows = self._sql.read(
                _MORE_OVERDUE, now=self._now_ms, after_ms=rows[-1][11], after_id=rows[-1][0],
                limit=limit,
            )  # fmt: skip

    def next_expiry_ms(self) -> int | None:
        next_expiry: int | None = self._next_expiry
        return next_expiry

    def _read_priorities(self) -> None:
        last = next(reversed(self._priorities))
        limit = min(LARGEST_CHUNK, 4 * len(self._priorities))
        rows = self._sql.read(
            _MORE_PRIORITIES, now=self._now_ms, below=last, limit=limit, flying=self._flying
        )
        self._add_priorities(rows, limit)

    def _add_priorities(self, rows: list[Any], limit: int) -> None:
        self._priorities.update(rows)
        self._all_priorities = len(rows) < limit

    def _rest(self, priority: int, last: list[Any]) -> Iterator[JobView]:
        """What follows the row ``last``. The first front asked for is where most is expected."""
        limit, self._expected = self._expected, FIRST_CHUNK
        while True:
            rows = self._sql.read(
                _NEXT_IN_FRONT, priority=priority, now=self._now_ms, after_ms=last[0][3],
                after_id=last[0][0], limit=limit, flying=self._flying,
            )  # fmt: skip
            yield from map(self._hand_out_front, rows)
            if len(rows) < limit:
                return
            last = rows[-1]
            limit = min(LARGEST_CHUNK, 2 * limit)

    def _hand_out_front(self, row: list[Any]) -> JobView:
        job = self._hand_out(row[0])
        if row[1] and job.concurrency_key is not None:
            self._key_counts[job.concurrency_key] = row[1]
        return job

    def _hand_out(self, row: list[Any]) -> JobView:
        job = self.seen[row[0]] = view(row)
        self.message_bytes[row[0]] = row[MESSAGE_BYTES]
        return job
