"""``JsProxy.to_py``: JavaScript's containers and buffers as Python's, deep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.array_buffer import Buffer
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.maps import JsMap, JsSet, _key
from tsumugi_emulator.javascript.values import JsObject, JsProxy, js_to_python

if TYPE_CHECKING:
    from collections.abc import Callable

#: The module whose converter asks on the SDK's behalf.
SDK_CONVERTERS = "workers.rpc"
#: Types whose values Python and JavaScript share (by identity of the type, so no subclasses).
_SHARED = frozenset({str, int, bool, type(None)})


def to_py(obj: Any, *, depth: int = -1, default_converter: Any = None) -> Any:
    """Containers and buffers deep, everything else by the default converter."""
    if default_converter is None and isinstance(obj, JsFunction):
        return obj
    return _to_py(obj, depth, default_converter, {})


def _to_py(value: Any, depth: int, default: Any, cache: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in _SHARED:
        return value
    build = _BUILDERS.get(kind)
    if build is None:
        build = _BUILDERS[kind] = _builder_of(kind)
    if build is _primitive:
        return js_to_python(value)
    if depth == 0:
        return value
    found = cache.get(id(value))
    return build(value, depth, default, cache) if found is None else found


#: What makes the Python value of each class met so far.
_BUILDERS: dict[type, Any] = {}


def _builder_of(kind: type) -> Callable[..., Any]:
    for cls, build in (
        (JsObject, _dict_of_object),
        (JsArray, _list),
        (JsMap, _dict_of_map),
        (JsSet, _set),
        (Buffer, _memoryview),
        (JsProxy, _leaf),
    ):
        if issubclass(kind, cls):
            return build
    return _primitive


def _primitive(value: Any, _depth: int, _default: Any, _cache: dict[int, Any]) -> Any:
    return js_to_python(value)


def _dict_of_object(value: JsObject, depth: int, default: Any, cache: dict[int, Any]) -> Any:
    props = value._props
    if "constructor" in props:  # then it does not look like a plain object
        return _leaf(value, depth, default, cache)
    result: dict[str, Any] = {}
    cache[id(value)] = result
    for key, item in props.items():
        shared = type(item) in _SHARED
        result[key] = item if shared else _to_py(item, depth - 1, default, cache)
    return result


def _list(value: JsArray, depth: int, default: Any, cache: dict[int, Any]) -> Any:
    result: list[Any] = []
    cache[id(value)] = result
    result.extend([_to_py(item, depth - 1, default, cache) for item in value._items])
    return result


def _dict_of_map(value: JsMap, depth: int, default: Any, cache: dict[int, Any]) -> Any:
    _check_keys(value._data, "Map")
    result: dict[Any, Any] = {}
    cache[id(value)] = result
    for key, item in value._data.values():
        result[_hashable(key, "dict")] = _to_py(item, depth - 1, default, cache)
    return result


def _set(value: JsSet, _depth: int, _default: Any, _cache: dict[int, Any]) -> Any:
    _check_keys(value._data, "Set")
    return {_hashable(item, "set") for item in value._data.values()}


def _check_keys(data: dict[Any, Any], of: str) -> None:
    """Python takes some keys that differ in JavaScript for one.

    Raises:
        JsException: both are there.
    """
    for number, boolean in ((1, True), (0, False)):
        if number in data and _key(boolean) in data:
            text = f"both {number} and {str(boolean).lower()} as keys."
            raise js_error(
                "Error", f"Cannot faithfully convert {of} into Python since it contains {text}"
            )


def _memoryview(value: Buffer, _depth: int, _default: Any, _cache: dict[int, Any]) -> Any:
    return value.to_memoryview()


def _leaf(value: JsProxy, _depth: int, default: Any, cache: dict[int, Any]) -> Any:
    if default is None:
        return value
    if value._for_sdk is not None and for_sdk(default):
        return value._for_sdk(value)

    def convert(inner: Any) -> Any:
        return _to_py(inner, -1, default, cache)

    def remember(inner: Any, result: Any) -> None:
        cache[id(inner)] = result

    return default(value, convert, remember)


def for_sdk(default_converter: Any) -> bool:
    """Whether it is the SDK that asks, with its own converter."""
    return getattr(default_converter, "__module__", None) == SDK_CONVERTERS


def _hashable(key: Any, of: str) -> Any:
    if isinstance(key, JsProxy):
        text = f"Cannot use key of type {key._class_name()} as a key to a Python {of}"
        raise js_error("Error", text)
    return js_to_python(key)
