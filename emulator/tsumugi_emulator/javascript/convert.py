"""Conversions across the boundary, with Pyodide's rules: ``to_js``, ``to_py``, call arguments.

Rows: python-workers-runtime 1.7. The SDK's own ``python_to_rpc``/``python_from_rpc`` run on top,
unmodified. Not here: structured clone (``clone``) and JSON (``json``).
"""

from __future__ import annotations

import array
from typing import Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import typed_array_from_buffer
from tsumugi_emulator.javascript.crossing import (
    NOT_PRIMITIVE,
    primitive_to_js,
    python_to_js,
)
from tsumugi_emulator.javascript.double_proxy import JsDoubleProxy
from tsumugi_emulator.javascript.errors import ConversionError
from tsumugi_emulator.javascript.maps import JsLiteralMap, JsMap, JsSet
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.values import (
    MAX_SAFE_INTEGER,
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    JsSymbol,
    PyProxy,
    js_to_python,
)

#: Checked on every value that crosses: a tuple is several times faster than a union here.
_CONTAINERS = (dict, list, tuple)
_JAVASCRIPT = (JsNull, PyProxy, JsProxy)


class _ToJs:
    """One ``to_js`` call: its options and the objects already converted (cycles keep identity)."""

    __slots__ = ("cache", "create_pyproxies", "default", "dict_converter", "eager", "pyproxies")

    def __init__(
        self,
        dict_converter: Any,
        default: Any,
        pyproxies: Any,
        create_pyproxies: bool,
        eager: Any = None,
    ) -> None:
        self.cache: dict[int, Any] = {}
        self.dict_converter = dict_converter
        self.default = default
        self.pyproxies = pyproxies
        self.create_pyproxies = create_pyproxies
        self.eager = eager

    def convert(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            if -MAX_SAFE_INTEGER < value < MAX_SAFE_INTEGER:
                return value
            return JsBigInt(value)
        if isinstance(value, _CONTAINERS):
            if depth == 0:
                return self._proxy(value)
            found = self.cache.get(id(value))
            if found is not None:
                return found
            build = self._dict if isinstance(value, dict) else self._array
            return build(value, depth - 1)
        if isinstance(value, _JAVASCRIPT):
            return value._proxy if isinstance(value, JsDoubleProxy) else value
        return self._other(value, depth)

    def _array(self, value: Any, depth: int) -> JsArray:
        items: list[Any] = []
        result = self.cache[id(value)] = JsArray(items)
        convert = self.convert
        items.extend([convert(item, depth) for item in value])
        return result

    def _dict(self, value: Any, depth: int) -> Any:
        converter = self.dict_converter
        if converter is FROM_ENTRIES[0]:
            return self._object(value, depth)
        if converter is None:
            return self._literal(value, depth) if MODE.has_bigint_type else self._map(value, depth)
        self.cache[id(value)] = UNFINISHED
        convert = self.convert
        pairs = JsArray([JsArray([map_key(k), convert(v, depth)]) for k, v in value.items()])
        result = self.cache[id(value)] = python_to_js(converter(pairs))
        return result

    def _object(self, value: Any, depth: int) -> JsObject:
        """What ``Object.fromEntries`` makes of a dict."""
        self.cache[id(value)] = UNFINISHED
        convert = self.convert
        props: dict[str, Any] = {}
        for key, item in value.items():
            name = key if type(key) is str else property_key(key)
            if type(item) is str:
                props[name] = item
                continue
            converted = convert(item, depth)
            if converted is not UNFINISHED:
                props[name] = converted
        result = self.cache[id(value)] = ordered(JsObject(props))
        return result

    def _literal(self, value: Any, depth: int) -> JsObject:
        """The plain object of Python 3.14, which refuses two keys of one name."""
        props: dict[str, Any] = {}
        result = self.cache[id(value)] = JsObject(props)
        for key, item in value.items():
            name = key if type(key) is str else property_key(key)
            if name in props or name in _OBJECT_MEMBERS:
                raise ConversionError(
                    f"Key collision when converting Python dictionary to JavaScript. Key: {key!r}"
                )
            props[name] = self.convert(item, depth)
        return ordered(result)

    def _map(self, value: Any, depth: int) -> JsMap:
        """The Map of Python 3.12 and 3.13."""
        result = self.cache[id(value)] = JsMap() if MODE.null_is_none else JsLiteralMap()
        for key, item in value.items():
            result.set(map_key(key), self.convert(item, depth))
        return result

    def _other(self, value: Any, depth: int) -> Any:
        primitive = primitive_to_js(value)
        if primitive is not NOT_PRIMITIVE:
            return primitive
        if depth == 0:
            return self._proxy(value)
        if isinstance(value, set):
            return JsSet(map_key(item, "Set") for item in value)
        if isinstance(value, bytes | bytearray | memoryview | array.array):
            return typed_array_from_buffer(value)
        if self.default is not None:
            return self._default(value, depth)
        return self._proxy(value)

    def _default(self, value: Any, depth: int) -> Any:
        def convert(inner: Any) -> Any:
            return js_to_python(self.convert(inner, depth - 1))

        result = self.default(value, convert, self._remember)
        if result is value:
            return self._proxy(value)
        return python_to_js(result)

    def _remember(self, value: Any, result: Any) -> None:
        self.cache[id(value)] = python_to_js(result)

    def _proxy(self, value: Any) -> Any:
        if not self.create_pyproxies:
            raise ConversionError("No conversion known for x.")
        proxy = PyProxy(value)
        if self.pyproxies is not None:
            self.pyproxies._items.append(proxy)
        return proxy


class _EagerToJs(_ToJs):
    """With a converter that sees every value first."""

    __slots__ = ()

    def convert(self, value: Any, depth: int) -> Any:
        def convert_normally(inner: Any) -> Any:
            return js_to_python(_ToJs.convert(self, inner, depth))

        return python_to_js(self.eager(value, convert_normally, self._remember))


#: Filled by ``standard`` with ``Object.fromEntries``, which ``to_js`` short-cuts.
FROM_ENTRIES: list[Any] = [None]


#: Stands for a dict whose converter has not run yet. Production leaves it in the result, too.
UNFINISHED = JsSymbol("error marker")

#: What every object inherits; a property of such a name counts as taken.
_OBJECT_MEMBERS = frozenset(
    {
        "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
        "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
        "toString", "valueOf",
    }
)  # fmt: skip


def map_key(key: Any, of: str = "Map") -> Any:
    """A dict key or set member as JavaScript can hold it.

    Raises:
        ConversionError: the key would be an object, which JavaScript compares by identity.
    """
    if key is None or isinstance(key, (str, int, float, JsNull)):
        return python_to_js(key)
    raise ConversionError(f"Cannot use {key!r} as a key for a Javascript {of}")


def property_key(key: Any) -> str:
    from tsumugi_emulator.javascript.strings import to_string

    return to_string(map_key(key))


def is_index(key: str) -> bool:
    """Whether an array has such an index; larger numbers are names like any other."""
    if len(key) > len(str(_MAX_INDEX)) or not key.isdecimal():
        return False
    return str(int(key)) == key and int(key) <= _MAX_INDEX


_MAX_INDEX = 2**32 - 2


def ordered(obj: JsObject) -> JsObject:
    """Move integer-like keys first, ascending, as JavaScript enumerates them."""
    props = obj._props
    for key in props:
        if "0" <= key < ":":  # the character after "9"
            break
    else:
        return obj
    numeric = sorted(filter(is_index, props), key=int)
    if numeric:
        in_order = {key: props[key] for key in numeric} | props
        props.clear()
        props.update(in_order)
    return obj


def to_js(
    obj: Any,
    /,
    *,
    depth: int = -1,
    pyproxies: Any = None,
    create_pyproxies: bool = True,
    dict_converter: Any = None,
    default_converter: Any = None,
    eager_converter: Any = None,
) -> Any:
    """``pyodide.ffi.to_js``. Primitives and proxies come back as they are."""
    if obj is None or isinstance(obj, (str, int, float, JsProxy)):
        return obj
    if pyproxies is not None and not isinstance(pyproxies, JsArray):
        raise TypeError("Expected a JsArray for the pyproxies argument")
    kind = _ToJs if eager_converter is None else _EagerToJs
    state = kind(dict_converter, default_converter, pyproxies, create_pyproxies, eager_converter)
    try:
        converted = state.convert(obj, depth)
    except ConversionError:
        raise
    except Exception as error:
        raise ConversionError("Conversion from python to javascript failed") from error
    if type(converted) is PyProxy:
        return JsDoubleProxy(converted)
    return js_to_python(converted)
