"""The log of attempts that ended without success, and what performers wrote. Ends no attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.core.model import Fail, Reap, Stall
from tsumugi.jobs.wire import (
    ATTEMPTS_LOGGED,
    ERROR_LENGTH,
    LOG_LENGTH,
    LOG_LINES,
    dumps,
    whole_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.shard.moves import Change
    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import AttemptReport, ErrorReport, LogReport

_LOG: Final = """
INSERT INTO attempts (id, epoch, attempt, outcome, started_ms, finished_ms, error)
SELECT v.value ->> '$[0]', v.value ->> '$[1]', v.value ->> '$[2]', v.value ->> '$[3]',
  v.value ->> '$[4]', v.value ->> '$[5]', v.value ->> '$[6]'
FROM json_each(?1, '$.rows') AS v
"""
_TRIM: Final = f"""
DELETE FROM attempts WHERE rowid IN (
  SELECT a.rowid FROM json_each(?1, '$.ids') AS v CROSS JOIN attempts AS a ON a.id = v.value
  WHERE a.epoch <= (
    SELECT b.epoch FROM attempts AS b WHERE b.id = v.value
    ORDER BY b.epoch DESC LIMIT 1 OFFSET {ATTEMPTS_LOGGED}
  )
)
"""
_WRITE_LINES: Final = """
INSERT INTO log_lines (id, attempt, at_ms, text)
SELECT v.value ->> '$[0]', v.value ->> '$[1]', v.value ->> '$[2]', v.value ->> '$[3]'
FROM json_each(?1, '$.rows') AS v
"""
_TRIM_LINES: Final = f"""
DELETE FROM log_lines WHERE number IN (
  SELECT l.number FROM json_each(?1, '$.ids') AS v CROSS JOIN log_lines AS l ON l.id = v.value
  WHERE l.number <= (
    SELECT b.number FROM log_lines AS b WHERE b.id = v.value
    ORDER BY b.number DESC LIMIT 1 OFFSET {LOG_LINES}
  )
)
"""

STATEMENTS: Final = (_LOG, _TRIM, _WRITE_LINES, _TRIM_LINES)


def log_silence(sql: Sql, ended: Iterable[Change], *, now_ms: int) -> None:
    """Attempts that ended because nothing was heard of them."""
    _log(
        sql,
        [
            [c.job.id, c.job.epoch, c.job.attempts + 1, "silent", None, now_ms, None]
            for c in ended
            if isinstance(c.move, Reap | Stall | Fail)
        ],
    )


def log_reports(sql: Sql, reported: Iterable[tuple[JobView, AttemptReport]]) -> None:
    """Attempts whose consumer says that they failed."""
    _log(
        sql,
        [
            [
                job.id,
                job.epoch,
                job.attempts + 1,
                report["outcome"],
                report["started_ms"],
                report["finished_ms"],
                _error(report.get("error")),
            ]
            for job, report in reported
        ],
    )


def _log(sql: Sql, rows: list[list[Any]]) -> None:
    sql.write_rows(_LOG, rows=rows)
    # Every logged attempt had an epoch of its own.
    long = sorted({row[0] for row in rows if row[1] > ATTEMPTS_LOGGED})
    if long:
        sql.write(_TRIM, ids=long)


def _error(error: ErrorReport | None) -> str | None:
    """Its JSON text, cut to ``ERROR_LENGTH`` characters in all."""
    if error is None:
        return None
    room = ERROR_LENGTH
    cut: dict[str, str] = {}
    for name in ("type", "message", "traceback"):
        cut[name] = str(error.get(name, ""))[:room]
        room -= len(cut[name])
    return dumps(cut)


def write_lines(sql: Sql, lines: list[tuple[JobView, LogReport]]) -> None:
    """Keep what performers wrote, the last lines of each job."""
    rows = [
        [job.id, job.attempts + 1, line["at_ms"], whole_text(line["text"])[:LOG_LENGTH]]
        for job, line in lines
    ]
    sql.write_rows(_WRITE_LINES, rows=rows)
    if rows:
        sql.write(_TRIM_LINES, ids=sorted({row[0] for row in rows}))
