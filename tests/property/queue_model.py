"""What a queue does, told a second time: plain lists, no SQL, no event loop, nothing shared.

Slow and simple on purpose. It imports nothing from the emulator, so a mistake there cannot be
repeated here by sharing code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

FOREVER = 10**18


@dataclass
class Told:
    """What the handler reports, by label; the labels of a batch decide nothing by themselves."""

    outcome: str = "ok"
    ack_all: bool = False
    retry_all: bool = False
    retry_all_delay_s: int | None = None
    acks: frozenset[str] = frozenset()
    retries: dict[str, int | None] = field(default_factory=dict)


@dataclass
class Item:
    label: str
    size: int
    sent_ms: int
    arrived_ms: int
    used: int = 0
    ready_since_ms: int = 0


@dataclass
class Flight:
    items: list[Item]
    started_ms: int


@dataclass
class Settings:
    size: int = 10
    timeout_ms: int = 5_000
    retries: int = 3
    retry_delay_s: int = 0
    concurrency: int = 1
    dead_letter: bool = True
    retention_ms: int = 345_600_000
    wall_ms: int = 900_000


#: Called with the labels of a batch: what its handler reports, or None if it hangs.
type Handler = Callable[[list[str]], Told | None]


class QueueModel:
    def __init__(self, settings: Settings, handler: Handler, *, now_ms: int) -> None:
        self.settings = settings
        self.handler = handler
        self.now_ms = now_ms
        self.ready: list[Item] = []
        self.delayed: list[tuple[int, int, Item]] = []
        self.flights: list[Flight] = []
        self.dead: list[Item] = []
        self.dropped: list[str] = []
        self.expired: list[str] = []
        self.acked: list[str] = []
        self.delivered: list[tuple[int, list[tuple[str, int]]]] = []
        self.allowed = 1
        self.failing = 0.0
        self.backlog_before = 0
        #: An invocation was cut off in a millisecond in which messages were due: either is first.
        self.ambiguous = False
        self._order = 0

    # What a test does.

    def send(self, labels_sizes_delays: list[tuple[str, int, int]]) -> None:
        for label, size, delay_s in labels_sizes_delays:
            item = Item(label, size, self.now_ms, self.now_ms)
            self._enter(item, self.now_ms + delay_s * 1000)
        self._work()

    def advance(self, duration_ms: int) -> None:
        until_ms = self.now_ms + duration_ms
        while (next_ms := self._next_moment()) <= until_ms:
            self.now_ms = max(self.now_ms, next_ms)
            overran = any(self._overran(flight) for flight in self.flights)
            self.ambiguous |= overran and self._next_moment_of_messages() <= self.now_ms
            self._work()
        self.now_ms = until_ms

    def report(self, told: Told) -> None:
        """The flight that hangs longest reports after all."""
        flight = self.flights.pop(0)
        self._settle(flight, told)
        self._work()

    def die(self, *, down_ms: int) -> None:
        """Everything in flight is lost to the handler, not to the queue: it was at the front."""
        self.now_ms += down_ms
        self.allowed, self.failing, self.backlog_before = 1, 0.0, 0
        back = [item for flight in self.flights for item in flight.items]
        self.flights = []
        self.ready = back + self.ready
        self._work()

    # What a test looks at.

    @property
    def metrics(self) -> tuple[int, int, int]:
        if not self.ready:
            return 0, 0, 0
        oldest = min(self.ready, key=lambda item: item.arrived_ms)
        return len(self.ready), sum(item.size for item in self.ready), oldest.sent_ms

    @property
    def everywhere(self) -> list[str]:
        """Every label that was ever sent, exactly once."""
        return sorted(
            [item.label for item in self.ready]
            + [item.label for _, _, item in self.delayed]
            + [item.label for flight in self.flights for item in flight.items]
            + [item.label for item in self.dead]
            + self.dropped
            + self.expired
            + self.acked
        )

    # How it goes on its own.

    def _enter(self, item: Item, due_ms: int) -> None:
        if due_ms > self.now_ms:
            self._order += 1
            self.delayed.append((due_ms, self._order, item))
            return
        item.ready_since_ms = self.now_ms
        self.ready.append(item)

    def _next_moment(self) -> int:
        walls = [flight.started_ms + self.settings.wall_ms for flight in self.flights]
        return min([self._next_moment_of_messages(), *walls])

    def _next_moment_of_messages(self) -> int:
        moments = [due_ms for due_ms, _, _ in self.delayed]
        moments += [item.arrived_ms + self.settings.retention_ms for item in self.ready]
        if self.ready and len(self.flights) < self.allowed:
            moments.append(self.ready[0].ready_since_ms + self.settings.timeout_ms)
        return min(moments, default=FOREVER)

    def _work(self) -> None:
        self._deliver()
        while overrun := [flight for flight in self.flights if self._overran(flight)]:
            self.flights.remove(overrun[0])
            self._settle(overrun[0], Told("exceededWallTime"))
            self._deliver()

    def _overran(self, flight: Flight) -> bool:
        return flight.started_ms + self.settings.wall_ms <= self.now_ms

    def _deliver(self) -> None:
        self._expire()
        self._join()
        while formed := self._form_all():
            # Batches that may go go together; only then do handlers begin to report.
            for flight in formed:
                told = self.handler([item.label for item in flight.items])
                if told is not None:
                    self.flights.remove(flight)
                    self._settle(flight, told)

    def _outlived(self, item: Item) -> bool:
        return item.arrived_ms + self.settings.retention_ms <= self.now_ms

    def _expire(self) -> None:
        self.expired += [item.label for item in self.ready if self._outlived(item)]
        self.ready = [item for item in self.ready if not self._outlived(item)]

    def _join(self) -> None:
        due = sorted(entry for entry in self.delayed if entry[0] <= self.now_ms)
        self.delayed = [entry for entry in self.delayed if entry[0] > self.now_ms]
        for due_ms, _, item in due:
            if self._outlived(item):
                self.expired.append(item.label)
            else:
                item.ready_since_ms = due_ms
                self.ready.append(item)

    def _form_all(self) -> list[Flight]:
        formed: list[Flight] = []
        while len(self.flights) < self.allowed and self._may_form():
            front = self.ready[: self.settings.size]
            del self.ready[: self.settings.size]
            for item in front:
                if item.used > self.settings.retries:
                    self._give_up(item)
            fresh = [item for item in front if item.used <= self.settings.retries]
            for item in fresh:
                item.used += 1
            if fresh:
                self.delivered.append((self.now_ms, [(item.label, item.used) for item in fresh]))
                formed.append(Flight(fresh, self.now_ms))
                self.flights.append(formed[-1])
        return formed

    def _may_form(self) -> bool:
        if not self.ready:
            return False
        waited = self.now_ms >= self.ready[0].ready_since_ms + self.settings.timeout_ms
        return waited or len(self.ready) >= self.settings.size

    def _settle(self, flight: Flight, told: Told) -> None:
        for item in flight.items:
            if self._is_acked(item, told):
                self.acked.append(item.label)
            elif item.used > self.settings.retries:
                self._give_up(item)
            else:
                delays = [told.retries.get(item.label), told.retry_all_delay_s]
                delays.append(self.settings.retry_delay_s)
                delay_s = next(delay for delay in delays if delay is not None)
                self._enter(item, self.now_ms + max(0, min(delay_s, 86_400)) * 1000)

        self._scale(told.outcome == "ok")

    def _scale(self, ok: bool) -> None:
        self.failing = self.failing * 0.75 + (0.0 if ok else 0.25)
        waiting, size = len(self.ready), self.settings.size
        if not ok or waiting == 0:
            self.allowed = max(1, self.allowed - 1)
        elif self.failing <= 0.5 and waiting >= size:
            behind = waiting >= size * self.allowed or waiting > self.backlog_before
            self.allowed = min(self.settings.concurrency, self.allowed + behind)
        self.backlog_before = waiting

    def _is_acked(self, item: Item, told: Told) -> bool:
        if item.label in told.retries:
            return False
        if item.label in told.acks or told.ack_all:
            return True
        return told.outcome == "ok" and not told.retry_all

    def _give_up(self, item: Item) -> None:
        if self.settings.dead_letter:
            self.dead.append(item)
        else:
            self.dropped.append(item.label)
