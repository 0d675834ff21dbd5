"""Take in new jobs, thousands in a few statements. Starts none of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.ids import local_ids
from tsumugi.jobs.core.model import DEFAULT_MAX_ATTEMPTS, DEFAULT_TIMEOUT_MS, Guarantee
from tsumugi.jobs.core.options import (
    check_keys,
    check_starts_before_expiry,
    resolve_ready_ms,
)
from tsumugi.jobs.core.unique import Hold, Reservation, Wanted, reserve
from tsumugi.jobs.shard import lines
from tsumugi.jobs.shard.facts import read_facts, write_facts
from tsumugi.jobs.shard.moves import count, mark
from tsumugi.jobs.shard.rows import stored_backoff
from tsumugi.jobs.wire import ENQUEUE_JOBS, PAYLOAD_BYTES, dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import NewJob

#: Bytes of a message beside its payload and its trace context, and a margin for what the queue
#: itself adds to a message.
ENVELOPE_BYTES: Final = 512

# A row is what can be chosen, then what ``inputs`` holds, then whether it is behind another.
_DEFAULTS: Final[list[Any]] = [
    None, 0, None, DEFAULT_MAX_ATTEMPTS, Guarantee.AT_LEAST_ONCE.value, None, DEFAULT_TIMEOUT_MS,
    None, None, None, None, None, None, 0,
]  # fmt: skip
#: Where in it these stand.
_PLACES: Final = {"priority": 1, "max_attempts": 3, "timeout_ms": 6, "traceparent": 10}
_KEYS: Final = {"concurrency_key": 7, "unique_key": 11, "partition_key": 12}
_TIMES: Final = frozenset({"delay_ms", "run_at_ms", "expires_in_ms"})
_PRIORITY: Final = 1
_KEY: Final = 7
_BEHIND: Final = 13
#: Where a row stands in its line.
_place: Final = itemgetter(2, 0)

_JOBS: Final = f"""
INSERT INTO jobs (
  id, state, priority, ready_ms, max_attempts, guarantee, backoff, timeout_ms, concurrency_key,
  expires_ms, message_bytes, updated_ms, behind
) SELECT
  v.value ->> '$[0]', 'SCHEDULED', v.value ->> '$[1]', v.value ->> '$[2]', v.value ->> '$[3]',
  v.value ->> '$[4]', v.value ->> '$[5]', v.value ->> '$[6]', v.value ->> '$[7]',
  v.value ->> '$[8]',
  {ENVELOPE_BYTES} + length(CAST(v.value -> '$[9]' AS BLOB))
    + length(coalesce(v.value ->> '$[10]', '')),
  ?1 ->> '$.now', v.value ->> '$[13]'
FROM json_each(?1, '$.rows') AS v
"""
_INPUTS: Final = """
INSERT INTO inputs (id, created_ms, payload, traceparent, unique_key, partition_key)
SELECT v.value ->> '$[0]', ?1 ->> '$.now', v.value -> '$[9]', v.value ->> '$[10]',
  v.value ->> '$[11]', v.value ->> '$[12]'
FROM json_each(?1, '$.rows') AS v
"""
_HELD: Final = """
SELECT json_group_array(json_array(h.unique_key, h.job_id, h.until_ms)) AS answer
FROM json_each(?1, '$.rows') AS v CROSS JOIN holds AS h ON h.unique_key = v.value
"""
_HOLD: Final = """
INSERT INTO holds (unique_key, job_id, until_ms)
SELECT v.value ->> '$[0]', v.value ->> '$[1]', v.value ->> '$[2]'
FROM json_each(?1, '$.rows') AS v WHERE true
ON CONFLICT (unique_key) DO UPDATE SET job_id = excluded.job_id, until_ms = excluded.until_ms
"""

STATEMENTS: Final = (_JOBS, _INPUTS, _HELD, _HOLD)


@dataclass(frozen=True, slots=True)
class Inserted:
    """Local ids in the order of the request."""

    ids: list[str]
    created: list[bool]


def insert(sql: Sql, jobs: list[NewJob], *, now_ms: int, chance: bytes) -> Inserted:
    """Store new jobs; a taken unique key answers the job that has it. Call it in a transaction.

    Raises ``ValueError`` for what no job can be.
    """
    if len(jobs) > ENQUEUE_JOBS:
        raise ValueError(f"{len(jobs)} jobs in one call: at most {ENQUEUE_JOBS} fit")
    if not jobs:
        return Inserted([], [])
    facts = read_facts(sql)
    ids = local_ids(len(jobs), now_ms=now_ms, chance=chance, after=facts.last_id)
    reserved = _reserve(sql, jobs, ids, now_ms)
    if reserved is None:
        answered, created = ids, [True] * len(ids)
    else:
        answered = list(reserved.job_ids)
        created = [local_id in reserved.created for local_id in ids]
    new = [
        _row(job, local_id, now_ms)
        for job, local_id, is_new in zip(jobs, ids, created, strict=True)
        if is_new
    ]
    for name, place in _KEYS.items():
        check_keys(name, [row[place] for row in new if row[place] is not None])
    _line_up(sql, new, others_wait=facts.counts.get("SCHEDULED", 0) > 0)
    try:
        sql.write_rows(_JOBS, _INPUTS, rows=new, now=now_ms)
    except Exception:
        _check_sizes(jobs)  # the tables refuse them, but not in words
        raise
    count(sql, Counter({"SCHEDULED": len(new)}))
    mark(sql, [row[0] for row in new])
    write_facts(sql, last_id=ids[-1], latest_ms=now_ms)
    holds = {} if reserved is None else reserved.holds
    sql.write_rows(_HOLD, rows=[[key, hold.job_id, hold.until_ms] for key, hold in holds.items()])
    return Inserted(answered, created)


def _line_up(sql: Sql, new: list[list[Any]], *, others_wait: bool) -> None:
    """Mark who of the new ones is behind another one of its key and priority."""
    first: defaultdict[int, dict[str, list[Any]]] = defaultdict(dict)
    for row in new:
        key = row[_KEY]
        if key is not None:
            line = first[row[_PRIORITY]]
            other = line.setdefault(key, row)
            if other is not row:
                line[key], behind = sorted((row, other), key=_place)
                behind[_BEHIND] = 1
    if not others_wait:
        return
    overtaken = []
    for priority, line in first.items():
        for key, ready_ms, local_id in lines.firsts(sql, priority, list(line)):
            if _place(line[key]) < (ready_ms, local_id):
                overtaken.append(local_id)
            else:
                line[key][_BEHIND] = 1
    lines.fall_behind(sql, overtaken)


def _check_sizes(jobs: list[NewJob]) -> None:
    for place, job in enumerate(jobs):
        size = len(dumps(job["payload"]).encode())
        if size > PAYLOAD_BYTES:
            raise ValueError(
                f"the payload of job {place} has {size} bytes and a job holds {PAYLOAD_BYTES}:"
                " put it into R2 or KV and its key into the payload"
            )


def _reserve(sql: Sql, jobs: list[NewJob], ids: list[str], now_ms: int) -> Reservation | None:
    keys = {job["unique_key"] for job in jobs if job.get("unique_key") is not None}
    if not keys:
        return None
    held = {key: Hold(*hold) for key, *hold in sql.read_rows(_HELD, sorted(keys))}
    wanted = [
        Wanted(
            job_id=local_id,
            unique_key=job.get("unique_key"),
            unique_for_ms=job.get("unique_for_ms"),
        )
        for job, local_id in zip(jobs, ids, strict=True)
    ]
    return reserve(wanted, held, now_ms=now_ms)


def _row(job: Mapping[str, Any], local_id: str, now_ms: int) -> list[Any]:
    row = _DEFAULTS.copy()
    row[0], row[2], row[9] = local_id, now_ms, job["payload"]
    for name, value in job.items():
        place = _PLACES.get(name)
        if place is not None:
            row[place] = value
        elif name in _KEYS:
            row[_KEYS[name]] = value
    if not _TIMES.isdisjoint(job):
        row[2], row[8] = _times(job, now_ms)
    if "guarantee" in job:
        row[4] = Guarantee(job["guarantee"]).value
    if "backoff" in job:
        row[5] = stored_backoff(job["backoff"])
    return row


def _times(job: Mapping[str, Any], now_ms: int) -> tuple[int, int | None]:
    """From when on the job may run, and until when it may start."""
    ready_ms = resolve_ready_ms(
        now_ms=now_ms, delay_ms=job.get("delay_ms"), run_at_ms=job.get("run_at_ms")
    )
    expires_in_ms = job.get("expires_in_ms")
    expires_ms = None if expires_in_ms is None else now_ms + expires_in_ms
    check_starts_before_expiry(ready_ms=ready_ms, expires_ms=expires_ms)
    return ready_ms, expires_ms
