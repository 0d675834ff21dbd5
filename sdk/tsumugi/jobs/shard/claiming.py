"""What a consumer asks before it performs: claims, and payloads that did not fit a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.model import Guarantee
from tsumugi.jobs.core.reports import Claimed, PutBack, Stale, Taken, claim, stale
from tsumugi.jobs.core.states import JobState
from tsumugi.jobs.shard.moves import Change, Moved, after, carry_out
from tsumugi.jobs.shard.rows import views
from tsumugi.jobs.wire import BEGIN_BYTES

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView
    from tsumugi.jobs.shard.sql import Sql
    from tsumugi.jobs.wire import BeginJob, BeginRequest, BegunJob, Refusal

_SIZES: Final = """
SELECT json_group_object(j.id, j.message_bytes) AS answer
FROM json_each(?1, '$.ids') AS v CROSS JOIN jobs AS j ON j.id = v.value
"""
_CLAIMANTS: Final = """
SELECT json_group_object(j.id, j.claimant) AS answer
FROM json_each(?1, '$.ids') AS v CROSS JOIN jobs AS j ON j.id = v.value
WHERE j.claimant IS NOT NULL
"""
#: One payload a statement: a text of SQLite's holds two of them at most.
_PAYLOAD: Final = "SELECT payload AS answer FROM inputs WHERE id = ?1 ->> '$.id'"

STATEMENTS: Final = (_SIZES, _CLAIMANTS, _PAYLOAD)


def begin(sql: Sql, request: BeginRequest, *, now_ms: int) -> tuple[list[BegunJob], Moved]:
    """Answer each in the order of the request. Call it in a transaction."""
    wanted = request["jobs"]
    ids = list(dict.fromkeys(job["id"] for job in wanted))
    jobs = views(sql, ids)
    sizes = sql.read(_SIZES, ids=ids) if any(job["payload"] for job in wanted) else {}
    answers: list[BegunJob] = []
    running = [job.id for job in jobs.values() if job.state is JobState.RUNNING]
    claimants = claimants_of(sql, running)
    changes: list[Change] = []
    room = BEGIN_BYTES
    for asked in wanted:
        size = sizes.get(asked["id"], 0) if asked["payload"] else 0
        if size > room:
            answers.append({"refused": "later"})
            continue
        refused, change = _judge(jobs.get(asked["id"]), asked, claimants, now_ms)
        if change is not None:
            changes.append(change)
            jobs[asked["id"]] = after(change, now_ms=now_ms)
            if change.claimant is not None:
                claimants[asked["id"]] = change.claimant
        answer: BegunJob = {"refused": refused}
        if refused is None and asked["payload"]:
            room -= size
            answer["payload"] = sql.read(_PAYLOAD, id=asked["id"])
        answers.append(answer)
    return answers, carry_out(sql, changes, now_ms=now_ms)


def claimants_of(sql: Sql, ids: list[str]) -> dict[str, str]:
    """By id: who won the claim of these jobs, which are RUNNING. Those that nobody named lack."""
    found: dict[str, str] = sql.read(_CLAIMANTS, ids=ids) if ids else {}
    return found


def _judge(
    job: JobView | None, asked: BeginJob, claimants: dict[str, str], now_ms: int
) -> tuple[Refusal | None, Change | None]:
    if job is None:
        return "gone", None
    claims = asked["claim"] or job.guarantee is Guarantee.AT_MOST_ONCE
    if not claims:
        refused = stale(job, asked["epoch"])
        return (None, None) if refused is None else (_refusal(refused), None)
    claimant = asked.get("claimant")
    holds = claimant is not None and claimants.get(job.id) == claimant
    answer = claim(job, asked["epoch"], holds=holds, now_ms=now_ms)
    match answer:
        case Stale():
            return _refusal(answer), None
        case Taken():
            return "taken", None
        case PutBack():
            return "expired", Change(job, answer)
        case Claimed():
            return None, Change(job, answer, claimant=claimant)


def _refusal(refused: Stale) -> Refusal:
    refusals: dict[str, Refusal] = {
        "gone": "gone",
        "superseded": "superseded",
        "settled": "settled",
    }
    return refusals[refused.because]
