"""Array and iterators: JavaScript's sequences as Python sees them.

They implement the Python protocols Pyodide gives their proxies. Elements are JavaScript values;
reading one from Python goes through ``js_to_python``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import JsFunction, js_class, js_method, js_static
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsObject, JsProxy, js_to_python, jsnull

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class JsIterator(JsProxy):
    """An iterator or generator object: ``next()`` for JavaScript, ``__next__`` for Python."""

    __slots__ = ("_source",)

    def __init__(self, source: Iterable[Any]) -> None:
        self._source = iter(source)

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
        return JsArray(list(self._source))


def iterate_js(value: Any) -> Iterator[Any]:
    """The JavaScript values a ``for ... of`` over ``value`` sees.

    Raises:
        JsException: TypeError, when the value is not iterable.
    """
    if isinstance(value, JsArray):
        return iter(value._items)
    if isinstance(value, JsIterator):
        return value._source
    if isinstance(value, str):
        return iter(value)
    values = getattr(type(value), "_iterate", None)
    if values is None:
        raise type_error(f"{to_string(value)} is not iterable")
    iterator: Iterator[Any] = values(value)
    return iterator


@js_class("Array")
class JsArray(JsProxy):
    """A JavaScript Array, usable as a Python sequence."""

    __slots__ = ("_items",)

    def __init__(self, items: list[Any] | None = None) -> None:
        self._items: list[Any] = [] if items is None else items

    @classmethod
    def _construct(cls, *args: Any) -> JsArray:
        if len(args) == 1 and isinstance(args[0], int) and not isinstance(args[0], bool):
            return cls([None] * args[0])
        return cls(list(args))

    # -- Python -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)

    def __iter__(self) -> Iterator[Any]:
        return map(js_to_python, self._items)

    def __reversed__(self) -> Iterator[Any]:
        return map(js_to_python, reversed(self._items))

    def __contains__(self, value: Any) -> bool:
        return any(same_value_zero(item, python_to_js(value)) for item in self._items)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return JsArray(self._items[key])
        try:
            return js_to_python(self._items[key])
        except IndexError:
            raise IndexError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            self._items[key] = [python_to_js(item) for item in value]
        else:
            try:
                self._items[key] = python_to_js(value)
            except IndexError:
                raise IndexError(key) from None

    def __delitem__(self, key: Any) -> None:
        del self._items[key]

    def __add__(self, other: Any) -> JsArray:
        return JsArray([*self._items, *(python_to_js(item) for item in other)])

    def __mul__(self, times: int) -> JsArray:
        return JsArray(self._items * times)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = JsProxy.__hash__

    def append(self, value: Any) -> None:
        self._items.append(python_to_js(value))

    def extend(self, values: Iterable[Any]) -> None:
        self._items.extend(python_to_js(value) for value in values)

    def insert(self, index: int, value: Any) -> None:
        self._items.insert(index, python_to_js(value))

    def remove(self, value: Any) -> None:
        self._items.remove(python_to_js(value))

    def count(self, value: Any) -> int:
        return self._items.count(python_to_js(value))

    def index(self, value: Any, *bounds: int) -> int:
        return self._items.index(python_to_js(value), *bounds)

    def pop(self, index: int = -1) -> Any:
        return js_to_python(self._items.pop(index))

    def reverse(self) -> None:
        self._items.reverse()

    # -- JavaScript ---------------------------------------------------------------------------

    @property
    def length(self) -> int:
        return len(self._items)

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
    def slice(self, start: Any = 0, end: Any = None) -> JsArray:
        return JsArray(self._items[start:end])

    @js_method
    def concat(self, *others: Any) -> JsArray:
        items = list(self._items)
        for other in others:
            items.extend(other._items if isinstance(other, JsArray) else [other])
        return JsArray(items)

    @js_method
    def join(self, separator: Any = ",") -> str:
        empty = (None, jsnull)
        return to_string(separator).join(
            "" if any(item is nothing for nothing in empty) else to_string(item)
            for item in self._items
        )

    @js_method
    def includes(self, value: Any = None) -> bool:
        return any(same_value_zero(item, value) for item in self._items)

    @js_method
    def indexOf(self, value: Any = None) -> int:
        found = (i for i, item in enumerate(self._items) if same_value_zero(item, value))
        return next(found, -1)

    @js_method
    def at(self, index: Any = 0) -> Any:
        try:
            return self._items[index]
        except IndexError:
            return None

    @js_method
    def map(self, callback: Any) -> JsArray:
        return JsArray([call_back(callback, v, i, self) for i, v in enumerate(self._items)])

    @js_method
    def filter(self, callback: Any) -> JsArray:
        kept = [v for i, v in enumerate(self._items) if call_back(callback, v, i, self)]
        return JsArray(kept)

    @js_method
    def forEach(self, callback: Any) -> None:
        for index, item in enumerate(list(self._items)):
            call_back(callback, item, index, self)

    @js_method
    def find(self, callback: Any) -> Any:
        return next((v for i, v in enumerate(self._items) if call_back(callback, v, i, self)), None)

    @js_method
    def some(self, callback: Any) -> bool:
        return any(call_back(callback, v, i, self) for i, v in enumerate(self._items))

    @js_method
    def every(self, callback: Any) -> bool:
        return all(call_back(callback, v, i, self) for i, v in enumerate(self._items))

    @js_method
    def keys(self) -> JsIterator:
        return JsIterator(range(len(self._items)))

    @js_method
    def values(self) -> JsIterator:
        return JsIterator(self._items)

    @js_method
    def entries(self) -> JsIterator:
        return JsIterator(JsArray([i, item]) for i, item in enumerate(self._items))

    def _to_string(self) -> str:
        return JsArray.join(self)

    def _entries(self) -> dict[str, Any]:
        return {str(index): item for index, item in enumerate(self._items)}

    def _property_names(self) -> list[str]:
        return []


def array_from(source: Any = None, mapper: Any = None) -> JsArray:
    if isinstance(source, JsObject):
        length = source._get("length") or 0
        items = [source._get(str(i)) for i in range(length)]
    else:
        items = list(iterate_js(source))
    if mapper is not None:
        items = [call_back(mapper, item, index) for index, item in enumerate(items)]
    return JsArray(items)


js_static(JsArray, "from_", array_from)
js_static(JsArray, "of", lambda *items: JsArray(list(items)))
js_static(JsArray, "isArray", lambda value=None: isinstance(value, JsArray))


def call_back(callback: Any, *args: Any) -> Any:
    """Call a JavaScript function, or a Python one that crossed, from inside the boundary."""
    if isinstance(callback, JsFunction):
        return callback._call(*args)
    from tsumugi_emulator.javascript.crossing import call_python

    return call_python(callback, *args)


def same_value_zero(left: Any, right: Any) -> bool:
    """JavaScript's SameValueZero, used by includes, Map and Set."""
    if left is right:
        return True
    if isinstance(left, JsProxy) or isinstance(right, JsProxy):
        return False
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(left == right) or (left != left and right != right)  # NaN
