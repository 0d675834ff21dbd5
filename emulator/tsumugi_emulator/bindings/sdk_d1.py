"""D1 as the SDK shows it, without its detours for plain values (ADR-0242).

The SDK converts every value that is bound to JavaScript and every result back, in several walks,
which costs several times what SQLite does. A prepared statement answers the SDK with a subclass of
its own wrapper that binds plain values and makes plain results directly. Every other value, keyword
and method takes the SDK's way.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.sdk_records import record_maker
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.values import MAX_SAFE_INTEGER, normalize_number

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tsumugi_emulator.bindings.d1 import D1PreparedStatement
    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.storage.d1 import Result

#: The SDK takes an object with such a property for something else than a record.
_NO_RECORD = "constructor"


def wrapped(statement: D1PreparedStatement) -> Any:
    """What ``env.DB.prepare()`` returns in Python."""
    made = _statement_class()()
    made._binding = statement
    return made


class _NotPlain(Exception):
    """Take the SDK's way."""


def _plain(value: Any) -> Any:
    """What D1 stores for a plain value: numbers and booleans are doubles.

    Raises:
        _NotPlain: it is none.
    """
    kind = type(value)
    if kind is str and value.isascii():
        return value
    if kind is int and -MAX_SAFE_INTEGER < value < MAX_SAFE_INTEGER:
        return float(value)
    if kind is float:
        return value + 0.0 if math.isfinite(value) else None
    if kind is bytes or (value is None and not MODE.null_is_none):
        return value
    if kind is bool:
        return float(value)
    raise _NotPlain


def _read(value: Any) -> Any:
    """What Python sees of a column's value."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is int:
        return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else float(value)
    if kind is float:
        return normalize_number(value) if math.isfinite(value) else None
    return list(value)


def plain_result(result: Result, meta: dict[str, Any]) -> Any:
    """A ``D1Result`` as the SDK converts it; None if it would convert it differently."""
    if _NO_RECORD in result.columns:
        return None
    from workers.rpc import JsDict

    made = record_maker(tuple(result.columns), _read)
    rows = [made(row) for row in result.rows]
    return JsDict({"success": True, "meta": JsDict(meta), "results": rows})


class _Statement:
    """``_BindingWrapper`` of a ``D1PreparedStatement``."""

    # The SDK's wrapper wants to be given what it wraps.
    __new__ = object.__new__
    __init__ = object.__init__

    _binding: D1PreparedStatement
    #: The SDK's wrapper itself.
    _wrapper: Any

    def bind(self, *values: Any, **options: Any) -> Any:
        try:
            if options:
                raise _NotPlain
            bound = self._binding._with([_plain(value) for value in values])
        except _NotPlain:
            return self._wrapper(self._binding).bind(*values, **options)
        return wrapped(bound)

    def run(self, *args: Any, **options: Any) -> Any:
        if args or options:
            return self._wrapper(self._binding).run(*args, **options)
        return self._answer(self._binding._start("run", for_sdk=True))

    def all(self, *args: Any, **options: Any) -> Any:
        if args or options:
            return self._wrapper(self._binding).all(*args, **options)
        return self._answer(self._binding._start("all", for_sdk=True))

    def _answer(self, promise: PyodideFuture) -> Coroutine[Any, Any, Any]:
        async def await_and_convert() -> Any:
            result = await promise
            if isinstance(result, dict):
                return result
            return self._wrapper._convert_result(self, result)

        return await_and_convert()


@cache
def _statement_class() -> type[Any]:
    """Made once the SDK can be imported; it is called what the SDK's is called."""
    from workers.rpc import _BindingWrapper

    members = {"__module__": _BindingWrapper.__module__, "_wrapper": _BindingWrapper}
    return type("_BindingWrapper", (_Statement, _BindingWrapper), members)
