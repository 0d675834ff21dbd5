"""Values crossing one level deep: call arguments, assignments, results, callbacks.

What cannot be converted crosses as a ``PyProxy``. Deep conversion is ``convert``.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.values import (
    MAX_SAFE_INTEGER,
    JsBigInt,
    JsNull,
    JsProxy,
    JsSymbol,
    PyProxy,
    js_to_python,
    normalize_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Borrow:
    """The Python objects lent to one JavaScript call; they die with the call or its promise."""

    __slots__ = ("proxies",)

    def __init__(self) -> None:
        self.proxies: list[PyProxy] = []

    def lend(self, obj: Any) -> PyProxy:
        proxy = PyProxy(obj)
        self.proxies.append(proxy)
        return proxy

    def call(self, function: Callable[..., Any], args: list[Any]) -> Any:
        try:
            result = function(*args)
        except BaseException:
            self.end()
            raise
        if isinstance(result, PyodideFuture) and not result.done():
            result.add_done_callback(lambda _: self.end())
        else:
            result_value = js_to_python(result)
            self.end()
            return result_value
        return result

    def end(self) -> None:
        for proxy in self.proxies:
            proxy._destroy(PyProxy.DESTROYED)


class JsDoubleProxy(JsProxy):
    """What ``create_proxy`` returns: a Python handle on a proxy that lives until destroyed."""

    __slots__ = ("_proxy",)

    def __init__(self, obj: Any) -> None:
        self._proxy = PyProxy(obj)

    def destroy(self) -> None:
        self._proxy._destroy()

    def unwrap(self) -> Any:
        return self._proxy._unwrap()

    def getBuffer(self) -> Any:
        from tsumugi_emulator.javascript.buffers import BufferView

        return BufferView(self._proxy._unwrap())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._proxy._unwrap()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._proxy._unwrap(), name)

    def _to_string(self) -> str:
        return str(self._proxy._unwrap())


def python_to_js(value: Any, borrow: Borrow | None = None) -> Any:
    """A Python value as it crosses without deep conversion (a call argument, an assignment)."""
    if value is None or isinstance(value, JsProxy | JsNull | JsSymbol | PyProxy):
        return value._proxy if isinstance(value, JsDoubleProxy) else value
    kind = type(value)
    if kind is str or kind is bool or kind is JsBigInt:
        return value
    primitive = primitive_to_js(value)
    if primitive is not NOT_PRIMITIVE:
        return primitive
    if isinstance(value, PyodideFuture):
        return value
    return borrow.lend(value) if borrow is not None else PyProxy(value)


NOT_PRIMITIVE = object()


def primitive_to_js(value: Any) -> Any:
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        plain = int(value)
        if -MAX_SAFE_INTEGER < plain < MAX_SAFE_INTEGER:
            return plain
        return JsBigInt(plain)
    if isinstance(value, float):
        return normalize_number(float(value))
    if isinstance(value, str):
        return str.__str__(value)
    return NOT_PRIMITIVE


def call_python(callee: Any, *args: Any) -> Any:
    """Call a Python callable that crossed to JavaScript; its result crosses back.

    A coroutine becomes a promise, as it does for a JavaScript caller.
    """
    target = callee._unwrap() if isinstance(callee, PyProxy) else callee
    if not callable(target):
        from tsumugi_emulator.javascript.errors import type_error

        raise type_error("callback is not a function")
    result = target(*_fit_arguments(target, [js_to_python(arg) for arg in args]))
    if inspect.iscoroutine(result):
        return asyncio.ensure_future(result)
    return python_to_js(result)


def _fit_arguments(target: Any, args: list[Any]) -> list[Any]:
    # JavaScript passes (value, index, array) to everything; Pyodide drops what a def cannot take.
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return args
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return args
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return args[: len(positional)]
