"""The Python protocols of a JavaScript object: its JavaScript members decide, as in Pyodide.

Pyodide looks at each object it meets; here a host class is looked at once, by ``js_class``. What a
class defines itself stays. Arrays, typed arrays and plain objects define all of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.values import JsProxy, js_to_python

Methods = dict[str, Callable[..., Any]]


def compose(cls: type[JsProxy]) -> None:
    """Give ``cls`` the protocols that its members call for."""
    for name, method in _protocols_of(cls).items():
        if not any(name in vars(base) for base in cls.__mro__ if base not in (JsProxy, object)):
            setattr(cls, name, method)
    if _is_mapping(cls):
        add_mapping_methods(cls)


def add_mapping_methods(cls: type[JsProxy]) -> None:
    """Give ``cls`` Python's mapping methods; they hide JavaScript's of the same name."""
    for name, method in _MAPPING_METHODS.items():
        setattr(cls, name, method)


def _is_mapping(cls: type[JsProxy]) -> bool:
    return all(hasattr(cls, name) for name in ("get", "size", "_iterate"))


def _protocols_of(cls: type[JsProxy]) -> Methods:
    found: Methods = {}
    for name in ("length", "size"):
        if hasattr(cls, name):
            found |= _sized(name)
    if hasattr(cls, "_iterate"):
        found["__iter__"] = _iterate_keys if _is_mapping(cls) else _iterate
    members = {name: getattr(cls, name, None) for name in ("get", "set", "delete", "has")}
    if callable(members["get"]):
        found["__getitem__"] = _item_reader(members["get"], members["has"])
    if callable(members["set"]):
        found["__setitem__"] = _item_writer(members["set"])
    if callable(members["set"]) and callable(members["delete"]):
        found["__delitem__"] = _item_deleter(members["delete"])
    if callable(members["has"]):
        found["__contains__"] = _item_finder(members["has"])
    return found


def _sized(name: str) -> Methods:
    def length(self: Any) -> int:
        found: int = getattr(self, name)
        return found

    return {"__len__": length, "__bool__": lambda self: length(self) != 0}


def _iterate(self: Any) -> Any:
    from tsumugi_emulator.javascript.arrays import JsIterator

    return JsIterator(self._iterate(), self._class_name())


def _iterate_keys(self: Any) -> Any:
    from tsumugi_emulator.javascript.arrays import JsIterator

    return JsIterator((pair._items[0] for pair in self._iterate()), self._class_name())


def _item_reader(get: Callable[..., Any], has: Callable[..., Any] | None) -> Callable[..., Any]:
    def read(self: Any, key: Any) -> Any:
        js_key = python_to_js(key)
        value = get(self, js_key)
        if value is None and not (has is not None and has(self, js_key)):
            raise KeyError(key)
        return js_to_python(value)

    return read


def _item_writer(set_: Callable[..., Any]) -> Callable[..., None]:
    def write(self: Any, key: Any, value: Any) -> None:
        set_(self, python_to_js(key), python_to_js(value))

    return write


def _item_deleter(delete: Callable[..., Any]) -> Callable[..., None]:
    def remove(self: Any, key: Any) -> None:
        # Also where JavaScript's delete() returns nothing: Pyodide takes that for "absent".
        if not delete(self, python_to_js(key)):
            raise KeyError(key)

    return remove


def _item_finder(has: Callable[..., Any]) -> Callable[..., bool]:
    return lambda self, key: bool(has(self, python_to_js(key)))


def _get(self: Any, key: Any, default: Any = None) -> Any:
    try:
        return self[key]
    except Exception:  # Pyodide drops any error here, also that of a dead proxy
        return default


def _pop(self: Any, key: Any, *default: Any) -> Any:
    if default and key not in self:
        return default[0]
    value = self[key]
    del self[key]
    return value


_MAPPING_METHODS: Methods = {
    "get": _get,
    "items": MutableMapping.items,
    "keys": MutableMapping.keys,
    "pop": _pop,
    "popitem": MutableMapping.popitem,
    "setdefault": MutableMapping.setdefault,
    "update": MutableMapping.update,
    "values": MutableMapping.values,
}
