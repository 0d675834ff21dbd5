"""Typed queue consumers for Cloudflare Python Workers. Runs deployed and under ``tsumugi dev``.

Importing it reads no clock, no chance and no environment, and needs no Workers runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi._version import __version__
from tsumugi.backoff import MAX_DELAY_S, Backoff, exponential_backoff
from tsumugi.queues import (
    ContentType,
    Message,
    MessageBatch,
    MessageSendRequest,
    MetricsMetadata,
    Queue,
    QueueMetrics,
    SendResult,
)
from tsumugi.routes import RouteError, UnknownQueue, consumes
from tsumugi.settlement import Reject, Retry

if TYPE_CHECKING:
    from tsumugi.consumer import QueueConsumer

__all__ = [
    "MAX_DELAY_S",
    "Backoff",
    "ContentType",
    "Message",
    "MessageBatch",
    "MessageSendRequest",
    "MetricsMetadata",
    "Queue",
    "QueueConsumer",
    "QueueMetrics",
    "Reject",
    "Retry",
    "RouteError",
    "SendResult",
    "UnknownQueue",
    "__version__",
    "consumes",
    "exponential_backoff",
]


def __getattr__(name: str) -> type:
    # Resolved on use: its base class is the runtime's (ADR-0031).
    if name == "QueueConsumer":
        import tsumugi.consumer

        return tsumugi.consumer.QueueConsumer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
