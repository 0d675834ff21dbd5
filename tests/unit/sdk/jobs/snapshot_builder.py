"""Snapshots of jobs, built with what a test is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tsumugi.jobs.wire import Snapshot

T0 = 1_790_000_000_000


def job_id(number: int = 1, *, binding: str = "SendMail", shard: int = 0) -> str:
    return f"{binding}#{shard}:{number:028x}"


def snapshot(
    number: int = 1, state: str = "SCHEDULED", version: int = 1, **fields: Any
) -> Snapshot:
    """Job ``number``, created ``number`` ms after T0 and last changed ``version`` ms later."""
    binding = fields.get("binding", "SendMail")
    values: dict[str, Any] = {
        "id": job_id(number, binding=binding),
        "version": version,
        "binding": binding,
        "shard": 0,
        "state": state,
        "priority": 0,
        "attempts": 0,
        "max_attempts": 3,
        "guarantee": "at-least-once",
        "backoff": {"kind": "fixed", "delay_ms": 1, "jitter": True},
        "timeout_ms": 60_000,
        "concurrency_key": None,
        "unique_key": None,
        "partition_key": None,
        "traceparent": None,
        "payload": {"to": "a@example.com"},
        "result": None,
        "note": None,
        "error": None,
        "progress": None,
        "cancelled_because": None,
        "created_at": T0 + number,
        "ready_at": T0 + number,
        "queued_at": None,
        "started_at": None,
        "finished_at": None,
        "expires_at": None,
        "updated_at": T0 + number + version,
        "attempts_log": [],
        "logs": [],
    }
    return cast("Snapshot", values | fields)


def finished(
    number: int = 1, state: str = "COMPLETED", version: int = 2, **fields: Any
) -> Snapshot:
    at = T0 + number + version
    return snapshot(number, state, version, **{"finished_at": at, "updated_at": at, **fields})
