"""Something outside that fails: how often, why, and when to try again. Tries nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tsumugi.jobs.wire import TroubleAnswer

FIRST_RETRY_MS: Final = 1_000
LAST_RETRY_MS: Final = 60_000
_TEXT_LENGTH: Final = 500


@dataclass(frozen=True, slots=True)
class Trouble:
    """None yet: ``failures`` is 0."""

    failures: int = 0
    error: str | None = None
    failed_ms: int | None = None
    retry_ms: int | None = None

    def again(self, error: BaseException, *, now_ms: int) -> Trouble:
        """It failed once more: the wait doubles, up to a minute."""
        wait_ms = min(LAST_RETRY_MS, FIRST_RETRY_MS << min(self.failures, 10))
        text = f"{type(error).__name__}: {error}"[:_TEXT_LENGTH]
        return Trouble(self.failures + 1, text, now_ms, now_ms + wait_ms)

    def at_once(self) -> Trouble:
        """The same, to be tried again at once."""
        return replace(self, retry_ms=None)

    def waits_until(self, now_ms: int) -> int | None:
        """When it is to be tried again, if not now. After the clock went back it is now."""
        if self.retry_ms is None or self.failed_ms is None:
            return None
        return self.retry_ms if self.failed_ms <= now_ms < self.retry_ms else None

    def answer(self) -> TroubleAnswer:
        return {
            "failures": self.failures,
            "error": self.error,
            "failed_at": self.failed_ms,
            "retry_at": self.retry_ms,
        }

    def stored(self) -> list[Any] | None:
        return [self.failures, self.error, self.failed_ms, self.retry_ms] if self.failures else None


NO_TROUBLE: Final = Trouble()


def read_trouble(stored: list[Any] | None, *, now_ms: int) -> Trouble:
    """As it was stored; a clock that went back makes nobody wait longer than the longest wait."""
    if stored is None:
        return NO_TROUBLE
    failures, error, failed_ms, retry_ms = stored
    return Trouble(failures, error, failed_ms, min(retry_ms, now_ms + LAST_RETRY_MS))
