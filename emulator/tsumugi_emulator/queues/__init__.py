"""Durable queues: a broker on an event loop over one SQLite file. No sockets, no user code.

``Broker`` is the door; ``QueueStore.open`` is what it needs, ``StateLock`` what the store needs.
"""

from __future__ import annotations

from .broker import Broker
from .errors import QueueError, StateInUseError
from .events import BrokerEvent
from .lane import Deliver
from .lock import StateLock
from .log_lines import log_line
from .messages import (
    Batch,
    BatchResult,
    ConsumerSettings,
    Metrics,
    OutgoingMessage,
    QueueSettings,
    Send,
    StoredMessage,
)
from .store import QueueStore

__all__ = [
    "Batch",
    "BatchResult",
    "Broker",
    "BrokerEvent",
    "ConsumerSettings",
    "Deliver",
    "Metrics",
    "OutgoingMessage",
    "QueueError",
    "QueueSettings",
    "QueueStore",
    "Send",
    "StateInUseError",
    "StateLock",
    "StoredMessage",
    "log_line",
]
