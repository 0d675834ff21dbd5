"""Which child holds which object: one at a time, in the order they asked. Pure bookkeeping.

Children are opaque here. Answers are what to tell whom; sending it is ``object_services``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Held[C]:
    owner: C
    waiting: deque[C] = field(default_factory=deque)


@dataclass(frozen=True, slots=True)
class Granted[C]:
    """Tell ``child`` that it may use the object."""

    child: C
    key: str
    #: Somebody else waits already: hand it on as soon as nothing runs in it.
    contended: bool


@dataclass(frozen=True, slots=True)
class Waits[C]:
    """``owner`` has it: ask it to let go."""

    owner: C
    key: str


class Owners[C]:
    def __init__(self) -> None:
        self._held: dict[str, _Held[C]] = {}

    def owner(self, key: str) -> C | None:
        held = self._held.get(key)
        return None if held is None else held.owner

    def is_contended(self, key: str) -> bool:
        held = self._held.get(key)
        return held is not None and bool(held.waiting)

    def acquire(self, child: C, key: str) -> Granted[C] | Waits[C]:
        held = self._held.get(key)
        if held is None:
            self._held[key] = _Held(child)
            return Granted(child, key, contended=False)
        held.waiting.append(child)
        return Waits(held.owner, key)

    def release(self, child: C, key: str) -> Granted[C] | None:
        """``child`` has closed the object, or no longer waits for it: who is next."""
        held = self._held.get(key)
        if held is None:
            return None
        if held.owner != child:
            if child in held.waiting:
                held.waiting.remove(child)
            return None
        if not held.waiting:
            del self._held[key]
            return None
        held.owner = held.waiting.popleft()
        return Granted(held.owner, key, contended=bool(held.waiting))

    def gone(self, child: C) -> list[Granted[C]]:
        """The process has ended: everything it held or waited for goes on."""
        keys = [k for k, held in self._held.items() if held.owner == child or child in held.waiting]
        for key in keys:
            held = self._held[key]
            held.waiting = deque(other for other in held.waiting if other != child)
        return [
            granted
            for key in keys
            if self._held[key].owner == child and (granted := self.release(child, key)) is not None
        ]
