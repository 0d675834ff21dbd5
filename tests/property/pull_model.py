"""What pulling does, told a second time: plain lists, no SQL, nothing shared with the emulator."""

from __future__ import annotations

from dataclasses import dataclass, field

FOREVER = 10**18


@dataclass
class Rules:
    max_retries: int = 3
    retry_delay_s: int = 0
    dead_letter: bool = True


@dataclass(eq=False)
class Item:
    label: str
    #: Deliveries that ended without an acknowledgement.
    used: int = 0
    #: The lease it is under now.
    lease: Lease | None = None


@dataclass(eq=False)
class Lease:
    """One message as handed out once: what a lease id stands for."""

    item: Item
    expires_ms: int
    #: Which pull it came from.
    pull: int


@dataclass
class PullModel:
    rules: Rules
    now_ms: int
    paused: bool = False
    ready: list[Item] = field(default_factory=list)
    delayed: list[tuple[int, int, Item]] = field(default_factory=list)
    leased: list[Item] = field(default_factory=list)
    acked: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    purged: list[str] = field(default_factory=list)
    pulls: int = 0
    order: int = 0

    # What a test does.

    def send(self, labels: list[str], delay_s: int) -> None:
        for label in labels:
            self._enter(Item(label), delay_s)

    def pull(self, size: int, timeout_ms: int) -> list[tuple[str, int, Lease]] | None:
        """Labels, attempts and leases; None if it is refused."""
        if self.paused:
            return None
        self.pulls += 1
        out = []
        for item in self.ready[:size]:
            item.lease = Lease(item, self.now_ms + timeout_ms, self.pulls)
            self.leased.append(item)
            out.append((item.label, item.used + 1, item.lease))
        del self.ready[:size]
        self._work()
        return out

    def settle(self, acks: list[Lease], retries: list[tuple[Lease, int | None]]) -> int:
        """How many retries did something."""
        for lease in acks:
            self._ack(lease.item)
        done = 0
        given_back = [entry for entry in retries if entry[0] not in acks]
        # In the order of their places: that of the calls is not kept within one.
        for lease, delay_s in given_back:
            if lease.item.lease is lease and lease.item in self.leased:
                done += 1
                self._return(lease.item, self.rules.retry_delay_s if delay_s is None else delay_s)
        return done

    def advance(self, duration_ms: int) -> None:
        until_ms = self.now_ms + duration_ms
        while (moment := self._next_moment()) <= until_ms:
            self.now_ms = max(self.now_ms, moment)
            self._work()
        self.now_ms = until_ms

    def down(self, duration_ms: int) -> None:
        """Nothing happens meanwhile; everything that is due does at the next start."""
        self.now_ms += duration_ms
        self._work()

    def purge(self) -> None:
        gone = self.ready + [item for *_, item in self.delayed] + self.leased
        self.purged += [item.label for item in gone]
        self.ready, self.delayed, self.leased = [], [], []

    # What a test looks at.

    @property
    def backlog(self) -> int:
        return len(self.ready) + len(self.leased)

    @property
    def everywhere(self) -> list[str]:
        held = self.ready + [item for *_, item in self.delayed] + self.leased
        return sorted(
            [item.label for item in held] + self.acked + self.dead + self.dropped + self.purged
        )

    # How it goes on its own.

    def _enter(self, item: Item, delay_s: int) -> None:
        if delay_s > 0:
            self.order += 1
            self.delayed.append((self.now_ms + delay_s * 1000, self.order, item))
        else:
            self.ready.append(item)

    def _next_moment(self) -> int:
        moments = [due_ms for due_ms, *_ in self.delayed]
        moments += [item.lease.expires_ms for item in self.leased if item.lease]
        return min(moments, default=FOREVER)

    def _work(self) -> None:
        over = [item for item in self.leased if item.lease and item.lease.expires_ms <= self.now_ms]
        over.sort(
            key=lambda item: (item.lease.expires_ms, item.lease.pull) if item.lease else (0, 0)
        )
        for item in over:
            self._return(item, 0)
        due = sorted(
            (entry for entry in self.delayed if entry[0] <= self.now_ms), key=lambda e: e[:2]
        )
        self.delayed = [entry for entry in self.delayed if entry[0] > self.now_ms]
        self.ready += [item for *_, item in due]

    def _return(self, item: Item, delay_s: int) -> None:
        self.leased.remove(item)
        item.lease = None
        item.used += 1
        if item.used < max(1, self.rules.max_retries):
            self._enter(item, delay_s)
        elif self.rules.dead_letter:
            self.dead.append(item.label)
        else:
            self.dropped.append(item.label)

    def _ack(self, item: Item) -> None:
        """Wherever it is by now; nothing if it is gone."""
        for place in (self.ready, self.leased):
            if item in place:
                place.remove(item)
                self.acked.append(item.label)
        if any(held is item for *_, held in self.delayed):
            self.delayed = [entry for entry in self.delayed if entry[2] is not item]
            self.acked.append(item.label)
