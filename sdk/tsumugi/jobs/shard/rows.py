"""Rows of ``jobs`` as the values ``core`` decides on. Reads and writes nothing itself."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff, JobBackoff
from tsumugi.jobs.core.model import DEFAULT_BACKOFF, Guarantee, JobView
from tsumugi.jobs.core.states import JobState
from tsumugi.jobs.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import Json

#: The columns of a ``JobView`` as one JSON array; the table is called ``j``.
VIEW: Final = (
    "json_array(j.id, j.state, j.priority, j.ready_ms, j.attempts, j.max_attempts, j.epoch,"
    " j.guarantee, j.backoff, j.timeout_ms, j.concurrency_key, j.expires_ms, j.report_due_ms,"
    " j.beat_ms, j.finished_ms, j.message_bytes)"
)
#: Where in such a row the size of the job's message stands: no decision needs it.
MESSAGE_BYTES: Final = 15

#: Rows of one answer. A key of 512 characters takes up to 3 kB in it, and a text holds 2 MB.
PORTION: Final = 500

_STATES: Final = {state.value: state for state in JobState}
_GUARANTEES: Final = {guarantee.value: guarantee for guarantee in Guarantee}

_OF_IDS: Final = f"""
SELECT json_group_array({VIEW}) AS answer
FROM json_each(?1, '$.ids') AS wanted CROSS JOIN jobs AS j ON j.id = wanted.value
"""

STATEMENTS: Final = (_OF_IDS,)


def view(row: list[Any]) -> JobView:
    """The job in a ``VIEW`` row."""
    backoff = row[8]
    return JobView(
        id=row[0],
        state=_STATES[row[1]],
        priority=row[2],
        ready_ms=row[3],
        attempts=row[4],
        max_attempts=row[5],
        epoch=row[6],
        guarantee=_GUARANTEES[row[7]],
        backoff=DEFAULT_BACKOFF if backoff is None else read_backoff(backoff),
        timeout_ms=row[9],
        concurrency_key=row[10],
        expires_ms=row[11],
        report_due_ms=row[12],
        beat_ms=row[13],
        finished_ms=row[14],
    )


def views(sql: Sql, ids: list[str]) -> dict[str, JobView]:
    """The jobs with these local ids that are kept."""
    found: dict[str, JobView] = {}
    for first in range(0, len(ids), PORTION):
        rows = sql.read(_OF_IDS, ids=ids[first : first + PORTION])
        found.update((row[0], view(row)) for row in rows)
    return found


@lru_cache(maxsize=64)
def read_backoff(text: str) -> JobBackoff:
    """A stored backoff. The default is stored as NULL and never gets here."""
    return backoff_of(loads(text))


def backoff_of(fields: Mapping[str, Json]) -> JobBackoff:
    """Raises ``ValueError`` for fields that make none."""
    values: dict[str, Any] = dict(fields)
    kind = values.pop("kind", None)
    try:
        if kind == "exponential":
            return ExponentialBackoff(**values)
        if kind == "fixed":
            return FixedBackoff(**values)
        raise TypeError(kind)
    except TypeError:
        raise ValueError(f"no backoff is described by {dict(fields)!r}") from None


def backoff_fields(backoff: JobBackoff) -> dict[str, Json]:
    """The wire form of a backoff."""
    match backoff:
        case FixedBackoff(delay_ms=delay_ms, jitter=jitter):
            return {"kind": "fixed", "delay_ms": delay_ms, "jitter": jitter}
        case ExponentialBackoff(base_ms=base_ms, factor=factor, max_ms=max_ms, jitter=jitter):
            return {
                "kind": "exponential",
                "base_ms": base_ms,
                "factor": factor,
                "max_ms": max_ms,
                "jitter": jitter,
            }


def stored_backoff(fields: Mapping[str, Json] | None) -> str | None:
    """What to store for a backoff as it came; raises ``ValueError`` if it is none."""
    if fields is None:
        return None
    backoff = backoff_of(fields)
    return None if backoff == DEFAULT_BACKOFF else dumps(backoff_fields(backoff))
