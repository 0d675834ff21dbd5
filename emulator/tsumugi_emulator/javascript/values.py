"""JavaScript values as Python sees them: proxies, objects, functions, null and BigInt.

A JavaScript object and its ``JsProxy`` are one Python object here: reading a property yields a
JavaScript value, and primitives are already what Pyodide would convert them to. Inside the
boundary a JavaScript value is one of

* ``None`` (undefined), ``jsnull``, ``bool``, ``str``, ``JsBigInt``,
* a number: ``int`` when it is a safe integer, otherwise ``float``,
* a ``JsProxy`` (any object), or
* a ``PyProxy`` (a Python object that crossed without being converted).

This module converts nothing deep; that is ``convert``. Names that start with an underscore are
the emulator's own and never a JavaScript property.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.proxy_type import JsProxyType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Number.MAX_SAFE_INTEGER
MAX_SAFE_INTEGER = 2**53 - 1

_ids = itertools.count(1)


class JsNull:
    """JavaScript's null on Python 3.13 and later: falsy, and not None."""

    __slots__ = ()
    _instance: JsNull | None = None

    def __new__(cls) -> JsNull:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "jsnull"

    @property
    def typeof(self) -> str:
        return "object"


jsnull = JsNull()


class JsBigInt(int):
    """A JavaScript BigInt. Python 3.12 and 3.13 read it as a plain int."""

    __slots__ = ()


class JsSymbol:
    """A JavaScript symbol: passes through Python untouched."""

    __slots__ = ("description",)

    def __init__(self, description: str) -> None:
        self.description = description

    def __repr__(self) -> str:
        return f"Symbol({self.description})"


class JsProxy(metaclass=JsProxyType):
    """Any JavaScript object. Subclasses add the Python protocols the object supports."""

    __slots__ = ()

    #: The JavaScript constructor; ``obj.constructor.name`` is what the SDK dispatches on.
    constructor: Any = None
    #: What ``typeof obj`` says.
    typeof: Any = "object"

    # -- Python protocols -------------------------------------------------------------------

    def __class_getitem__(cls, item: Any) -> type[JsProxy]:
        return cls  # ``JsArray[str]`` in annotations

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    #: ``__getitem__`` alone would make every object iterable.
    __iter__: Any = None

    def __getitem__(self, key: Any) -> Any:
        raise TypeError("'pyodide.ffi.JsProxy' object is not subscriptable")

    def __repr__(self) -> str:
        return self._to_string()

    def __str__(self) -> str:
        return self._to_string()

    def __dir__(self) -> list[str]:
        return sorted({*self._property_names(), *_js_members(type(self)), *_PROXY_METHODS})

    # -- What every proxy offers to Python ----------------------------------------------------

    @property
    def js_id(self) -> int:
        return id(self)

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> Any:
        from tsumugi_emulator.javascript.convert import to_py

        return to_py(self, depth=depth, default_converter=default_converter)

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

    def as_py_json(self) -> Any:
        return self.as_object_map(hereditary=True)

    def bind_sig(self, signature: Any) -> Any:
        return self

    def bind_class(self, signature: Any) -> Any:
        return self

    def new(self, *args: Any, **kwargs: Any) -> Any:
        from tsumugi_emulator.javascript.errors import type_error

        raise type_error(f"{self._to_string()} is not a constructor")

    # -- What the emulator asks of every object -----------------------------------------------

    def _class_name(self) -> str:
        return getattr(type(self).constructor, "name", "Object")

    def _to_string(self) -> str:
        return f"[object {self._class_name()}]"

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
    "typeof",
)


def _js_members(cls: type) -> Iterator[str]:
    """Names of the JavaScript methods and accessors a host class defines."""
    for base in cls.__mro__:
        for name, member in vars(base).items():
            if getattr(member, "is_javascript", False):
                yield name


class JsObject(JsProxy):
    """A plain object, ``{...}`` in JavaScript."""

    __slots__ = ("_props",)

    _props: dict[str, Any]

    def __init__(self, props: dict[str, Any] | None = None) -> None:
        _set_props(self, {} if props is None else props)

    @property
    def constructor(self) -> Any:  # type: ignore[override]
        own = self._props.get("constructor")
        return OBJECT_CONSTRUCTOR[0] if own is None else own

    def __getattr__(self, name: str) -> Any:
        try:
            return js_to_python(self._props[name])
        except KeyError:
            if name in _OBJECT_PROTOTYPE:
                return _object_prototype_method(self, name)
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        from tsumugi_emulator.javascript.crossing import python_to_js

        self._props[name] = python_to_js(value)

    def __delattr__(self, name: str) -> None:
        if name not in self._props:
            raise AttributeError(name)
        del self._props[name]

    def _class_name(self) -> str:
        return "Object"

    def _entries(self) -> dict[str, Any]:
        return self._props

    def _get(self, name: str) -> Any:
        return self._props.get(name)


_set_props: Callable[[JsObject, dict[str, Any]], None] = JsObject._props.__set__  # type: ignore[attr-defined]

#: Filled by ``standard``: the ``Object`` constructor every plain object answers with.
OBJECT_CONSTRUCTOR: list[Any] = [None]

_OBJECT_PROTOTYPE = {
    "hasOwnProperty": lambda obj, name: name in obj._entries(),
    "toString": lambda obj: obj._to_string(),
    "valueOf": lambda obj: obj,
    "toLocaleString": lambda obj: obj._to_string(),
    "propertyIsEnumerable": lambda obj, name: name in obj._entries(),
}


def _object_prototype_method(obj: JsProxy, name: str) -> Any:
    from tsumugi_emulator.javascript.functions import JsFunction

    method = _OBJECT_PROTOTYPE[name]
    return JsFunction(lambda *args: method(obj, *args), name)


def js_to_python(value: Any) -> Any:
    """What reading a JavaScript value gives Python, one level deep."""
    kind = type(value)
    if kind is PyProxy:
        return value._unwrap()
    if kind is float:
        return normalize_number(value)
    if kind is JsNull and MODE.null_is_none:
        return None
    if kind is JsBigInt and not MODE.has_bigint_type:
        return int(value)
    return value


def normalize_number(value: float) -> int | float:
    """A JavaScript number as Pyodide reads it: safe integers are int, the rest float."""
    if value.is_integer() and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return int(value)
    return value


class PyProxy:
    """A Python object as JavaScript holds it: opaque to ``JSON.stringify``, not cloneable."""

    __slots__ = ("_destroyed", "_obj")

    DESTROYED = (
        "This borrowed proxy was automatically destroyed at the end of a function call. "
        "Try using create_proxy or create_once_callable."
    )

    def __init__(self, obj: Any) -> None:
        self._obj = obj
        self._destroyed: str | None = None

    def _unwrap(self) -> Any:
        if self._destroyed is not None:
            from tsumugi_emulator.javascript.errors import js_error

            raise js_error("Error", self._destroyed)
        return self._obj

    def _destroy(self, message: str = "Object has already been destroyed") -> None:
        if self._destroyed is None:
            self._destroyed = message
            self._obj = None

    @property
    def name(self) -> str:
        return type(self._obj).__name__
