"""What a shard says about itself: counts, reasons, single jobs. Changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.bucket import refilled
from tsumugi.jobs.core.states import JobState
from tsumugi.jobs.shard import outbox
from tsumugi.jobs.shard.facts import read_facts
from tsumugi.jobs.shard.policies import as_fields, in_force
from tsumugi.jobs.shard.settling import STALE
from tsumugi.jobs.shard.snapshots import fitting, sizes, snapshots
from tsumugi.jobs.wire import BEGIN_BYTES, CONTROL_LIMIT, OUTBOX_COUNTED

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import Policy
    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.shard.trouble import Trouble
    from tsumugi.jobs.wire import (
        BlockedAnswer,
        DiagnosticsAnswer,
        ShowAnswer,
        ShowRequest,
        Snapshot,
        StatsAnswer,
    )

_OLDEST: Final = """
SELECT json_array((
  SELECT j.ready_ms FROM jobs AS j WHERE j.state = 'SCHEDULED' AND j.ready_ms <= ?1 ->> '$.now'
  ORDER BY j.ready_ms LIMIT 1
)) AS answer
"""

STATEMENTS: Final = (_OLDEST,)

_NOT_BLOCKED: Final[BlockedAnswer] = {
    "capacity": False,
    "tokens": False,
    "paused": False,
    "per_key": [],
    "handover": False,
}


def stats(sql: Sql, *, now_ms: int) -> StatsAnswer:
    counts = read_facts(sql).counts
    (oldest_ms,) = sql.read(_OLDEST, now=now_ms)
    return {
        "counts": {state.value: counts.get(state, 0) for state in JobState},
        "oldest_ready_at": oldest_ms,
    }


def diagnostics(
    sql: Sql, *, binding: str, shard: int, policy: Policy, now_ms: int,
    alarm_ms: int | None, handover: Trouble, projection: Trouble,
) -> DiagnosticsAnswer:  # fmt: skip
    facts = read_facts(sql)
    forced = in_force(policy, facts.overrides)
    bucket = None if forced.rate is None else refilled(facts.bucket, forced.rate, now_ms=now_ms)
    figures = stats(sql, now_ms=now_ms)
    return {
        "binding": binding,
        "shard": shard,
        "at": now_ms,
        "policy": as_fields(forced),
        "overrides": facts.overrides,
        "counts": figures["counts"],
        "oldest_ready_at": figures["oldest_ready_at"],
        "tokens": None if bucket is None else bucket.tokens,
        "blocked": facts.meta.get("blocked") or _NOT_BLOCKED,
        "ticked_at": facts.meta.get("ticked_ms"),
        "alarm_at": alarm_ms,
        "handovers": len(facts.handovers),
        "handover": handover.answer(),
        "outbox": outbox.count(sql, limit=OUTBOX_COUNTED),
        "projection": projection.answer(),
        "stale": {
            name.removeprefix(STALE): n
            for name, n in facts.counts.items()
            if name.startswith(STALE)
        },
    }


def show(sql: Sql, request: ShowRequest, *, binding: str, shard: int) -> ShowAnswer:
    """Raises ``ValueError`` for more ids than fit a call."""
    ids = request["ids"]
    if len(ids) > CONTROL_LIMIT:
        raise ValueError(f"{len(ids)} jobs in one call: at most {CONTROL_LIMIT} fit")
    sized = sizes(sql, ids)
    shown = fitting([(each, sized.get(each, 0)) for each in ids], limit_bytes=BEGIN_BYTES)
    found: dict[str, Snapshot] = {}
    rest = [each for each in dict.fromkeys(shown) if each in sized]
    while rest:
        portion = fitting([(each, sized[each]) for each in rest])
        for snapshot in snapshots(sql, portion, binding=binding, shard=shard):
            found[snapshot["id"].rpartition(":")[2]] = snapshot
        rest = rest[len(portion) :]
    return {"jobs": [found.get(each) for each in shown]}
