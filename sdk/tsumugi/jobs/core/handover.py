"""Pack dispatches into batches that a queue takes. Measures no message and sends none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverLimits:
    """What one batch and one message may hold."""

    messages: int = 100
    batch_bytes: int = 256_000
    message_bytes: int = 128_000


DEFAULT_LIMITS: Final = HandoverLimits()


def travels_with_message(size_bytes: int, *, limits: HandoverLimits = DEFAULT_LIMITS) -> bool:
    """Whether a message of this size, payload included, can be sent; else the payload stays."""
    return size_bytes <= limits.message_bytes


def packed[T](
    messages: Iterable[tuple[T, int]], *, limits: HandoverLimits = DEFAULT_LIMITS
) -> list[list[T]]:
    """The messages (with their sizes in bytes) in batches, in their order.

    Raises ``ValueError`` for one that is too large alone: its payload should have stayed behind.
    """
    batches: list[list[T]] = []
    used_bytes = 0
    for message, size_bytes in messages:
        if not travels_with_message(size_bytes, limits=limits):
            raise ValueError(f"a message of {size_bytes} bytes exceeds {limits.message_bytes}")
        fits = used_bytes + size_bytes <= limits.batch_bytes
        if not batches or len(batches[-1]) == limits.messages or not fits:
            batches.append([])
            used_bytes = 0
        batches[-1].append(message)
        used_bytes += size_bytes
    return batches
