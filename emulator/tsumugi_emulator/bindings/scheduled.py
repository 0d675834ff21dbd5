"""The controller a ``scheduled`` handler receives."""

from __future__ import annotations

from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.values import JsProxy


@js_class("ScheduledController", constructible=False)
class ScheduledController(JsProxy):
    """Raw in production: attributes only, no item access (verified reference, row cron)."""

    __slots__ = ("_no_retry", "cron", "scheduledTime")

    def __init__(self, cron: str, scheduled_time_ms: int) -> None:
        self.cron = cron
        self.scheduledTime = scheduled_time_ms
        self._no_retry = False

    @js_method
    def noRetry(self) -> None:
        self._no_retry = True
