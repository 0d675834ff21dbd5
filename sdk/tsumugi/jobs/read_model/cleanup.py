"""Forget jobs that ended long ago, a bounded number at a time. Touches no shard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.states import TERMINAL
from tsumugi.jobs.read_model.database import ask_all

if TYPE_CHECKING:
    from tsumugi.jobs.read_model.database import Database

#: Rows of one statement: D1 does nothing else meanwhile.
CLEANUP_ROWS: Final = 1_000
#: Statements of one call; the next cron goes on where it ended.
CLEANUP_STEPS: Final = 50

_STATES: Final = ", ".join(f"'{state}'" for state in sorted(TERMINAL))
# In the order of an index, so that no step sorts, and all three statements mean the same rows.
_DOOMED: Final = f"""
  SELECT id, binding, state FROM tsumugi_jobs
  WHERE state IN ({_STATES}) AND updated_at < ?1 ->> '$.before_ms'
  ORDER BY state, updated_at, rowid LIMIT ?1 ->> '$.rows'
"""
_HOW_MANY: Final = f"SELECT CAST(count(*) AS TEXT) AS answer FROM ({_DOOMED})"
_COUNT: Final = f"""
INSERT INTO tsumugi_job_counts (binding, state, jobs)
SELECT binding, state, -count(*) FROM ({_DOOMED}) WHERE true GROUP BY binding, state
ON CONFLICT (binding, state) DO UPDATE SET jobs = jobs + excluded.jobs
"""
_DELETE: Final = f"DELETE FROM tsumugi_jobs WHERE id IN (SELECT id FROM ({_DOOMED}))"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """``finished`` is False when there is more to delete than one call may."""

    jobs: int
    finished: bool


async def cleanup(
    database: Database,
    *,
    now_ms: int,
    retention_ms: int,
    rows: int = CLEANUP_ROWS,
    steps: int = CLEANUP_STEPS,
) -> Cleaned:
    """Delete jobs that ended and were not changed for ``retention_ms``.

    A job that waits or runs stays however old it is. Meant for a cron (``scheduled``).
    """
    jobs = 0
    for _ in range(steps):
        parameters = {"before_ms": now_ms - retention_ms, "rows": rows}
        deleted, *_ = await ask_all(
            database, [(sql, parameters) for sql in (_HOW_MANY, _COUNT, _DELETE)]
        )
        jobs += deleted
        if deleted < rows:
            return Cleaned(jobs, finished=True)
    return Cleaned(jobs, finished=False)
