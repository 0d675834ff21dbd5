"""How workerd's bindings coerce arguments: option objects and C++ integers."""

from __future__ import annotations

import math
from typing import Any

from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.strings import to_number
from tsumugi_emulator.javascript.values import JsBigInt, JsProxy, PyProxy, jsnull

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def options_object(value: Any, *, method: str, owner: str, position: int, expected: str) -> Any:
    """An optional dictionary argument: an object, or nothing.

    Raises:
        JsException: TypeError in workerd's wording for anything else.
    """
    if value is None or value is jsnull:
        return None
    if isinstance(value, JsProxy | PyProxy) and not isinstance(value, JsFunction):
        return value
    raise type_error(
        f"Failed to execute '{method}' on '{owner}': parameter {position} is not of type "
        f"'{expected}'."
    )


def option(options: Any, name: str) -> Any:
    """``options[name]``, undefined when absent."""
    if options is None:
        return None
    if isinstance(options, PyProxy):
        return python_to_js(getattr(options._unwrap(), name, None))
    return options._get(name)


def int32(value: Any) -> int:
    """A JavaScript value as workerd's C++ ``int``: NaN and infinity are 0, fractions truncate.

    Raises:
        JsException: TypeError for a BigInt, or out of 32 bits.
    """
    if isinstance(value, JsBigInt):
        raise type_error("Cannot convert a BigInt value to a number")
    number = value._ms if isinstance(value, JsDate) else to_number(value)
    if isinstance(number, float) and not math.isfinite(number):
        return 0
    if not INT32_MIN <= number <= INT32_MAX:
        raise type_error(
            f"Value out of range. Must be between {INT32_MIN} and {INT32_MAX} (inclusive)."
        )
    return int(number)


def delay_seconds(options: Any) -> int | None:
    """The ``delaySeconds`` of an options object; None when it was not given."""
    value = option(options, "delaySeconds")
    return None if value is None else int32(value)
