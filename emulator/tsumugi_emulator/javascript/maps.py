"""Map and Set, and the mapping view of ``as_object_map``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.iterators import JsIterator, call_back, element, iterate_js
from tsumugi_emulator.javascript.protocols import add_mapping_methods
from tsumugi_emulator.javascript.proxy_type import NotOffered
from tsumugi_emulator.javascript.values import JsBigInt, JsObject, JsProxy, js_to_python, jsnull

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def _key(value: Any) -> Any:
    """A key of Python's that is equal where JavaScript's keys are the same."""
    if isinstance(value, bool):
        return ("bool", value)  # Python dicts take 1 and True (and 1.0) for one key
    if isinstance(value, float) and value != value:
        return "NaN-key"
    if type(value) is JsBigInt:
        return ("bigint", int(value))
    if isinstance(value, JsProxy):
        return ("object", value.js_id)
    return value


def _stored(key: Any) -> Any:
    """What is kept of a key: of the two zeros the positive one."""
    return 0 if type(key) is float and key == 0 else key


@js_class("Map")
class JsMap(JsProxy):
    """A JavaScript Map; Python's mapping methods come with its members (``protocols``)."""

    __slots__ = ("_data",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]] = ()) -> None:
        self._data: dict[Any, tuple[Any, Any]] = {_key(k): (_stored(k), v) for k, v in pairs}

    @classmethod
    def _construct(cls, source: Any = None) -> JsMap:
        if source is None or source is jsnull:
            return cls()
        return cls((element(pair, 0), element(pair, 1)) for pair in iterate_js(source))

    # -- Python -------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        try:
            return js_to_python(self._data[_key(python_to_js(key))][1])
        except KeyError:
            raise KeyError(key) from None

    # -- JavaScript ---------------------------------------------------------------------------

    @property
    def size(self) -> int:
        return len(self._data)

    @js_method
    def get(self, key: Any = None) -> Any:
        found = self._data.get(_key(key))
        return None if found is None else found[1]

    @js_method
    def set(self, key: Any = None, value: Any = None) -> JsMap:
        self._data[_key(key)] = (_stored(key), value)
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
    def entries(self) -> JsIterator:
        return JsIterator(self._iterate(), "Map")

    def _iterate(self) -> Iterator[Any]:
        return (JsArray([key, value]) for key, value in list(self._data.values()))


@js_class("LiteralMap")
class JsLiteralMap(JsMap):
    """What ``to_js(dict)`` makes on Python 3.13: a Map whose entries are also properties."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        found = self._data.get(name)
        if found is None:
            return super().__getattr__(name)
        return js_to_python(found[1])

    def _entries(self) -> dict[str, Any]:
        return {key: value for key, value in self._data.values() if isinstance(key, str)}

    def _to_string(self) -> str:
        return "[object Map]"


@js_class("Set")
class JsSet(JsProxy):
    """A JavaScript Set, usable as a Python collection."""

    __slots__ = ("_data",)

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._data: dict[Any, Any] = {_key(value): _stored(value) for value in values}

    @classmethod
    def _construct(cls, source: Any = None) -> JsSet:
        return cls() if source is None or source is jsnull else cls(iterate_js(source))

    @property
    def size(self) -> int:
        return len(self._data)

    @js_method
    def add(self, value: Any = None) -> JsSet:
        self._data[_key(value)] = _stored(value)
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
        return JsIterator(self._iterate(), "Set")

    @js_method
    def keys(self) -> JsIterator:
        return JsIterator(self._iterate(), "Set")

    @js_method
    def entries(self) -> JsIterator:
        return JsIterator((JsArray([value, value]) for value in self._iterate()), "Set")

    def _iterate(self) -> Iterator[Any]:
        return iter(list(self._data.values()))


class _Weak(JsProxy):
    """WeakMap and WeakSet: they keep their keys alive here, which no program can tell."""

    __slots__ = ("_data",)

    def __init__(self, _source: Any = None) -> None:
        self._data: dict[Any, tuple[Any, Any]] = {}

    @js_method
    def has(self, key: Any = None) -> bool:
        return _key(key) in self._data

    @js_method
    def delete(self, key: Any = None) -> bool:
        return self._data.pop(_key(key), None) is not None


@js_class("WeakMap")
class JsWeakMap(_Weak):
    __slots__ = ()

    @js_method
    def get(self, key: Any = None) -> Any:
        return self._data.get(_key(key), (None, None))[1]

    @js_method
    def set(self, key: Any = None, value: Any = None) -> JsWeakMap:
        self._data[_key(key)] = (key, value)
        return self


@js_class("WeakSet")
class JsWeakSet(_Weak):
    __slots__ = ()

    @js_method
    def add(self, value: Any = None) -> JsWeakSet:
        self._data[_key(value)] = (value, True)
        return self


@js_class("WeakRef")
class JsWeakRef(JsProxy):
    __slots__ = ("_target",)

    def __init__(self, target: Any) -> None:
        self._target = target

    @js_method
    def deref(self) -> Any:
        return self._target


class ObjectMapView(JsProxy):
    """``proxy.as_object_map()``: an object's own properties as a Python mapping."""

    __slots__ = ("_hereditary", "_target")

    as_object_map = NotOffered()

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
        if key not in self:
            raise KeyError(key)
        delattr(self._target, key)

    def _to_string(self) -> str:
        return self._target._to_string()


add_mapping_methods(ObjectMapView)
