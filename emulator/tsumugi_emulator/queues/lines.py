"""The state of each queue's line that must be known without a query. No SQL but its own rows.

A Line mirrors a row of ``lines`` and adds what only a living process needs to know. The store
changes it inside a transaction and restores it when that transaction fails.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from .schema import PLACE_BITS

if TYPE_CHECKING:
    import sqlite3


@dataclass(slots=True, eq=False)
class Line:
    queue: str
    number: int
    #: The last place given out; places are never reused.
    last_place: int
    ready_count: int
    ready_bytes: int
    delayed_count: int
    delayed_bytes: int
    #: Every message up to this place is in flight or gone; every one behind it is ready.
    taken_place: int
    #: When the last message joined. Joining times never decrease along a line.
    joined_ms: int
    #: When the first delayed message becomes ready.
    next_due_ms: int | None
    #: No ready message arrived before this moment. A bound, exact after a sweep.
    arrival_floor_ms: int = 0

    @property
    def stored_bytes(self) -> int:
        return self.ready_bytes + self.delayed_bytes

    def snapshot(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in _FIELDS)

    def restore(self, snapshot: tuple[object, ...]) -> None:
        for name, value in zip(_FIELDS, snapshot, strict=True):
            setattr(self, name, value)

    def next_place(self) -> int:
        self.last_place += 1
        return self.last_place

    def join(self, now_ms: int) -> int:
        """The joining time of whoever joins now, also when the system clock was set back."""
        self.joined_ms = max(self.joined_ms, now_ms)
        return self.joined_ms

    def add_ready(self, *, count: int, size_bytes: int, arrived_ms: int) -> None:
        if self.ready_count == 0:
            self.arrival_floor_ms = arrived_ms
        else:
            self.arrival_floor_ms = min(self.arrival_floor_ms, arrived_ms)
        self.ready_count += count
        self.ready_bytes += size_bytes

    def add_delayed(self, *, count: int, size_bytes: int, due_ms: int) -> None:
        self.delayed_count += count
        self.delayed_bytes += size_bytes
        self.next_due_ms = due_ms if self.next_due_ms is None else min(self.next_due_ms, due_ms)

    def remove_ready(self, *, count: int, size_bytes: int) -> None:
        self.ready_count -= count
        self.ready_bytes -= size_bytes

    def remove_delayed(self, *, count: int, size_bytes: int) -> None:
        self.delayed_count -= count
        self.delayed_bytes -= size_bytes


_FIELDS = tuple(field.name for field in fields(Line))


def first_place(number: int) -> int:
    """Below every place of this queue."""
    return number << PLACE_BITS


def create(connection: sqlite3.Connection, queue: str, *, number: int) -> Line:
    place = first_place(number)
    connection.execute("INSERT INTO lines (queue, last_place) VALUES (?, ?)", (number, place))
    return _line(queue, number, place, 0, 0, 0, 0, 0, None)


def load(connection: sqlite3.Connection) -> list[Line]:
    rows = connection.execute(
        """
        SELECT queues.name, number, last_place,
               ready_count, ready_bytes, delayed_count, delayed_bytes,
               coalesce((SELECT joined_ms FROM ready
                          WHERE place > (number << ?) AND place <= last_place
                          ORDER BY place DESC LIMIT 1), 0),
               (SELECT due_ms FROM delayed WHERE delayed.queue = number ORDER BY due_ms LIMIT 1)
          FROM lines JOIN queues ON queues.number = lines.queue
        """,
        (PLACE_BITS,),
    )
    return [_line(*row) for row in rows.fetchall()]


def _line(
    queue: str,
    number: int,
    last_place: int,
    ready_count: int,
    ready_bytes: int,
    delayed_count: int,
    delayed_bytes: int,
    joined_ms: int,
    next_due_ms: int | None,
) -> Line:
    return Line(
        queue=queue,
        number=number,
        last_place=last_place,
        ready_count=ready_count,
        ready_bytes=ready_bytes,
        delayed_count=delayed_count,
        delayed_bytes=delayed_bytes,
        taken_place=first_place(number),
        joined_ms=joined_ms,
        next_due_ms=next_due_ms,
    )


def save(connection: sqlite3.Connection, line: Line) -> None:
    connection.execute(
        "UPDATE lines SET last_place = ?, ready_count = ?, ready_bytes = ?,"
        " delayed_count = ?, delayed_bytes = ? WHERE queue = ?",
        (
            line.last_place,
            line.ready_count,
            line.ready_bytes,
            line.delayed_count,
            line.delayed_bytes,
            line.number,
        ),
    )
