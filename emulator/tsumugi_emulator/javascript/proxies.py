"""``create_proxy`` and its siblings: Python's handles on what JavaScript holds."""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.crossing import call_python
from tsumugi_emulator.javascript.double_proxy import JsDoubleProxy
from tsumugi_emulator.javascript.errors import js_error, type_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.values import JsProxy, PyProxy


def create_proxy(obj: Any, /, *, capture_this: bool = False, roundtrip: bool = True) -> Any:
    return JsDoubleProxy(PyProxy(obj, roundtrip=roundtrip))


class OnceProxy(JsFunction):
    """A Python function that JavaScript may call once."""

    __slots__ = ("_spent", "_target")

    def __init__(self, target: Any) -> None:
        super().__init__(self._call_once, "wrapper")
        self._target = target
        self._spent = ""

    def _call_once(self, *args: Any) -> Any:
        if self._spent:
            raise js_error("Error", self._spent)
        self._spent = "OnceProxy can only be called once"
        return call_python(self._target, *args)

    def destroy(self) -> None:
        if self._spent:
            raise js_error("Error", "OnceProxy has already been destroyed")
        self._spent = "OnceProxy has already been destroyed"


def create_once_callable(obj: Any, /, *, _may_syncify: bool = False) -> OnceProxy:
    return OnceProxy(obj)


def destroy_proxies(proxies: Any, /) -> None:
    if not isinstance(proxies, JsProxy):
        raise TypeError("Expected a JsProxy for the argument")
    if not isinstance(proxies, JsArray):
        raise TypeError("Expected a Js Array for the pyproxies argument")
    for item in proxies._items:
        if not isinstance(item, PyProxy):
            raise type_error("proxy.destroy is not a function")
        item._destroy()
