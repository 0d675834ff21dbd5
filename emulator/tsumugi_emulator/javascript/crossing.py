"""Values crossing one level deep: call arguments, assignments, results, callbacks.

What cannot be converted crosses as a ``PyProxy``. Deep conversion is ``convert``.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.double_proxy import JsDoubleProxy
from tsumugi_emulator.javascript.futures import PyodideFuture, settle_with
from tsumugi_emulator.javascript.values import (
    MAX_SAFE_INTEGER,
    JsBigInt,
    JsNull,
    JsProxy,
    PyProxy,
    js_number,
    js_to_python,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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

    def end(self, message: str = PyProxy.BORROWED) -> None:
        for proxy in self.proxies:
            proxy._destroy(message)


#: Types whose values Python and JavaScript share (by identity of the type, so no subclasses).
_SHARED = frozenset({type(None), bool, str, JsBigInt})
_JAVASCRIPT = (JsProxy, JsNull, PyProxy)


def python_to_js(value: Any, borrow: Borrow | None = None) -> Any:
    """A Python value as it crosses without deep conversion (a call argument, an assignment)."""
    if type(value) in _SHARED:
        return value
    if isinstance(value, _JAVASCRIPT):
        return value._proxy if isinstance(value, JsDoubleProxy) else value
    primitive = primitive_to_js(value)
    if primitive is not NOT_PRIMITIVE:
        return primitive
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
        return js_number(float(value))
    if isinstance(value, str):
        return str.__str__(value)
    return NOT_PRIMITIVE


def call_python(callee: Any, *args: Any) -> Any:
    """Call a Python callable that crossed to JavaScript; its result crosses back.

    It gets every argument JavaScript passes: a callback of ``Array.map`` has to take three. A
    coroutine becomes a promise, as it does for a JavaScript caller.
    """
    target = callee._unwrap() if isinstance(callee, PyProxy) else callee
    if not callable(target):
        from tsumugi_emulator.javascript.errors import type_error

        raise type_error("callback is not a function")
    result = target(*[js_to_python(arg) for arg in args])
    if inspect.iscoroutine(result):
        return _promise_of_coroutine(result)
    return python_to_js(result)


def _promise_of_coroutine(coroutine: Any) -> PyodideFuture:
    """JavaScript's promise of a Python coroutine: what it raises is a ``PythonError`` there."""
    from tsumugi_emulator.javascript.errors import python_error

    async def run() -> Any:
        try:
            return await coroutine
        except Exception as error:
            raise python_error(error) from None

    promise = PyodideFuture(loop=asyncio.get_running_loop())
    settle_with(promise, run())
    return promise


def iterate_python(proxy: PyProxy) -> Iterator[Any]:
    """A ``for ... of`` over a Python object; what it lends dies when the loop is over."""
    borrow = Borrow()
    for item in proxy._unwrap():
        yield python_to_js(item, borrow)
    borrow.end(PyProxy.ITERATED)
