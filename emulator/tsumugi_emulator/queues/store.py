"""Keep queues and their messages in one SQLite file. Decides nothing and reads no clock.

What a method changed is durable when it returns, or when the ``transaction()`` around it ends.
One process at a time owns a store (lock.py), and one thread of it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from itertools import chain
from typing import TYPE_CHECKING, Any

from . import lines, recovery, schema, upkeep
from .consumers import Consumers
from .errors import queue_name_taken, queue_not_found
from .messages import Lease, Metrics, StoredMessage
from .pulled import PulledMessages
from .purges import Purges
from .registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from .lines import Line
    from .messages import Move, OutgoingMessage, QueueSettings
    from .registry import QueueRecord

DATABASE_FILE = "queues.sqlite"

#: Rows per INSERT. Measured: 25 take a third less time than 25 executions, more gain little.
_ROWS_AT_ONCE = 25
_ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
_WIDE_ROW = ", ".join([_ROW] * _ROWS_AT_ONCE)
_PUT_READY = "INSERT INTO ready VALUES "
_PUT_DELAYED = "INSERT INTO delayed VALUES "
_TAKE = """
SELECT id, body, content_type, timestamp_ms, attempts + 1, place
  FROM ready WHERE place > ? AND place <= ? ORDER BY place LIMIT ?
"""
_HEAD_JOINED = """
SELECT joined_ms FROM ready WHERE place > ? AND place <= ? ORDER BY place LIMIT 1
"""
_MOVE_TO_READY = """
UPDATE ready
   SET place = ?, queue = ?, joined_ms = ?, arrived_ms = coalesce(?, arrived_ms), attempts = ?
 WHERE place = ?
"""
_MOVE_TO_DELAYED = """
INSERT INTO delayed
SELECT ?, ?, ?, id, content_type, timestamp_ms, coalesce(?, arrived_ms), ?, body
  FROM ready WHERE place = ?
"""
_FOLLOW = "UPDATE returned SET place = ?, due_ms = ? WHERE id = ?"

#: The values of a row of ``ready`` or ``delayed``; the body comes last.
type Row = tuple[Any, ...]


#: Made once: a batch enters several.
_NESTED: AbstractContextManager[None] = contextlib.nullcontext()


class _Outermost:
    """The transaction that commits, or rolls everything back."""

    __slots__ = ("_store",)

    def __init__(self, store: QueueStore) -> None:
        self._store = store

    def __enter__(self) -> None:
        self._store._begin()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._store._end(failed=kind is not None)


class QueueStore:
    def __init__(
        self, connection: sqlite3.Connection, *, random_bytes: Callable[[int], bytes] = os.urandom
    ) -> None:
        """Use ``open``, unless the connection is a special one."""
        self._db = connection
        self._random_bytes = random_bytes
        self._changed: dict[Line, tuple[object, ...]] = {}
        self._created: list[str] = []
        #: When the oldest message of a line's backlog was sent. Only sends leave it as it is.
        self._oldest_ms: dict[Line, int] = {}
        self._outermost = _Outermost(self)
        schema.migrate(connection)
        self.registry = Registry(connection, random_bytes=random_bytes)
        with self.transaction():
            recovery.prune(connection)
        self._lines = {line.queue: line for line in lines.load(connection)}
        self._by_number = {line.number: line for line in self._lines.values()}
        self.consumers = Consumers(connection, random_bytes=random_bytes)
        self.pulled = PulledMessages(connection, self)
        self.purges = Purges(connection, self)
        with self.transaction():
            recovery.recover_leases(connection, self)

    @classmethod
    def open(
        cls, directory: Path, *, random_bytes: Callable[[int], bytes] = os.urandom
    ) -> QueueStore:
        """Open or create the file. What its last owner had in flight is ready again, in place."""
        directory.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(directory / DATABASE_FILE, isolation_level=None, cached_statements=64)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA temp_store = MEMORY")
            return cls(db, random_bytes=random_bytes)
        except BaseException:  # a file that is no database, or one of a newer version
            db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def transaction(self) -> AbstractContextManager[None]:
        """All of it or nothing, counts included. May be nested; the outermost one commits."""
        return _NESTED if self._db.in_transaction else self._outermost

    def _begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def _end(self, *, failed: bool) -> None:
        try:
            if not failed:
                for line in self._changed:
                    lines.save(self._db, line)
                self._db.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        else:
            if failed:
                self._roll_back()
        finally:
            self._changed.clear()
            self._created.clear()

    def queues(self) -> list[QueueRecord]:
        return self.registry.all()

    def queue(self, name: str) -> QueueRecord:
        return self.registry.get(name)

    def declare(self, settings: QueueSettings, *, now_ms: int) -> QueueRecord:
        """What the configuration says: it holds if it changed since it was last declared."""
        with self.transaction():
            self.ensure(settings.name, now_ms=now_ms)
            return self.registry.declare(settings, now_ms=now_ms)

    def change(self, settings: QueueSettings, *, now_ms: int) -> QueueRecord:
        """A change from elsewhere: it holds until the configuration changes."""
        with self.transaction():
            return self.registry.change(settings, now_ms=now_ms)

    def ensure(self, name: str, *, now_ms: int) -> Line:
        """The queue's line; an unknown queue is created with default settings."""
        if name not in self._lines:
            with self.transaction():
                record = self.registry.create(name, now_ms=now_ms)
                line = lines.create(self._db, name, number=record.number)
                self._lines[name] = self._by_number[record.number] = line
                self._created.append(name)
        return self._lines[name]

    def lines(self) -> Iterable[Line]:
        return self._lines.values()

    def line(self, queue: str) -> Line:
        """The queue's line, to look at: only the store changes it."""
        try:
            return self._lines[queue]
        except KeyError:
            raise queue_not_found(queue) from None

    def metrics(self, queue: str) -> Metrics:
        line = self.line(queue)
        count = line.ready_count + line.pulled_count
        if count == 0:
            return Metrics()
        timestamp_ms = self._oldest_ms.get(line)
        if timestamp_ms is None:
            _, timestamp_ms = upkeep.oldest(self._db, line, behind=line.unacked_place)
            self._oldest_ms[line] = timestamp_ms
        return Metrics(count, line.ready_bytes + line.pulled_bytes, timestamp_ms)

    def waiting_since_ms(self, queue: str) -> int:
        """When the message at the head of the line became ready; 0 if there is none."""
        line = self.line(queue)
        head = self._db.execute(_HEAD_JOINED, (line.taken_place, line.last_place)).fetchone()
        return head[0] if head else 0

    def put(
        self, queue: str, messages: Sequence[OutgoingMessage], *, default_delay_s: int, now_ms: int
    ) -> None:
        """Append messages; those with a delay wait aside until it ends."""
        line = self.line(queue)
        ids = self._random_bytes(16 * len(messages)).hex()
        with self.transaction():
            self._snapshot(line)
            ready, delayed = _rows(line, messages, ids, default_delay_s, now_ms)
            if ready:
                self._insert(_PUT_READY, ready)
                size_bytes = sum([len(row[-1]) for row in ready])
                line.add_ready(count=len(ready), size_bytes=size_bytes, arrived_ms=line.joined_ms)
            if delayed:
                self._insert(_PUT_DELAYED, delayed)
                size_bytes = sum([len(row[-1]) for row in delayed])
                due_ms = min([row[1] for row in delayed])
                line.add_delayed(count=len(delayed), size_bytes=size_bytes, due_ms=due_ms)

    def promote(self, queue: str, *, now_ms: int, expired_ms: int, limit: int) -> upkeep.Promoted:
        """End the delays that are over, for at most ``limit`` messages."""
        line = self.line(queue)
        with self.transaction():
            self.touch(line)
            return upkeep.promote(self._db, line, now_ms=now_ms, expired_ms=expired_ms, limit=limit)

    def expire(self, queue: str, *, expired_ms: int, limit: int) -> int:
        """Remove ready messages that arrived at ``expired_ms`` or before; how many went."""
        line = self.line(queue)
        with self.transaction():
            self.touch(line)
            return upkeep.expire(self._db, line, expired_ms=expired_ms, limit=limit)

    def lease(self, queue: str, *, size: int) -> tuple[Lease, list[StoredMessage]]:
        """Hand out the head of a line that is not empty. The delivery counts from here on."""
        line = self.line(queue)
        with self.transaction():
            self.touch(line)
            rows = self._db.execute(_TAKE, (line.taken_place, line.last_place, size))
            messages = list(map(StoredMessage._make, rows))
            lease = Lease(queue, messages[0].place, messages[-1].place)
            self._db.execute(
                "INSERT INTO leases VALUES (?, ?)", (lease.first_place, lease.last_place)
            )
            line.taken_place = lease.last_place
            size_bytes = sum([len(message.body) for message in messages])
            line.remove_ready(count=len(messages), size_bytes=size_bytes)
        return lease, messages

    def settle(self, lease: Lease, moves: Sequence[Move], *, now_ms: int) -> None:
        """End a lease: the messages in ``moves`` go on, every other one is removed.

        What was purged meanwhile, or with its queue deleted, goes nowhere.
        """
        span = (lease.first_place, lease.last_place)
        with self.transaction():
            # By number: its name may have changed meanwhile.
            self._oldest_ms.clear()
            line = self._by_number.get(lease.first_place >> schema.PLACE_BITS)
            if line is not None and line.purged_place < lease.first_place:
                self.move(moves, now_ms=now_ms)
            self._db.execute("DELETE FROM ready WHERE place BETWEEN ? AND ?", span)
            self._db.execute("DELETE FROM leases WHERE first_place = ?", span[:1])

    def move(self, moves: Sequence[Move], *, now_ms: int) -> list[int]:
        """Take messages out of their lease, which goes on without them; their new places."""
        with self.transaction():
            return [self._move(move, now_ms=now_ms) for move in moves]

    def discard(self, messages: Sequence[StoredMessage]) -> None:
        """Remove messages from their lease for good; it goes on without them."""
        with self.transaction():
            self._oldest_ms.clear()
            places = [(message.place,) for message in messages]
            self._db.executemany("DELETE FROM ready WHERE place = ?", places)

    def _move(self, move: Move, *, now_ms: int) -> int:
        message = move.message
        line = self.ensure(move.queue, now_ms=now_ms)
        self.touch(line)
        place = line.next_place()
        attempts = 0 if move.starts_over else message.attempts
        size_bytes = len(message.body)
        due_ms = move.due_ms if move.due_ms > now_ms else 0
        if due_ms:
            arrived_ms = now_ms if move.starts_over else None
            values = (line.number, due_ms, place, arrived_ms, attempts, message.place)
            if not self._db.execute(_MOVE_TO_DELAYED, values).rowcount:
                return 0  # removed while it was in flight
            self._db.execute("DELETE FROM ready WHERE place = ?", (message.place,))
            line.add_delayed(count=1, size_bytes=size_bytes, due_ms=due_ms)
        else:
            joined_ms = line.join(now_ms)
            arrived_ms = joined_ms if move.starts_over else None
            values = (place, line.number, joined_ms, arrived_ms, attempts, message.place)
            if not self._db.execute(_MOVE_TO_READY, values).rowcount:
                return 0
            # Without its exact arrival the timestamp will do: it is never later.
            floor_ms = joined_ms if move.starts_over else message.timestamp_ms
            line.add_ready(count=1, size_bytes=size_bytes, arrived_ms=floor_ms)
        if line.has_returned:
            self._db.execute(_FOLLOW, (place, due_ms, message.id))
        return place

    def _insert(self, statement: str, rows: list[Row]) -> None:
        wide = len(rows) - len(rows) % _ROWS_AT_ONCE
        for start in range(0, wide, _ROWS_AT_ONCE):
            values = list(chain.from_iterable(rows[start : start + _ROWS_AT_ONCE]))
            self._db.execute(statement + _WIDE_ROW, values)
        if len(rows) == 1:
            self._db.execute(statement + _ROW, rows[0])
        elif wide < len(rows):
            self._db.executemany(statement + _ROW, rows[wide:])

    def forget(self, queue: str) -> None:
        """After its deletion: nobody may find the queue any more."""
        line = self._lines.pop(queue)
        self._oldest_ms.pop(line, None)
        del self._by_number[line.number]

    def rename(self, queue: str, name: str, *, now_ms: int) -> None:
        """Give a queue another name; what refers to it by the old one does not follow."""
        line = self.line(queue)
        if name in self._lines:
            raise queue_name_taken(name)
        with self.transaction():
            self.registry.rename(queue, name, now_ms=now_ms)
        line.queue = name
        self._lines[name] = self._lines.pop(queue)

    def touch(self, line: Line) -> None:
        """Before any change of a line, or of messages in it, that is not a send."""
        self._oldest_ms.clear()
        self._snapshot(line)

    def _snapshot(self, line: Line) -> None:
        if line not in self._changed:
            self._changed[line] = line.snapshot()

    def _roll_back(self) -> None:
        self._oldest_ms.clear()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        for line, snapshot in self._changed.items():
            line.restore(snapshot)
        for name in self._created:
            del self._by_number[self._lines.pop(name).number]


def _rows(
    line: Line,
    messages: Sequence[OutgoingMessage],
    ids: str,
    default_delay_s: int,
    now_ms: int,
) -> tuple[list[Row], list[Row]]:
    """Rows for ``ready`` and for ``delayed``, with places in the order of ``messages``."""
    ready: list[Row] = []
    delayed: list[Row] = []
    number, place, arrived_ms = line.number, line.last_place, line.join(now_ms)
    start = 0
    for body, content_type, delay_s in messages:
        place += 1
        id_ = ids[start : start + 32]
        start += 32
        if delay_s is None:
            delay_s = default_delay_s
        if delay_s <= 0:
            ready.append(
                (place, number, id_, content_type, now_ms, arrived_ms, arrived_ms, 0, body)
            )
        else:
            due_ms = now_ms + delay_s * 1000
            delayed.append((number, due_ms, place, id_, content_type, now_ms, arrived_ms, 0, body))
    line.last_place = place
    return ready, delayed
