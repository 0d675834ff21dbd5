"""``env.LIMIT``: counts calls for each key in windows of time. Kept in memory, as deployed.

Production counts in each location and is lenient; here a window begins at a multiple of its
length and the count is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.operation import Operation, answering
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsObject, JsProxy

if TYPE_CHECKING:
    from tsumugi_emulator.clock import Clock
    from tsumugi_emulator.javascript.futures import PyodideFuture


class Counter:
    """How often each key was used in the window that is running."""

    __slots__ = ("_counts", "_window", "limit", "period_ms")

    def __init__(self, limit: int, period_s: int) -> None:
        self.limit = limit
        self.period_ms = period_s * 1000
        self._window = 0
        self._counts: dict[str, int] = {}

    def allows(self, key: str, *, now_ms: int) -> bool:
        """Count one more use; whether it is within the limit."""
        window = now_ms // self.period_ms
        if window != self._window:
            self._window = window
            self._counts.clear()
        count = self._counts[key] = self._counts.get(key, 0) + 1
        return count <= self.limit


@js_class("Ratelimit", constructible=False)
class RateLimit(JsProxy):
    __slots__ = ("_clock", "_counter", "_name")

    def __init__(self, name: str, counter: Counter, clock: Clock) -> None:
        self._name = name
        self._counter = counter
        self._clock = clock

    @js_method
    def limit(self, options: Any = None, *_rest: Any) -> PyodideFuture:
        return answering(self._limit, options)

    def _limit(self, options: Any) -> PyodideFuture:
        if not isinstance(options, JsProxy) or isinstance(options, JsArray):
            raise js_error("Error", "invalid rate limit options")
        given = options._entries()
        unknown = [name for name in given if name not in ("key", "limit", "period")]
        if unknown:
            raise js_error("Error", f"bad rate limit options: [{','.join(unknown)}]")
        key = "" if (found := given.get("key")) is None else found
        if not isinstance(key, str):
            raise js_error("Error", f"invalid key: {to_string(key)}")

        def work() -> JsObject:
            success = self._counter.allows(key, now_ms=self._clock.now_ms())
            return JsObject({"success": success})

        return Operation(work, f"env.{self._name}.limit()")
