"""JavaScript values as Python sees them: proxies, objects, functions, null and BigInt.

A JavaScript object and its ``JsProxy`` are one Python object here: reading a property yields a
JavaScript value, and primitives are already what Pyodide would convert them to. Inside the
boundary a JavaScript value is one of

* ``None`` (undefined), ``jsnull``, ``bool``, ``str``, ``JsBigInt``,
* a number: ``int`` when it is a safe integer, otherwise ``float`` (also ``-0.0``),
* a ``JsProxy`` (any object, and symbols), or
* a ``PyProxy`` (a Python object that crossed without being converted).

This module converts nothing deep; that is ``convert``. Names that start with an underscore are
the emulator's own and never a JavaScript property.
"""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.primitives import (
    MAX_SAFE_INTEGER,
    JsBigInt,
    JsNull,
    js_number,
    jsnull,
    normalize_number,
)
from tsumugi_emulator.javascript.proxy_type import JsProxyType, cannot_pickle, offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _since_313() -> bool:
    return not MODE.null_is_none


class JsProxy(metaclass=JsProxyType):
    """Any JavaScript object. Subclasses add the Python protocols the object supports."""

    __slots__ = ()

    #: The JavaScript constructor; ``obj.constructor.name`` is what the SDK dispatches on.
    constructor: Any = None
    #: Makes what the SDK would wrap this object into, when that can spare its detours.
    _for_sdk: Any = None
    #: What ``typeof obj`` says.
    typeof: Any = "object"

    def __init__(self) -> None:
        if type(self) is JsProxy:
            raise TypeError("JsProxy cannot be instantiated.")

    # -- Python protocols -------------------------------------------------------------------

    __hash__: Any = None
    __reduce_ex__ = cannot_pickle

    def __class_getitem__(cls, item: Any) -> type[JsProxy]:
        return cls  # ``JsArray[str]`` in annotations

    def __getattr__(self, name: str) -> Any:
        if name in _OBJECT_PROTOTYPE:
            return _object_prototype_method(self, name)
        raise AttributeError(name)

    def __repr__(self) -> str:
        return self._to_string()

    def __str__(self) -> str:
        return self._to_string()

    def __dir__(self) -> list[str]:
        added = (name for name in _PROXY_METHODS if hasattr(type(self), name))
        members = _js_members(type(self))
        names = {*self._property_names(), *members, *added, *_OBJECT_PROTOTYPE}
        return sorted(names | {"constructor"})

    def __lt__(self, other: object) -> bool:
        return _compare(self, other, lambda left, right: left < right)

    def __le__(self, other: object) -> bool:
        return _compare(self, other, lambda left, right: left <= right)

    def __gt__(self, other: object) -> bool:
        return _compare(self, other, lambda left, right: left > right)

    def __ge__(self, other: object) -> bool:
        return _compare(self, other, lambda left, right: left >= right)

    # -- What every proxy offers to Python ----------------------------------------------------

    @property
    def js_id(self) -> int:
        return id(self)

    #: Filled by ``standard`` with ``to_python.to_py``.
    to_py: Callable[..., Any]

    def object_keys(self) -> Any:
        from tsumugi_emulator.javascript.arrays import JsArray

        return JsArray(list(self._entries()))

    def object_values(self) -> Any:
        from tsumugi_emulator.javascript.arrays import JsArray

        return JsArray(list(self._entries().values()))

    def object_entries(self) -> Any:
        from tsumugi_emulator.javascript.arrays import JsArray

        return JsArray([JsArray([key, value]) for key, value in self._entries().items()])

    def as_object_map(self, *, hereditary: bool = False) -> Any:
        from tsumugi_emulator.javascript.maps import ObjectMapView

        return ObjectMapView(self, hereditary=hereditary)

    @offered(_since_313)
    def as_py_json(self) -> Any:
        from tsumugi_emulator.javascript.maps import ObjectMapView

        return ObjectMapView(self, hereditary=True)

    @offered(_since_313)
    def bind_sig(self, signature: Any) -> Any:
        return self

    @offered(_since_313)
    def bind_class(self, signature: Any) -> Any:
        return self

    @offered(_since_313)
    def to_weakref(self) -> Any:
        from tsumugi_emulator.javascript.maps import JsWeakRef

        return JsWeakRef(self)

    # -- What the emulator asks of every object -----------------------------------------------

    def _class_name(self) -> str:
        return getattr(type(self).constructor, "name", "Object")

    def _to_string(self) -> str:
        return f"[object {self._class_name()}]"

    def _primitive(self) -> Any:
        """ToPrimitive(obj, number): what comparisons and arithmetic work on."""
        return self._to_string()

    def _entries(self) -> dict[str, Any]:
        """Own enumerable string-keyed properties, in order."""
        return {}

    def _property_names(self) -> list[str]:
        return list(self._entries())

    def _get(self, name: str) -> Any:
        """JavaScript's ``obj[name]``: undefined where Python would raise AttributeError."""
        return getattr(self, name, None)


_PROXY_METHODS = (
    "as_object_map",
    "as_py_json",
    "bind_class",
    "bind_sig",
    "js_id",
    "new",
    "object_entries",
    "object_keys",
    "object_values",
    "to_py",
    "to_weakref",
    "typeof",
)


def _js_members(cls: type) -> Iterator[str]:
    """Names of the JavaScript methods and accessors a host class defines."""
    for base in cls.__mro__:
        for name, member in vars(base).items():
            if getattr(member, "is_javascript", False):
                yield name


def _compare(left: JsProxy, right: object, holds: Callable[[Any, Any], bool]) -> bool:
    if not isinstance(right, JsProxy):
        return NotImplemented  # type: ignore[no-any-return]
    from tsumugi_emulator.javascript.strings import compare

    return compare(left, right, holds)


class JsSymbol(JsProxy):
    """A JavaScript symbol: passes through Python untouched."""

    __slots__ = ("description",)

    typeof = "symbol"

    def __init__(self, description: str) -> None:
        self.description = description

    def _to_string(self) -> str:
        return f"Symbol({self.description})"


class JsObject(JsProxy):
    """A plain object, ``{...}`` in JavaScript."""

    __slots__ = ("_props",)

    _props: dict[str, Any]

    def __init__(self, props: dict[str, Any] | None = None) -> None:
        _set_props(self, {} if props is None else props)

    @property
    def constructor(self) -> Any:
        own = self._props.get("constructor")
        return OBJECT_CONSTRUCTOR[0] if own is None else own

    def __getattr__(self, name: str) -> Any:
        key = _plain_name(name) if name[-1] == "_" else name
        try:
            return js_to_python(self._props[key])
        except KeyError:
            if key in _OBJECT_PROTOTYPE:
                return _object_prototype_method(self, key)
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        from tsumugi_emulator.javascript.crossing import python_to_js

        self._props[_plain_name(name)] = python_to_js(value)

    def __delattr__(self, name: str) -> None:
        self._props.pop(_plain_name(name), None)

    def __len__(self) -> int:
        for name in ("length", "size"):
            length = self._props.get(name)
            if isinstance(length, int):
                return length
        raise TypeError("object of type 'pyodide.ffi.JsProxy' has no len()")

    def __bool__(self) -> bool:
        return self._props.get("size") != 0

    def _class_name(self) -> str:
        return "Object"

    def _entries(self) -> dict[str, Any]:
        return self._props

    def _get(self, name: str) -> Any:
        return self._props.get(name)


_set_props: Callable[[JsObject, dict[str, Any]], None] = vars(JsObject)["_props"].__set__

#: Filled by ``standard``: the ``Object`` constructor every plain object answers with.
OBJECT_CONSTRUCTOR: list[Any] = [None]


def _plain_name(name: str) -> str:
    """The property a Python attribute means: ``class_`` is ``class``, which Python cannot say."""
    if name[-1] == "_" and keyword.iskeyword(name.rstrip("_")):
        return name[:-1]
    return name


_OBJECT_PROTOTYPE: dict[str, Callable[..., Any]] = {
    "hasOwnProperty": lambda obj, name: name in obj._entries(),
    "isPrototypeOf": lambda obj, other=None: False,
    "propertyIsEnumerable": lambda obj, name: name in obj._entries(),
    "toLocaleString": lambda obj: obj._to_string(),
    "toString": lambda obj: obj._to_string(),
    "valueOf": lambda obj: obj,
}


def _object_prototype_method(obj: JsProxy, name: str) -> Any:
    from tsumugi_emulator.javascript.functions import JsFunction

    method = _OBJECT_PROTOTYPE[name]
    return JsFunction(lambda *args: method(obj, *args), name)


def js_to_python(value: Any) -> Any:
    """What reading a JavaScript value gives Python, one level deep."""
    kind = type(value)
    if kind is PyProxy:
        return value._to_python()
    if kind is float:
        return normalize_number(value)
    if kind is JsNull and MODE.null_is_none:
        return None
    if kind is JsBigInt and not MODE.has_bigint_type:
        return int(value)
    return value


#: The second line of every text about a destroyed proxy.
_SET_DEBUG = "\nFor more information about the cause of this error, use `pyodide.setDebug(true)`"


class PyProxy:
    """A Python object as JavaScript holds it: opaque to ``JSON.stringify``, not cloneable."""

    __slots__ = ("_destroyed", "_obj", "_roundtrip")

    #: Why a proxy is dead, unless it was destroyed by hand.
    BORROWED = (
        "This borrowed proxy was automatically destroyed at the end of a function call. "
        f"Try using create_proxy or create_once_callable.{_SET_DEBUG}"
    )
    ITERATED = (
        "This borrowed proxy was automatically destroyed when an iterator was exhausted."
        f"{_SET_DEBUG}"
    )
    DESTROYED = f"Object has already been destroyed{_SET_DEBUG}"

    def __init__(self, obj: Any, *, roundtrip: bool = False) -> None:
        self._obj = obj
        self._destroyed: str | None = None
        #: Whether Python gets a handle back instead of the object (``create_proxy``).
        self._roundtrip = roundtrip

    def _unwrap(self) -> Any:
        if self._destroyed is not None:
            from tsumugi_emulator.javascript.errors import js_error

            raise js_error("Error", self._destroyed)
        return self._obj

    def _to_python(self) -> Any:
        if self._roundtrip and self._destroyed is None:
            from tsumugi_emulator.javascript.double_proxy import JsDoubleProxy

            return JsDoubleProxy(self)
        return self._unwrap()

    def _destroy(self, message: str = DESTROYED) -> None:
        if self._destroyed is None:
            self._destroyed = message
            self._obj = None

    @property
    def name(self) -> str:
        return type(self._obj).__name__


__all__ = [
    "MAX_SAFE_INTEGER",
    "OBJECT_CONSTRUCTOR",
    "JsBigInt",
    "JsNull",
    "JsObject",
    "JsProxy",
    "JsSymbol",
    "PyProxy",
    "js_number",
    "js_to_python",
    "jsnull",
    "normalize_number",
]
