"""What a queue refuses, with Cloudflare's codes and the local runtime's words. Not for bugs.

A caller shows either ``str(error)`` (the service's status text) or, to a Worker whose
compatibility date exposes error codes, ``f"{error} ({error.code})"``.
Codes and names: https://developers.cloudflare.com/queues/reference/error-codes/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import limits

if TYPE_CHECKING:
    from pathlib import Path


class QueueError(Exception):
    def __init__(self, message: str, *, code: int, name: str, http_status: int) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.name = name
        self.http_status = http_status


def queue_not_found(queue: str) -> QueueError:
    return QueueError(
        f'queue "{queue}" does not exist; add it under queues.producers or queues.consumers',
        code=10104,
        name="QueueNotFound",
        http_status=404,
    )


def unknown_queue_id(queue_id: str) -> QueueError:
    return QueueError(
        f'queue "{queue_id}" does not exist',
        code=10104,
        name="QueueNotFound",
        http_status=404,
    )


def batch_delay_invalid(delay_s: int) -> QueueError:
    return QueueError(
        f"batch delay {delay_s} is invalid: {_DELAY_RANGE}",
        code=10202,
        name="BatchDelayInvalid",
        http_status=400,
    )


def message_delay_invalid(delay_s: int) -> QueueError:
    return QueueError(
        f"message delay {delay_s} is invalid: {_DELAY_RANGE}",
        code=10203,
        name="MessageMetadataInvalid",
        http_status=400,
    )


def content_type_invalid(content_type: str) -> QueueError:
    return QueueError(
        f"message content type {content_type} is invalid; if specified, "
        "must be one of 'text', 'json', 'bytes', or 'v8'",
        code=10203,
        name="MessageMetadataInvalid",
        http_status=400,
    )


def message_too_large(size_bytes: int) -> QueueError:
    return QueueError(
        f"message length of {size_bytes} bytes exceeds limit of {limits.MAX_MESSAGE_BYTES}",
        code=10204,
        name="MessageSizeOutOfBounds",
        http_status=413,
    )


def batched_message_too_large(size_bytes: int) -> QueueError:
    return QueueError(
        f"message in batch has length {size_bytes} bytes "
        f"which exceeds single message size limit of {limits.MAX_MESSAGE_BYTES}",
        code=10204,
        name="MessageSizeOutOfBounds",
        http_status=413,
    )


def batch_too_large(size_bytes: int) -> QueueError:
    return QueueError(
        f"batch size of {size_bytes} bytes exceeds limit of {limits.MAX_SEND_BATCH_BYTES}",
        code=10205,
        name="BatchSizeOutOfBounds",
        http_status=413,
    )


def too_many_messages(count: int) -> QueueError:
    return QueueError(
        f"batch message count of {count} exceeds limit of {limits.MAX_SEND_BATCH_COUNT}",
        code=10206,
        name="BatchCountOutOfBounds",
        http_status=413,
    )


def storage_limit_exceeded() -> QueueError:
    return QueueError(
        "Storage Limit Exceeded", code=10251, name="QueueStorageLimitExceeded", http_status=429
    )


def unpullable_content_type() -> QueueError:
    return QueueError(
        "message content type v8 cannot be read by an http_pull consumer: send 'json', 'text' or"
        " 'bytes' to this queue",
        code=10203,
        name="MessageMetadataInvalid",
        http_status=400,
    )


def delivery_paused() -> QueueError:
    return QueueError("queue_delivery_paused", code=10409, name="DeliveryPaused", http_status=409)


def pull_not_enabled(queue: str) -> QueueError:
    return QueueError(
        f'HTTP pull is not enabled for queue "{queue}"; to enable it, run: '
        f"wrangler queues consumer http add {queue}",
        code=10405,
        name="HttpPullNotEnabled",
        http_status=405,
    )


def queue_name_taken(name: str) -> QueueError:
    return QueueError(
        f"Queue name '{name}' is already taken. Please use a different name and try again.",
        code=11009,
        name="QueueNameTaken",
        http_status=409,
    )


def consumer_exists(queue: str, script: str | None) -> QueueError:
    kind = f'the Worker "{script}"' if script is not None else "http_pull"
    remove = f"worker remove {queue} {script}" if script is not None else f"http remove {queue}"
    return QueueError(
        f'Queue "{queue}" already has a consumer ({kind}). Remove it first: '
        f"wrangler queues consumer {remove}",
        code=11004,
        name="ConsumerAlreadyExists",
        http_status=409,
    )


def consumer_not_found(consumer_id: str) -> QueueError:
    return QueueError(
        f'consumer "{consumer_id}" does not exist on this queue',
        code=11003,
        name="ConsumerNotFound",
        http_status=404,
    )


def internal_error() -> QueueError:
    return QueueError(
        "Internal Server Error", code=15000, name="UnknownInternalError", http_status=500
    )


_DELAY_RANGE = f"must be a whole number of seconds from 0 to {limits.MAX_DELAY_S}"


class StateInUseError(Exception):
    """Another emulator holds the state directory."""

    def __init__(self, directory: Path, pid: int | None) -> None:
        self.directory = directory
        self.pid = pid
        owner = f"process {pid}" if pid is not None else "another process"
        super().__init__(
            f"{directory} is in use by {owner}; "
            "stop it, or give this emulator its own directory with --persist-to"
        )
