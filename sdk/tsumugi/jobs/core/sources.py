"""Where the scheduler reads jobs, piece by piece. Promises only: no storage, no order computed.

A source shows one shard at one instant, ``now_ms``, which it was made with. Iterators are lazy:
what is not asked for is not read. A *ready* job is SCHEDULED with ``ready_ms <= now_ms``. A *line*
is the ready jobs of one priority and one concurrency key, in ``(ready_ms, id)`` order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi.jobs.core.model import JobView


class ReadySource(Protocol):
    """The SCHEDULED jobs, and how many are in flight of their keys.

    What it costs to keep: an index on (priority, ready_ms, id) of the jobs without a key and of the
    first ones of every key's lines, and one on (key, priority, ready_ms, id) of those behind them.
    """

    def priority_below(self, priority: int | None) -> int | None:
        """The highest priority with a ready job, below this one (None: of all)."""
        ...

    def oldest_ready_ms(self) -> int | None:
        """The smallest ``ready_ms`` of any ready job, or anything smaller."""
        ...

    def front(self, priority: int) -> Iterator[JobView]:
        """The ready jobs of this priority that are behind no other of their key, in ``(ready_ms,
        id)`` order: those without a key, and the first job of every key's line, full keys included.
        """
        ...

    def in_flight_of_key(self, key: str) -> int:
        """How many jobs are in flight of a key that ``front`` yielded a job of."""
        ...

    def next_in_line(self, job: JobView) -> JobView | None:
        """The job after this one, of the same priority and key."""
        ...

    def next_ready_ms(self) -> int | None:
        """The smallest ``ready_ms`` after now."""
        ...

    def overdue(self) -> Iterator[JobView]:
        """Jobs that never started and whose ``expires_ms`` has come, soonest first."""
        ...

    def next_expiry_ms(self) -> int | None:
        """The smallest ``expires_ms`` after now of a job that never started."""
        ...


class InFlightSource(Protocol):
    """The QUEUED and RUNNING jobs."""

    def count(self) -> int:
        """How many there are."""
        ...

    def silent(self, due_by_ms: int) -> Iterator[JobView]:
        """Those with ``report_due_ms <= due_by_ms``, in ``(report_due_ms, id)`` order."""
        ...

    def next_report_due_ms(self, after_ms: int) -> int | None:
        """The smallest ``report_due_ms`` greater than this."""
        ...
