"""``ctx`` of a Durable Object as the runtime gives it: raw, without the SDK's conveniences."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.bindings.durable_object_sockets import SocketMethods
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import js_error, type_error
from tsumugi_emulator.javascript.functions import is_function, js_class, js_method
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsObject, PyProxy

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectId
    from tsumugi_emulator.bindings.durable_object_sockets import SocketControl
    from tsumugi_emulator.bindings.object_storage import DurableObjectStorage
    from tsumugi_emulator.javascript.futures import PyodideFuture

ABORTED_TEXT = "Application called abort() to reset Durable Object."


class ObjectControl(Protocol):
    """What an object's own code may do to the object."""

    def block(self, callback: Callable[[], Any]) -> PyodideFuture:
        """Run ``callback`` while nothing else enters; its failure resets the object."""

    def reset(self, error: BaseException) -> None:
        """End the object in memory: everybody who calls it sees ``error``."""

    @property
    def sockets(self) -> SocketControl:
        """Its hibernating WebSockets."""


@js_class("DurableObjectState", constructible=False)
class DurableObjectState(SocketMethods):
    def __init__(
        self, object_id: DurableObjectId, storage: DurableObjectStorage, control: ObjectControl
    ) -> None:
        self.id = object_id
        self.storage = storage
        self.props = JsObject()
        #: ``LiveObject`` sets it where there is one (the flag enable_ctx_exports).
        self.exports: Any
        self._control: ObjectControl = control

    @js_method
    def blockConcurrencyWhile(self, callback: Any = None) -> PyodideFuture:
        function = function_argument(callback, "blockConcurrencyWhile", "DurableObjectState")
        return self._control.block(function)

    @js_method
    def waitUntil(self, promise: Any = None) -> None:
        """Objects live as long as their work anyway; a borrowed coroutine never runs."""
        if not isinstance(promise, PyProxy):
            return
        event = io_context.require()
        line = io_context.user_line()
        if inspect.iscoroutine(promise._obj):
            name = promise._obj.__qualname__
            # It is only known whether it was borrowed when the call is over.
            asyncio.get_running_loop().call_soon(_tell_if_borrowed, event, promise, line, name)

    @js_method
    def abort(self, reason: Any = None) -> None:
        text = ABORTED_TEXT if reason is None else to_string(reason)
        self._control.reset(js_error("Error", text))


def _tell_if_borrowed(event: Any, promise: PyProxy, line: str, name: str) -> None:
    if promise._destroyed is not None:
        event.warn(
            f"{line}waitUntil({name}()) never runs a coroutine in a Durable Object: Error: "
            f"{PyProxy.BORROWED} Write create_proxy(asyncio.ensure_future({name}(...)))."
        )


def function_argument(value: Any, method: str, owner: str) -> Callable[..., Any]:
    """A function parameter: what to call with Python arguments.

    Raises:
        JsException: TypeError for anything else.
    """
    if isinstance(value, PyProxy) and callable(value._obj):
        function: Callable[..., Any] = value._unwrap()
        return function
    if is_function(value):
        called: Callable[..., Any] = value
        return called
    raise type_error(
        f"Failed to execute '{method}' on '{owner}': parameter 1 is not of type 'function'."
    )
