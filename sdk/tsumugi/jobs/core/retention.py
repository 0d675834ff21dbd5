"""How long a finished job stays in its shard. Pure; deletes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.states import RETRYABLE, TERMINAL

if TYPE_CHECKING:
    from tsumugi.jobs.core.states import JobState

FIVE_MINUTES_MS: Final = 300_000
SEVEN_DAYS_MS: Final = 7 * 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Done jobs leave soon: the read model has them. Failed ones stay while a retry is accepted."""

    sweep_after_ms: int = FIVE_MINUTES_MS
    failed_retention_ms: int = SEVEN_DAYS_MS

    def __post_init__(self) -> None:
        for name in ("sweep_after_ms", "failed_retention_ms"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} must be a whole number of milliseconds, not {value!r}")


DEFAULT_RETENTION: Final = Retention()


def leaves_at_ms(state: JobState, *, finished_ms: int, retention: Retention) -> int | None:
    """From when on the job may be deleted, and a retry of it is refused. None: it is not over."""
    if state not in TERMINAL:
        return None
    kept_ms = retention.failed_retention_ms if state in RETRYABLE else retention.sweep_after_ms
    return finished_ms + kept_ms


def has_left(
    state: JobState, *, finished_ms: int | None, now_ms: int, retention: Retention
) -> bool:
    """Whether the job counts as gone, deleted already or not."""
    if finished_ms is None:
        return False
    leaves_ms = leaves_at_ms(state, finished_ms=finished_ms, retention=retention)
    return leaves_ms is not None and leaves_ms <= now_ms
