"""Turn decisions about messages into changes for the store and events for the terminal. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from .events import BrokerEvent, DeadLettered, DelayClamped, Dropped, Retried
from .messages import Move
from .policy import ACK, Ack, DeadLetter, Drop, Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .messages import StoredMessage
    from .policy import Decision


@dataclass(slots=True)
class Settlement:
    moves: list[Move] = field(default_factory=list)
    #: Messages given up without a dead letter queue.
    drops: list[StoredMessage] = field(default_factory=list)
    events: list[BrokerEvent] = field(default_factory=list)
    acked: int = 0
    retried: int = 0
    dead_lettered: int = 0


def settlement(
    queue: str,
    messages: Sequence[StoredMessage],
    decisions: Sequence[Decision],
    *,
    now_ms: int,
    delivery_delay_s: Callable[[str], int],
) -> Settlement:
    """``delivery_delay_s`` gives a queue's own delay, which holds for dead letters as well."""
    made = Settlement()
    if decisions.count(ACK) == len(messages):
        made.acked = len(messages)
        return made
    for message, decision in zip(messages, decisions, strict=True):
        match decision:
            case Ack():
                made.acked += 1
            case Retry():
                made.retried += 1
                made.moves.append(Move(message, queue, decision.due_ms))
                made.events += _retry_events(queue, message, decision)
            case DeadLetter(queue=target):
                made.dead_lettered += 1
                due_ms = now_ms + delivery_delay_s(target) * 1000
                made.moves.append(Move(message, target, due_ms, starts_over=True))
                made.events.append(DeadLettered(queue, message.id, target, message.attempts))
            case Drop():
                made.drops.append(message)
                made.events.append(Dropped(queue, message.id, message.attempts))
            case _:
                assert_never(decision)
    return made


def _retry_events(queue: str, message: StoredMessage, retry: Retry) -> list[BrokerEvent]:
    retried = Retried(queue, message.id, message.attempts, retry.delay_s)
    if retry.asked_s is None:
        return [retried]
    return [DelayClamped(queue, message.id, retry.asked_s, retry.delay_s), retried]
