"""The SQL API's functions that SQLite does not have, in Python. Knows no datasets."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from tsumugi_emulator.clock import Clock

_DAY_S = 86_400
#: 5 January 1970 was a Monday, where weeks start.
_FIRST_MONDAY_S = 4 * _DAY_S


def format_time(seconds: int) -> str:
    return _at(seconds).strftime("%Y-%m-%d %H:%M:%S")


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _to_time(value: Any) -> int:
    if isinstance(value, int | float):
        return int(value)
    parsed = datetime.fromisoformat(str(value))
    return int(parsed.replace(tzinfo=parsed.tzinfo or UTC).timestamp())


def _start_of_interval(seconds: int, length_s: int) -> int:
    return seconds // length_s * length_s


def _start_of_week(seconds: int) -> int:
    return (seconds - _FIRST_MONDAY_S) // (7 * _DAY_S) * 7 * _DAY_S + _FIRST_MONDAY_S


def _start_of_month(seconds: int) -> int:
    day = _at(seconds)
    return int(datetime(day.year, day.month, 1, tzinfo=UTC).timestamp())


def _start_of_year(seconds: int) -> int:
    return int(datetime(_at(seconds).year, 1, 1, tzinfo=UTC).timestamp())


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float(str(value) or 0)


def _signed(number: int) -> int:
    """The lowest 64 bits, as SQLite has them."""
    return (number + 2**63) % 2**64 - 2**63


def _telling(name: str, function: Callable[..., Any], failures: list[str]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            shown = ", ".join(map(repr, arguments))
            failures.append(f"cannot compute {name}({shown}): {error}")
            raise

    return call


class _CountIf:
    def __init__(self) -> None:
        self.count = 0

    def step(self, condition: Any) -> None:
        self.count += bool(condition)

    def finalize(self) -> int:
        return self.count


class _SumIf:
    def __init__(self) -> None:
        self.sum: float = 0

    def step(self, value: Any, condition: Any) -> None:
        self.sum += value if condition else 0

    def finalize(self) -> float:
        return self.sum


class _AvgIf:
    def __init__(self) -> None:
        self.values: list[float] = []

    def step(self, value: Any, condition: Any) -> None:
        if condition:
            self.values.append(value)

    def finalize(self) -> float | None:
        return sum(self.values) / len(self.values) if self.values else None


class _Uniq:
    def __init__(self) -> None:
        self.seen: set[Any] = set()

    def step(self, value: Any) -> None:
        self.seen.add(value)

    def finalize(self) -> int:
        return len(self.seen)


class _Any:
    def __init__(self) -> None:
        self.value: Any = None

    def step(self, value: Any) -> None:
        if self.value is None:
            self.value = value

    def finalize(self) -> Any:
        return self.value


class _Extreme:
    """``argMin`` and ``argMax``: the first argument where the second is smallest or largest."""

    largest = False

    def __init__(self) -> None:
        self.best: tuple[Any, Any] | None = None

    def step(self, argument: Any, value: Any) -> None:
        if self.best is None or (value > self.best[1] if self.largest else value < self.best[1]):
            self.best = (argument, value)

    def finalize(self) -> Any:
        return None if self.best is None else self.best[0]


class _ArgMax(_Extreme):
    largest = True


class _QuantileWeighted:
    """``quantileExactWeighted(level)(value, weight)``: each value counts ``weight`` times."""

    def __init__(self) -> None:
        self.level = 0.5
        self.values: list[tuple[float, float]] = []

    def step(self, level: float, value: float, weight: float = 1) -> None:
        self.level = level
        self.values.append((value, weight))

    def finalize(self) -> float | None:
        if not self.values:
            return None
        self.values.sort()
        threshold = self.level * sum(weight for _, weight in self.values)
        reached = 0.0
        for value, weight in self.values:
            reached += weight
            if reached >= threshold:
                return value
        return self.values[-1][0]


class _First:
    def __init__(self) -> None:
        self.value: Any = None
        self.has_value = False

    def step(self, value: Any) -> None:
        if not self.has_value:
            self.value, self.has_value = value, True

    def finalize(self) -> Any:
        return self.value


class _Last(_First):
    def step(self, value: Any) -> None:
        self.value = value


class _TopKWeighted:
    """``topKWeighted(k)(value, weight)``: the values that weigh most, as a JSON array."""

    def __init__(self) -> None:
        self.count = 0
        self.weights: dict[Any, float] = {}

    def step(self, count: int, value: Any, weight: float = 1) -> None:
        self.count = count
        self.weights[value] = self.weights.get(value, 0) + weight

    def finalize(self) -> str:
        heaviest = sorted(self.weights, key=lambda value: -self.weights[value])
        return json.dumps(heaviest[: self.count])


_AGGREGATES: dict[tuple[str, int], type] = {
    ("countIf", 1): _CountIf,
    ("sumIf", 2): _SumIf,
    ("avgIf", 2): _AvgIf,
    ("uniq", 1): _Uniq,
    ("any", 1): _Any,
    ("argMin", 2): _Extreme,
    ("argMax", 2): _ArgMax,
    ("first_value", 1): _First,
    ("last_value", 1): _Last,
    ("topK", 2): _TopKWeighted,
    ("topKWeighted", 3): _TopKWeighted,
    ("quantile", 2): _QuantileWeighted,
    ("quantileWeighted", 3): _QuantileWeighted,
    ("quantileExactWeighted", 3): _QuantileWeighted,
}

_SCALARS: dict[tuple[str, int], Callable[..., Any]] = {
    ("if", 3): lambda condition, yes, no: yes if condition else no,
    ("intDiv", 2): lambda a, b: int(a // b),
    ("toDateTime", 1): _to_time,
    ("toUnixTimestamp", 1): _to_time,
    ("toStartOfInterval", 2): _start_of_interval,
    ("toStartOfMinute", 1): lambda s: _start_of_interval(s, 60),
    ("toStartOfFiveMinutes", 1): lambda s: _start_of_interval(s, 300),
    ("toStartOfTenMinutes", 1): lambda s: _start_of_interval(s, 600),
    ("toStartOfFifteenMinutes", 1): lambda s: _start_of_interval(s, 900),
    ("toStartOfHour", 1): lambda s: _start_of_interval(s, 3600),
    ("toStartOfDay", 1): lambda s: _start_of_interval(s, _DAY_S),
    ("toStartOfWeek", 1): _start_of_week,
    ("toStartOfMonth", 1): _start_of_month,
    ("toStartOfYear", 1): _start_of_year,
    ("toYear", 1): lambda s: _at(s).year,
    ("toMonth", 1): lambda s: _at(s).month,
    ("toDayOfMonth", 1): lambda s: _at(s).day,
    ("toDayOfWeek", 1): lambda s: _at(s).isoweekday(),
    ("toHour", 1): lambda s: _at(s).hour,
    ("toMinute", 1): lambda s: _at(s).minute,
    ("toSecond", 1): lambda s: _at(s).second,
    ("toYYYYMM", 1): lambda s: int(_at(s).strftime("%Y%m")),
    ("formatDateTime", 2): lambda s, text: _at(s).strftime(text.replace("%i", "%M")),
    ("toString", 1): lambda v: str(v),
    ("toUInt8", 1): lambda v: int(_number(v)) & 0xFF,
    ("toUInt32", 1): lambda v: int(_number(v)),
    ("toUInt64", 1): lambda v: int(_number(v)),
    ("toFloat64", 1): _number,
    ("empty", 1): lambda v: int(not v),
    ("notEmpty", 1): lambda v: int(bool(v)),
    ("startsWith", 2): lambda v, start: int(v.startswith(start)),
    ("endsWith", 2): lambda v, end: int(v.endswith(end)),
    ("position", 2): lambda v, part: v.find(part) + 1,
    ("lowerUTF8", 1): str.lower,
    ("upperUTF8", 1): str.upper,
    ("bin", 1): lambda v: f"{int(v):b}",
    ("bitAnd", 2): lambda a, b: int(a) & int(b),
    ("bitOr", 2): lambda a, b: int(a) | int(b),
    ("bitXor", 2): lambda a, b: int(a) ^ int(b),
    ("bitNot", 1): lambda a: ~int(a),
    ("bitCount", 1): lambda a: (int(a) % 2**64).bit_count(),
    ("bitHammingDistance", 2): lambda a, b: ((int(a) ^ int(b)) % 2**64).bit_count(),
    ("bitShiftLeft", 2): lambda a, n: _signed(int(a) << n),
    ("bitShiftRight", 2): lambda a, n: int(a) >> n,
    ("bitTest", 2): lambda a, n: int(a) >> n & 1,
    ("match", 2): lambda v, pattern: int(re.search(pattern, v) is not None),
    ("pow", 2): lambda a, b: a**b,
    ("sqrt", 1): math.sqrt,
    ("log", 1): math.log,
    ("exp", 1): math.exp,
    ("floor", 1): math.floor,
    ("ceil", 1): math.ceil,
}


def install(db: sqlite3.Connection, clock: Clock, failures: list[str]) -> None:
    """Make the functions callable in queries on ``db``; why one failed is added to ``failures``."""
    now_s = clock.now_ms() // 1000
    db.create_function("now", 0, lambda: now_s)
    db.create_function("today", 0, lambda: _start_of_interval(now_s, _DAY_S))
    for (name, arguments), function in _SCALARS.items():
        db.create_function(name, arguments, _telling(name, function, failures), deterministic=True)
    for (name, arguments), aggregate in _AGGREGATES.items():
        db.create_aggregate(name, arguments, aggregate)
