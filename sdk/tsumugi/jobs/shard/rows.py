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


# A frozen dataclass sets its fields by ``object.__setattr__``: most of what reading a row costs.
_FIELDS: Final = (
    "id", "state", "priority", "ready_ms", "attempts", "max_attempts", "epoch", "guarantee",
    "backoff", "timeout_ms", "concurrency_key", "expires_ms", "report_due_ms", "beat_ms",
    "finished_ms",
)  # fmt: skip
_SETTERS: Final = tuple(getattr(JobView, name).__set__ for name in _FIELDS)
_new: Final = object.__new__


def view(row: list[Any]) -> JobView:
    """The job in a ``VIEW`` row."""
    values = row[:]
    values[1] = _STATES[row[1]]
    values[7] = _GUARANTEES[row[7]]
    values[8] = DEFAULT_BACKOFF if row[8] is None else read_backoff(row[8])
    job = _new(JobView)
    for put, value in zip(_SETTERS, values, strict=False):
        put(job, value)
    return job


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
