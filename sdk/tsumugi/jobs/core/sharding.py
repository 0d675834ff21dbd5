"""Which shard a job belongs to. Pure; addresses no object."""

from __future__ import annotations

from typing import Final

from tsumugi.jobs.core.options import OptionError

_OFFSET_BASIS: Final = 0x811C9DC5
_PRIME: Final = 0x01000193


def fnv1a(text: str) -> int:
    """The 32-bit FNV-1a hash over UTF-16 code units, each taken whole.

    A program in a language whose strings are UTF-16 gets the same number from its characters.
    """
    data = text.encode("utf-16-le", "surrogatepass")
    value = _OFFSET_BASIS
    for low, high in zip(data[::2], data[1::2], strict=True):
        value = (value ^ (high << 8 | low)) * _PRIME & 0xFFFFFFFF
    return value


def shard_of(partition_key: str | None, *, shards: int) -> int:
    """The shard of a partition; with one shard, that one.

    Raises ``OptionError`` without a key when there are several: concurrency and unique keys hold
    within a shard, so a silent shard 0 would give up what the split was asked to keep.
    """
    if shards < 1:
        raise ValueError(f"a binding has at least 1 shard, not {shards}")
    if shards == 1:
        return 0
    if partition_key is None:
        raise OptionError(
            "partition_key", f"is required: this binding has {shards} shards, and it picks one"
        )
    return fnv1a(partition_key) % shards
