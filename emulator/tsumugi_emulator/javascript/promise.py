"""Promises: what asynchronous JavaScript gives Python to await.

Calling an asynchronous JavaScript function from Python yields a ``PyodideFuture``, an
``asyncio.Future`` with ``then``/``catch``/``finally_``. A ``Promise`` object that is read or
constructed is a ``JsPromise``, which Python can await too.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray, call_back, iterate_js
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.errors import JsException, js_error, python_error
from tsumugi_emulator.javascript.functions import JsFunction, js_class, js_static
from tsumugi_emulator.javascript.futures import PyodideFuture, settle_with
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import (
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    PyProxy,
    js_to_python,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator


_CHANGED_BY_CROSSING = frozenset({PyProxy, JsNull, JsBigInt})


def promise_of(source: Awaitable[Any]) -> PyodideFuture:
    """The promise of an ``async`` host function, already running."""
    future = PyodideFuture(loop=asyncio.get_running_loop())
    settle_with(future, source)
    return future


def resolved(value: Any) -> PyodideFuture:
    future = PyodideFuture(loop=asyncio.get_running_loop())
    future.set_result(js_to_python(value) if type(value) in _CHANGED_BY_CROSSING else value)
    return future


def rejected(error: BaseException, *, handled: bool = False) -> PyodideFuture:
    """A promise that already failed: JavaScript's errors appear at ``await``, not at the call.

    One that nobody awaits is told as uncaught, unless it counts as ``handled`` from the start.
    """
    future = PyodideFuture(loop=asyncio.get_running_loop())
    if isinstance(error, JsException):
        # Frames of the boundary only, and their callers hold this promise: without them it is
        # freed, and tells that nobody asked, as soon as nobody can.
        error.__traceback__ = None
    future.set_exception(error)
    if handled:
        future.exception()
    return future


@js_class("Promise")
class JsPromise(JsProxy):
    """A Promise object: constructed, returned by ``Promise.resolve``, or read as a property."""

    __slots__ = ("_future",)

    def __init__(self, future: PyodideFuture) -> None:
        self._future = future

    @classmethod
    def _construct(cls, executor: Any) -> JsPromise:
        future = PyodideFuture(loop=asyncio.get_running_loop())

        def resolve(value: Any = None) -> None:
            if not future.done():
                _resolve(future, value)

        def reject(reason: Any = None) -> None:
            if not future.done():
                future.set_exception(as_exception(reason))

        try:
            call_back(executor, JsFunction(resolve, "resolve"), JsFunction(reject, "reject"))
        except Exception as error:
            reject(python_error(error))
        return cls(future)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._future.__await__()

    def then(self, onfulfilled: Any = None, onrejected: Any = None) -> PyodideFuture:
        return self._future.then(onfulfilled, onrejected)

    def catch(self, onrejected: Any) -> PyodideFuture:
        return self._future.catch(onrejected)

    def finally_(self, onfinally: Any) -> PyodideFuture:
        return self._future.finally_(onfinally)


def _resolve(future: PyodideFuture, value: Any) -> None:
    awaitable = as_awaitable(value)
    if awaitable is None:
        future.set_result(js_to_python(value))
    else:
        settle_with(future, awaitable)


def as_awaitable(value: Any) -> Awaitable[Any] | None:
    """The awaitable behind a thenable JavaScript value, else None."""
    target = value._unwrap() if isinstance(value, PyProxy) else value
    if isinstance(target, JsPromise):
        return target._future
    if asyncio.isfuture(target) or asyncio.iscoroutine(target):
        return target
    if isinstance(target, JsProxy) and hasattr(type(target), "__await__"):
        return target
    return None


def as_exception(reason: Any) -> BaseException:
    """A rejection reason as Python raises it: an error as itself, anything else wrapped."""
    if isinstance(reason, PyProxy):
        reason = reason._unwrap()
    if isinstance(reason, BaseException):
        return reason
    return JsException("Error", to_string(reason))


def _static_resolve(value: Any = None) -> PyodideFuture:
    if isinstance(value, JsPromise):
        return value._future
    future = PyodideFuture(loop=asyncio.get_running_loop())
    try:
        _resolve(future, value)
    except JsException as error:  # a dead proxy
        return rejected(error)
    return future


def _static_reject(reason: Any = None) -> PyodideFuture:
    return rejected(as_exception(reason))


def _promises(values: Any) -> list[PyodideFuture]:
    # Listed first: what a Python iterable lends is dead before anything is awaited.
    return [_static_resolve(value) for value in list(iterate_js(values))]


def _static_all(values: Any) -> PyodideFuture:
    async def gather() -> JsArray:
        results = await asyncio.gather(*promises)
        return JsArray([python_to_js(result) for result in results])

    promises = _promises(values)
    return promise_of(gather())


def _static_race(values: Any) -> PyodideFuture:
    winner = PyodideFuture(loop=asyncio.get_running_loop())
    for promise in _promises(values):
        settle_with(winner, promise)
    return winner


def _static_any(values: Any) -> PyodideFuture:
    winner = PyodideFuture(loop=asyncio.get_running_loop())
    promises = _promises(values)

    def settled(promise: asyncio.Future[Any]) -> None:
        if winner.done():
            return
        if promise.exception() is None:
            winner.set_result(promise.result())
        elif all(other.done() for other in promises):
            failure: Any = js_error("AggregateError", "All promises were rejected")
            failure.errors = JsArray([python_to_js(other.exception()) for other in promises])
            winner.set_exception(failure)

    for promise in promises:
        promise.add_done_callback(settled)
    return winner


def _static_all_settled(values: Any) -> PyodideFuture:
    def outcome(result: Any) -> JsObject:
        if isinstance(result, BaseException):
            return JsObject({"status": "rejected", "reason": python_to_js(result)})
        return JsObject({"status": "fulfilled", "value": python_to_js(result)})

    async def settle() -> JsArray:
        results = await asyncio.gather(*promises, return_exceptions=True)
        return JsArray([outcome(result) for result in results])

    promises = _promises(values)
    return promise_of(settle())


js_static(JsPromise, "resolve", _static_resolve)
js_static(JsPromise, "reject", _static_reject)
js_static(JsPromise, "all", _static_all)
js_static(JsPromise, "any", _static_any)
js_static(JsPromise, "race", _static_race)
js_static(JsPromise, "allSettled", _static_all_settled)
