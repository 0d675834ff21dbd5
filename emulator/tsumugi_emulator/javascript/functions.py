"""JavaScript functions, and how a Python class becomes a JavaScript one.

Host classes expose methods with ``js_method``, accessors with ``js_property`` and get their
constructor from ``js_class``. All of them receive JavaScript values and return one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.crossing import Borrow, python_to_js
from tsumugi_emulator.javascript.double_proxy import JsDoubleProxy
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.protocols import compose
from tsumugi_emulator.javascript.proxy_type import NotOffered, Offered
from tsumugi_emulator.javascript.values import (
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    JsSymbol,
    PyProxy,
    js_to_python,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class JsFunction(JsProxy):
    """A JavaScript function implemented here: called with JavaScript values, returns one."""

    __slots__ = ("_call", "length", "name")

    typeof = "function"

    as_object_map = Offered(JsProxy.as_object_map, lambda: MODE.null_is_none)
    as_py_json = NotOffered()

    def __init__(self, call: Callable[..., Any], name: str = "", length: int = 0) -> None:
        self._call = call
        self.name = name
        self.length = length

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_js(self._call, args, kwargs)

    def call(self, this: Any, *args: Any) -> Any:
        return self(*args)

    def apply(self, this: Any, args: Any) -> Any:
        return self(*args)

    def bind(self, this: Any, *bound: Any) -> JsFunction:
        return JsFunction(lambda *args: self._call(*bound, *args), f"bound {self.name}")

    def new(self, *args: Any, **kwargs: Any) -> Any:
        from tsumugi_emulator.javascript.errors import type_error

        raise type_error(f"{self._to_string()} is not a constructor")

    def _to_string(self) -> str:
        return f"function {self.name}() {{ [native code] }}"


def is_function(value: Any) -> bool:
    """What ``typeof`` calls a function: JavaScript's, a Python one that crossed, a stub."""
    if isinstance(value, PyProxy):
        return callable(value._obj)
    return isinstance(value, JsProxy) and bool(value.typeof == "function")


def call_js(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call from Python into JavaScript: convert arguments, fold keywords, convert the result.

    Keyword arguments become one trailing options object (runtime reference 0.5). Python objects
    that cross as proxies are borrowed: they die when the call, or the promise it returned, ends.
    """
    converted = list(args)
    borrow: Borrow | None = None
    for index, arg in enumerate(converted):
        kind = type(arg)
        if kind in _PASSES or (kind is int and -_SMALL < arg < _SMALL):
            continue
        if isinstance(arg, JsProxy):
            if isinstance(arg, JsDoubleProxy):
                converted[index] = arg._proxy
            continue
        if borrow is None:
            borrow = Borrow()
        converted[index] = python_to_js(arg, borrow=borrow)
    if kwargs:
        borrow = borrow or Borrow()
        options = {key: python_to_js(value, borrow=borrow) for key, value in kwargs.items()}
        converted.append(JsObject(options))
    if borrow is None or not borrow.proxies:
        return js_to_python(function(*converted))
    return borrow.call(function, converted)


#: Types whose instances cross unchanged (checked by identity of the type, so no subclasses).
_PASSES = frozenset({type(None), bool, str, JsNull, JsBigInt, JsSymbol})
#: Integers that are JavaScript numbers beyond doubt, and quickly compared.
_SMALL = 2**30


class js_method:  # reads as the keyword it is
    """Expose a Python method as a JavaScript method: called with JavaScript values."""

    __slots__ = ("function", "name")

    is_javascript = True

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = function.__name__.rstrip("_")

    def __get__(self, obj: Any, owner: type) -> Any:
        if obj is None:
            return self.function
        return BoundMethod(self, obj)


class BoundMethod(JsFunction):
    """``object.method`` read from Python."""

    __slots__ = ("_method", "_this")

    def __init__(self, method: js_method, this: Any) -> None:
        self._method = method
        self._this = this
        self.name = method.name
        self.length = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        this = self._this
        function = self._method.function
        if not args and not kwargs:
            return js_to_python(function(this))
        return call_js(function, (this, *args), kwargs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundMethod):
            return False
        return self._method is other._method and self._this is other._this

    __hash__: Any = None

    @property
    def _call(self) -> Any:  # type: ignore[override]
        function, this = self._method.function, self._this
        return lambda *args: function(this, *args)


class js_property:
    """Expose a Python method as a JavaScript accessor, read-only unless a setter is given."""

    __slots__ = ("getter", "name", "put")

    is_javascript = True

    def __init__(self, getter: Callable[[Any], Any], put: Any = None) -> None:
        self.getter = getter
        self.put = put
        self.name = getter.__name__.rstrip("_")

    def setter(self, put: Callable[[Any, Any], None]) -> js_property:
        return js_property(self.getter, put)

    def __get__(self, obj: Any, owner: type) -> Any:
        if obj is None:
            return self
        return js_to_python(self.getter(obj))

    def __set__(self, obj: Any, value: Any) -> None:
        if self.put is None:
            return  # sloppy-mode assignment to an accessor without a setter does nothing
        self.put(obj, python_to_js(value))


class JsClass(JsFunction):
    """The constructor of a host class: ``js.Date``, ``js.Response``."""

    __slots__ = ("__dict__", "_construct", "_instances")

    def __init__(
        self,
        name: str,
        construct: Callable[..., Any] | None,
        instances: Callable[[Any], bool] | None = None,
    ) -> None:
        super().__init__(self._refuse_call, name)
        self._construct = construct
        self._instances = instances

    @property
    def prototype(self) -> Prototype:
        return Prototype(self)

    def _refuse_call(self, *_args: Any) -> Any:
        from tsumugi_emulator.javascript.errors import type_error

        if self._construct is None:
            raise type_error("Illegal constructor")
        raise type_error(f"Constructor {self.name} requires 'new'")

    def new(self, *args: Any, **kwargs: Any) -> Any:
        if self._construct is None:
            from tsumugi_emulator.javascript.errors import type_error

            raise type_error("Illegal constructor")
        return call_js(self._construct, args, kwargs)


class Prototype(JsProxy):
    """``Class.prototype``: enough to ask whether an object is an instance."""

    __slots__ = ("_of",)

    def __init__(self, of: JsClass) -> None:
        self._of = of

    @property
    def constructor(self) -> JsClass:
        return self._of

    @js_method
    def isPrototypeOf(self, value: Any = None) -> bool:
        return self._of._instances is not None and self._of._instances(value)

    def _class_name(self) -> str:
        return self._of.name


def js_class[T: JsProxy](name: str, *, constructible: bool = True) -> Callable[[type[T]], type[T]]:
    """Give a host class its JavaScript constructor, and the Python protocols of its members.

    ``new Name(...)`` calls the class's ``_construct`` classmethod when it has one (with JavaScript
    values), else its ``__init__``.
    """

    def decorate(cls: type[T]) -> type[T]:
        construct = getattr(cls, "_construct", cls) if constructible else None
        cls.constructor = JsClass(name, construct, lambda value: isinstance(value, cls))
        compose(cls)
        return cls

    return decorate


def js_static(cls: type[JsProxy], name: str, call: Callable[..., Any]) -> None:
    """Add a static method to a host class's constructor: ``Response.json``."""
    setattr(cls.constructor, name, JsFunction(call, name))
