"""``create_proxy`` and its siblings: Python's handles on what JavaScript holds."""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.crossing import JsDoubleProxy, call_python
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.values import PyProxy


def create_proxy(obj: Any, /, *, capture_this: bool = False, roundtrip: bool = True) -> Any:
    return JsDoubleProxy(obj)


def create_once_callable(obj: Any, /, *, _may_syncify: bool = False) -> JsFunction:
    """A function usable once; a second call is an error."""
    called = False

    def once(*args: Any) -> Any:
        nonlocal called
        if called:
            raise js_error("Error", "OnceProxy can only be called once")
        called = True
        return call_python(PyProxy(obj), *args)

    return JsFunction(once, getattr(obj, "__name__", ""))


def destroy_proxies(proxies: Any, /) -> None:
    for item in proxies._items:
        if isinstance(item, PyProxy):
            item._destroy()
    proxies._items.clear()
