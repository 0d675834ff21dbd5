"""``env.SERVICE``: another Worker, or this one, to fetch from and to call. Runs nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tsumugi_emulator.bindings.arguments import option
from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectNamespace
from tsumugi_emulator.bindings.rpc_property import WithMethods, entrypoint_refusal
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.clone import serialize
from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.javascript.functions import call_js, js_class, js_method
from tsumugi_emulator.javascript.promise import rejected
from tsumugi_emulator.javascript.values import JsProxy
from tsumugi_emulator.javascript.web.request import USED_TEXT, Request

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.futures import PyodideFuture

CONNECT_TEXT = "Incoming CONNECT on a worker not supported"


class ServiceTarget(NamedTuple):
    worker: str
    #: None is the default one.
    entrypoint: str | None = None
    #: ``ctx.props`` of the callee as a structured clone; empty for an empty object.
    props: bytes = b""


class ServicePort(Protocol):
    """Whoever runs calls of services."""

    def call(self, target: ServiceTarget, method: str, args: list[Any] | None) -> PyodideFuture:
        """Call a method with JavaScript values, or read it without; the promise of the result."""

    def fetch(self, target: ServiceTarget, request: Request) -> PyodideFuture: ...


@js_class("Fetcher", constructible=False)
class ServiceBinding(WithMethods):
    __slots__ = ("__service_port", "__service_target")

    def __init__(self, target: ServiceTarget, port: ServicePort) -> None:
        self.__service_target = target
        self.__service_port = port

    @js_method
    def fetch(self, source: Any = None, init: Any = None) -> PyodideFuture:
        try:
            io_context.require()
            request = outgoing_request(source, init)
            return self.__service_port.fetch(self.__service_target, request)
        except JsException as error:
            return rejected(error)

    @js_method
    def connect(self, _address: Any = None, _options: Any = None) -> Any:
        raise type_error(CONNECT_TEXT)

    def _rpc_refusal(self, name: str) -> JsException | None:
        return entrypoint_refusal(name)

    def _rpc_call(self, method: str, args: list[Any] | None) -> PyodideFuture:
        try:
            io_context.require()
            refusal = entrypoint_refusal(method)
            if refusal is not None:
                raise refusal
            return self.__service_port.call(self.__service_target, method, args)
        except JsException as error:
            return rejected(error)

    def _with_props(self, props: Any) -> ServiceTarget:
        return self.__service_target._replace(props=b"" if props is None else serialize(props))

    def _through(self) -> ServicePort:
        return self.__service_port

    def _target(self) -> ServiceTarget:
        return self.__service_target

    def _for_rpc(self) -> ServiceBinding:
        """The receiver may use it as it is."""
        return ServiceBinding(self.__service_target, self.__service_port)


def outgoing_request(source: Any, init: Any) -> Request:
    if isinstance(source, Request) and not isinstance(init, JsProxy):
        if source._is_used():
            raise type_error(USED_TEXT)
        return source
    return Request._construct(source, init)


@js_class("LoopbackServiceStub", constructible=False)
class LoopbackService(ServiceBinding):
    """``ctx.exports.Name``: call it with ``{"props": ...}`` for one with props."""

    __slots__ = ()

    typeof = "function"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_js(self._with_options, args, kwargs)

    def _with_options(self, options: Any = None) -> ServiceBinding:
        return ServiceBinding(self._with_props(option(options, "props")), self._through())


@js_class("LoopbackDurableObjectNamespace", constructible=False)
class LoopbackNamespace(DurableObjectNamespace):
    """``ctx.exports.Name`` of a class of Durable Objects."""

    __slots__ = ()
