"""Check a send against Cloudflare's limits. Pure: it neither stores nor changes anything.

The order is the service's: for a batch the number of messages, the largest, the total, then what
is wrong with a single message's metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import errors, limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .messages import OutgoingMessage, Send


def check(send: Send) -> int:
    """Raise QueueError for what is wrong with a send, else return its size in bytes."""
    if send.as_batch or len(send.messages) != 1:
        return check_batch(send.messages, delay_s=send.batch_delay_s)
    return check_message(send.messages[0])


def check_message(message: OutgoingMessage) -> int:
    """Raise what is wrong with a single send, else return its size in bytes."""
    size_bytes = len(message.body)
    if size_bytes > limits.MAX_MESSAGE_BYTES:
        raise errors.message_too_large(size_bytes)
    _check_metadata(message)
    return size_bytes


def check_batch(messages: Sequence[OutgoingMessage], *, delay_s: int | None) -> int:
    """Raise what is wrong with a batch, else return its total size in bytes."""
    if len(messages) > limits.MAX_SEND_BATCH_COUNT:
        raise errors.too_many_messages(len(messages))
    sizes = [len(message.body) for message in messages]
    largest_bytes = max(sizes, default=0)
    if largest_bytes > limits.MAX_MESSAGE_BYTES:
        raise errors.batched_message_too_large(largest_bytes)
    total_bytes = sum(sizes)
    if total_bytes > limits.MAX_SEND_BATCH_BYTES:
        raise errors.batch_too_large(total_bytes)
    if delay_s is not None and not 0 <= delay_s <= limits.MAX_DELAY_S:
        raise errors.batch_delay_invalid(delay_s)
    for message in messages:
        _check_metadata(message)
    return total_bytes


def check_pullable(messages: Sequence[OutgoingMessage]) -> None:
    """Raise if whoever pulls these over HTTP could not read them."""
    if any(message.content_type == "v8" for message in messages):
        raise errors.unpullable_content_type()


def _check_metadata(message: OutgoingMessage) -> None:
    if message.content_type not in limits.CONTENT_TYPES:
        raise errors.content_type_invalid(message.content_type)
    if message.delay_s is not None and not 0 <= message.delay_s <= limits.MAX_DELAY_S:
        raise errors.message_delay_invalid(message.delay_s)
