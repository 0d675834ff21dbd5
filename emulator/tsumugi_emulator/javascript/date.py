"""``Date``: milliseconds since the epoch, UTC, as the Workers runtime's clock is."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tsumugi_emulator.javascript.errors import range_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_static
from tsumugi_emulator.javascript.strings import to_number, to_string
from tsumugi_emulator.javascript.values import JsProxy, PyProxy, jsnull

#: ECMAScript's time range: 100,000,000 days either side of the epoch.
MAX_TIME_MS = 8_640_000_000_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@js_class("Date")
class JsDate(JsProxy):
    __slots__ = ("_ms",)

    def __init__(self, ms: int | float) -> None:
        self._ms: int | float = int(ms) if _in_range(ms) else math.nan

    @classmethod
    def _construct(cls, *args: Any) -> JsDate:
        if not args:
            return cls(time.time_ns() // 1_000_000)
        if len(args) > 1:
            return cls(_from_fields([to_number(arg) for arg in args]))
        value = args[0]
        if isinstance(value, JsDate):
            return cls(value._ms)
        if isinstance(value, (str, PyProxy)):
            return cls(parse_date(to_string(value)))
        return cls(to_number(value))

    def _moment(self) -> datetime:
        if isinstance(self._ms, float):
            raise range_error("Invalid time value")
        return _EPOCH + timedelta(milliseconds=self._ms)

    @js_method
    def getTime(self) -> Any:
        return self._ms

    @js_method
    def valueOf(self) -> Any:
        return self._ms

    @js_method
    def setTime(self, ms: Any = math.nan) -> Any:
        time_ms = to_number(ms)
        self._ms = int(time_ms) if _in_range(time_ms) else math.nan
        return self._ms

    @js_method
    def toISOString(self) -> str:
        return iso_string(self)

    @js_method
    def toJSON(self) -> Any:
        return jsnull if isinstance(self._ms, float) else iso_string(self)

    @js_method
    def toUTCString(self) -> str:
        return format_datetime(self._moment(), usegmt=True)

    @js_method
    def toString(self) -> str:
        return self._to_string()

    @js_method
    def getTimezoneOffset(self) -> int:
        return 0

    def _primitive(self) -> Any:
        return self._ms

    def _to_string(self) -> str:
        if isinstance(self._ms, float):
            return "Invalid Date"
        text = self._moment().strftime("%a %b %d %Y %H:%M:%S")
        return f"{text} GMT+0000 (Coordinated Universal Time)"


def _define_fields() -> None:
    fields = {
        "FullYear": lambda m: m.year,
        "Month": lambda m: m.month - 1,
        "Date": lambda m: m.day,
        "Day": lambda m: (m.weekday() + 1) % 7,
        "Hours": lambda m: m.hour,
        "Minutes": lambda m: m.minute,
        "Seconds": lambda m: m.second,
        "Milliseconds": lambda m: m.microsecond // 1000,
    }
    for name, read in fields.items():
        for prefix in ("get", "getUTC"):

            def getter(self: JsDate, read: Any = read) -> Any:
                return math.nan if isinstance(self._ms, float) else read(self._moment())

            getter.__name__ = prefix + name
            setattr(JsDate, prefix + name, js_method(getter))


_define_fields()


def _in_range(ms: int | float) -> bool:
    return not math.isnan(ms) and abs(ms) <= MAX_TIME_MS


def _from_fields(fields: list[int | float]) -> float:
    if any(isinstance(field, float) for field in fields):
        return math.nan
    year, month, *rest = [int(field) for field in (*fields, 0)[: max(2, len(fields))]]
    day, hour, minute, second, milli = [*rest, *[1, 0, 0, 0, 0][len(rest) :]]
    first = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    offset = timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second, milliseconds=milli)
    return (first + offset - _EPOCH) / timedelta(milliseconds=1)


def parse_date(text: str) -> float:
    """Date.parse: ISO 8601 and RFC 2822; NaN for the rest."""
    from email.utils import parsedate_to_datetime

    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(text)
        except (ValueError, TypeError):
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // timedelta(milliseconds=1)
    return math.nan


def iso_string(date: JsDate) -> str:
    moment = date._moment()
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


js_static(JsDate, "now", lambda: time.time_ns() // 1_000_000)
js_static(JsDate, "parse", lambda text=None: parse_date(to_string(text)))
js_static(JsDate, "UTC", lambda *fields: _from_fields([to_number(field) for field in fields]))
