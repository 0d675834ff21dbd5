"""JavaScript errors: the objects, and how they are raised into Python.

An Error object and the ``JsException`` that carries it are one Python object. Not here: which
operation fails with which text; that is the host class's business.
"""

from __future__ import annotations

from typing import Any

from tsumugi_emulator import tracebacks
from tsumugi_emulator.javascript.functions import JsClass
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.proxy_type import NotOffered, Offered
from tsumugi_emulator.javascript.strings import tag_of, to_string, type_of
from tsumugi_emulator.javascript.values import JsNull, JsObject, JsProxy, PyProxy


class JsException(JsProxy, Exception):  # Pyodide's name
    """``pyodide.ffi.JsException``: an Exception and a JsProxy, never a Python TypeError."""

    as_object_map = Offered(JsProxy.as_object_map, lambda: MODE.null_is_none)
    as_py_json = NotOffered()

    #: JavaScript sees ``error.constructor`` of the class named by ``name``.
    name: str
    message: str

    def __init__(self, name: str = "Error", message: str = "", *, cause: Any = None) -> None:
        if not isinstance(name, str):
            kind = f"{type(name).__module__}.{type(name).__qualname__}".removeprefix("builtins.")
            raise TypeError(f"__new__() argument 1 must be str, not {kind}")
        Exception.__init__(self)
        self.name = name
        self.message = message
        self.__dict__["_class"] = _class_of(name)
        if cause is not None:
            self.cause = cause

    @property
    def constructor(self) -> Any:
        return self.__dict__["_class"]

    @property
    def args(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (self,)

    @property
    def js_error(self) -> JsException:
        return self

    @property
    def stack(self) -> str:
        return f"{self._to_string()}\n    at <anonymous>"

    def toString(self) -> str:
        return self._to_string()

    def __str__(self) -> str:
        return self._to_string()

    def __repr__(self) -> str:
        return self._to_string()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (_restore, (self.name, self.message))

    def _class_name(self) -> str:
        return "Error"

    def _to_string(self) -> str:
        name, message = str(self.name), str(self.message)
        if not message:
            return name
        return f"{name}: {message}" if name else message


def _restore(name: str, message: str) -> JsException:
    return JsException(name, message)


ERROR_NAMES = (
    "Error",
    "TypeError",
    "RangeError",
    "SyntaxError",
    "ReferenceError",
    "EvalError",
    "URIError",
    "AggregateError",
)

_classes: dict[str, JsClass] = {}


def _make_class(name: str) -> JsClass:
    def construct(message: Any = None, options: Any = None) -> JsException:
        cause = options._get("cause") if isinstance(options, JsObject) else None
        return JsException(name, "" if message is None else to_string(message), cause=cause)

    js_cls = JsClass(
        name,
        construct,
        lambda value: isinstance(value, JsException) and name in ("Error", value.constructor.name),
    )
    js_cls._call = construct  # Error("x") without new is allowed
    return js_cls


def _class_of(name: str) -> JsClass:
    return _classes.get(name) or _classes["Error"]


for _name in ERROR_NAMES:
    _classes[_name] = _make_class(_name)


def error_class(name: str) -> JsClass:
    """The constructor ``js.TypeError`` and its siblings."""
    return _classes[name]


class DOMException(JsException):
    """Errors of the web platform whose class is DOMException and whose name tells the kind."""

    def __init__(self, message: str = "", name: str = "Error") -> None:
        super().__init__(name, message)
        self.__dict__["_class"] = DOM_EXCEPTION

    @property
    def code(self) -> int:
        return _DOM_CODES.get(self.name, 0)


_DOM_CODES = {"DataCloneError": 25, "AbortError": 20, "TimeoutError": 23, "NotSupportedError": 9}
DOM_EXCEPTION = JsClass(
    "DOMException", lambda message="", name="Error": DOMException(message, name)
)


def js_error(name: str, message: str) -> JsException:
    return JsException(name, message)


#: What the runtime says of an error beside its text (Durable Objects: error handling). Each is true
#: or not there, and crosses from Worker to Worker.
TRAITS = ("retryable", "overloaded", "durableObjectReset")
CONNECTION_LOST = "Network connection lost."


def with_traits(error: JsException, *names: str) -> JsException:
    error.__dict__.update(dict.fromkeys(names, True))
    return error


def traits_of(error: JsException) -> list[str]:
    return [name for name in TRAITS if error.__dict__.get(name) is True]


def connection_lost() -> JsException:
    """Somebody went away: to try again may help."""
    return with_traits(js_error("Error", CONNECTION_LOST), "retryable")


def type_error(message: str) -> JsException:
    return JsException("TypeError", message)


def range_error(message: str) -> JsException:
    return JsException("RangeError", message)


def clone_error(message: str) -> DOMException:
    return DOMException(message, "DataCloneError")


def python_error(error: BaseException) -> JsException:
    """What JavaScript catches when Python raises: ``PythonError``, its message the traceback."""
    return JsException("PythonError", tracebacks.message(error))


def thrown(value: Any) -> BaseException:
    """What Python catches when JavaScript throws ``value``, which may be no error."""
    if isinstance(value, PyProxy) and isinstance(value._obj, BaseException):
        return value._obj
    if isinstance(value, JsException):
        return value
    if isinstance(value, str):
        return JsException("Error", value)
    text = to_string(value)
    nothing = value is None or isinstance(value, JsNull)
    method = "fails." if nothing else f'returns """{text}""".'
    return JsException(
        "Error",
        f"A value of type {type_of(value)} with tag [object {tag_of(value)}] was thrown as an "
        f'error!\nString interpolation of the thrown value gives """{text}""".\n'
        f"The thrown value's toString method {method}",
    )


class ConversionError(Exception):
    """``pyodide.ffi.ConversionError``: a Python value has no JavaScript counterpart."""


class InternalError(Exception):
    """``pyodide.ffi.InternalError``."""
