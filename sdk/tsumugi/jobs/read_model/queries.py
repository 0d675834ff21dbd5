"""What is asked of the read model: a page of jobs, one job, how many there are. Writes nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tsumugi.jobs.core.states import JobState
from tsumugi.jobs.read_model.database import ask_all
from tsumugi.jobs.read_model.projection import COLUMNS, DETAILS
from tsumugi.jobs.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsumugi.jobs.read_model.database import Database
    from tsumugi.jobs.wire import Snapshot

#: Jobs of one page.
PAGE_LIMIT: Final = 100
#: What a page may be sorted by; the id decides between equals.
SORTABLE: Final = ("updated_at", "created_at", "binding", "state", "priority", "attempts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Jobs that match all of these. Keys and ids match exactly; the times are inclusive."""

    states: Sequence[str] | None = None
    binding: str | None = None
    id: str | None = None
    unique_key: str | None = None
    concurrency_key: str | None = None
    created_from: int | None = None
    created_to: int | None = None
    #: For jobs that are over: those that ended later.
    finished_after: int | None = None

    def without_ids(self) -> bool:
        """Whether counting the jobs needs no look at them: at most their states and binding."""
        given = {name for name, value in asdict(self).items() if value is not None}
        return given <= {"states", "binding"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    limit: int = 20
    offset: int = 0
    sort: str = "updated_at"
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Counts:
    """How many jobs there are, by binding and state; states without any are left out."""

    by_binding: Mapping[str, Mapping[str, int]]
    #: The oldest one that waits for its time, for room or for its next attempt.
    oldest_scheduled_at: int | None

    @property
    def by_state(self) -> dict[str, int]:
        totals = {
            state.value: sum(counts.get(state, 0) for counts in self.by_binding.values())
            for state in JobState
        }
        return {state: total for state, total in totals.items() if total}


_CONDITIONS: Final = {
    "states": "state IN (SELECT value FROM json_each(?1, '$.states'))",
    "binding": "binding = ?1 ->> '$.binding'",
    "id": "id = ?1 ->> '$.id'",
    "unique_key": "unique_key = ?1 ->> '$.unique_key'",
    "concurrency_key": "concurrency_key = ?1 ->> '$.concurrency_key'",
    "created_from": "created_at >= ?1 ->> '$.created_from'",
    "created_to": "created_at <= ?1 ->> '$.created_to'",
    "finished_after": "finished_at > ?1 ->> '$.finished_after'",
}
_ROW: Final = f"json_array({', '.join(COLUMNS)})"
_COUNTS: Final = """
SELECT json_group_array(json_array(binding, state, jobs)) AS answer
FROM tsumugi_job_counts WHERE jobs > 0 AND ?1 IS NOT NULL
"""
_OLDEST: Final = """
SELECT json_array((
  SELECT created_at FROM tsumugi_jobs WHERE state = 'SCHEDULED' ORDER BY created_at LIMIT 1
)) AS answer WHERE ?1 IS NOT NULL
"""
# The detail stands alone: within the JSON of an answer its escapes could double it past the limit.
_FIND: Final = f"""
SELECT {_ROW} AS answer, detail FROM tsumugi_jobs WHERE id = ?1 ->> '$'
"""


async def page_of(
    database: Database, wanted: Filter, page: Page
) -> tuple[list[dict[str, Any]], int]:
    """Rows (``COLUMNS`` by name) and how many jobs match in all."""
    where, parameters = _where(wanted)
    parameters |= {"limit": min(page.limit, PAGE_LIMIT), "offset": page.offset}
    if page.sort not in SORTABLE:
        raise ValueError(f"jobs are sorted by one of {', '.join(SORTABLE)}, not {page.sort!r}")
    order = "DESC" if page.descending else "ASC"
    # Ids and numbers of rows first, then their values: what is skipped is not read.
    rows_sql = f"""
SELECT json_group_array(json({_ROW})) AS answer FROM (
  SELECT {", ".join(COLUMNS)} FROM tsumugi_jobs{where}
  ORDER BY {page.sort} {order}, id {order} LIMIT ?1 ->> '$.limit' OFFSET ?1 ->> '$.offset'
)
"""
    rows, total = await ask_all(
        database, [(rows_sql, parameters), (_total_sql(wanted, where), parameters)]
    )
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows], total


async def ids_of(database: Database, wanted: Filter, limit: int) -> tuple[list[str], int]:
    """Up to ``limit`` ids, oldest change first, and how many more jobs match."""
    where, parameters = _where(wanted)
    ids_sql = f"""
SELECT json_group_array(id) AS answer FROM (
  SELECT id FROM tsumugi_jobs{where} ORDER BY updated_at, id LIMIT ?1 ->> '$.limit'
)
"""
    parameters |= {"limit": limit}
    ids, total = await ask_all(
        database, [(ids_sql, parameters), (_total_sql(wanted, where), parameters)]
    )
    return ids, total - len(ids)


async def find(database: Database, job_id: str) -> Snapshot | None:
    """The job as it was last projected."""
    statement = database.prepare(_FIND).bind(dumps(job_id))
    [result] = await database.batch([statement])
    rows = result["results"]
    if not len(rows):
        return None
    snapshot = dict(zip(COLUMNS, loads(rows[0]["answer"]), strict=True))
    details = loads(rows[0]["detail"])
    return cast("Snapshot", snapshot | {name: details.get(name) for name in DETAILS})


async def counts(database: Database) -> Counts:
    rows, [oldest] = await ask_all(database, [(_COUNTS, True), (_OLDEST, True)])
    by_binding: dict[str, dict[str, int]] = {}
    for binding, state, jobs in rows:
        by_binding.setdefault(binding, {})[state] = jobs
    return Counts(by_binding, oldest)


def _where(wanted: Filter) -> tuple[str, dict[str, Any]]:
    parameters = {name: value for name, value in asdict(wanted).items() if value is not None}
    conditions = [_CONDITIONS[name] for name in parameters]
    if wanted.states is not None and len(wanted.states) == 1:
        # An index over the state is then in the order of the answer.
        conditions[0] = "state = ?1 ->> '$.states[0]'"
    # Every statement takes one parameter, whether it has a use for it or not.
    return f" WHERE {' AND '.join([*conditions, '?1 IS NOT NULL'])}", parameters


def _total_sql(wanted: Filter, where: str) -> str:
    if wanted.without_ids():
        return f"SELECT CAST(total(jobs) AS INTEGER) || '' AS answer FROM tsumugi_job_counts{where}"
    return f"SELECT count(*) || '' AS answer FROM tsumugi_jobs{where}"
