"""Decide which messages form the next batch and what a batch's result means for each message.

Pure: no clock, no SQL, no event loop; times are arguments and answers are data (ADR-0003).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

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


def joins_waiting_batch(
    waiting: int,
    *,
    due_ms: int | None,
    timer_ms: int,
    settings: ConsumerSettings,
    now_ms: int,
) -> bool:
    """Whether a message just sent changes nothing before ``timer_ms``, when the queue is looked at.

    The batch is not full yet, and neither its own timeout nor the next delay ends earlier.
    """
    latest_ms = now_ms + settings.max_batch_timeout_ms
    return (
        waiting < settings.max_batch_size
        and now_ms < timer_ms <= latest_ms
        and (due_ms is None or due_ms >= timer_ms)
    )


def next_batch(
    waiting: int, *, waiting_since_ms: int, settings: ConsumerSettings, now_ms: int
) -> NextBatch:
    """A full batch at once; a partial one when its first message has waited long enough."""
    if waiting <= 0:
        return _NOTHING
    if waiting >= settings.max_batch_size:
        return Form(max(1, settings.max_batch_size))
    due_ms = waiting_since_ms + settings.max_batch_timeout_ms
    return Form(waiting) if now_ms >= due_ms else WaitUntil(due_ms)


#: How much the newest batch weighs in the share of batches that fail.
FAILURE_WEIGHT = 0.25
#: No consumers are added while more than this share of the batches fail.
FAILING_SHARE = 0.5


class Load(NamedTuple):
    """What is known of a queue's consumers when a batch ends."""

    #: How many batches may be in flight.
    allowed: int = 1
    #: The share of batches that failed, newer ones weighing more.
    failing: float = 0.0
    #: The backlog when the batch before ended.
    backlog: int = 0


def rescaled(load: Load, *, backlog: int, outcome: str, settings: ConsumerSettings) -> Load:
    """How many batches may be in flight now that one ended.

    Consumers start at one. One is added while every one of them has a full batch waiting, or the
    backlog grows in spite of them; not while most batches fail. One is taken away when a batch
    failed or nothing waits. Retries a handler asks for are not failures: its outcome is "ok".
    """
    most = most_in_flight(settings)
    if most == 1:
        return load
    failed = outcome != "ok"
    failing = load.failing + FAILURE_WEIGHT * (failed - load.failing)
    allowed = load.allowed
    if failed or backlog == 0:
        allowed -= 1
    elif failing <= FAILING_SHARE and _is_behind(load, backlog, settings):
        allowed += 1
    return Load(min(max(1, allowed), most), failing, backlog)


def _is_behind(load: Load, backlog: int, settings: ConsumerSettings) -> bool:
    full_batches = backlog // max(1, settings.max_batch_size)
    return full_batches >= load.allowed or (full_batches > 0 and backlog > load.backlog)


def most_in_flight(settings: ConsumerSettings) -> int:
    """The platform's limit unless the consumer sets its own."""
    wanted = settings.max_concurrency
    return limits.MAX_CONCURRENCY if wanted is None else min(max(1, wanted), limits.MAX_CONCURRENCY)


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
    for delay_s in asked:
        if delay_s is not None:
            return delay_s
    return 0
