"""A token bucket that can be stored. Exact integers; reads no clock and keeps nothing itself.

The level is kept in parts of a token: one token is ``per_ms`` parts, and every millisecond adds
``tokens`` parts. Nothing is rounded, so no token is lost or won however often it is refilled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tsumugi.jobs.core.backoff import MAX_SAFE_INTEGER

#: While a bucket limits, tokens are gathered this long before the next wake-up: a fast rate is
#: then a few wake-ups a second that move many jobs each, not one wake-up per job.
GATHER_MS: Final = 25


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``tokens`` jobs start per ``per_ms``, and as many at once after a rest."""

    tokens: int
    per_ms: int

    def __post_init__(self) -> None:
        for name, value in (("tokens", self.tokens), ("per_ms", self.per_ms)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number from 1, not {value!r}")
        if self.capacity > MAX_SAFE_INTEGER:
            raise ValueError("tokens * per_ms must stay below 2**53: give the rate per less time")

    @property
    def capacity(self) -> int:
        """The parts in a full bucket."""
        return self.tokens * self.per_ms


@dataclass(frozen=True, slots=True)
class Bucket:
    """What to store. ``per_ms`` says what a part was when it was counted; rates can change."""

    parts: int
    per_ms: int
    at_ms: int

    @property
    def tokens(self) -> int:
        """Whole tokens in it."""
        return self.parts // self.per_ms


def full_bucket(rate: Rate, *, now_ms: int) -> Bucket:
    """The bucket of a rate that was never used."""
    return Bucket(parts=rate.capacity, per_ms=rate.per_ms, at_ms=now_ms)


def refilled(bucket: Bucket | None, rate: Rate, *, now_ms: int) -> Bucket:
    """The bucket as of ``now_ms``, at this rate. None is a bucket that was never stored.

    A clock that went back adds nothing, and filling goes on from the new time.
    """
    if bucket is None:
        return full_bucket(rate, now_ms=now_ms)
    parts = bucket.parts
    if bucket.per_ms != rate.per_ms:
        parts = parts * rate.per_ms // bucket.per_ms
    parts += max(0, now_ms - bucket.at_ms) * rate.tokens
    return Bucket(parts=min(parts, rate.capacity), per_ms=rate.per_ms, at_ms=now_ms)


def taken(bucket: Bucket, count: int) -> Bucket:
    """The bucket without ``count`` tokens. It must hold them."""
    if not 0 <= count <= bucket.tokens:
        raise ValueError(f"{count} tokens asked of a bucket that holds {bucket.tokens}")
    return replace(bucket, parts=bucket.parts - count * bucket.per_ms)


def given_back(bucket: Bucket, count: int, *, rate: Rate) -> Bucket:
    """The bucket with ``count`` tokens returned: their hand-over failed, so nothing started."""
    parts = bucket.parts + count * bucket.per_ms
    return replace(bucket, parts=min(parts, rate.tokens * bucket.per_ms))


def worth_waking_ms(bucket: Bucket, rate: Rate) -> int:
    """When to look again after this refilled bucket ran out: some tokens, never a wasted one."""
    first_ms = _ceil_div(max(0, bucket.per_ms - bucket.parts), rate.tokens)
    full_ms = _ceil_div(rate.capacity - bucket.parts, rate.tokens)
    return bucket.at_ms + min(full_ms, max(first_ms, GATHER_MS))


def _ceil_div(amount: int, by: int) -> int:
    return -(-amount // by)
