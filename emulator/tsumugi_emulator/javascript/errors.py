"""JavaScript errors: the objects, and how they are raised into Python.

An Error object and the ``JsException`` that carries it are one Python object. Not here: which
operation fails with which text; that is the host class's business.
"""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.functions import JsClass
from tsumugi_emulator.javascript.values import JsObject, JsProxy


class JsException(JsProxy, Exception):  # Pyodide's name
    """``pyodide.ffi.JsException``: an Exception and a JsProxy, never a Python TypeError."""

    #: JavaScript sees ``error.constructor`` of the class named by ``name``.
    name: str
    message: str
    stack: str

    def __init__(self, name: str = "Error", message: str = "", *, cause: Any = None) -> None:
        Exception.__init__(self, f"{name}: {message}" if message else name)
        self.name = name
        self.message = message
        self.stack = f"{name}: {message}\n    at <anonymous>"
        self.__dict__["_class"] = _class_of(name)
        if cause is not None:
            self.cause = cause

    @property
    def constructor(self) -> Any:  # type: ignore[override]
        return self.__dict__["_class"]

    @property
    def js_error(self) -> JsException:
        return self

    def toString(self) -> str:
        return self._to_string()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __str__(self) -> str:
        return self._to_string()

    def __repr__(self) -> str:
        return self._to_string()

    def __reduce__(self) -> Any:
        return (JsException, (self.name, self.message))

    def _class_name(self) -> str:
        return "Error"

    def _to_string(self) -> str:
        name, message = str(self.name), str(self.message)
        if not message:
            return name
        return f"{name}: {message}" if name else message

    def _entries(self) -> dict[str, Any]:
        return {}


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
        from tsumugi_emulator.javascript.strings import to_string

        cause = options._get("cause") if isinstance(options, JsObject) else None
        return JsException(name, "" if message is None else to_string(message), cause=cause)

    js_cls = JsClass(name, construct)
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


def type_error(message: str) -> JsException:
    return JsException("TypeError", message)


def range_error(message: str) -> JsException:
    return JsException("RangeError", message)


def clone_error(message: str) -> DOMException:
    return DOMException(message, "DataCloneError")


class ConversionError(Exception):
    """``pyodide.ffi.ConversionError``: a Python value has no JavaScript counterpart."""


class InternalError(Exception):
    """``pyodide.ffi.InternalError``."""
