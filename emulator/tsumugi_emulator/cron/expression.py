"""Cloudflare's cron expressions: parse one, and find when it fires next. Pure; times are UTC.

Five fields with Quartz's ``L``, ``W`` and ``#``; weekdays count from 1 = Sunday. What is refused is
what Cloudflare's parser (saffron) refuses.
https://developers.cloudflare.com/workers/configuration/cron-triggers/
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MONTHS = {name.upper(): number for number, name in enumerate(calendar.month_abbr) if name}
#: Cloudflare's weekday numbers: Sunday is 1.
WEEKDAYS = {
    name: number for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"), 1)
}

#: Days looked at for the next firing: a 29 February on one weekday comes round within 28 years,
#: 40 across a century that is no leap year.
HORIZON_DAYS = 366 * 41

#: Says whether a date is one of a field's days.
type DayTest = "Callable[[datetime], bool]"


class CronError(ValueError):
    """The expression is not one Cloudflare accepts; the message names the part."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression. ``day_tests`` are alternatives; none means every day."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    months: frozenset[int]
    day_tests: tuple[DayTest, ...]

    def fires_on(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        return not self.day_tests or any(test(day) for test in self.day_tests)

    def next_after(self, time_ms: int) -> int | None:
        """The first firing after ``time_ms``, in epoch milliseconds; None if there is none."""
        start = datetime.fromtimestamp(time_ms // 1000, UTC).replace(second=0, microsecond=0)
        moment = start + timedelta(minutes=1)
        day = moment.replace(hour=0, minute=0)
        for _ in range(HORIZON_DAYS):
            if self.fires_on(day):
                found = self._first_on(day, moment)
                if found is not None:
                    return int(found.timestamp() * 1000)
            day += timedelta(days=1)
            moment = day
        return None

    def _first_on(self, day: datetime, earliest: datetime) -> datetime | None:
        for hour in sorted(self.hours):
            if hour < earliest.hour:
                continue
            for minute in sorted(self.minutes):
                candidate = day.replace(hour=hour, minute=minute)
                if candidate >= earliest:
                    return candidate
        return None


def parse(text: str) -> Cron:
    """Read an expression.

    Raises:
        CronError: naming the field and what it may hold.
    """
    fields = text.split()
    if len(fields) != 5:
        raise CronError(f"{text!r} has {len(fields)} fields; a cron expression has 5")
    minute, hour, day, month, weekday = fields
    tests = [*_days_of_month(day), *_weekdays(weekday)]
    return Cron(
        text=text,
        minutes=_numbers(minute, "minute", 0, 59),
        hours=_numbers(hour, "hour", 0, 23),
        months=_numbers(month, "month", 1, 12, MONTHS),
        day_tests=tuple(tests),
    )


# -- Fields -------------------------------------------------------------------------------------


def _numbers(
    field: str, name: str, low: int, high: int, names: dict[str, int] | None = None
) -> frozenset[int]:
    if field == "*":
        return frozenset(range(low, high + 1))
    found: set[int] = set()
    for index, part in enumerate(field.split(",")):
        if part == "*" and index == 0:
            raise CronError(f"{name} {field!r} goes on after '*', which is everything")
        found |= _range(part, name, low, high, names or {})
    return frozenset(found)


def _range(part: str, name: str, low: int, high: int, names: dict[str, int]) -> set[int]:
    """One number, a range or steps; ranges that run backwards go round (Friday to Monday)."""
    span, slash, step_text = part.partition("/")
    step = _number(step_text, f"step of {name}", 1, high - low, {}) if slash else 1
    first_text, dash, last_text = span.partition("-")
    # Behind a comma the parser takes a star for the lowest number.
    first = low if first_text == "*" else _number(first_text, name, low, high, names)
    last = high if slash else first
    if dash:
        last = _number(last_text, name, low, high, names)
    if first <= last:
        return set(range(first, last + 1, step))
    return set([*range(first, high + 1), *range(low, last + 1)][::step])


def _number(text: str, name: str, low: int, high: int, names: dict[str, int]) -> int:
    number = names.get(text.upper())
    if number is None and text.isascii() and text.isdigit():
        number = int(text)
    if number is None or not low <= number <= high:
        raise CronError(f"{name} {text!r} is not a number from {low} to {high}")
    return number


def _days_of_month(field: str) -> list[DayTest]:
    """``L``, ``LW``, ``L-3``, ``L-3W`` and ``15W`` stand alone; what else there is are numbers."""
    if field == "*":
        return []
    if field == "L":
        return [lambda day: day.day == _last_day(day)]
    if field == "LW":
        return [lambda day: day.day == _nearest_weekday(day, _last_day(day))]
    if field.startswith("L-"):
        offset = _number(field[2:].removesuffix("W"), "day of month", 1, 30, {})
        return [_near_last(offset) if field.endswith("W") else _before_last(offset)]
    if field.endswith("W"):
        return [_near(_number(field[:-1], "day of month", 1, 31, {}))]
    days = _numbers(field, "day of month", 1, 31)
    return [lambda day: day.day in days]


def _weekdays(field: str) -> list[DayTest]:
    """``L``, ``6L`` and ``MON#2`` stand alone; what else there is are numbers and names."""
    if field == "*":
        return []
    if field == "L":
        return [lambda day: _weekday(day) == WEEKDAYS["SAT"]]
    if field.endswith("L"):
        return [_last_weekday(_number(field[:-1], "weekday", 1, 7, WEEKDAYS))]
    if "#" in field:
        name, _, nth = field.partition("#")
        weekday = _number(name, "weekday", 1, 7, WEEKDAYS)
        return [_nth_weekday(weekday, _number(nth, "weekday number", 1, 5, {}))]
    numbers = _numbers(field, "weekday", 1, 7, WEEKDAYS)
    return [lambda day: _weekday(day) in numbers]


# -- Days ---------------------------------------------------------------------------------------


def _weekday(day: datetime) -> int:
    return (day.weekday() + 1) % 7 + 1


def _last_day(day: datetime) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _nearest_weekday(day: datetime, target: int) -> int:
    """The Monday-to-Friday day closest to ``target`` in the same month."""
    last = _last_day(day)
    target = min(target, last)
    weekday = day.replace(day=target).weekday()
    if weekday == 5:  # Saturday
        return target - 1 if target > 1 else target + 2
    if weekday == 6:  # Sunday
        return target + 1 if target < last else target - 2
    return target


def _near(target: int) -> DayTest:
    return lambda day: target <= _last_day(day) and day.day == _nearest_weekday(day, target)


def _near_last(offset: int) -> DayTest:
    def test(day: datetime) -> bool:
        target = _last_day(day) - offset
        return target >= 1 and day.day == _nearest_weekday(day, target)

    return test


def _before_last(offset: int) -> DayTest:
    return lambda day: day.day == _last_day(day) - offset


def _last_weekday(weekday: int) -> DayTest:
    return lambda day: _weekday(day) == weekday and day.day > _last_day(day) - 7


def _nth_weekday(weekday: int, nth: int) -> DayTest:
    return lambda day: _weekday(day) == weekday and (day.day - 1) // 7 + 1 == nth
