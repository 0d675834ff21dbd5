"""The one door through which jobs change. Decides nothing: it carries out what ``core`` decided.

For each kind of decision one statement changes all its jobs. In the same transaction the door
counts states, keeps the lines of keys, logs attempts that failed, and marks what the read
model has to learn (ADR-0123).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, assert_never

from tsumugi.jobs.core.control import Cancelled, Rescheduled, Retried
from tsumugi.jobs.core.model import Dispatch, Expire, Fail, JobView, Reap, Stall
from tsumugi.jobs.core.reports import Beat, Claimed, Complete, PutBack
from tsumugi.jobs.core.states import JobState, can_transition
from tsumugi.jobs.shard import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tsumugi.jobs.shard.sql import Sql

type Move = (
    Dispatch
    | Reap
    | Stall
    | Fail
    | Expire
    | Complete
    | PutBack
    | Claimed
    | Beat
    | Cancelled
    | Rescheduled
    | Retried
)


class IllegalMove(RuntimeError):
    """A decision that the table of transitions forbids: a fault of this program."""


@dataclass(slots=True)
class Change:
    """A job as it was, and what is to become of it."""

    job: JobView
    move: Move
    #: When the attempt began, as its consumer says.
    started_ms: int | None = None
    #: Who claims it.
    claimant: str | None = None


@dataclass(slots=True)
class Moved:
    """What a transaction changed, by the name of the move."""

    counts: Counter[str] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.counts)


_END = "report_due_ms = NULL, beat_ms = NULL"
_OVER = f"{_END}, finished_ms = ?1 ->> '$.now'"

#: For each kind: what is set, and the values it is set from (the first is always the id).
_KINDS: Final[dict[type[Any], tuple[str, Callable[[Any], list[Any]]]]] = {
    Dispatch: (
        "state = 'QUEUED', epoch = v.value ->> '$[1]', report_due_ms = v.value ->> '$[2]',"
        " queued_ms = ?1 ->> '$.now', started_ms = NULL, beat_ms = NULL, progress = NULL",
        lambda c: [c.move.id, c.move.epoch, c.move.report_due_ms],
    ),
    Complete: (
        f"state = 'COMPLETED', attempts = v.value ->> '$[1]', {_OVER},"
        " started_ms = coalesce(v.value ->> '$[2]', started_ms)",
        lambda c: [c.move.id, c.move.attempts, c.started_ms],
    ),
    Reap: (
        f"state = 'SCHEDULED', attempts = v.value ->> '$[1]', ready_ms = v.value ->> '$[2]',"
        f" {_END}",
        lambda c: [c.move.id, c.move.attempts, c.move.ready_ms],
    ),
    Stall: (
        f"state = 'STALLED', attempts = v.value ->> '$[1]', {_OVER}",
        lambda c: [c.move.id, c.move.attempts],
    ),
    Fail: (
        f"state = 'FAILED', attempts = v.value ->> '$[1]', {_OVER},"
        " started_ms = coalesce(v.value ->> '$[2]', started_ms)",
        lambda c: [c.move.id, c.move.attempts, c.started_ms],
    ),
    Expire: (
        f"state = 'CANCELLED', cancelled_because = 'expired', behind = 0, {_OVER}",
        lambda c: [c.move.id],
    ),
    Cancelled: (
        f"state = 'CANCELLED', cancelled_because = 'requested', behind = 0, {_OVER}",
        lambda c: [c.move.id],
    ),
    PutBack: (
        f"state = 'SCHEDULED', attempts = v.value ->> '$[1]', ready_ms = v.value ->> '$[2]',"
        f" queued_ms = NULL, started_ms = NULL, progress = NULL, {_END}",
        lambda c: [c.move.id, c.move.attempts, c.move.ready_ms],
    ),
    Claimed: (
        "state = 'RUNNING', report_due_ms = v.value ->> '$[1]', claimant = v.value ->> '$[2]',"
        " started_ms = coalesce(started_ms, ?1 ->> '$.now')",
        lambda c: [c.move.id, c.move.report_due_ms, c.claimant],
    ),
    Beat: (
        "state = 'RUNNING', report_due_ms = v.value ->> '$[1]', beat_ms = ?1 ->> '$.now',"
        " started_ms = coalesce(started_ms, ?1 ->> '$.now'),"
        " progress = coalesce(v.value ->> '$[2]', progress)",
        lambda c: [c.move.id, c.move.report_due_ms, c.move.progress],
    ),
    Rescheduled: (
        "ready_ms = v.value ->> '$[1]', priority = v.value ->> '$[2]', behind = 0",
        lambda c: [c.move.id, c.move.ready_ms, c.move.priority],
    ),
    Retried: (
        "state = 'SCHEDULED', attempts = 0, expires_ms = NULL, ready_ms = v.value ->> '$[1]',"
        " finished_ms = NULL, queued_ms = NULL, started_ms = NULL, progress = NULL",
        lambda c: [c.move.id, c.move.ready_ms],
    ),
}


def _update(changes: str) -> str:
    return (
        f"UPDATE jobs SET {changes} version = version + 1, updated_ms = ?1 ->> '$.now'"
        " FROM json_each(?1, '$.rows') AS v WHERE jobs.id = v.value ->> '$[0]'"
    )


_UPDATES: Final = {kind: (_update(f"{sets},"), row) for kind, (sets, row) in _KINDS.items()}
_TOUCH: Final = _update("")

_COUNT: Final = """
INSERT INTO counts (name, n) SELECT key, value FROM json_each(?1, '$.counts') WHERE true
ON CONFLICT (name) DO UPDATE SET n = n + excluded.n
"""
_MARK: Final = "INSERT OR IGNORE INTO outbox (id) SELECT value FROM json_each(?1, '$.rows')"

STATEMENTS: Final = (*(sql for sql, _ in _UPDATES.values()), _TOUCH, _COUNT, _MARK)


def carry_out(
    sql: Sql, changes: Iterable[Change], *, now_ms: int, any_behind: bool | None = None
) -> Moved:
    """Change these jobs, each at most once by each kind. Call it inside of a transaction.

    ``any_behind`` says whether any job is behind another, if the transaction knows.
    Raises ``IllegalMove`` for what no job may do.
    """
    by_kind: dict[type[Any], list[Change]] = {}
    by_transition: dict[tuple[JobState, JobState], list[Change]] = {}
    for change in changes:
        transition = (change.job.state, state_after(change))
        by_transition.setdefault(transition, []).append(change)
        by_kind.setdefault(type(change.move), []).append(change)
    states: Counter[str] = Counter()
    #: Of the jobs with a key: those that wait now, and those that will.
    leaving: list[Change] = []
    joining: list[Change] = []
    for (before, to), alike in by_transition.items():
        _check(alike[0], before, to)
        states[before] -= len(alike)
        states[to] += len(alike)
        if before is JobState.SCHEDULED:
            leaving += _with_key(alike)
        if to is JobState.SCHEDULED:
            joining += _with_key(alike)
    left = lines.make_way(sql, leaving, any_behind=any_behind)
    ids: list[str] = []
    moved = Moved()
    for kind, of_kind in by_kind.items():
        statement, row = _UPDATES[kind]
        sql.write_rows(statement, rows=[row(change) for change in of_kind], now=now_ms)
        ids += [change.job.id for change in of_kind]
        moved.counts[kind.__name__] += len(of_kind)
    count(sql, states)
    mark(sql, ids)
    lines.refresh(sql, leaving, joining, left)
    return moved


def _with_key(changes: list[Change]) -> list[Change]:
    return [change for change in changes if change.job.concurrency_key is not None]


def _check(change: Change, before: JobState, to: JobState) -> None:
    if before is not to and not can_transition(before, to):
        raise IllegalMove(f"job {change.job.id}: {before} cannot become {to}")


def touch(sql: Sql, ids: list[str], *, now_ms: int) -> None:
    """Something of these jobs changed that stands in another table."""
    sql.write_rows(_TOUCH, rows=[[local_id] for local_id in ids], now=now_ms)
    mark(sql, ids)


def count(sql: Sql, differences: Counter[str]) -> None:
    """Add to the counts by name."""
    counts = {name: n for name, n in differences.items() if n}
    if counts:
        sql.write(_COUNT, counts=counts)


def mark(sql: Sql, ids: list[str]) -> None:
    """The read model has to learn of these jobs."""
    sql.write_rows(_MARK, rows=ids)


def state_after(change: Change) -> JobState:
    """The state this leads to."""
    move = change.move
    match move:
        case Beat(starts=starts):
            return JobState.RUNNING if starts else change.job.state
        case Rescheduled():
            return change.job.state
        case _:
            return move.to


def after(change: Change, *, now_ms: int) -> JobView:
    """The job as the statement leaves it, for what else is decided about it in this transaction."""
    job, move = replace(change.job, state=state_after(change)), change.move
    match move:
        case Dispatch(epoch=epoch, report_due_ms=due_ms):
            return replace(job, epoch=epoch, report_due_ms=due_ms, beat_ms=None)
        case Claimed(report_due_ms=due_ms):
            return replace(job, report_due_ms=due_ms)
        case Beat(report_due_ms=due_ms):
            return replace(job, report_due_ms=due_ms, beat_ms=now_ms)
        case (
            Reap(attempts=attempts, ready_ms=ready_ms)
            | PutBack(attempts=attempts, ready_ms=ready_ms)
        ):
            return replace(
                job, attempts=attempts, ready_ms=ready_ms, report_due_ms=None, beat_ms=None
            )
        case Complete(attempts=attempts) | Stall(attempts=attempts) | Fail(attempts=attempts):
            return replace(
                job, attempts=attempts, report_due_ms=None, beat_ms=None, finished_ms=now_ms
            )
        case Expire() | Cancelled():
            return replace(job, finished_ms=now_ms)
        case Rescheduled(ready_ms=ready_ms, priority=priority):
            return replace(job, ready_ms=ready_ms, priority=priority)
        case Retried(ready_ms=ready_ms):
            return replace(job, attempts=0, ready_ms=ready_ms, expires_ms=None, finished_ms=None)
        case _:
            assert_never(move)
