"""JavaScript's ToString and ToNumber for values inside the boundary."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.values import (
    MAX_SAFE_INTEGER,
    JsBigInt,
    JsNull,
    JsProxy,
    PyProxy,
    normalize_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: ToString switches to exponents here (ECMAScript Number::toString).
EXPONENT_FROM = 1e21


#: Every integer up to here is a double.
MAX_EXACT = 2**53


def number_to_string(value: float) -> str:
    if isinstance(value, int):
        return str(int(value))
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < EXPONENT_FROM:
        # Beyond 2**53 the shortest digits are followed by zeros.
        exact = abs(value) <= MAX_EXACT
        return str(int(value)) if exact else format(Decimal(repr(value)), "f").removesuffix(".0")
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    power = int(exponent)
    if -7 < power < 0:
        return f"{value:.{len(mantissa.replace('.', '').lstrip('-')) - 1 - power}f}"
    return f"{mantissa.removesuffix('.0')}e{'+' if power > 0 else '-'}{abs(power)}"


def to_string(value: Any) -> str:
    """ToString(value). Symbols and exotic cases fall back to their Python text."""
    if isinstance(value, str):
        return value
    if value is None:
        return "undefined"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, JsBigInt):
        return int.__repr__(value)
    if isinstance(value, int | float):
        return number_to_string(value)
    if isinstance(value, JsNull):
        return "null"
    if isinstance(value, PyProxy):
        return str(value._unwrap())
    if isinstance(value, JsProxy):
        return value._to_string()
    return str(value)


#: (type, what ``typeof`` says, the tag ``Object.prototype.toString`` shows)
_PRIMITIVES: tuple[tuple[Any, str, str], ...] = (
    (bool, "boolean", "Boolean"),
    (str, "string", "String"),
    (JsBigInt, "bigint", "BigInt"),
    ((int, float), "number", "Number"),
    (type(None), "undefined", "Undefined"),
    (JsNull, "object", "Null"),
)


def type_of(value: Any) -> str:
    """``typeof value``"""
    for kind, name, _ in _PRIMITIVES:
        if isinstance(value, kind):
            return name
    if isinstance(value, PyProxy):
        return "function" if callable(value._obj) else "object"
    return str(value.typeof)


def tag_of(value: Any) -> str:
    for kind, _, tag in _PRIMITIVES:
        if isinstance(value, kind):
            return tag
    if isinstance(value, PyProxy):
        return "PyProxy"
    return "Function" if value.typeof == "function" else str(value._class_name())


def to_number(value: Any) -> int | float:
    """ToNumber(value), normalised."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, JsNull):
        return 0
    if value is None:
        return math.nan
    if isinstance(value, JsProxy):
        return to_number(value._primitive())
    text = (value if isinstance(value, str) else to_string(value)).strip()
    return _parse_number(text)


def _parse_number(text: str) -> int | float:
    if text == "":
        return 0
    if "_" in text:
        return math.nan
    lowered = text.lower()
    try:
        for prefix, base in (("0x", 16), ("0o", 8), ("0b", 2)):
            if lowered.startswith(prefix):
                return normalize_number(float(int(lowered[2:], base)))
        if lowered.lstrip("+-") in ("inf", "nan", "infinity"):
            if text.lstrip("+-") != "Infinity":
                return math.nan
            return -math.inf if text.startswith("-") else math.inf
        return normalize_number(float(text))
    except ValueError:
        return math.nan


def to_integer(value: Any) -> int:
    """ToIntegerOrInfinity(value), infinities as far as any index goes."""
    number = to_number(value)
    if isinstance(number, int):
        return number
    if math.isnan(number):
        return 0
    return int(max(-MAX_SAFE_INTEGER, min(MAX_SAFE_INTEGER, number)))


def truthy(value: Any) -> bool:
    """ToBoolean: every object is true, also an empty array."""
    if isinstance(value, JsProxy):
        return True
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value)


def compare(left: Any, right: Any, holds: Callable[[Any, Any], bool]) -> bool:
    """``left < right`` and its siblings between objects: two strings as text, else as numbers."""
    pair = [value._primitive() for value in (left, right)]
    if not all(isinstance(value, str) for value in pair):
        pair = [to_number(value) for value in pair]
    return holds(*pair)


def to_int32(value: Any) -> int:
    """ToInt32 after ToNumber: NaN and infinities are 0, fractions truncate, the rest wraps."""
    number = to_number(value)
    if isinstance(number, float) and (math.isnan(number) or math.isinf(number)):
        return 0
    wrapped = int(number) & 0xFFFFFFFF
    return wrapped - 0x1_0000_0000 if wrapped & 0x8000_0000 else wrapped
