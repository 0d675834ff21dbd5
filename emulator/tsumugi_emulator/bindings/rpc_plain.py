"""Plain data across RPC in one pass: what four conversions of the SDK and a copy would make of it.

A value is plain when it consists of objects with text keys, arrays, texts, booleans, numbers and
nothing else. Everything that is not plain takes the long way (``rpc_values`` and the SDK); a
property test compares the two (ADR-0078).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.durable.limits import MAX_RPC_BYTES
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.values import (
    MAX_SAFE_INTEGER,
    JsNull,
    JsObject,
    jsnull,
    normalize_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


#: Types of what ``across`` may give; a value of another type came the long way.
PLAIN_TYPES = frozenset({type(None), bool, int, float, str, list})
#: Texts that need not be measured: as many as a call may have of them fit.
_SHORT = 10_000


class NotPlain(Exception):
    """Take the long way; it knows whether the value may cross at all."""


@cache
def record_type() -> type[dict[str, Any]]:
    """What objects are in Python."""
    from workers.rpc import JsDict

    found: type[dict[str, Any]] = JsDict
    return found


class _Copy:
    """One pass; ``room`` is what is left of the largest message."""

    __slots__ = ("record", "room")

    def __init__(self) -> None:
        self.room = MAX_RPC_BYTES // 2
        self.record = record_type()

    def text(self, value: str) -> str:
        self.room -= len(value)
        if self.room < 0:
            raise NotPlain  # the long way measures it exactly
        return value

    def to_python(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is int or kind is bool or value is None:
            return value
        if kind is JsObject:
            props = value._props
            if "constructor" in props:
                raise NotPlain  # the SDK takes it for another object
            copied = self.record()
            for key, item in props.items():
                self.room -= len(key) + 1
                copied[key] = self.to_python(item)
            return copied
        if kind is JsArray:
            self.room -= len(value._items)
            return [self.to_python(item) for item in value._items]
        if kind is float:
            return normalize_number(value)
        if kind is JsNull:
            return None
        raise NotPlain

    def to_javascript(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is bool:
            return value
        if kind is int and -MAX_SAFE_INTEGER < value < MAX_SAFE_INTEGER:
            return value
        if value is None:
            return None if MODE.null_is_none else jsnull
        if kind is dict or kind is self.record:
            return JsObject(self._props(value))
        if kind is list:
            self.room -= len(value)
            return JsArray([self.to_javascript(item) for item in value])
        if kind is float:
            return normalize_number(value)
        raise NotPlain

    def _props(self, value: dict[Any, Any]) -> dict[str, Any]:
        props: dict[str, Any] = {}
        for key, item in value.items():
            if type(key) is not str or "0" <= key[:1] <= "9":
                raise NotPlain  # JavaScript orders numbers first
            self.room -= len(key) + 1
            props[key] = self.to_javascript(item)
        return props


def arguments(values: list[Any]) -> list[Any]:
    """Arguments as the callee's Python sees them, copied from the caller's JavaScript values.

    Raises:
        NotPlain: one of them has to take the long way.
    """
    if not values:
        return values
    copy = _Copy()
    try:
        return [copy.to_python(value) for value in values]
    except RecursionError:
        raise NotPlain from None


def arguments_or_none(values: list[Any]) -> list[Any] | None:
    """The same, or None where they have to take the long way."""
    try:
        return arguments(values)
    except NotPlain:
        return None


def result(value: Any) -> Any:
    """A result as the caller's JavaScript value, copied from the callee's Python.

    Raises:
        NotPlain: it has to take the long way.
    """
    try:
        return _Copy().to_javascript(value)
    except RecursionError:
        raise NotPlain from None


def across(value: Any) -> Any:
    """What Python on the other side gets for Python's value: ``result``, then ``arguments``.

    Raises:
        NotPlain: it has to take the long way.
    """
    kind = type(value)
    if (
        kind is bool
        or value is None
        or (kind is int and -MAX_SAFE_INTEGER < value < MAX_SAFE_INTEGER)
        or (kind is str and len(value) < _SHORT)
    ):
        return value
    copy = _Copy()
    try:
        return copy.to_python(copy.to_javascript(value))
    except RecursionError:
        raise NotPlain from None


def across_or_none(values: Iterable[Any]) -> list[Any] | None:
    """All of them, or None where one has to take the long way."""
    try:
        return [across(value) for value in values]
    except NotPlain:
        return None
