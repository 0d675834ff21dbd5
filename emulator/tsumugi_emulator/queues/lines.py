"""The state of each queue's line that must be known without a query. No SQL but its own rows.

A Line mirrors a row of ``lines`` and adds what only a living process needs to know. The store
changes it inside a transaction and restores it when that transaction fails.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING

from .schema import PLACE_BITS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable


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
    #: Leased by pullers.
    pulled_count: int
    pulled_bytes: int
    #: Every message up to this place is gone, also if its row is not.
    purged_place: int
    #: Every message up to this place is in flight or gone; every one behind it is ready.
    taken_place: int
    #: When the last message joined. Joining times never decrease along a line.
    joined_ms: int
    #: When the first delayed message becomes ready.
    next_due_ms: int | None
    #: When the first lease of a puller ends.
    next_expiry_ms: int | None
    #: Messages came back from pullers: the table ``returned`` may know them.
    has_returned: bool = False
    #: No ready message arrived before this moment. A bound, exact after a sweep.
    arrival_floor_ms: int = 0

    @property
    def stored_bytes(self) -> int:
        return self.ready_bytes + self.delayed_bytes + self.pulled_bytes

    @property
    def unacked_place(self) -> int:
        """Every message in this queue's line that counts as backlog stands behind it."""
        return self.purged_place if self.pulled_count else self.taken_place

    def snapshot(self) -> tuple[object, ...]:
        return _values(self)

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

    def add_pulled(self, *, count: int, size_bytes: int, expires_ms: int) -> None:
        self.pulled_count += count
        self.pulled_bytes += size_bytes
        if self.next_expiry_ms is None or expires_ms < self.next_expiry_ms:
            self.next_expiry_ms = expires_ms

    def remove_pulled(self, *, count: int, size_bytes: int) -> None:
        self.pulled_count -= count
        self.pulled_bytes -= size_bytes

    def purge(self) -> None:
        """Forget every message there is, in flight or not."""
        self.ready_count = self.ready_bytes = self.delayed_count = self.delayed_bytes = 0
        self.pulled_count = self.pulled_bytes = 0
        self.next_due_ms = self.next_expiry_ms = None
        self.taken_place = self.purged_place = self.last_place

    def remove_delayed(self, *, count: int, size_bytes: int) -> None:
        self.delayed_count -= count
        self.delayed_bytes -= size_bytes


_FIELDS = tuple(field.name for field in fields(Line))
_values: Callable[[Line], tuple[object, ...]] = attrgetter(*_FIELDS)


def first_place(number: int) -> int:
    """Below every place of this queue."""
    return number << PLACE_BITS


def create(connection: sqlite3.Connection, queue: str, *, number: int) -> Line:
    place = first_place(number)
    connection.execute("INSERT INTO lines (queue, last_place) VALUES (?, ?)", (number, place))
    return Line(queue, number, place, 0, 0, 0, 0, 0, 0, place, place, 0, None, None)


_LOAD = """
SELECT queues.name, number, last_place, ready_count, ready_bytes, delayed_count, delayed_bytes,
       pulled_count, pulled_bytes, max(purged_place, number << :bits),
       -- A puller that outlived the emulator still holds everything up to its last place.
       max(purged_place, number << :bits,
           coalesce((SELECT max(last_place) FROM pulls WHERE pulls.queue = number), 0)),
       coalesce((SELECT joined_ms FROM ready
                  WHERE place > (number << :bits) AND place <= last_place
                  ORDER BY place DESC LIMIT 1), 0),
       (SELECT due_ms FROM delayed WHERE delayed.queue = number ORDER BY due_ms LIMIT 1),
       (SELECT expires_ms FROM pulls WHERE pulls.queue = number ORDER BY expires_ms LIMIT 1),
       EXISTS (SELECT 1 FROM returned)
  FROM lines JOIN queues ON queues.number = lines.queue
"""


def load(connection: sqlite3.Connection) -> list[Line]:
    rows = connection.execute(_LOAD, {"bits": PLACE_BITS}).fetchall()
    return [Line(*row) for row in rows]


_SAVE = """
UPDATE lines
   SET last_place = ?, ready_count = ?, ready_bytes = ?, delayed_count = ?, delayed_bytes = ?,
       pulled_count = ?, pulled_bytes = ?, purged_place = ?
 WHERE queue = ?
"""


def save(connection: sqlite3.Connection, line: Line) -> None:
    connection.execute(
        _SAVE,
        (
            line.last_place,
            line.ready_count,
            line.ready_bytes,
            line.delayed_count,
            line.delayed_bytes,
            line.pulled_count,
            line.pulled_bytes,
            line.purged_place,
            line.number,
        ),
    )
