"""Messages in the hands of pullers: lease, find, remove and return them. Decides nothing.

A pull leases a stretch of the line, as a pushed batch does, but its messages are settled one by one
and perhaps never, and its lease outlives the emulator. A message that comes back takes a new place;
``returned`` remembers it, so that an acknowledgement of an earlier lease still finds it (ADR-0080).
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from .lease_ids import KEY_BYTES
from .messages import LeaseRef, StoredMessage

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .lines import Line
    from .messages import Move
    from .store import QueueStore

_COLUMNS = "id, body, content_type, timestamp_ms, attempts + 1, place"
_TAKE = f"SELECT {_COLUMNS} FROM ready WHERE place > ? AND place <= ? ORDER BY place LIMIT ?"
_IN_SPAN = f"SELECT {_COLUMNS} FROM ready WHERE place BETWEEN ? AND ? ORDER BY place"
_AT = f"SELECT {_COLUMNS} FROM ready WHERE place = ?"
_SIZES = "SELECT place, length(body), attempts FROM ready WHERE place BETWEEN ? AND ?"
_SPAN = """
SELECT first_place, last_place FROM pulls WHERE first_place <= ? ORDER BY first_place DESC LIMIT 1
"""
_NEXT_EXPIRY = "SELECT expires_ms FROM pulls WHERE queue = ? ORDER BY expires_ms LIMIT 1"
_DUE = """
SELECT first_place, last_place FROM pulls WHERE queue = ? AND expires_ms <= ?
 ORDER BY expires_ms LIMIT ?
"""
_PEEK = """
SELECT id, body, content_type, timestamp_ms, attempts, place
  FROM ready WHERE place > ? AND place <= ? ORDER BY place LIMIT ?
"""

_HEAD = """
SELECT id, body, content_type, timestamp_ms, attempts, place, joined_ms > arrived_ms
  FROM ready WHERE place > ? AND place <= ? ORDER BY place LIMIT ?
"""


class Span(NamedTuple):
    first_place: int
    last_place: int

    def holds(self, place: int) -> bool:
        return self.first_place <= place <= self.last_place


class PulledMessages:
    def __init__(self, connection: sqlite3.Connection, store: QueueStore) -> None:
        self._db = connection
        self._store = store

    def lease_key(self, random_bytes: Callable[[int], bytes]) -> bytes:
        """What lease ids are signed with: made once, so that they hold across restarts."""
        with self._store.transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO facts VALUES ('lease key', ?)", (random_bytes(KEY_BYTES),)
            )
            row = self._db.execute("SELECT value FROM facts WHERE name = 'lease key'").fetchone()
        key: bytes = row[0]
        return key

    def peek(self, queue: str, *, limit: int) -> list[StoredMessage]:
        """The head of the line, with the deliveries so far. Changes nothing."""
        line = self._store.line(queue)
        rows = self._db.execute(_PEEK, (line.taken_place, line.last_place, limit))
        return list(map(StoredMessage._make, rows))

    def head(self, queue: str, *, limit: int) -> list[tuple[StoredMessage, bool]]:
        """As ``peek``; and whether a message came to its place after a delay."""
        line = self._store.line(queue)
        rows = self._db.execute(_HEAD, (line.taken_place, line.last_place, limit))
        return [(StoredMessage._make(row[:6]), bool(row[6])) for row in rows]

    def take(self, queue: str, *, size: int, expires_ms: int) -> list[StoredMessage]:
        """Lease the head of the line until ``expires_ms``. The delivery counts from here on."""
        line = self._store.line(queue)
        rows = self._db.execute(_TAKE, (line.taken_place, line.last_place, size))
        messages = list(map(StoredMessage._make, rows))
        if not messages:
            return []
        self._store.touch(line)
        first, last = messages[0].place, messages[-1].place
        self._db.execute(
            "INSERT INTO pulls VALUES (?, ?, ?, ?)", (first, last, line.number, expires_ms)
        )
        line.taken_place = last
        size_bytes = sum([len(message.body) for message in messages])
        line.remove_ready(count=len(messages), size_bytes=size_bytes)
        line.add_pulled(count=len(messages), size_bytes=size_bytes, expires_ms=expires_ms)
        return messages

    def held(self, queue: str, refs: Iterable[LeaseRef]) -> dict[int, StoredMessage]:
        """Those still leased, by place."""
        line = self._store.line(queue)
        found: dict[int, StoredMessage] = {}
        for span, group in self._by_span(line, refs):
            for ref in group if span is not None else ():
                row = self._db.execute(_AT, (ref.place,)).fetchone()
                if row is not None:
                    found[ref.place] = StoredMessage._make(row)
        return found

    def due(self, queue: str, *, now_ms: int, limit: int) -> list[StoredMessage]:
        """What is in up to ``limit`` leases that are over; ``go_on`` with all of it."""
        number = self._store.line(queue).number
        spans = self._db.execute(_DUE, (number, now_ms, limit)).fetchall()
        return [
            StoredMessage._make(row) for span in spans for row in self._db.execute(_IN_SPAN, span)
        ]

    def end_due(self, queue: str, *, now_ms: int) -> None:
        """Forget leases that are over and empty."""
        line = self._store.line(queue)
        self._store.touch(line)
        self._db.execute(
            "DELETE FROM pulls WHERE queue = ? AND expires_ms <= ? AND NOT EXISTS"
            " (SELECT 1 FROM ready WHERE place BETWEEN first_place AND last_place)",
            (line.number, now_ms),
        )
        self._look_ahead(line)

    def remove(self, queue: str, refs: Sequence[LeaseRef]) -> None:
        """Acknowledge: remove the messages, wherever they are by now. Some may be gone."""
        line = self._store.line(queue)
        self._store.touch(line)
        late: list[LeaseRef] = []
        for span, group in self._by_span(line, refs):
            late += group if span is None else self._remove_leased(line, span, group)
        for ref in late:
            self._remove_returned(line, ref)

    def go_on(
        self, queue: str, moves: Sequence[Move], drops: Sequence[StoredMessage], *, now_ms: int
    ) -> None:
        """Take leased messages out of their leases: return them, move them away or drop them."""
        line = self._store.line(queue)
        self._store.touch(line)
        places = self._store.move(moves, now_ms=now_ms)
        for move, place in zip(moves, places, strict=True):
            if move.queue == queue:
                due_ms = move.due_ms if move.due_ms > now_ms else 0
                self._db.execute(
                    "INSERT OR REPLACE INTO returned VALUES (?, ?, ?)",
                    (move.message.id, place, due_ms),
                )
                line.has_returned = True
        self._store.discard(drops)
        leaving = [move.message for move in moves if move.queue != queue] + list(drops)
        if line.has_returned:
            self._forget_returned([message.id for message in leaving])
        left = [move.message for move in moves] + list(drops)
        size_bytes = sum([len(message.body) for message in left])
        line.remove_pulled(count=len(left), size_bytes=size_bytes)

    def remove_peeked(self, queue: str, refs: Sequence[LeaseRef]) -> list[LeaseRef]:
        """Remove messages whoever may hold them; those that are not there any more."""
        line = self._store.line(queue)
        self._store.touch(line)
        gone = []
        for ref in refs:
            if self._remove_at(line, ref.place):
                continue
            if self._returned(line, ref) is None:
                gone.append(ref)
            self._remove_returned(line, ref)
        return gone

    def redrive(self, queue: str, *, through: int, limit: int) -> list[StoredMessage]:
        """Up to ``limit`` ready messages that stand no further than ``through``, to be moved."""
        line = self._store.line(queue)
        rows = self._db.execute(_PEEK, (line.taken_place, min(through, line.last_place), limit))
        messages = list(map(StoredMessage._make, rows))
        self._store.touch(line)
        size_bytes = sum([len(message.body) for message in messages])
        line.remove_ready(count=len(messages), size_bytes=size_bytes)
        if line.has_returned:
            self._forget_returned([message.id for message in messages])
        return messages

    def whereabouts(self, queue: str, ref: LeaseRef) -> int:
        """The place of a message that came back after this lease; 0 if it is gone."""
        row = self._returned(self._store.line(queue), ref)
        return row[0] if row else 0

    # -- Within a transaction ---------------------------------------------------------------------

    def _by_span(
        self, line: Line, refs: Iterable[LeaseRef]
    ) -> Iterator[tuple[Span | None, list[LeaseRef]]]:
        """The references by the lease that holds their place, if one does."""
        span = Span(0, -1)

        def of(ref: LeaseRef) -> Span | None:
            nonlocal span
            if not span.holds(ref.place):
                row = self._db.execute(_SPAN, (ref.place,)).fetchone()
                span = Span._make(row) if row else Span(0, -1)
            held = span.holds(ref.place) and ref.place > line.purged_place
            return span if held else None

        for found, group in groupby(sorted(refs), of):
            yield found, list(group)

    def _remove_leased(self, line: Line, span: Span, refs: list[LeaseRef]) -> list[LeaseRef]:
        """Remove what is still in the lease; the others."""
        here = {place: rest for place, *rest in self._db.execute(_SIZES, span)}
        taken = [ref for ref in refs if ref.place in here]
        if len(taken) == len(here):
            self._db.execute("DELETE FROM ready WHERE place BETWEEN ? AND ?", span)
            self._db.execute("DELETE FROM pulls WHERE first_place = ?", span[:1])
            # The first end of a lease may stay known for too early: then it is only looked at.
        else:
            places = [(ref.place,) for ref in taken]
            self._db.executemany("DELETE FROM ready WHERE place = ?", places)
        size_bytes = sum([here[ref.place][0] for ref in taken])
        line.remove_pulled(count=len(taken), size_bytes=size_bytes)
        if line.has_returned:
            self._forget_returned([ref.id for ref in taken if here[ref.place][1]])
        return [ref for ref in refs if ref.place not in here] if len(taken) < len(refs) else []

    def _remove_returned(self, line: Line, ref: LeaseRef) -> None:
        row = self._returned(line, ref)
        if row is None:
            return
        place, due_ms = row
        if due_ms:
            gone = self._db.execute(
                "DELETE FROM delayed WHERE queue = ? AND due_ms = ? AND place = ?"
                " RETURNING length(body)",
                (line.number, due_ms, place),
            ).fetchall()
            line.remove_delayed(count=len(gone), size_bytes=sum(size for (size,) in gone))
        else:
            self._remove_at(line, place)
        self._forget_returned([ref.id])

    def _remove_at(self, line: Line, place: int) -> bool:
        """Remove from ``ready``; whether it was there."""
        if place <= line.purged_place:
            return False
        gone = self._db.execute(
            "DELETE FROM ready WHERE place = ? RETURNING length(body)", (place,)
        ).fetchall()
        self._uncount(line, place, [size for (size,) in gone])
        return bool(gone)

    def _uncount(self, line: Line, place: int, sizes: list[int]) -> None:
        if place > line.taken_place:
            line.remove_ready(count=len(sizes), size_bytes=sum(sizes))
            return
        row = self._db.execute(_SPAN, (place,)).fetchone()
        if row and Span._make(row).holds(place):
            line.remove_pulled(count=len(sizes), size_bytes=sum(sizes))
        # Otherwise a Worker has it: what is pushed is in no count.

    def _returned(self, line: Line, ref: LeaseRef) -> tuple[int, int] | None:
        if not line.has_returned:
            return None
        row: tuple[int, int] | None = self._db.execute(
            "SELECT place, due_ms FROM returned WHERE id = ?", (ref.id,)
        ).fetchone()
        # A dead letter keeps its id: the place tells in which queue it is.
        if row is None or not line.purged_place < row[0] <= line.last_place:
            return None
        return row

    def _forget_returned(self, ids: Iterable[str]) -> None:
        self._db.executemany("DELETE FROM returned WHERE id = ?", [(id_,) for id_ in ids])

    def _look_ahead(self, line: Line) -> None:
        row = self._db.execute(_NEXT_EXPIRY, (line.number,)).fetchone()
        line.next_expiry_ms = row[0] if row else None
