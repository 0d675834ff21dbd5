"""What people do to jobs: cancel, retry, reschedule, many at a time. Decides none of it itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi.jobs.core.control import (
    Cancelled,
    Gone,
    InvalidState,
    Rescheduled,
    Retried,
    cancel,
    reschedule,
    retry,
)
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.shard.facts import write_facts
from tsumugi.jobs.shard.moves import Change, after, carry_out, state_after
from tsumugi.jobs.shard.rows import views
from tsumugi.jobs.wire import CONTROL_LIMIT

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.core.retention import Retention
    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import Controlled, ControlRequest


def control(
    sql: Sql, request: ControlRequest, *, now_ms: int, retention: Retention
) -> tuple[list[Controlled], list[Change]]:
    """Answer each in the order of the request. Call it in a transaction.

    Raises ``ValueError`` for a request that no job could meet.
    """
    ids = request["ids"]
    if len(ids) > CONTROL_LIMIT:
        raise ValueError(f"{len(ids)} jobs in one call: at most {CONTROL_LIMIT} fit")
    jobs = views(sql, list(dict.fromkeys(ids)))
    answers: list[Controlled] = []
    changes: list[Change] = []
    for local_id in ids:
        job = jobs.get(local_id)
        try:
            decided = _decide(job, request, now_ms, retention)
        except OptionError as error:
            if job is None or error.option != "expires_in_ms":
                raise
            answers.append(
                {
                    "id": local_id,
                    "outcome": "invalid-option",
                    "state": job.state.value,
                    "problem": str(error),
                }
            )
            continue
        if isinstance(decided, Gone) or job is None:
            answers.append({"id": local_id, "outcome": "gone", "state": None})
        elif isinstance(decided, InvalidState):
            answers.append(
                {"id": local_id, "outcome": "invalid-state", "state": decided.state.value}
            )
        else:
            change = Change(job, decided)
            changes.append(change)
            jobs[local_id] = after(change, now_ms=now_ms)
            answers.append({"id": local_id, "outcome": "done", "state": state_after(change).value})
    if changes:
        write_facts(sql, latest_ms=now_ms)
    carry_out(sql, changes, now_ms=now_ms)
    return answers, changes


def _decide(
    job: JobView | None, request: ControlRequest, now_ms: int, retention: Retention
) -> Cancelled | Retried | Rescheduled | Gone | InvalidState:
    match request["action"]:
        case "cancel":
            return cancel(job, now_ms=now_ms, retention=retention)
        case "retry":
            return retry(job, now_ms=now_ms, retention=retention)
        case "reschedule":
            return reschedule(
                job,
                now_ms=now_ms,
                run_at_ms=request.get("run_at_ms"),
                delay_ms=request.get("delay_ms"),
                priority=request.get("priority"),
                retention=retention,
            )
        case other:
            raise ValueError(f"{other!r} is no action: cancel, retry or reschedule")
