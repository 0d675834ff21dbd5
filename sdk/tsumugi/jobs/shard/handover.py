"""Batches on their way to the queue: which there are, what their messages say. Sends nothing.

A batch is a row from the transaction that dispatches its jobs until it is known to be sent. Whoever
finds a row that nobody is sending, or whose sending failed, puts the jobs back (ADR-0124).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.handover import HandoverLimits, packed
from tsumugi.jobs.core.model import Guarantee
from tsumugi.jobs.core.reports import PutBack, hand_over_failed
from tsumugi.jobs.shard.inserting import ENVELOPE_BYTES
from tsumugi.jobs.shard.moves import Change, carry_out
from tsumugi.jobs.shard.rows import views
from tsumugi.jobs.wire import DELIVERY_VERSION, dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tsumugi.jobs.core.model import Dispatch
    from tsumugi.jobs.shard.sql import Sql

#: Below what a queue takes, because it counts more than the body.
LIMITS: Final = HandoverLimits(batch_bytes=250_000, message_bytes=127_000)

_SAVE: Final = """
INSERT INTO handovers (name, jobs)
SELECT v.value ->> '$[0]', v.value -> '$[1]' FROM json_each(?1, '$.rows') AS v
"""
_FORGET: Final = "DELETE FROM handovers WHERE name IN (SELECT value FROM json_each(?1, '$.names'))"
_JOBS: Final = """
SELECT json_group_array(json_array(h.name, json(h.jobs))) AS answer
FROM json_each(?1, '$.names') AS v CROSS JOIN handovers AS h ON h.name = v.value
"""
_MESSAGES: Final = f"""
SELECT json_group_array(json_array(
  j.id, j.epoch, j.attempts, j.timeout_ms, j.guarantee, j.expires_ms, i.traceparent,
  CASE WHEN j.message_bytes <= {LIMITS.message_bytes} THEN i.payload END
)) AS answer
FROM json_each(?1, '$.jobs') AS v
  CROSS JOIN jobs AS j ON j.id = v.value ->> '$[0]'
  CROSS JOIN inputs AS i ON i.id = j.id
WHERE j.state = 'QUEUED' AND j.epoch = v.value ->> '$[1]'
"""

STATEMENTS: Final = (_SAVE, _FORGET, _JOBS, _MESSAGES)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one ``sendBatch`` takes."""

    name: str
    #: Local id and epoch of each job.
    jobs: tuple[tuple[str, int], ...]


def batches(dispatched: Sequence[Dispatch], message_bytes: dict[str, int]) -> list[Batch]:
    """The dispatched jobs as batches, in their order."""
    sized = [
        ((dispatch.id, dispatch.epoch), sent_bytes(message_bytes[dispatch.id]))
        for dispatch in dispatched
    ]
    return [
        # A job is dispatched under an epoch once, so its first one names a batch.
        Batch(f"{jobs[0][0]}/{jobs[0][1]}", tuple(jobs))
        for jobs in packed(sized, limits=LIMITS)
    ]


def sent_bytes(message_bytes: int) -> int:
    """The size of a job's message; a payload that is too large for one stays behind."""
    return message_bytes if message_bytes <= LIMITS.message_bytes else 2 * ENVELOPE_BYTES


def save(sql: Sql, made: Sequence[Batch]) -> None:
    """They are not known to be sent. In the transaction that dispatches their jobs."""
    sql.write_rows(_SAVE, rows=[[batch.name, batch.jobs] for batch in made])


def forget(sql: Sql, names: Iterable[str]) -> None:
    """They were sent, or put back."""
    sql.write(_FORGET, names=list(names))


def stored(sql: Sql, names: list[str]) -> list[Batch]:
    """The batches of these names that are stored."""
    return [
        Batch(name, tuple((local_id, epoch) for local_id, epoch in jobs))
        for name, jobs in sql.read(_JOBS, names=names)
    ]


def put_back(sql: Sql, failed: Sequence[Batch], *, now_ms: int) -> int:
    """Undo these hand-overs and forget them; how many jobs wait again. Call it in a transaction."""
    jobs = views(sql, [local_id for batch in failed for local_id, _ in batch.jobs])
    changes = []
    for batch in failed:
        for local_id, epoch in batch.jobs:
            job = jobs.get(local_id)
            answer = hand_over_failed(job, epoch)
            if job is not None and isinstance(answer, PutBack):
                changes.append(Change(job, answer))
    carry_out(sql, changes, now_ms=now_ms)
    forget(sql, [batch.name for batch in failed])
    return len(changes)


def messages(sql: Sql, batch: Batch, *, shard: str) -> list[str]:
    """The bodies of a batch, each a ``Delivery``. ``shard`` is the name of the shard.

    A job that is not waiting for this delivery any more has none.
    """
    bodies = []
    for local_id, epoch, attempts, timeout_ms, guarantee, expires_ms, trace, payload in sql.read(
        _MESSAGES, jobs=batch.jobs
    ):
        # Names and ids need no escaping, and the payload is JSON text already.
        body = (
            f'{{"v":{DELIVERY_VERSION},"job":"{shard}:{local_id}","epoch":{epoch},'
            f'"attempt":{attempts + 1},"timeout_ms":{"null" if timeout_ms is None else timeout_ms}'
        )
        if guarantee == Guarantee.AT_MOST_ONCE:
            body += ',"claim":true'
        if expires_ms is not None and attempts == 0:
            body += f',"expires_ms":{expires_ms}'
        if trace is not None:
            body += f',"traceparent":{dumps(trace)}'
        bodies.append(body + ("}" if payload is None else f',"payload":{payload}}}'))
    return bodies
