"""What a shard needs of the world around it. Promises only: ``durable`` keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from tsumugi.jobs.shard.measuring import Point
    from tsumugi.jobs.shard.sql import Storage
    from tsumugi.jobs.wire import Snapshot


class Platform(Protocol):
    """Whatever raises here raises ``Exception``; what is cancelled may have happened."""

    storage: Storage

    def now_ms(self) -> int:
        """Whole milliseconds since 1970. It may jump, both ways."""
        ...

    def chance(self) -> float:
        """From 0 up to 1."""
        ...

    def chance_bytes(self) -> bytes:
        """``ids.CHANCE_BYTES`` of them."""
        ...

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run this beside the call that is being answered, and after it."""
        ...

    async def let_others_in(self) -> None:
        """Give other calls of this object their turn."""
        ...

    async def get_alarm(self) -> int | None: ...

    async def set_alarm(self, at_ms: int) -> None:
        """Durable together with what was written before, if nothing was awaited between."""
        ...

    async def send(self, bodies: Sequence[str]) -> None:
        """Put one batch into the queue. Raises if the queue did not take it, or may not have."""
        ...

    async def project(self, snapshots: Sequence[Snapshot]) -> None:
        """Bring the read model up to date. Raises if it did not take them all."""
        ...

    def measure(self, points: Sequence[Point]) -> None:
        """Write data points, if there is anywhere to write them."""
        ...
