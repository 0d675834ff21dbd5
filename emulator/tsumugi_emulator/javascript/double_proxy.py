"""What ``create_proxy`` returns: Python's handle on a Python object that JavaScript holds."""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.values import JsProxy, PyProxy


class JsDoubleProxy(JsProxy):
    """JavaScript's methods of a ``PyProxy`` first, then the attributes of the object itself."""

    __slots__ = ("_proxy",)

    def __init__(self, proxy: PyProxy) -> None:
        self._proxy = proxy

    @property
    def constructor(self) -> Any:
        return PYPROXY_CONSTRUCTOR[0]

    @property
    def typeof(self) -> str:
        return "function" if callable(self._proxy._obj) else "object"

    @property
    def type(self) -> str:
        return type(self._proxy._unwrap()).__name__

    def destroy(self) -> None:
        self._proxy._destroy()

    def unwrap(self) -> Any:
        return self._proxy._unwrap()

    def copy(self) -> JsDoubleProxy:
        return JsDoubleProxy(PyProxy(self._proxy._unwrap(), roundtrip=self._proxy._roundtrip))

    def toString(self) -> str:
        return str(self._proxy._unwrap())

    def toJs(self) -> Any:
        from tsumugi_emulator.javascript.convert import to_js

        return to_js(self._proxy._unwrap())

    def getBuffer(self) -> Any:
        from tsumugi_emulator.javascript.buffers import BufferView

        return BufferView(self._proxy._unwrap())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._proxy._unwrap()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return getattr(self._proxy._unwrap(), name)
        except AttributeError:
            raise AttributeError(name) from None

    def __getitem__(self, key: Any) -> Any:
        return self._proxy._unwrap()[key]

    def __len__(self) -> int:
        return len(self._proxy._unwrap())

    def __contains__(self, key: Any) -> bool:
        return key in self._proxy._unwrap()

    def __bool__(self) -> bool:
        return True

    def _to_string(self) -> str:
        return str(self._proxy._unwrap())


#: Filled by ``standard``.
PYPROXY_CONSTRUCTOR: list[Any] = [None]
