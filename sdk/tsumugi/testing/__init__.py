"""Test handlers and jobs in plain Python: no emulator, no network, no waiting. Not for deployment.

batch = build_batch("orders", [{"id": 1}, {"id": "broken"}])
outcome = asyncio.run(run_queue_handler(Default, batch, env={"AUDIT": RecordingQueue()}))
assert outcome.acked == ["message-1"]
assert outcome.retried == {"message-2": 30}
"""

from __future__ import annotations

from tsumugi.testing.batch import (
    DEFAULT_TIMESTAMP,
    FakeBatch,
    FakeMessage,
    build_batch,
    build_message,
)
from tsumugi.testing.event import FakeContext
from tsumugi.testing.fetch import FetchOutcome, run_fetch_handler
from tsumugi.testing.jobs import FakeJobContext, InMemoryJobs
from tsumugi.testing.recording import QueueError, RecordingQueue, SentMessage
from tsumugi.testing.run import BatchOutcome, run_queue_handler
from tsumugi.testing.scheduled import ScheduledOutcome, run_scheduled_handler
from tsumugi.testing.values import JsDict
from tsumugi.testing.worker import RuntimeNotInstalled, load_worker

__all__ = [
    "DEFAULT_TIMESTAMP",
    "BatchOutcome",
    "FakeBatch",
    "FakeContext",
    "FakeJobContext",
    "FakeMessage",
    "FetchOutcome",
    "InMemoryJobs",
    "JsDict",
    "QueueError",
    "RecordingQueue",
    "RuntimeNotInstalled",
    "ScheduledOutcome",
    "SentMessage",
    "build_batch",
    "build_message",
    "load_worker",
    "run_fetch_handler",
    "run_queue_handler",
    "run_scheduled_handler",
]
