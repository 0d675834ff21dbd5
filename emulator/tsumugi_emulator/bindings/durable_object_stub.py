"""A stub: the caller's side of one Durable Object. Every other name on it is a method to call."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.rpc_property import (
    WithMethods,
    entrypoint_refusal,
    property_of,
)
from tsumugi_emulator.bindings.sdk_stub import PlainMethod, asking_wrapper
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.promise import rejected
from tsumugi_emulator.javascript.values import JsProxy
from tsumugi_emulator.javascript.web.request import USED_TEXT, Request

if TYPE_CHECKING:
    from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectId
    from tsumugi_emulator.bindings.object_port import ObjectAddress, ObjectPort, Route
    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.javascript.io_context import IoContext


class Stub(WithMethods):
    """What every stub of an object is; ``event`` is the one that may use it."""

    __slots__ = ("__stub_event", "__stub_id", "__stub_port", "__stub_route")

    def __init__(self, object_id: DurableObjectId, port: ObjectPort, event: IoContext) -> None:
        self.__stub_id = object_id
        self.__stub_port = port
        self.__stub_route: Route = port.route(object_id._address)
        self.__stub_event = event

    @js_method
    def fetch(self, source: Any = None, init: Any = None) -> PyodideFuture:
        try:
            self.__stub_event.owns("OutgoingFactory")
            if isinstance(source, Request) and not isinstance(init, JsProxy):
                if source._is_used():
                    raise type_error(USED_TEXT)
                request = source
            else:
                request = Request._construct(source, init)
            return self.__stub_route.fetch(request)
        except JsException as error:
            return rejected(error)

    def __getattr__(self, name: str) -> Any:
        found = property_of(self, name)
        wrapper = asking_wrapper(sys._getframe(1))
        if wrapper is None or not self.__stub_route.takes_plain(name):
            return found
        return PlainMethod(wrapper, found, name, self._plain_call)

    def _plain_call(self, method: str, args: list[Any]) -> PyodideFuture:
        try:
            self.__stub_event.owns("OutgoingFactory")
            return self.__stub_route.call_plain(method, args)
        except JsException as error:
            return rejected(error)

    def _rpc_call(self, method: str, args: list[Any] | None) -> PyodideFuture:
        try:
            self.__stub_event.owns("OutgoingFactory")
            refusal = entrypoint_refusal(method)
            if refusal is not None:
                raise refusal
            return self.__stub_route.call(method, args)
        except JsException as error:
            return rejected(error)

    def _rpc_refusal(self, name: str) -> JsException | None:
        return entrypoint_refusal(name)

    def _origin(self) -> tuple[ObjectAddress, ObjectPort]:
        """Its object, and who reaches it."""
        return self.__stub_id._address, self.__stub_port

    def _for_rpc(self) -> ReceivedStub:
        return ReceivedStub(self.__stub_id, self.__stub_port)


@js_class("DurableObject", constructible=False)
class DurableObjectStub(Stub):
    """What a namespace makes: only the event that made it may use it."""

    __slots__ = ("__own_id",)

    def __init__(self, object_id: DurableObjectId, port: ObjectPort) -> None:
        super().__init__(object_id, port, io_context.require())
        self.__own_id = object_id

    @js_property
    def id(self) -> DurableObjectId:
        return self.__own_id

    @js_property
    def name(self) -> str | None:
        return self.__own_id._address.name


@js_class("Fetcher", constructible=False)
class ReceivedStub(Stub):
    """A stub that came over RPC: whose it is cannot be seen any more, and any event may use it."""

    __slots__ = ()

    def __init__(self, object_id: DurableObjectId, port: ObjectPort) -> None:
        super().__init__(object_id, port, _ANY_EVENT)


class _AnyEvent:
    """Of a stub that was received over RPC: whoever has it may use it."""

    def owns(self, kind: str) -> None:
        return None


_ANY_EVENT: Any = _AnyEvent()
