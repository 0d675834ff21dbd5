"""What Python sees as the class of a JavaScript object: one name, whatever it is underneath.

Pyodide shows every object as ``pyodide.ffi.JsProxy`` and every error as ``pyodide.ffi.JsException``,
also in the texts CPython itself writes ("object is not subscriptable").
"""

from __future__ import annotations

from typing import Any

MODULE = "pyodide.ffi"


class JsProxyType(type):
    """The metaclass of all proxy classes. It adds names, no behaviour."""

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> None:
        super().__init__(name, bases, namespace, **options)
        shown = "JsException" if issubclass(cls, BaseException) else "JsProxy"
        cls.__module__ = MODULE
        cls.__qualname__ = shown
        # CPython's texts take the slot behind ``__name__``, which the property below covers.
        _NAME_SLOT.__set__(cls, f"{MODULE}.{shown}")

    @property
    def __name__(cls) -> str:
        return cls.__qualname__


_NAME_SLOT: Any = type.__dict__["__name__"]

JsProxyType.__module__ = MODULE
JsProxyType.__qualname__ = "_JsProxyMetaClass"
