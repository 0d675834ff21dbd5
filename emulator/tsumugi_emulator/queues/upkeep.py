"""What time does to stored messages: delays end and retentions expire. Runs in a transaction.

Functions over a connection and a Line, called by the store; each touches a bounded number of
messages and finds them by an index, whatever the size of the backlog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

    from .lines import Line

_DUE = """
SELECT due_ms, place, id, content_type, timestamp_ms, arrived_ms, attempts, body
  FROM delayed WHERE queue = ? AND due_ms <= ? ORDER BY due_ms, place LIMIT ?
"""
_DELETE_DUE = "DELETE FROM delayed WHERE queue = ? AND (due_ms, place) <= (?, ?)"
_NEXT_DUE = "SELECT due_ms FROM delayed WHERE queue = ? ORDER BY due_ms LIMIT 1"
_JOIN = "INSERT INTO ready VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FOLLOW = "UPDATE returned SET place = ?, due_ms = 0 WHERE id = ?"
_HEAD = """
SELECT arrived_ms, timestamp_ms
  FROM ready WHERE place > ? AND place <= ? ORDER BY place LIMIT 1
"""
_OLDEST_REJOINED = """
SELECT arrived_ms, timestamp_ms FROM ready INDEXED BY ready_rejoined
 WHERE queue = ? AND joined_ms > arrived_ms AND place > ? ORDER BY arrived_ms LIMIT 1
"""
_FROM_HEAD = """
SELECT place, length(body), arrived_ms
  FROM ready WHERE place > ? AND place <= ? ORDER BY place LIMIT ?
"""
_EXPIRED_REJOINED = """
SELECT place, length(body) FROM ready INDEXED BY ready_rejoined
 WHERE queue = ? AND joined_ms > arrived_ms AND arrived_ms <= ? AND place > ?
 ORDER BY arrived_ms LIMIT ?
"""


class Promoted(NamedTuple):
    joined: int
    expired: int


def promote(
    db: sqlite3.Connection, line: Line, *, now_ms: int, expired_ms: int, limit: int
) -> Promoted:
    """Let due messages join the line in order of their due times, those still worth keeping.

    A message that arrived at ``expired_ms`` or before is removed instead.
    """
    due = db.execute(_DUE, (line.number, now_ms, limit)).fetchall()
    joining: list[tuple[object, ...]] = []
    expired = 0
    for due_ms, place, id_, content_type, timestamp_ms, arrived_ms, attempts, body in due:
        if place <= line.purged_place:
            continue
        line.remove_delayed(count=1, size_bytes=len(body))
        if arrived_ms <= expired_ms:
            expired += 1
            continue
        joining.append(
            (
                line.next_place(),
                line.number,
                id_,
                content_type,
                timestamp_ms,
                arrived_ms,
                line.join(due_ms),
                attempts,
                body,
            )
        )
        line.add_ready(count=1, size_bytes=len(body), arrived_ms=arrived_ms)
    if due:
        db.executemany(_JOIN, joining)
        db.execute(_DELETE_DUE, (line.number, due[-1][0], due[-1][1]))
        if line.has_returned:
            db.executemany(_FOLLOW, [(row[0], row[2]) for row in joining if row[7]])
    following = db.execute(_NEXT_DUE, (line.number,)).fetchone()
    line.next_due_ms = following[0] if following else None
    return Promoted(len(joining), expired)


def expire(db: sqlite3.Connection, line: Line, *, expired_ms: int, limit: int) -> int:
    """Remove ready messages that arrived at ``expired_ms`` or before; how many.

    Messages that never left the line arrived in its order, and one that came back arrived before
    it joined: behind a head that is kept, only the index of those that came back need be asked.
    """
    count = _expire_head(db, line, expired_ms=expired_ms, limit=limit)
    count += _expire_rejoined(db, line, expired_ms=expired_ms, limit=limit)
    if count < limit:
        line.arrival_floor_ms = oldest(db, line, behind=line.taken_place)[0]
    return count


def oldest(db: sqlite3.Connection, line: Line, *, behind: int) -> tuple[int, int]:
    """Arrival and timestamp of the message that has been in the queue longest, or zeros.

    Of those that stand behind a place: leased ones count with ``line.unacked_place``.
    """
    head = db.execute(_HEAD, (behind, line.last_place)).fetchone()
    if head is None:
        return 0, 0
    rejoined = db.execute(_OLDEST_REJOINED, (line.number, behind)).fetchone()
    arrived_ms, timestamp_ms = min(head, rejoined) if rejoined else head
    return arrived_ms, timestamp_ms


def _expire_head(db: sqlite3.Connection, line: Line, *, expired_ms: int, limit: int) -> int:
    rows = db.execute(_FROM_HEAD, (line.taken_place, line.last_place, limit)).fetchall()
    last_place, count, size_bytes = 0, 0, 0
    for place, body_bytes, arrived_ms in rows:
        if arrived_ms > expired_ms:
            break
        last_place, count, size_bytes = place, count + 1, size_bytes + body_bytes
    if count:
        db.execute(
            "DELETE FROM ready WHERE place > ? AND place <= ?", (line.taken_place, last_place)
        )
        line.remove_ready(count=count, size_bytes=size_bytes)
    return count


def _expire_rejoined(db: sqlite3.Connection, line: Line, *, expired_ms: int, limit: int) -> int:
    rows = db.execute(
        _EXPIRED_REJOINED, (line.number, expired_ms, line.taken_place, limit)
    ).fetchall()
    db.executemany("DELETE FROM ready WHERE place = ?", [(place,) for place, _ in rows])
    line.remove_ready(count=len(rows), size_bytes=sum(row[1] for row in rows))
    return len(rows)
