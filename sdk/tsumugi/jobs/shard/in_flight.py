"""The jobs in flight as ``core`` reads them: an ``InFlightSource`` over the indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.shard.rows import PORTION, VIEW, view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.shard.sql import Sql

FIRST_CHUNK: Final = 8
LARGEST_CHUNK: Final = PORTION

_SILENT: Final = f"""
SELECT json_array(
  json((SELECT json_group_array(json(row)) FROM (
    SELECT {VIEW} AS row FROM jobs AS j
    WHERE j.report_due_ms IS NOT NULL AND j.report_due_ms <= ?1 ->> '$.due_by'
      AND (j.report_due_ms, j.id) > (?1 ->> '$.after_ms', ?1 ->> '$.after_id')
    ORDER BY j.report_due_ms, j.id LIMIT ?1 ->> '$.limit'
  ))),
  (SELECT j.report_due_ms FROM jobs AS j
   WHERE j.report_due_ms IS NOT NULL AND j.report_due_ms > ?1 ->> '$.due_by'
   ORDER BY j.report_due_ms LIMIT 1)
) AS answer
"""
_COUNT: Final = """
SELECT json_array(sum(n)) AS answer FROM counts
WHERE name IN (SELECT value FROM json_each(?1, '$.states'))
"""

STATEMENTS: Final = (_SILENT, _COUNT)


class SqlInFlight:
    """``count`` is what is known already; ``seen`` is who was handed out."""

    def __init__(self, sql: Sql, *, count: int | None = None) -> None:
        self._sql = sql
        self._count = count
        #: By ``due_by_ms``: what comes after it.
        self._next_due: dict[int, int | None] = {}
        self.seen: dict[str, JobView] = {}

    def count(self) -> int:
        if self._count is None:
            (total,) = self._sql.read(_COUNT, states=["QUEUED", "RUNNING"])
            self._count = total or 0
        return self._count

    def silent(self, due_by_ms: int) -> Iterator[JobView]:
        after: list[Any] = [-1, ""]
        limit = FIRST_CHUNK
        while True:
            rows = self._read_silent(due_by_ms, after, limit)
            for row in rows:
                job = self.seen[row[0]] = view(row)
                yield job
            if len(rows) < limit:
                return
            after, limit = [rows[-1][12], rows[-1][0]], LARGEST_CHUNK

    def next_report_due_ms(self, after_ms: int) -> int | None:
        if after_ms not in self._next_due:
            self._read_silent(after_ms, [after_ms, ""], 0)
        return self._next_due[after_ms]

    def _read_silent(self, due_by_ms: int, after: list[Any], limit: int) -> list[list[Any]]:
        rows: list[list[Any]]
        rows, self._next_due[due_by_ms] = self._sql.read(
            _SILENT, due_by=due_by_ms, after_ms=after[0], after_id=after[1], limit=limit
        )
        return rows
