"""When a failed alarm runs again, and when it is given up. Pure: time is an argument."""

from __future__ import annotations

from dataclasses import dataclass

#: After the first attempt (Durable Objects alarms: "retries up to 6 times").
MAX_RETRIES = 6
FIRST_BACKOFF_MS = 2_000


@dataclass(frozen=True, slots=True)
class Retry:
    due_ms: int
    #: What the next attempt's ``retryCount`` will be.
    retry_count: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    attempts: int


def after_failure(retry_count: int, *, now_ms: int) -> Retry | GiveUp:
    """What becomes of an alarm whose attempt number ``retry_count`` (the first is 0) failed."""
    if retry_count >= MAX_RETRIES:
        return GiveUp(retry_count + 1)
    return after_interruption(retry_count, now_ms=now_ms)


def after_interruption(retry_count: int, *, now_ms: int) -> Retry:
    """The same if its code is not to blame: that is a failed attempt, but never the last one."""
    counted = min(retry_count, MAX_RETRIES - 1)
    return Retry(now_ms + FIRST_BACKOFF_MS * 2**counted, counted + 1)
