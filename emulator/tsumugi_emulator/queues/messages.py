"""The values queues are made of: messages, batches, results, settings. No behaviour, no I/O.

What is created once per message is a named tuple, because a queue moves tens of thousands of
them a second; everything else is a frozen dataclass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from . import limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set as AbstractSet

_NO_RETRIES: Mapping[str, int | None] = MappingProxyType({})


class OutgoingMessage(NamedTuple):
    """What a producer sends. ``delay_s=None`` asks for the default delay, ``0`` for none."""

    body: bytes
    content_type: str = "json"
    delay_s: int | None = None


class Send(NamedTuple):
    """One call of ``send`` or ``sendBatch``. A delay of None falls back to the next general one."""

    queue: str
    messages: Sequence[OutgoingMessage]
    batch_delay_s: int | None = None
    #: A ``sendBatch`` of one message is one too.
    as_batch: bool = False


class StoredMessage(NamedTuple):
    """A message as delivered. ``attempts`` counts deliveries, this one included."""

    id: str
    body: bytes
    content_type: str
    timestamp_ms: int
    attempts: int
    #: Where the message stands in its queue's line. The store's business; never shown to users.
    place: int = 0


class Move(NamedTuple):
    """A delivered message that goes on: back into its queue, or as a new one into another."""

    message: StoredMessage
    queue: str
    due_ms: int
    #: Attempts and retention start over; the id and the timestamp never do.
    starts_over: bool = False


@dataclass(frozen=True, slots=True)
class Metrics:
    """A queue's backlog: what is ready or leased by pullers, without what is delayed or pushed."""

    backlog_count: int = 0
    backlog_bytes: int = 0
    #: 0 when nothing is ready.
    oldest_message_timestamp_ms: int = 0


@dataclass(frozen=True, slots=True)
class Lease:
    """The stretch of a line handed out as one batch; it names the batch while it is in flight."""

    queue: str
    first_place: int
    last_place: int

    @property
    def id(self) -> str:
        return f"{self.first_place:x}-{self.last_place:x}"


class LeaseRef(NamedTuple):
    """Which delivery of which message a lease id stands for."""

    place: int
    #: The message's id.
    id: str


class PulledMessage(NamedTuple):
    """A message handed to a puller, with the lease id it is acknowledged by."""

    message: StoredMessage
    lease_id: str


@dataclass(frozen=True, slots=True)
class Pulled:
    messages: list[PulledMessage]
    #: The backlog with these messages, which nobody acknowledged yet.
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class PullSettled:
    """What became of one call that acknowledges and retries."""

    acked: int = 0
    retried: int = 0
    #: Why nothing was done, by lease id.
    warnings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batch:
    queue: str
    messages: tuple[StoredMessage, ...]
    #: The backlog without this batch.
    metrics: Metrics
    lease: Lease

    @property
    def lease_id(self) -> str:
        return self.lease.id


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a consumer reports about a batch: the runtime's FetcherQueueResult.

    Calls are already resolved against each other (the first on a message wins): an id is never in
    both ``explicit_acks`` and ``retries``.
    """

    #: "ok", or why the invocation failed: "exception", "exceededWallTime", "canceled", ...
    outcome: str = "ok"
    ack_all: bool = False
    retry_all: bool = False
    retry_all_delay_s: int | None = None
    explicit_acks: AbstractSet[str] | tuple[str, ...] = ()
    retries: Mapping[str, int | None] = field(default_factory=lambda: _NO_RETRIES)


@dataclass(frozen=True, slots=True)
class QueueSettings:
    name: str
    #: Delay of a message that asks for none of its own, wherever it comes from.
    delivery_delay_s: int = 0
    retention_s: int = limits.DEFAULT_RETENTION_S
    #: A paused queue accepts messages and delivers none.
    paused: bool = False


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """A Worker that is given a queue's messages."""

    queue: str
    max_batch_size: int = limits.DEFAULT_BATCH_SIZE
    max_batch_timeout_s: float = limits.DEFAULT_BATCH_TIMEOUT_S
    max_retries: int = limits.DEFAULT_MAX_RETRIES
    dead_letter_queue: str | None = None
    #: None scales with the backlog.
    max_concurrency: int | None = None
    retry_delay_s: int = 0
    #: The Worker's name.
    script: str = ""

    @property
    def max_batch_timeout_ms(self) -> int:
        return round(self.max_batch_timeout_s * 1000)


@dataclass(frozen=True, slots=True)
class PullSettings:
    """Clients that fetch a queue's messages over HTTP."""

    queue: str
    batch_size: int = limits.DEFAULT_PULL_BATCH_SIZE
    visibility_timeout_ms: int = limits.DEFAULT_VISIBILITY_TIMEOUT_MS
    max_retries: int = limits.DEFAULT_MAX_RETRIES
    dead_letter_queue: str | None = None
    retry_delay_s: int = 0


#: A queue has one of these, or none.
type AnyConsumer = ConsumerSettings | PullSettings
