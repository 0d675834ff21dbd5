"""How long a job waits between two attempts. Pure: chance is an argument; schedules nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: One hour.
DEFAULT_MAX_MS: Final = 3_600_000
#: What every number store and every JSON reader keeps exactly.
MAX_SAFE_INTEGER: Final = 2**53 - 1


@dataclass(frozen=True, slots=True)
class ExponentialBackoff:
    """``base_ms * factor ** (attempts - 1)``, at most ``max_ms``. The default of every job."""

    base_ms: int = 1_000
    factor: float = 2.0
    max_ms: int = DEFAULT_MAX_MS
    jitter: bool = True

    def __post_init__(self) -> None:
        _whole("base_ms", self.base_ms)
        _whole("max_ms", self.max_ms)
        number = isinstance(self.factor, int | float) and not isinstance(self.factor, bool)
        if not number or not 1 <= self.factor <= MAX_SAFE_INTEGER:
            raise ValueError(f"a delay must not shrink: factor is at least 1, not {self.factor!r}")
        _flag("jitter", self.jitter)


@dataclass(frozen=True, slots=True)
class FixedBackoff:
    """The same delay after every attempt."""

    delay_ms: int
    jitter: bool = True

    def __post_init__(self) -> None:
        _whole("delay_ms", self.delay_ms)
        _flag("jitter", self.jitter)


type JobBackoff = ExponentialBackoff | FixedBackoff


def backoff_ms(backoff: JobBackoff, attempts: int, *, chance: float) -> int:
    """Whole milliseconds to wait after the ``attempts``-th attempt ended without success.

    ``chance`` is from 0 up to but not including 1. Jitter is "equal": half of the delay is fixed
    and half left to chance, so that jobs which failed together do not return together.
    """
    if attempts < 1:
        raise ValueError(f"attempts counts from 1, not {attempts}")
    if not 0 <= chance < 1:
        raise ValueError(f"chance must be from 0 up to 1, not {chance}")
    whole_ms = _whole_delay_ms(backoff, attempts)
    if not backoff.jitter:
        return whole_ms
    fixed_ms = whole_ms // 2
    return fixed_ms + int((whole_ms - fixed_ms) * chance)


def _whole_delay_ms(backoff: JobBackoff, attempts: int) -> int:
    match backoff:
        case FixedBackoff(delay_ms=delay_ms):
            return delay_ms
        case ExponentialBackoff(base_ms=base_ms, factor=factor, max_ms=max_ms):
            try:
                return int(min(base_ms * float(factor) ** (attempts - 1), max_ms))
            except OverflowError:
                return max_ms if base_ms else 0


def _whole(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SAFE_INTEGER:
        raise ValueError(f"{name} must be a whole number of milliseconds from 0, not {value!r}")


def _flag(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, not {value!r}")
