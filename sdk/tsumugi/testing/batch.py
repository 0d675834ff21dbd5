"""A batch of messages without a queue: records what the handler decides. Runs no handler.

The rules of precedence are the runtime's: the first decision about a message counts, its own
outranks the batch's, and a decision that comes too late is noted and changes nothing.
https://developers.cloudflare.com/queues/configuration/batching-retries/
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tsumugi.testing.options import checked_options
from tsumugi.testing.values import JsDict, delivered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tsumugi.queues import ContentType

#: When every message was sent, unless a test says otherwise: naive, as in the runtime.
DEFAULT_TIMESTAMP: Final = datetime(2026, 1, 1)
#: The largest ``max_batch_size``. https://developers.cloudflare.com/queues/platform/limits/
MAX_BATCH_SIZE: Final = 100


@dataclass(slots=True)
class Decisions:
    """What was decided about a batch so far, in the form the runtime reports it."""

    acked: dict[str, None] = field(default_factory=dict)
    retried: dict[str, int | None] = field(default_factory=dict)
    ack_all: bool = False
    retry_all: bool = False
    retry_all_delay_s: int | None = None
    warnings: list[str] = field(default_factory=list)
    closed: bool = False

    def check_open(self, call: str) -> None:
        if self.closed:
            raise RuntimeError(
                f"{call}() after the handler returned: production raises 'Cannot perform I/O on "
                "behalf of a different request' and the decision is lost"
            )

    def ack(self, message_id: str) -> None:
        if self.ack_all:
            return
        if self.retry_all:
            self._ignored("ack", f"on message {message_id}", "retryAll")
        elif message_id in self.retried:
            self._ignored("ack", f"on message {message_id}", "retry")
        else:
            self.acked[message_id] = None

    def retry(self, message_id: str, delay_s: int | None) -> None:
        if self.ack_all:
            self._ignored("retry", f"on message {message_id}", "ackAll")
        elif message_id in self.acked:
            self._ignored("retry", f"on message {message_id}", "ack")
        else:
            self.retried[message_id] = delay_s  # a second retry replaces the first one's delay

    def ack_rest(self) -> None:
        if self.retry_all:
            self._ignored("ackAll", "", "retryAll")
        else:
            self.ack_all = True

    def retry_rest(self, delay_s: int | None) -> None:
        if self.ack_all:
            self._ignored("retryAll", "", "ackAll")
            return
        self.retry_all = True
        if delay_s is not None:
            self.retry_all_delay_s = delay_s

    def _ignored(self, late: str, target: str, earlier: str) -> None:
        self.warnings.append(
            f"Received a call to {late}() {target + ' ' if target else ''}after {earlier}() was "
            f"already called, which has no effect."
        )


class FakeMessage:
    """One message of a fake batch; satisfies :class:`tsumugi.Message`."""

    def __init__(self, message_id: str, body: Any, *, attempts: int, timestamp: datetime) -> None:
        self.id = message_id
        self.body = body
        self.attempts = attempts
        self.timestamp = timestamp
        self._decisions = Decisions()

    def ack(self) -> None:
        self._decisions.check_open("ack")
        self._decisions.ack(self.id)

    def retry(self, options: Mapping[str, object] | None = None, /, **named: object) -> None:
        self._decisions.check_open("retry")
        checked = checked_options("retry()", ("delaySeconds",), options, named)
        self._decisions.retry(self.id, checked.get("delaySeconds"))

    def __repr__(self) -> str:
        return f"FakeMessage({self.id!r}, {self.body!r}, attempts={self.attempts})"


class FakeBatch:
    """A batch as a handler sees it; satisfies :class:`tsumugi.MessageBatch`."""

    def __init__(self, queue: str, messages: list[FakeMessage]) -> None:
        self.queue = queue
        self.messages = messages
        self.metadata: Any = JsDict(metrics=JsDict(backlogCount=0, backlogBytes=0))
        self.decisions = Decisions()
        for message in messages:
            message._decisions = self.decisions

    def ackAll(self) -> None:
        self.decisions.check_open("ackAll")
        self.decisions.ack_rest()

    def retryAll(self, options: Mapping[str, object] | None = None, /, **named: object) -> None:
        self.decisions.check_open("retryAll")
        checked = checked_options("retryAll()", ("delaySeconds",), options, named)
        self.decisions.retry_rest(checked.get("delaySeconds"))

    def __repr__(self) -> str:
        return f"FakeBatch({self.queue!r}, {self.messages!r})"


def build_message(
    body: object,
    *,
    message_id: str = "",
    attempts: int = 1,
    timestamp: datetime = DEFAULT_TIMESTAMP,
    content_type: ContentType = "json",
) -> FakeMessage:
    """A message whose body went through a queue: a dict with attribute access, and so on.

    Without a ``message_id`` the batch names it ``message-1``, ``message-2``, ... by position.
    Raises ``TypeError`` for a body that could not be sent, ``ValueError`` for attempts below 1.
    """
    if attempts < 1:
        raise ValueError(f"attempts counts deliveries from 1, not {attempts}")
    value, _ = delivered(body, content_type)
    return FakeMessage(message_id, value, attempts=attempts, timestamp=timestamp)


def build_batch(queue: str, bodies: Iterable[object], *, attempts: int = 1) -> FakeBatch:
    """A batch of ``queue`` with one message per body, all on their ``attempts``-th delivery.

    An entry made by :func:`build_message` is taken as it is, for a message of its own id,
    attempts, timestamp or content type. Raises ``ValueError`` for an impossible batch: none or
    more than 100 messages, or two of one id.
    """
    messages = [
        body if isinstance(body, FakeMessage) else build_message(body, attempts=attempts)
        for body in bodies
    ]
    if not 1 <= len(messages) <= MAX_BATCH_SIZE:
        raise ValueError(f"a batch has 1 to {MAX_BATCH_SIZE} messages, not {len(messages)}")
    for position, message in enumerate(messages, start=1):
        message.id = message.id or f"message-{position}"
    if len({message.id for message in messages}) < len(messages):
        raise ValueError(f"message ids repeat: {[message.id for message in messages]}")
    return FakeBatch(queue, messages)
