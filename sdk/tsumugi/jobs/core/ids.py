"""Job ids, ``<binding>#<shard>:<local>``: the id is the address. Draws no time and no chance.

A local id is 28 hexadecimal digits: 12 of the time, 16 of chance. Within a shard each is greater
than the one before, so sorting by id is sorting by creation even within one millisecond.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: Bytes of chance that ``local_ids`` takes, however many ids it makes.
CHANCE_BYTES: Final = 8
_CHANCE_BITS: Final = 8 * CHANCE_BYTES
_TIME_BITS: Final = 48
_LOCAL_DIGITS: Final = (_TIME_BITS + _CHANCE_BITS) // 4

_BINDING: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.-]*", re.ASCII)
_JOB_ID: Final = re.compile(
    rf"(?P<binding>{_BINDING.pattern})#(?P<shard>0|[1-9][0-9]{{0,8}}):"
    rf"(?P<local>[0-9a-f]{{{_LOCAL_DIGITS}}})",
    re.ASCII,
)


class MalformedJobId(ValueError):
    """A text that is no job id."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"{text[:200]!r} is not a job id: it looks like <binding>#<shard>:<local>,"
            " exactly as enqueue returned it"
        )
        self.text = text


@dataclass(frozen=True, slots=True)
class JobId:
    """The address of a job. ``str()`` of it is what users see and ``parse_job_id`` reads."""

    binding: str
    shard: int
    local: str

    def __str__(self) -> str:
        return f"{shard_name(self.binding, self.shard)}:{self.local}"


def parse_job_id(text: str) -> JobId:
    """The address in a job id; raises ``MalformedJobId``."""
    form = _JOB_ID.fullmatch(text)
    if form is None:
        raise MalformedJobId(text)
    return JobId(form["binding"], int(form["shard"]), form["local"])


def shard_name(binding: str, shard: int) -> str:
    """The name of the object that holds the shard."""
    if not _BINDING.fullmatch(binding):
        raise ValueError(f"{binding!r} cannot name a binding: use letters, digits and _ . $ -")
    if not 0 <= shard < 10**9:
        raise ValueError(f"shards count from 0, not {shard}")
    return f"{binding}#{shard}"


def local_ids(count: int, *, now_ms: int, chance: bytes, after: str | None = None) -> list[str]:
    """``count`` ascending local ids, all greater than ``after``, the last one of this shard.

    After a clock went back they go on from ``after``: order is kept rather than the time in them.
    """
    if len(chance) != CHANCE_BYTES:
        raise ValueError(f"chance must be {CHANCE_BYTES} bytes, not {len(chance)}")
    if not 0 <= now_ms < 1 << _TIME_BITS:
        raise ValueError(f"now_ms must be milliseconds since 1970, not {now_ms}")
    # Half the range is left free, so that counting up from it stays within the millisecond.
    first = now_ms << _CHANCE_BITS | int.from_bytes(chance) >> 1
    if after is not None:
        first = max(first, int(after, 16) + 1)
    return [format(number, f"0{_LOCAL_DIGITS}x") for number in range(first, first + count)]


def created_ms(local_id: str) -> int:
    """When a local id was made."""
    return int(local_id, 16) >> _CHANCE_BITS
