"""Jobs as the API shows them, from what shards and the read model tell. Pure; asks nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.reports import Outcome
from tsumugi.jobs.core.retention import has_left
from tsumugi.jobs.core.states import RETRYABLE, JobState
from tsumugi.jobs.wire import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.core.retention import Retention
    from tsumugi.jobs.wire import ErrorReport, LoggedAttempt, Snapshot

#: As the columns are called.
_AS_THEY_ARE: Final = (
    "id", "binding", "shard", "state", "priority", "attempts", "max_attempts", "guarantee",
    "concurrency_key", "unique_key", "progress", "created_at", "updated_at", "started_at",
    "finished_at", "expires_at",
)  # fmt: skip
_DETAILS_AS_THEY_ARE: Final = (
    "note", "error", "cancelled_because", "backoff", "timeout_ms", "partition_key", "traceparent",
)  # fmt: skip


def summary(row: Mapping[str, Any], *, now_ms: int, retention: Retention) -> dict[str, Any]:
    """A ``JobSummary``."""
    state = JobState(row["state"])
    gone = has_left(state, finished_ms=row["finished_at"], now_ms=now_ms, retention=retention)
    return {name: row[name] for name in _AS_THEY_ARE} | {
        "run_after": row["ready_at"],
        "dispatched_at": row["queued_at"],
        "retryable": state in RETRYABLE and not gone,
    }


def detail(snapshot: Snapshot, *, now_ms: int, retention: Retention) -> dict[str, Any]:
    """A ``JobDetail``. Payload and result are JSON texts, so that no client changes a number."""
    values: Mapping[str, Any] = {**snapshot}
    shown = summary(values, now_ms=now_ms, retention=retention)
    shown |= {name: values[name] for name in _DETAILS_AS_THEY_ARE}
    has_result = snapshot["state"] == JobState.COMPLETED and snapshot["note"] is None
    shown["payload"] = dumps(snapshot["payload"])
    shown["result"] = dumps(snapshot["result"]) if has_result else None
    shown["attempts_log"] = [_attempt(record) for record in reversed(snapshot["attempts_log"])]
    shown["logs"] = [
        {"attempt": line["attempt"], "timestamp": line["at"], "message": line["text"]}
        for line in snapshot["logs"]
    ]
    return shown


def _attempt(record: LoggedAttempt) -> dict[str, Any]:
    error = record["error"]
    return {
        "attempt": record["attempt"],
        "state": _state_after(record["outcome"]),
        "outcome": record["outcome"],
        "started_at": record["started_at"],
        "finished_at": record["finished_at"],
        "error": None if error is None else _one_line(error),
        "traceback": None if error is None else error["traceback"],
    }


def _state_after(outcome: str) -> JobState:
    if outcome == Outcome.SUCCEEDED:
        return JobState.COMPLETED
    # Whatever became of the job, this attempt was never heard of again.
    return JobState.STALLED if outcome == "silent" else JobState.FAILED


def _one_line(error: ErrorReport) -> str:
    return f"{error['type']}: {error['message']}" if error["message"] else error["type"]
