"""``stub.name``: a method to call or a property to await, of whatever the stub stands for.

Any name exists until it is used. Python sees it through the SDK's wrappers as a plain function, and
as it is on raw stubs (``ctx.exports``, ``stub["name"]``, a function that was passed along); what
that leaves of RPC's promise pipelining is ADR-0230. Sends nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.javascript.functions import call_js, js_class
from tsumugi_emulator.javascript.promise import rejected
from tsumugi_emulator.javascript.values import JsProxy, _plain_name

if TYPE_CHECKING:
    from collections.abc import Generator

    from tsumugi_emulator.javascript.futures import PyodideFuture

#: Handlers of events, which are no methods (verified reference, row 1.3).
RESERVED = frozenset(
    {
        "alarm", "connect", "constructor", "dup", "webSocketClose", "webSocketError",
        "webSocketMessage",
    }
)  # fmt: skip
#: What an entrypoint or object has besides methods (verified reference, row 1.3).
_NOT_METHODS = frozenset({"ctx", "env"})
#: A stub with a ``then`` could not be returned by an async function; ``js_object`` would make the
#: SDK take it for one of its own wrappers.
_NEVER = frozenset({"js_object", "then"})


class RpcReceiver(Protocol):
    """What has methods to call over RPC."""

    def _rpc_call(self, method: str, args: list[Any] | None) -> PyodideFuture:
        """Call with JavaScript values; with None for them, read the property."""

    def _rpc_refusal(self, name: str) -> JsException | None:
        """Why the name can be neither called nor read, or None."""


def property_of(receiver: RpcReceiver, name: str) -> RpcProperty:
    """The property of a name that the receiver's own class does not define.

    Raises:
        AttributeError: the name is Python's own, or one that no stub has.
    """
    if name in _NEVER or (name.startswith("__") and name.endswith("__")):
        raise AttributeError(name)
    return RpcProperty(receiver, _plain_name(name))


class WithMethods(JsProxy):
    """An object of which every name is a method on the other side.

    Pyodide takes it for an iterator therefore: it has a ``next``, whose answer is a promise.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return property_of(self, name)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        raise TypeError("Result was a promise, use anext() / asend() / athrow() instead.")


def entrypoint_refusal(name: str) -> JsException | None:
    """Names that no entrypoint and no object offers."""
    if name in RESERVED:
        return _reserved(name)
    return _missing(name) if name in _NOT_METHODS else None


def function_refusal(name: str) -> JsException:
    """A function has no properties of its own to offer."""
    return _reserved(name) if name in ("constructor", "dup") else _missing(name)


def _reserved(name: str) -> JsException:
    return _remote(f"'{name}' is a reserved method and cannot be called over RPC.")


def _missing(name: str) -> JsException:
    return _remote(f'The RPC receiver does not implement the method "{name}".')


def _remote(text: str) -> JsException:
    """It is said here, but it is the other side's."""
    error = type_error(text)
    error.__dict__["remote"] = True
    return error


@js_class("RpcProperty", constructible=False)
class RpcProperty(JsProxy):
    """Also a receiver: every method of a Python Worker is a function, which has no properties."""

    __slots__ = ("__rpc_name", "__rpc_receiver")

    typeof = "function"

    def __init__(self, receiver: RpcReceiver, name: str) -> None:
        self.__rpc_receiver = receiver
        self.__rpc_name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_js(self._rpc_invoke, args, kwargs)

    def _rpc_invoke(self, *args: Any) -> PyodideFuture:
        return self.__rpc_receiver._rpc_call(self.__rpc_name, list(args))

    def __getattr__(self, name: str) -> Any:
        return property_of(self, name)

    # -- Reading it -------------------------------------------------------------------------------

    def _rpc_read(self) -> PyodideFuture:
        return self.__rpc_receiver._rpc_call(self.__rpc_name, None)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._rpc_read().__await__()

    def then(self, onfulfilled: Any = None, onrejected: Any = None) -> PyodideFuture:
        return self._rpc_read().then(onfulfilled, onrejected)

    def catch(self, onrejected: Any) -> PyodideFuture:
        return self._rpc_read().catch(onrejected)

    def finally_(self, onfinally: Any) -> PyodideFuture:
        return self._rpc_read().finally_(onfinally)

    # -- RpcReceiver ------------------------------------------------------------------------------

    def _rpc_refusal(self, name: str) -> JsException:
        own = self.__rpc_receiver._rpc_refusal(self.__rpc_name)
        if own is not None:
            return own
        return _reserved(name) if name in RESERVED or name == "fetch" else _missing(name)

    def _rpc_call(self, method: str, _args: list[Any] | None) -> PyodideFuture:
        return rejected(self._rpc_refusal(method))
