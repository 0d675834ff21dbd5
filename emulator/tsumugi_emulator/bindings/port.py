"""The seam between host objects and whoever answers their operations (the supervisor, a test)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class SendRequest(NamedTuple):
    """One ``send`` or ``sendBatch``; a message is (body, format, delay_s or None)."""

    queue: str
    messages: Sequence[tuple[bytes, str, int | None]]
    batch_delay_s: int | None
    #: A ``sendBatch``, even of one message.
    as_batch: bool


class Metrics(NamedTuple):
    backlog_count: int
    backlog_bytes: int
    oldest_timestamp_ms: int


class PortError(Exception):
    """The service refused: a queue error code, its text and its HTTP status."""

    def __init__(self, code: int, text: str, status: int) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.status = status


class Port(Protocol):
    def queue_send(
        self, request: SendRequest, answer: Callable[[Metrics | None, PortError | None], None]
    ) -> None:
        """Send; ``answer`` runs once the messages are on disk, or were refused."""

    def queue_metrics(
        self, queue: str, answer: Callable[[Metrics | None, PortError | None], None]
    ) -> None: ...
