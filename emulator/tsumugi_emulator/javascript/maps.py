"""Map and Set, and the mapping view of ``as_object_map``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray, JsIterator, call_back, iterate_js
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsObject, JsProxy, js_to_python, jsnull

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def _key(value: Any) -> Any:
    # Python dicts take 1 and True (and 1.0) for one key; JavaScript does not.
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, float) and value != value:
        return "NaN-key"
    return value


@js_class("Map")
class JsMap(JsProxy):
    """A JavaScript Map, usable as a Python mapping."""

    __slots__ = ("_data",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]] = ()) -> None:
        self._data: dict[Any, tuple[Any, Any]] = {_key(k): (k, v) for k, v in pairs}

    @classmethod
    def _construct(cls, source: Any = None) -> JsMap:
        if source is None or source is jsnull:
            return cls()
        pairs = []
        for pair in iterate_js(source):
            if not isinstance(pair, JsProxy):
                raise type_error(f"Iterator value {to_string(pair)} is not an entry object")
            entries = pair._entries()
            pairs.append((entries.get("0"), entries.get("1")))
        return cls(pairs)

    # -- Python -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._data)

    def __bool__(self) -> bool:
        return bool(self._data)

    def __iter__(self) -> Iterator[Any]:
        return (js_to_python(k) for k, _ in list(self._data.values()))

    def __contains__(self, key: Any) -> bool:
        return _key(python_to_js(key)) in self._data

    def __getitem__(self, key: Any) -> Any:
        try:
            return js_to_python(self._data[_key(python_to_js(key))][1])
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        js_key = python_to_js(key)
        self._data[_key(js_key)] = (js_key, python_to_js(value))

    def __delitem__(self, key: Any) -> None:
        if self._data.pop(_key(python_to_js(key)), None) is None:
            raise KeyError(key)

    # -- JavaScript (also Python's mapping methods of the same name) -----------------------------

    @property
    def size(self) -> int:
        return len(self._data)

    def get(self, key: Any, default: Any = None) -> Any:
        found = self._data.get(_key(python_to_js(key)))
        return default if found is None else js_to_python(found[1])

    @js_method
    def set(self, key: Any = None, value: Any = None) -> JsMap:
        self._data[_key(key)] = (key, value)
        return self

    @js_method
    def has(self, key: Any = None) -> bool:
        return _key(key) in self._data

    @js_method
    def delete(self, key: Any = None) -> bool:
        return self._data.pop(_key(key), None) is not None

    @js_method
    def clear(self) -> None:
        self._data.clear()

    @js_method
    def forEach(self, callback: Any) -> None:
        for key, value in list(self._data.values()):
            call_back(callback, value, key, self)

    @js_method
    def keys(self) -> JsIterator:
        return JsIterator(key for key, _ in self._data.values())

    @js_method
    def values(self) -> JsIterator:
        return JsIterator(value for _, value in self._data.values())

    @js_method
    def entries(self) -> JsIterator:
        return JsIterator(self._iterate())

    def items(self) -> Iterator[tuple[Any, Any]]:
        return ((js_to_python(k), js_to_python(v)) for k, v in self._data.values())

    def _iterate(self) -> Iterator[Any]:
        return (JsArray([key, value]) for key, value in self._data.values())


@js_class("LiteralMap")
class JsLiteralMap(JsMap):
    """What ``to_js(dict)`` makes on Python 3.13: a Map whose entries are also properties."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        found = self._data.get(name)
        if found is None:
            raise AttributeError(name)
        return js_to_python(found[1])

    def _entries(self) -> dict[str, Any]:
        return {key: value for key, value in self._data.values() if isinstance(key, str)}


@js_class("Set")
class JsSet(JsProxy):
    """A JavaScript Set, usable as a Python collection."""

    __slots__ = ("_data",)

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._data: dict[Any, Any] = {_key(value): value for value in values}

    @classmethod
    def _construct(cls, source: Any = None) -> JsSet:
        return cls() if source is None or source is jsnull else cls(iterate_js(source))

    def __len__(self) -> int:
        return len(self._data)

    def __bool__(self) -> bool:
        return bool(self._data)

    def __iter__(self) -> Iterator[Any]:
        return map(js_to_python, list(self._data.values()))

    def __contains__(self, value: Any) -> bool:
        return _key(python_to_js(value)) in self._data

    @property
    def size(self) -> int:
        return len(self._data)

    @js_method
    def add(self, value: Any = None) -> JsSet:
        self._data[_key(value)] = value
        return self

    @js_method
    def has(self, value: Any = None) -> bool:
        return _key(value) in self._data

    @js_method
    def delete(self, value: Any = None) -> bool:
        missing = object()
        return self._data.pop(_key(value), missing) is not missing

    @js_method
    def clear(self) -> None:
        self._data.clear()

    @js_method
    def forEach(self, callback: Any) -> None:
        for value in list(self._data.values()):
            call_back(callback, value, value, self)

    @js_method
    def values(self) -> JsIterator:
        return JsIterator(self._data.values())

    @js_method
    def keys(self) -> JsIterator:
        return JsIterator(self._data.values())

    @js_method
    def entries(self) -> JsIterator:
        return JsIterator(JsArray([value, value]) for value in self._data.values())

    def _iterate(self) -> Iterator[Any]:
        return iter(self._data.values())


class ObjectMapView(JsProxy):
    """``proxy.as_object_map()``: an object's own properties as a Python mapping."""

    __slots__ = ("_hereditary", "_target")

    def __init__(self, target: JsProxy, *, hereditary: bool = False) -> None:
        self._target = target
        self._hereditary = hereditary

    def _wrap(self, value: Any) -> Any:
        read = js_to_python(value)
        if self._hereditary and isinstance(read, JsObject):
            return ObjectMapView(read, hereditary=True)
        return read

    def __len__(self) -> int:
        return len(self._target._entries())

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._target._entries()))

    def __contains__(self, key: Any) -> bool:
        return key in self._target._entries()

    def __getitem__(self, key: Any) -> Any:
        entries = self._target._entries()
        if key not in entries:
            raise KeyError(key)
        return self._wrap(entries[key])

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self._target, key, value)

    def __delitem__(self, key: str) -> None:
        delattr(self._target, key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401  # this is get()

    def keys(self) -> list[str]:
        return list(self._target._entries())

    def values(self) -> list[Any]:
        return [self._wrap(value) for value in self._target._entries().values()]

    def items(self) -> list[tuple[str, Any]]:
        return [(key, self._wrap(value)) for key, value in self._target._entries().items()]
