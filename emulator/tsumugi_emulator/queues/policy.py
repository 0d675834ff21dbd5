"""Decide which messages form the next batch and what a batch's result means for each message.

Pure: no clock, no SQL, no event loop; times are arguments and answers are data (ADR-0003).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .messages import AnyConsumer, BatchResult, ConsumerSettings, StoredMessage


@dataclass(frozen=True, slots=True)
class Form:
    """Deliver the ``size`` messages at the head of the line now."""

    size: int


@dataclass(frozen=True, slots=True)
class WaitUntil:
    """Too few messages for a full batch: look again at this moment, or when more arrive."""

    when_ms: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing is waiting. A batch is never empty."""


type NextBatch = Form | WaitUntil | Nothing

_NOTHING = Nothing()


def next_batch(
    waiting: int, *, waiting_since_ms: int, settings: ConsumerSettings, now_ms: int
) -> NextBatch:
    """A full batch at once; a partial one when its first message has waited long enough."""
    if waiting <= 0:
        return _NOTHING
    if waiting >= settings.max_batch_size:
        return Form(max(1, settings.max_batch_size))
    due_ms = waiting_since_ms + round(settings.max_batch_timeout_s * 1000)
    return Form(waiting) if now_ms >= due_ms else WaitUntil(due_ms)


def allowed_in_flight(
    current: int, *, backlog: int, last_outcome: str, settings: ConsumerSettings
) -> int:
    """How many batches may be in flight after one finished; ``current`` is the last answer.

    A fixed ``max_concurrency`` is used at once. Without one, consumers start at one, grow while
    every one of them has a full batch waiting, and shrink when an invocation fails or the backlog
    is gone. Retries a handler asks for are not failures.
    """
    if settings.max_concurrency is not None:
        return min(max(1, settings.max_concurrency), limits.MAX_CONCURRENCY)
    batches_waiting = backlog // max(1, settings.max_batch_size)
    if last_outcome != "ok" or backlog == 0:
        return max(1, current - 1)
    return min(current + 1, limits.MAX_CONCURRENCY) if batches_waiting >= current else current


def initially_in_flight(settings: ConsumerSettings) -> int:
    return allowed_in_flight(1, backlog=0, last_outcome="ok", settings=settings)


@dataclass(frozen=True, slots=True)
class Ack:
    """Delivered: remove it."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Deliver it again once ``due_ms`` has come."""

    due_ms: int
    delay_s: int
    #: The delay the handler asked for, when it was out of range.
    asked_s: int | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Out of retries: it goes on as a new message of this queue."""

    queue: str


@dataclass(frozen=True, slots=True)
class Drop:
    """Out of retries, and nowhere to go."""


type Decision = Ack | Retry | DeadLetter | Drop

ACK = Ack()
DROP = Drop()


def settle(
    messages: Sequence[StoredMessage],
    result: BatchResult,
    *,
    settings: ConsumerSettings,
    now_ms: int,
) -> list[Decision]:
    """One decision per message, in order.

    A message's own call beats the batch's, and the batch's beats the outcome: an explicit ack
    survives a handler that fails later (ADR-0020).
    """
    otherwise_acked = result.ack_all or (result.outcome == "ok" and not result.retry_all)
    if otherwise_acked and not result.retries:
        return [ACK] * len(messages)
    acks = frozenset(result.explicit_acks)
    decisions: list[Decision] = []
    for message in messages:
        if message.id in result.retries:
            asked_s = result.retries[message.id]
        elif otherwise_acked or message.id in acks:
            decisions.append(ACK)
            continue
        else:
            asked_s = None
        if asked_s is None:
            asked_s = result.retry_all_delay_s
        decisions.append(_failed(message, asked_s, settings, now_ms))
    return decisions


def _failed(
    message: StoredMessage, asked_s: int | None, settings: ConsumerSettings, now_ms: int
) -> Decision:
    if message.attempts >= max_deliveries(settings):
        return exhausted(settings)
    if asked_s is None:
        asked_s = settings.retry_delay_s
    # Clamped, not refused: the runtime accepts any number here (ADR-0021).
    delay_s = min(max(asked_s, 0), limits.MAX_DELAY_S)
    out_of_range_s = asked_s if asked_s != delay_s else None
    return Retry(now_ms + delay_s * 1000, delay_s, out_of_range_s)


def max_deliveries(settings: ConsumerSettings) -> int:
    """``max_retries`` counts deliveries after the first: 3 means 4 deliveries, 0 means 1."""
    return settings.max_retries + 1


def exhausted(settings: AnyConsumer) -> DeadLetter | Drop:
    queue = settings.dead_letter_queue
    return DeadLetter(queue) if queue else DROP


def send_delay_s(*asked: int | None) -> int:
    """The first delay that was asked for, most specific first. An explicit 0 beats a default."""
    return next((delay_s for delay_s in asked if delay_s is not None), 0)
