"""Queues, consumers and messages as the API writes them. Pure."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from tsumugi_emulator.queues.log_lines import log_line
from tsumugi_emulator.queues.messages import ConsumerSettings

if TYPE_CHECKING:
    from tsumugi_emulator.queues.consumers import ConsumerRecord
    from tsumugi_emulator.queues.control import QueueView
    from tsumugi_emulator.queues.events import BrokerEvent
    from tsumugi_emulator.queues.messages import Metrics, StoredMessage
    from tsumugi_emulator.queues.purges import PurgeStatus


def timestamp(time_ms: int) -> str:
    moment = datetime.fromtimestamp(time_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def queue(view: QueueView) -> dict[str, Any]:
    record, settings = view.record, view.record.settings
    consumers = [consumer(view.consumer)] if view.consumer else []
    return {
        "queue_id": record.queue_id,
        "queue_name": record.name,
        "created_on": timestamp(record.created_ms),
        "modified_on": timestamp(record.modified_ms),
        "producers": [{"type": "worker", "script": script} for script in record.producers],
        "producers_total_count": len(record.producers),
        "consumers": consumers,
        "consumers_total_count": len(consumers),
        "settings": {
            "delivery_delay": settings.delivery_delay_s,
            "delivery_paused": settings.paused,
            "message_retention_period": settings.retention_s,
        },
    }


def consumer(record: ConsumerRecord) -> dict[str, Any]:
    settings = record.settings
    shared = {
        "consumer_id": record.consumer_id,
        "created_on": timestamp(record.created_ms),
        "type": record.type,
        "queue_name": settings.queue,
        "dead_letter_queue": settings.dead_letter_queue or "",
    }
    if isinstance(settings, ConsumerSettings):
        # wrangler reads "script", the SDKs "script_name".
        return shared | {
            "script": settings.script,
            "script_name": settings.script,
            "settings": {
                "batch_size": settings.max_batch_size,
                "max_concurrency": settings.max_concurrency,
                "max_retries": settings.max_retries,
                "max_wait_time_ms": settings.max_batch_timeout_ms,
                "retry_delay": settings.retry_delay_s,
            },
        }
    return shared | {
        "settings": {
            "batch_size": settings.batch_size,
            "max_retries": settings.max_retries,
            "retry_delay": settings.retry_delay_s,
            "visibility_timeout_ms": settings.visibility_timeout_ms,
        },
    }


def metrics(figures: Metrics) -> dict[str, int]:
    return {
        "backlog_count": figures.backlog_count,
        "backlog_bytes": figures.backlog_bytes,
        "oldest_message_timestamp_ms": figures.oldest_message_timestamp_ms,
    }


def purge(status: PurgeStatus) -> dict[str, Any]:
    started = timestamp(status.started_ms) if status.started_ms is not None else ""
    done = status.started_ms is not None and status.complete
    # wrangler's type has "complete"; the SDKs have "completed", a text.
    return {"started_at": started, "complete": done, "completed": "true" if done else "false"}


def message(stored: StoredMessage, **names: str) -> dict[str, Any]:
    """``names`` are the lease id or the reference it is handed out with."""
    if stored.content_type == "text":
        body = stored.body.decode("utf-8", "replace")
    else:  # json as well: the API answers it encoded
        body = b64encode(stored.body).decode("ascii")
    return {
        "body": body,
        "id": stored.id,
        "timestamp_ms": stored.timestamp_ms,
        "attempts": stored.attempts,
        "metadata": {
            "CF-sourceMessageSource": "worker",
            "CF-Content-Type": stored.content_type,
        },
        **names,
    }


def event_line(event: BrokerEvent) -> bytes:
    """One line of a tail."""
    fields = {"type": type(event).__name__, "text": log_line(event)[1], **asdict(event)}
    return orjson.dumps(fields) + b"\n"
