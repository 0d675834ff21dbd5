"""Iterating and calling back: what JavaScript's built-in functions do with what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.crossing import call_python, iterate_python
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import JsFunction, js_method
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.structs import struct
from tsumugi_emulator.javascript.values import JsObject, JsProxy, PyProxy, js_to_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tsumugi_emulator.javascript.arrays import JsArray


class JsIterator(JsProxy):
    """An iterator object: ``next()`` for JavaScript, ``__next__`` for Python."""

    __slots__ = ("_of", "_source")

    def __init__(self, source: Iterable[Any], of: str = "Array") -> None:
        self._source = iter(source)
        self._of = of

    def __iter__(self) -> JsIterator:
        return self

    def __next__(self) -> Any:
        return js_to_python(next(self._source))

    @js_method
    def next(self) -> JsObject:
        try:
            return JsObject({"value": next(self._source), "done": False})
        except StopIteration:
            return JsObject({"value": None, "done": True})

    @js_method
    def toArray(self) -> JsArray:
        from tsumugi_emulator.javascript.arrays import JsArray

        return JsArray(list(self._source))

    def _iterate(self) -> Iterator[Any]:
        return self._source

    def _class_name(self) -> str:
        return f"{self._of} Iterator"


class RuntimeIterator(JsIterator):
    """An iterator of the runtime's own: its results are structs."""

    __slots__ = ()

    @js_method
    def next(self) -> JsObject:
        try:
            return JsObject({"done": False, "value": next(self._source)})
        except StopIteration:
            return struct({"done": True, "value": None})


def iterate_js(value: Any) -> Iterator[Any]:
    """The JavaScript values a ``for ... of`` over ``value`` sees.

    Raises:
        JsException: TypeError, when the value is not iterable.
    """
    iterate = getattr(type(value), "_iterate", None)
    if iterate is not None:
        iterator: Iterator[Any] = iterate(value)
        return iterator
    if isinstance(value, str):
        return iter(value)
    if isinstance(value, PyProxy) and hasattr(type(value._unwrap()), "__iter__"):
        return iterate_python(value)
    raise type_error(f"{to_string(value)} is not iterable")


def element(value: Any, index: int) -> Any:
    """``value[index]`` of an object, which may be a Python sequence.

    Raises:
        JsException: TypeError, when the value is no object: a pair was wanted.
    """
    if isinstance(value, PyProxy):
        from tsumugi_emulator.javascript.crossing import python_to_js

        try:
            return python_to_js(value._unwrap()[index])
        except (IndexError, KeyError, TypeError):
            return None
    if not isinstance(value, JsProxy):
        raise type_error(f"Iterator value {to_string(value)} is not an entry object")
    return value._entries().get(str(index))


def call_back(callback: Any, *args: Any) -> Any:
    """Call a JavaScript function, or a Python one that crossed, from inside the boundary."""
    if isinstance(callback, JsFunction):
        return callback._call(*args)
    return call_python(callback, *args)


def same_value_zero(left: Any, right: Any) -> bool:
    """JavaScript's SameValueZero, used by includes, Map and Set."""
    if left is right:
        return True
    if isinstance(left, JsProxy) or isinstance(right, JsProxy):
        return bool(left == right)  # two handles on one method
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(left == right) or (left != left and right != right)  # NaN
