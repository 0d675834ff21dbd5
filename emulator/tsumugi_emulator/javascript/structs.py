"""Plain objects that the runtime itself makes: what becomes of fields that are not set.

Not for objects that a service or user code made: those have the properties they were given.
"""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.values import JsObject

FLAG = "enable_fast_jsg_struct"


def fields(values: dict[str, Any]) -> dict[str, Any]:
    """The properties of a struct, in its order; a field that is None is not set (ADR-0315)."""
    if MODE.flag(FLAG):
        return values
    return {name: value for name, value in values.items() if value is not None}


def struct(values: dict[str, Any]) -> JsObject:
    return JsObject(fields(values))
