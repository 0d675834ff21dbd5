"""Jobs as text for people: a page of one job, ages, durations. Asks nobody."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_UNITS_MS = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000))
#: The facts of a job in order, and what they are called.
_FACTS = (
    ("State", "state"),
    ("Binding", "binding"),
    ("Priority", "priority"),
    ("Guarantee", "guarantee"),
    ("Concurrency key", "concurrency_key"),
    ("Unique key", "unique_key"),
    ("Partition key", "partition_key"),
    ("Trace", "traceparent"),
    ("Cancelled", "cancelled_because"),
    ("Note", "note"),
)
_TIMES = (
    ("Created", "created_at"),
    ("Runs after", "run_after"),
    ("Handed over", "dispatched_at"),
    ("Started", "started_at"),
    ("Finished", "finished_at"),
    ("Expires", "expires_at"),
    ("Changed", "updated_at"),
)


def plain(text: str) -> str:
    """The text without what would move a terminal's cursor or worse: jobs may hold anything."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode()
        for one in text
    )


def moment(duration_ms: float) -> str:
    """``5 ms``, ``1.2 s``, ``3m 20s``, ``2d 4h``: two units at most."""
    if duration_ms < 1_000:
        return f"{duration_ms:.0f} ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1_000:.1f} s"
    parts: list[str] = []
    left = int(duration_ms)
    for unit, unit_ms in _UNITS_MS:
        count, left = divmod(left, unit_ms)
        if count or parts:
            parts.append(f"{count}{unit}")
        if len(parts) == 2:
            break
    return " ".join(parts)


def age(at_ms: int, now_ms: int) -> str:
    if at_ms > now_ms:
        return f"in {moment(at_ms - now_ms)}"
    return f"{moment(now_ms - at_ms)} ago"


def described(job: Mapping[str, Any], *, now_ms: int) -> str:
    """A job's page."""
    return "\n".join([job["id"], *_lines(job, now_ms)])


#: Why jobs of a binding wait, by the name that diagnostics give it.
_REASONS = {
    "capacity": "as many run as its concurrency lets",
    "tokens": "its rate is used up for now",
    "perKey": "a concurrency key is full",
}


def held_back(bindings: Mapping[str, Any]) -> list[str]:
    """Why jobs do not move, one line each; nothing where they do."""
    return [line for name, told in bindings.items() for line in _reasons(name, told)]


def longest_wait_ms(bindings: Mapping[str, Any]) -> int | None:
    """How long the job that has been ready longest waits by now; None: none is ready."""
    shards = [shard for told in bindings.values() for shard in told["shards"]]
    ready = [shard for shard in shards if shard["oldest_ready_at"] is not None]
    return max((max(0, one["at"] - one["oldest_ready_at"]) for one in ready), default=None)


def _reasons(name: str, told: Mapping[str, Any]) -> Iterator[str]:
    if told["policy"] is not None and told["policy"]["paused"]:
        yield f"{name} is paused: tsumugi jobs resume {name}"
    why = [text for reason, text in _REASONS.items() if told["blocked"][reason]]
    if why:
        yield f"{name} has more jobs that wait: {', '.join(why)}."
    for shard in told["shards"]:
        place = f"{shard['binding']}#{shard['shard']}"
        if error := shard["handover"]["error"]:
            yield f"{place} cannot hand its jobs to the queue: {error}"
        if error := shard["projection"]["error"]:
            yield f"These figures are behind {place}: {error}"
    for place, error in told["unreachable"].items():
        yield f"{place} does not answer: {error}"


def _lines(job: Mapping[str, Any], now_ms: int) -> Iterator[str]:
    for name, field in _FACTS:
        if job[field] is not None:
            yield _fact(name, job[field])
    yield _fact("Attempts", f"{job['attempts']} of {job['max_attempts']}")
    # Of a job that is done it would be how far the last heartbeat that was sent had come.
    if job["progress"] is not None and job["state"] != "COMPLETED":
        yield _fact("Progress", f"{job['progress']:.0%}")
    for name, field in _TIMES:
        if job[field] is not None:
            yield _fact(name, f"{_time(job[field])} ({age(job[field], now_ms)})")
    yield _fact("Payload", _json(job["payload"]))
    if job["result"] is not None:
        yield _fact("Result", _json(job["result"]))
    for record in job["attempts_log"]:
        yield from _attempt(record)
    for line in job["logs"]:
        yield _fact(f"Log {_time(line['timestamp'])}", f"[{line['attempt']}] {line['message']}")
    if job["retryable"]:
        yield f'Run it again: tsumugi jobs retry "{job["id"]}"'


def _attempt(record: Mapping[str, Any]) -> Iterator[str]:
    begun, ended = record["started_at"], record["finished_at"]
    took = "" if begun is None else f" after {moment(ended - begun)}"
    yield _fact(f"Attempt {record['attempt']}", f"{record['outcome']}{took}, {_time(ended)}")
    trace = (record["traceback"] or record["error"] or "").rstrip()
    for line in trace.splitlines():
        yield f"  {line}"


def _fact(name: str, value: Any) -> str:
    return f"{f'{name}:':<17} {value}"


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"


def _json(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text
