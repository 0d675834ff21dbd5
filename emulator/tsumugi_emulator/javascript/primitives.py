"""JavaScript's primitives that Python has no type for: null, BigInt and minus zero."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Number.MAX_SAFE_INTEGER
MAX_SAFE_INTEGER = 2**53 - 1


class JsNull:
    """JavaScript's null on Python 3.13 and later: falsy, and not None."""

    __slots__ = ()
    _instance: JsNull | None = None

    def __new__(cls) -> JsNull:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "jsnull"

    @property
    def typeof(self) -> str:
        return "object"


jsnull = JsNull()


class JsBigInt(int):
    """A JavaScript BigInt. Python 3.12 and 3.13 read it as a plain int."""

    __slots__ = ()


def _define_bigint_arithmetic() -> None:
    """Arithmetic with a BigInt on the left stays a BigInt (multiplication does not)."""

    def staying_bigint(operation: Callable[..., Any]) -> Callable[..., Any]:
        def operate(self: JsBigInt, *operands: Any) -> Any:
            result = operation(self, *operands)
            return JsBigInt(result) if type(result) is int else result

        return operate

    for name in (
        "add", "sub", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor",
        "neg", "pos", "abs", "invert",
    ):  # fmt: skip
        setattr(JsBigInt, f"__{name}__", staying_bigint(getattr(int, f"__{name}__")))


_define_bigint_arithmetic()


def normalize_number(value: float) -> int | float:
    """A JavaScript number as Pyodide reads it: safe integers are int, the rest float."""
    if value.is_integer() and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return int(value)
    return value


def js_number(value: float) -> int | float:
    """A Python float as JavaScript holds it, where minus zero differs from zero."""
    number = normalize_number(value)
    return value if number == 0 and math.copysign(1.0, value) < 0 else number
