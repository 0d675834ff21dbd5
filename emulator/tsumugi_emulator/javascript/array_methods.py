"""The methods of ``Array.prototype``, over the list of JavaScript values that ``JsArray`` keeps."""

from __future__ import annotations

from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, Self

from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_method
from tsumugi_emulator.javascript.iterators import JsIterator, call_back, same_value_zero
from tsumugi_emulator.javascript.strings import to_integer, to_number, to_string, truthy
from tsumugi_emulator.javascript.values import JsProxy, jsnull

if TYPE_CHECKING:
    from collections.abc import Callable

_MISSING = object()


class ArrayMethods(JsProxy):
    __slots__ = ("_items",)

    _items: list[Any]

    def __init__(self, items: list[Any] | None = None) -> None:
        self._items = [] if items is None else items

    # -- Changing -------------------------------------------------------------------------------

    @js_method
    def push(self, *values: Any) -> int:
        self._items.extend(values)
        return len(self._items)

    @js_method
    def shift(self) -> Any:
        return self._items.pop(0) if self._items else None

    @js_method
    def unshift(self, *values: Any) -> int:
        self._items[:0] = values
        return len(self._items)

    @js_method
    def splice(self, start: Any = 0, count: Any = _MISSING, *values: Any) -> Self:
        first = self._position(start)
        last = len(self._items) if count is _MISSING else first + max(0, to_integer(count))
        removed = self._items[first:last]
        self._items[first:last] = values
        return type(self)(removed)

    @js_method
    def fill(self, value: Any = None, start: Any = 0, end: Any = None) -> Self:
        first, last = self._range(start, end)
        self._items[first:last] = [value] * (last - first)
        return self

    @js_method
    def sort(self, comparator: Any = None) -> Self:
        self._items[:] = self._sorted(comparator)
        return self

    def _sorted(self, comparator: Any) -> list[Any]:
        """Sorted as JavaScript does: as strings, undefined last."""

        def compare(left: Any, right: Any) -> int:
            order = to_number(call_back(comparator, left, right))
            return (order > 0) - (order < 0)

        key: Callable[[Any], Any] = _utf16_units if comparator is None else cmp_to_key(compare)
        present = sorted((item for item in self._items if item is not None), key=key)
        return present + [None] * (len(self._items) - len(present))

    # -- Copying --------------------------------------------------------------------------------

    @js_method
    def slice(self, start: Any = 0, end: Any = None) -> Self:
        first, last = self._range(start, end)
        return type(self)(self._items[first:last])

    @js_method
    def concat(self, *others: Any) -> Self:
        items = list(self._items)
        for other in others:
            items.extend(other._items if isinstance(other, ArrayMethods) else [other])
        return type(self)(items)

    @js_method
    def flat(self, depth: Any = 1) -> Self:
        return type(self)(_flattened(self._items, to_number(depth)))

    @js_method
    def flatMap(self, callback: Any) -> Self:
        mapped = [call_back(callback, v, i, self) for i, v in enumerate(self._items)]
        return type(self)(_flattened(mapped, 1))

    @js_method
    def toSorted(self, comparator: Any = None) -> Self:
        return type(self)(self._sorted(comparator))

    @js_method
    def toReversed(self) -> Self:
        return type(self)(self._items[::-1])

    @js_method
    def join(self, separator: Any = None) -> str:
        empty = (None, jsnull)
        between = "," if separator is None else to_string(separator)
        return between.join(
            "" if any(item is nothing for nothing in empty) else to_string(item)
            for item in self._items
        )

    @js_method
    def map(self, callback: Any) -> Self:
        return type(self)([call_back(callback, v, i, self) for i, v in enumerate(self._items)])

    @js_method
    def filter(self, callback: Any) -> Self:
        return type(self)([v for i, v in enumerate(self._items) if self._test(callback, v, i)])

    # -- Searching ------------------------------------------------------------------------------

    def _test(self, callback: Any, value: Any, index: int) -> bool:
        return truthy(call_back(callback, value, index, self))

    @js_method
    def includes(self, value: Any = None) -> bool:
        return any(same_value_zero(item, value) for item in self._items)

    @js_method
    def indexOf(self, value: Any = None) -> int:
        return next((i for i, v in enumerate(self._items) if same_value_zero(v, value)), -1)

    @js_method
    def lastIndexOf(self, value: Any = None) -> int:
        found = (i for i, item in enumerate(self._items) if same_value_zero(item, value))
        return max(found, default=-1)

    @js_method
    def at(self, index: Any = 0) -> Any:
        try:
            return self._items[to_integer(index)]
        except IndexError:
            return None

    @js_method
    def find(self, callback: Any) -> Any:
        return next((v for i, v in enumerate(self._items) if self._test(callback, v, i)), None)

    @js_method
    def findIndex(self, callback: Any) -> int:
        return next((i for i, v in enumerate(self._items) if self._test(callback, v, i)), -1)

    @js_method
    def findLast(self, callback: Any) -> Any:
        found = reversed(list(enumerate(self._items)))
        return next((v for i, v in found if self._test(callback, v, i)), None)

    @js_method
    def some(self, callback: Any) -> bool:
        return any(self._test(callback, v, i) for i, v in enumerate(self._items))

    @js_method
    def every(self, callback: Any) -> bool:
        return all(self._test(callback, v, i) for i, v in enumerate(self._items))

    # -- Walking --------------------------------------------------------------------------------

    @js_method
    def forEach(self, callback: Any) -> None:
        for index, item in enumerate(list(self._items)):
            call_back(callback, item, index, self)

    @js_method
    def reduce(self, callback: Any, initial: Any = _MISSING) -> Any:
        return self._reduced(callback, initial, list(enumerate(self._items)))

    @js_method
    def reduceRight(self, callback: Any, initial: Any = _MISSING) -> Any:
        return self._reduced(callback, initial, list(enumerate(self._items))[::-1])

    def _reduced(self, callback: Any, initial: Any, steps: list[tuple[int, Any]]) -> Any:
        if initial is _MISSING:
            if not steps:
                raise type_error("Reduce of empty array with no initial value")
            initial = steps.pop(0)[1]
        for index, value in steps:
            initial = call_back(callback, initial, value, index, self)
        return initial

    @js_method
    def values(self) -> JsIterator:
        return JsIterator(self._items)

    @js_method
    def entries(self) -> JsIterator:
        return JsIterator(type(self)([i, item]) for i, item in enumerate(self._items))

    # -- Positions ------------------------------------------------------------------------------

    def _position(self, index: Any) -> int:
        """A relative index as one between 0 and the length."""
        position, length = to_integer(index), len(self._items)
        return max(0, position + length) if position < 0 else min(position, length)

    def _range(self, start: Any, end: Any) -> tuple[int, int]:
        first = self._position(start)
        last = len(self._items) if end is None else self._position(end)
        return first, max(first, last)


def _utf16_units(value: Any) -> bytes:
    return to_string(value).encode("utf-16-be", "surrogatepass")


def _flattened(items: list[Any], depth: float) -> list[Any]:
    flat: list[Any] = []
    for item in items:
        if isinstance(item, ArrayMethods) and depth >= 1:
            flat.extend(_flattened(item._items, depth - 1))
        else:
            flat.append(item)
    return flat
