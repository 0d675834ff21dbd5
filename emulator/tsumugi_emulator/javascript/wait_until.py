"""``ctx.waitUntil`` and ``workers.waitUntil``: work that keeps its event alive."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import js_error, type_error
from tsumugi_emulator.javascript.functions import JsFunction, js_class, js_method, js_property
from tsumugi_emulator.javascript.promise import as_awaitable
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsObject, JsProxy, PyProxy

if TYPE_CHECKING:
    from collections.abc import Callable


@js_class("ExecutionContext", constructible=False)
class ExecutionContext(JsProxy):
    """``self.ctx`` of an entrypoint. The SDK keeps it raw and patches its ``waitUntil``."""

    def __init__(
        self,
        event: io_context.IoContext,
        props: Any = None,
        exports: Callable[[], Any] | None = None,
    ) -> None:
        """``props`` is what the caller's binding brings along, if it does."""
        self._event = event
        self._given = props
        self._exports = exports

    @js_property
    def props(self) -> Any:
        if self._given is None:
            self._given = JsObject()
        return self._given

    @property
    def exports(self) -> Any:
        if self._exports is None:
            raise AttributeError("exports")  # without the flag enable_ctx_exports
        return self._exports()

    @js_method
    def waitUntil(self, promise: Any = None) -> None:
        hold(self._event, promise)

    @js_method
    def passThroughOnException(self) -> None:
        return None


def hold(event: io_context.IoContext, promise: Any) -> None:
    """Keep ``event`` alive until ``promise`` settles; its failure fails the event.

    A plain value settles at once, as ``waitUntil(5)`` does in JavaScript.
    """
    event.owns("ExecutionContext")
    awaitable = as_awaitable(promise)
    if awaitable is not None:
        event.wait_until.append(asyncio.ensure_future(awaitable))


def patch_wait_until(ctx: Any) -> None:
    """Make ``ctx.waitUntil`` accept coroutines and futures (runtime reference 1.2)."""
    if not isinstance(ctx, ExecutionContext) or "waitUntil" in ctx.__dict__:
        return

    def wait_until(awaitable: Any = None, *_rest: Any) -> None:
        if inspect.isawaitable(awaitable) or isinstance(awaitable, JsProxy):
            hold(ctx._event, PyProxy(awaitable) if inspect.iscoroutine(awaitable) else awaitable)
            return
        # The helper asks `"copy" in value`, which JavaScript refuses for primitives.
        error = type_error(
            f"Cannot use 'in' operator to search for 'copy' in {to_string(awaitable)}"
        )
        failed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        failed.set_exception(error)
        ctx._event.wait_until.append(failed)

    ctx.__dict__["waitUntil"] = JsPatchedWaitUntil(wait_until)


class JsPatchedWaitUntil(JsFunction):
    """Takes Python values unconverted: the patch itself copies and destroys the proxy."""

    __slots__ = ()

    def __call__(self, *args: Any, **_kwargs: Any) -> None:
        self._call(*args)


def _global_wait_until(promise: Any = None) -> None:
    event = io_context.require()
    if isinstance(promise, PyProxy) and inspect.iscoroutine(promise._obj):
        # A bare coroutine is a borrowed proxy: it never runs and the event fails (verified 1.1).
        name = promise._obj.__qualname__
        failed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        failed.set_exception(js_error("Error", PyProxy.BORROWED))
        event.wait_until.append(failed)
        event.warn(
            f"{io_context.user_line()}waitUntil({name}()) never runs a bare coroutine; pass "
            "create_proxy(asyncio.ensure_future(...)) or use self.ctx.waitUntil(...)"
        )
        return
    hold(event, promise)


global_wait_until = JsFunction(_global_wait_until, "waitUntil")
