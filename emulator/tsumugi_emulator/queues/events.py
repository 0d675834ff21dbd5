"""What the broker tells about itself. Values only: log_lines.py words them, consoles count them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .messages import Send

_PREVIEWS = 10
_PREVIEW_BYTES = 100


@dataclass(frozen=True, slots=True)
class Retried:
    queue: str
    message_id: str
    #: Deliveries so far.
    attempts: int
    delay_s: int


@dataclass(frozen=True, slots=True)
class DelayClamped:
    """A handler asked for a retry delay that production does not know."""

    queue: str
    message_id: str
    asked_s: int
    delay_s: int


@dataclass(frozen=True, slots=True)
class DeadLettered:
    queue: str
    message_id: str
    dead_letter_queue: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Dropped:
    queue: str
    message_id: str
    attempts: int


@dataclass(frozen=True, slots=True)
class BatchDone:
    """A batch is settled. ``total == acked + retried + dead_lettered + dropped``."""

    queue: str
    outcome: str
    acked: int
    total: int
    duration_ms: int
    retried: int = 0
    dead_lettered: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class DeliveryFailed:
    """The batch never came back with a result: the Worker's process died, or could not be asked."""

    queue: str
    reason: str


@dataclass(frozen=True, slots=True)
class OverranWallTime:
    """The handler was still running after the time an invocation may take."""

    queue: str
    limit_ms: int


@dataclass(frozen=True, slots=True)
class Sent:
    """Told only of queues that somebody watches."""

    queue: str
    count: int
    size_bytes: int
    #: The beginnings of the first bodies.
    bodies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HandedOut:
    """Messages were leased to a puller."""

    queue: str
    count: int


@dataclass(frozen=True, slots=True)
class PullDone:
    """A puller acknowledged messages or gave them back."""

    queue: str
    acked: int
    retried: int


@dataclass(frozen=True, slots=True)
class LeasesExpired:
    """Pullers did not acknowledge in time: the messages are available again, or given up."""

    queue: str
    count: int


@dataclass(frozen=True, slots=True)
class PullConsumerKept:
    """The configuration gives a queue to a Worker, but it is pulled from."""

    queue: str
    script: str


@dataclass(frozen=True, slots=True)
class Expired:
    queue: str
    count: int
    retention_s: int


@dataclass(frozen=True, slots=True)
class NoConsumer:
    """Messages wait in a queue nobody consumes. Told once, until the queue had a consumer."""

    queue: str
    waiting: int


@dataclass(frozen=True, slots=True)
class StoreFailed:
    """SQLite could not write; nothing was lost, and the broker tries again after a pause."""

    reason: str
    retry_in_ms: int


def sent(send: Send) -> Sent:
    first = [message.body[:_PREVIEW_BYTES] for message in send.messages[:_PREVIEWS]]
    return Sent(
        send.queue,
        len(send.messages),
        sum(len(message.body) for message in send.messages),
        tuple(body.decode("utf-8", "replace") for body in first),
    )


type BrokerEvent = (
    Retried
    | DelayClamped
    | DeadLettered
    | Dropped
    | BatchDone
    | DeliveryFailed
    | OverranWallTime
    | Sent
    | HandedOut
    | PullDone
    | LeasesExpired
    | PullConsumerKept
    | Expired
    | NoConsumer
    | StoreFailed
)
