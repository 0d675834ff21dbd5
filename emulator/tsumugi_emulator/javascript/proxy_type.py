"""What Python sees as the class of a JavaScript object: one name, whatever it is beneath.

Pyodide shows every object as ``pyodide.ffi.JsProxy``, every error as ``pyodide.ffi.JsException``,
also in the texts CPython itself writes ("object is not subscriptable"). Which methods an object
has depends on what it is, and on the version.
"""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MODULE = "pyodide.ffi"


class JsProxyType(type):
    """The metaclass of all proxy classes. It adds names, no behaviour."""

    def __new__(
        meta,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        shown: str = "JsProxy",
    ) -> Any:
        cls = super().__new__(meta, name, bases, namespace)
        if issubclass(cls, BaseException):
            shown = "JsException"
        cls.__module__ = MODULE
        cls.__qualname__ = shown
        # CPython's texts take the slot behind ``__name__``, which the property below covers.
        _NAME_SLOT.__set__(cls, f"{MODULE}.{shown}")
        return cls

    def __init__(cls, *_args: Any, **_options: Any) -> None:
        super().__init__(*_args)

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return cls.__qualname__


_NAME_SLOT: Any = type.__dict__["__name__"]

JsProxyType.__module__ = MODULE
JsProxyType.__qualname__ = "_JsProxyMetaClass"


class Offered:
    """A method that ``hasattr`` finds only while ``when()`` holds."""

    def __init__(self, method: Callable[..., Any], when: Callable[[], bool]) -> None:
        self._method = method
        self._when = when
        self._name = method.__name__

    def __get__(self, obj: Any, owner: type) -> Any:
        if not self._when():
            raise AttributeError(self._name)
        return self._method if obj is None else MethodType(self._method, obj)


def offered(when: Callable[[], bool]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a proxy method that not every version of Pyodide has."""
    return lambda method: Offered(method, when)


class NotOffered:
    """Takes an inherited proxy method away from a kind of object."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, obj: Any, owner: type) -> Any:
        raise AttributeError(self._name)


def cannot_pickle(obj: Any, protocol: Any) -> Any:
    raise TypeError(f"cannot pickle '{MODULE}.{type(obj).__name__}' object")
