"""An event loop whose clock jumps to whatever is waited for: a minute passes in no time."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine

START_MS = 1_700_000_000_000


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise AssertionError("the loop waits for something that nothing will bring about")
        ready = super().select(0)
        if not ready:
            self.now_s += timeout
        return ready


class FakeTimeLoop(asyncio.SelectorEventLoop):
    """``filed`` makes tasks by a factory, as the local runtime does; else they start eagerly."""

    def __init__(self, *, filed: bool) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        if filed:
            self.set_task_factory(
                lambda loop, work, **options: asyncio.Task(work, loop=loop, **options)
            )  # type: ignore[arg-type]

    def time(self) -> float:
        return self._jumping.now_s

    def call_at(self, when: float, *args: Any, **options: Any) -> asyncio.TimerHandle:
        if when < self.time():
            raise ValueError("Can't schedule in the past")  # Pyodide's loop does
        return super().call_at(when, *args, **options)

    def now_ms(self) -> int:
        return START_MS + round(self.time() * 1_000)

    def spend(self, duration_ms: int) -> None:
        """What code does that blocks so long."""
        self._jumping.now_s += duration_ms / 1_000

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return self.run_until_complete(work)
        finally:
            self.run_until_complete(self.shutdown_asyncgens())
