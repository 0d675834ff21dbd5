"""What the outcome of one handler call means for its message. Pure: acks and sends nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsumugi.backoff import MAX_DELAY_S, clamp_delay_s

if TYPE_CHECKING:
    from collections.abc import Callable


class Retry(Exception):
    """Raise it in a handler to have the message delivered again, as an expected event.

    ``delay_s`` (whole seconds, 0 to 86 400) is for a wait you know, such as ``Retry-After``;
    without it the route's backoff decides. Logged as one line, without a traceback.
    """

    def __init__(self, reason: str = "", *, delay_s: int | None = None) -> None:
        if delay_s is not None and not 0 <= delay_s <= MAX_DELAY_S:
            raise ValueError(f"delay_s must be 0 to {MAX_DELAY_S} seconds, not {delay_s}")
        super().__init__(reason or "the handler asked for a retry")
        self.delay_s = delay_s


class Reject(Exception):
    """Raise it in a handler for a message that can never succeed.

    The message takes the same way as a body that does not validate: see
    :func:`tsumugi.consumes`, ``dead_letter``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """The work is done."""


@dataclass(frozen=True, slots=True)
class RetryLater:
    """The work may succeed another time. ``unexpected`` asks for a traceback in the log."""

    delay_s: int
    reason: str
    unexpected: bool


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """The work cannot succeed, ever."""

    reason: str


type Settlement = Acknowledge | RetryLater | DeadLetter


def settlement_of(
    error: BaseException | None, *, attempts: int, retry: Callable[[int], int]
) -> Settlement:
    """Decide for a message on its ``attempts``-th delivery whose handler ended with ``error``."""
    match error:
        case None:
            return Acknowledge()
        case Reject():
            return DeadLetter(str(error))
        case Retry(delay_s=int(delay_s)):
            return RetryLater(delay_s, str(error), unexpected=False)
        case Retry():
            return RetryLater(clamp_delay_s(retry(attempts)), str(error), unexpected=False)
        case _:
            reason = f"{type(error).__name__}: {error}"
            return RetryLater(clamp_delay_s(retry(attempts)), reason, unexpected=True)
