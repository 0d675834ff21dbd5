"""Decide what becomes of a message that a puller did not acknowledge. Pure, like policy.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .policy import Retry, exhausted

if TYPE_CHECKING:
    from .messages import PullSettings, StoredMessage
    from .policy import Decision


def max_deliveries(settings: PullSettings) -> int:
    """A message is not delivered again once its attempts reach ``max_retries`` (ADR-0081)."""
    return max(1, settings.max_retries)


def retried(
    message: StoredMessage, delay_s: int | None, *, settings: PullSettings | None, now_ms: int
) -> Decision:
    """The puller gave it back. Without settings nobody pulls any more, and nothing is used up."""
    if settings is None:
        return Retry(now_ms + (delay_s or 0) * 1000, delay_s or 0)
    if message.attempts >= max_deliveries(settings):
        return exhausted(settings)
    delay_s = settings.retry_delay_s if delay_s is None else delay_s
    return Retry(now_ms + delay_s * 1000, delay_s)


def expired(message: StoredMessage, *, settings: PullSettings | None, now_ms: int) -> Decision:
    """The lease is over: the delivery counts, and the message is available again at once."""
    return retried(message, 0, settings=settings, now_ms=now_ms)


def worn_out(message: StoredMessage, *, settings: PullSettings) -> bool:
    """It has been delivered too often already: ``attempts`` counts the delivery it would be now."""
    return message.attempts > max_deliveries(settings)
