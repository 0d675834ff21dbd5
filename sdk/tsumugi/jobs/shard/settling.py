"""Take in what consumers tell: claims, reports, heartbeats, log lines. Judges none of it itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.reaper import nth_chance
from tsumugi.jobs.core.reports import Complete, Outcome, PutBack, Stale, heartbeat, report, stale
from tsumugi.jobs.shard import attempts
from tsumugi.jobs.shard.claiming import claimants_of
from tsumugi.jobs.shard.moves import Change, after, carry_out, count, touch
from tsumugi.jobs.shard.rows import views
from tsumugi.jobs.wire import RESULT_LENGTH, dumps, whole_text

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import AttemptReport, BeatReport, LogReport, SettleRequest, StaleJob

# SQLite reads JSON up to a depth only, and what it cannot read must not be stored as JSON.
_RESULTS: Final = """
INSERT OR REPLACE INTO results (id, result, note)
SELECT v.value ->> '$[0]', iif(json_valid(v.value ->> '$[1]'), v.value ->> '$[1]', 'null'),
  iif(json_valid(v.value ->> '$[1]'), v.value ->> '$[2]', 'the result is nested too deeply')
FROM json_each(?1, '$.rows') AS v
"""
#: How reasons for being too late are called in ``counts``.
STALE: Final = "stale:"

STATEMENTS: Final = (_RESULTS,)


@dataclass(slots=True)
class Settled:
    stale: list[StaleJob]
    #: Attempts that ended, as they were and as reported.
    reported: list[tuple[Change, AttemptReport]]
    #: Whether anything did.
    changed: bool


@dataclass(slots=True)
class _Taken:
    """One request, taken in piece by piece."""

    jobs: dict[str, JobView]
    now_ms: int
    #: Jobs that are told of more than once.
    again: set[str]
    #: Who claimed those that a claimant says it has not begun.
    claimants: dict[str, str]
    changes: list[Change] = field(default_factory=list)
    stale: list[StaleJob] = field(default_factory=list)
    lines: list[tuple[JobView, LogReport]] = field(default_factory=list)
    reported: list[tuple[Change, AttemptReport]] = field(default_factory=list)

    def change(self, change: Change) -> None:
        self.changes.append(change)
        if change.job.id in self.again:
            self.jobs[change.job.id] = after(change, now_ms=self.now_ms)

    def too_late(self, told: AttemptReport | BeatReport | LogReport, answer: Stale) -> None:
        self.stale.append(
            {"id": told["id"], "epoch": told["epoch"], "because": answer.because.value}
        )


def settle(sql: Sql, request: SettleRequest, *, now_ms: int, chance: float) -> Settled:
    """Everything in the request that is not too late. Call it in a transaction.

    Log lines and heartbeats come first: they were written before the attempt was over.
    """
    lines, beats = request.get("logs", []), request.get("beats", [])
    reports = request.get("reports", [])
    told: list[Any] = [*lines, *beats, *reports]
    times = Counter(each["id"] for each in told)
    again = {local_id for local_id, n in times.items() if n > 1}
    claimants = claimants_of(sql, [each["id"] for each in reports if "claimant" in each])
    taken = _Taken(views(sql, list(times)), now_ms, again, claimants)
    for line in lines:
        job = taken.jobs.get(line["id"])
        refused = stale(job, line["epoch"])
        if refused is not None:
            taken.too_late(line, refused)
        elif job is not None:
            taken.lines.append((job, line))
    for beat in beats:
        job = taken.jobs.get(beat["id"])
        heard = heartbeat(job, beat["epoch"], progress=beat["progress"], now_ms=now_ms)
        if isinstance(heard, Stale):
            taken.too_late(beat, heard)
        elif job is not None and heard.write:
            taken.change(Change(job, heard))
    for index, told_report in enumerate(reports):
        _report(taken, told_report, nth_chance(chance, index))
    return _write(sql, taken)


def _report(taken: _Taken, told: AttemptReport, chance: float) -> None:
    job = taken.jobs.get(told["id"])
    answer = report(
        job,
        told["epoch"],
        outcome=Outcome(told["outcome"]),
        holds="claimant" in told and taken.claimants.get(told["id"]) == told["claimant"],
        now_ms=taken.now_ms,
        chance=chance,
    )
    if isinstance(answer, Stale):
        taken.too_late(told, answer)
    elif job is not None:
        change = Change(job, answer, told["started_ms"])
        taken.change(change)
        taken.reported.append((change, told))


def _write(sql: Sql, taken: _Taken) -> Settled:
    moved = carry_out(sql, taken.changes, now_ms=taken.now_ms)
    _keep_results(sql, taken)
    attempts.log_reports(
        sql,
        [(c.job, told) for c, told in taken.reported if not isinstance(c.move, Complete | PutBack)],
    )
    attempts.write_lines(sql, taken.lines)
    changed = {change.job.id for change in taken.changes}
    only_lines = {job.id for job, _ in taken.lines} - changed
    touch(sql, sorted(only_lines), now_ms=taken.now_ms)
    count(sql, Counter(STALE + each["because"] for each in taken.stale))
    return Settled(taken.stale, taken.reported, changed=bool(moved or taken.lines))


def _keep_results(sql: Sql, taken: _Taken) -> None:
    rows = []
    for change, told in taken.reported:
        if not isinstance(change.move, Complete):
            continue
        result, note = told.get("result"), told.get("note")
        if result is None and note is None:
            continue
        text = dumps(result)
        if len(text) > RESULT_LENGTH:
            text, note = "null", f"the result has more than {RESULT_LENGTH} characters"
        rows.append([change.job.id, text, None if note is None else whole_text(note)])
    sql.write_rows(_RESULTS, rows=rows)
