"""Unique keys: one job per key and time window. Decides who has a key; stores none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsumugi.jobs.core.options import DEFAULT_UNIQUE_FOR_MS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Hold:
    """The job that has a key, and until when. The window is time alone: finishing ends it not."""

    job_id: str
    until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One enqueue: the id its job would have, and its key if it has one."""

    job_id: str
    unique_key: str | None = None
    unique_for_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """``job_ids`` answers the enqueues in order; only jobs in ``created`` are new."""

    job_ids: tuple[str, ...]
    created: frozenset[str]
    #: To be stored, over what was there.
    holds: Mapping[str, Hold]


def reserve(wanted: Sequence[Wanted], held: Mapping[str, Hold], *, now_ms: int) -> Reservation:
    """Give each enqueue its own id, or that of the job that has its key, earlier ones included.

    ``held`` needs only the keys that are wanted, so one query answers for a whole batch.
    """
    job_ids: list[str] = []
    created: set[str] = set()
    fresh: dict[str, Hold] = {}
    for enqueue in wanted:
        key = enqueue.unique_key
        if key is not None:
            hold = fresh.get(key) or held.get(key)
            if hold is not None and now_ms < hold.until_ms:
                job_ids.append(hold.job_id)
                continue
            window_ms = enqueue.unique_for_ms or DEFAULT_UNIQUE_FOR_MS
            fresh[key] = Hold(enqueue.job_id, now_ms + window_ms)
        job_ids.append(enqueue.job_id)
        created.add(enqueue.job_id)
    return Reservation(tuple(job_ids), frozenset(created), fresh)
