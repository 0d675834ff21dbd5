"""``Array``: JavaScript's sequence as Python sees it.

Elements are JavaScript values; reading one from Python goes through ``js_to_python``. There are no
holes: a missing element is undefined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.array_methods import ArrayMethods
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.errors import range_error
from tsumugi_emulator.javascript.functions import js_class, js_static
from tsumugi_emulator.javascript.iterators import (
    JsIterator,
    call_back,
    iterate_js,
    same_value_zero,
)
from tsumugi_emulator.javascript.proxy_type import NotOffered
from tsumugi_emulator.javascript.strings import to_number
from tsumugi_emulator.javascript.values import JsObject, js_to_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: 2**32 - 1, ECMAScript's bound.
MAX_ARRAY_LENGTH = 4_294_967_295


@js_class("Array")
class JsArray(ArrayMethods):
    """A JavaScript Array, usable as a Python sequence."""

    __slots__ = ()

    as_object_map = NotOffered()

    @classmethod
    def _construct(cls, *args: Any) -> JsArray:
        if len(args) == 1 and isinstance(args[0], int | float) and not isinstance(args[0], bool):
            return cls([None] * _array_length(args[0]))
        return cls(list(args))

    # -- Python -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)

    def __iter__(self) -> JsIterator:
        return JsIterator(self._items)

    def __reversed__(self) -> JsIterator:
        return JsIterator(reversed(self._items))

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
        items = self._items
        if isinstance(key, slice):
            items[key] = [python_to_js(item) for item in value]
            return
        if isinstance(key, int) and key >= len(items):
            items.extend([None] * (key + 1 - len(items)))
        try:
            items[key] = python_to_js(value)
        except IndexError:
            raise IndexError(key) from None

    def __delitem__(self, key: Any) -> None:
        try:
            del self._items[key]
        except IndexError:
            raise IndexError(key) from None

    def __add__(self, other: Any) -> JsArray:
        return JsArray([*self._items, *(python_to_js(item) for item in other)])

    def __iadd__(self, other: Any) -> JsArray:
        self.extend(other)
        return self

    def __mul__(self, times: int) -> JsArray:
        return JsArray(self._items * times)

    __rmul__ = __mul__

    def __imul__(self, times: int) -> JsArray:
        self._items *= times
        return self

    def append(self, value: Any) -> None:
        self._items.append(python_to_js(value))

    def extend(self, values: Iterable[Any]) -> None:
        self._items.extend([python_to_js(value) for value in values])

    def insert(self, index: int, value: Any) -> None:
        self._items.insert(index, python_to_js(value))

    def remove(self, value: Any) -> None:
        del self._items[self.index(value)]

    def count(self, value: Any) -> int:
        wanted = python_to_js(value)
        return sum(same_value_zero(item, wanted) for item in self._items)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        wanted = python_to_js(value)
        for index in range(*slice(start, stop).indices(len(self._items))):
            if same_value_zero(self._items[index], wanted):
                return index
        raise ValueError(f"{value!r} is not in list")

    def pop(self, index: int = -1) -> Any:
        return js_to_python(self._items.pop(index))

    def reverse(self) -> None:
        self._items.reverse()

    # -- JavaScript ---------------------------------------------------------------------------

    @property
    def length(self) -> int:
        return len(self._items)

    @length.setter
    def length(self, length: Any) -> None:
        size = _array_length(to_number(length))
        del self._items[size:]
        self._items.extend([None] * (size - len(self._items)))

    def _iterate(self) -> Iterator[Any]:
        return iter(self._items)

    def _to_string(self) -> str:
        text: str = JsArray.join(self)
        return text

    def _entries(self) -> dict[str, Any]:
        return {str(index): item for index, item in enumerate(self._items)}

    def _property_names(self) -> list[str]:
        return []


def _array_length(value: int | float) -> int:
    if value != value or value != int(value) or not 0 <= value <= MAX_ARRAY_LENGTH:
        raise range_error("Invalid array length")
    return int(value)


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

__all__ = [
    "JsArray",
    "JsIterator",
    "array_from",
    "call_back",
    "iterate_js",
    "same_value_zero",
]
