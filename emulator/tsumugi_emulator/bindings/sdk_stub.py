"""Methods of a stub as the SDK shows them, without its detours for plain values (ADR-0271).

The SDK converts arguments to JavaScript and results back, in several walks and one more coroutine.
Where it asks a stub for a method, which it does once for each name, it is given one that converts
itself into a function that takes and gives plain values directly. Everything else, and every other
value, takes the SDK's way. Whoever else asks gets JavaScript's property, which can be called.
"""

from __future__ import annotations

import sys
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.bindings import rpc_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import CodeType, FrameType

    from tsumugi_emulator.bindings.rpc_property import RpcProperty
    from tsumugi_emulator.javascript.futures import PyodideFuture


class PlainCalls(Protocol):
    def __call__(self, method: str, args: list[Any]) -> PyodideFuture:
        """Call with plain values of Python; the promise of one, or of a JavaScript value."""


@cache
def _asking_code() -> CodeType | None:
    """Where the SDK asks for an attribute that it is going to wrap and keep."""
    from workers.rpc import _BindingWrapper

    found = getattr(_BindingWrapper, "_getattr_helper", None)
    return None if found is None else found.__code__


def asking_wrapper(frame: FrameType) -> Any:
    """The SDK's wrapper that asks for an attribute in ``frame``, or None if somebody else asks."""
    if "workers.rpc" not in sys.modules or frame.f_code is not _asking_code():
        return None
    return frame.f_locals.get("self")


class PlainMethod:
    """What the SDK gets: no function, so it asks for a conversion, which is the function."""

    constructor = SimpleNamespace(name="Function")

    def __init__(
        self, wrapper: Any, rpc_property: RpcProperty, name: str, call: PlainCalls
    ) -> None:
        self._wrapper = wrapper
        self._property = rpc_property
        self._name = name
        self._call = call

    def to_py(self, **_options: Any) -> Callable[..., Any]:
        wrapper, rpc_property, name, call = self._wrapper, self._property, self._name, self._call

        async def await_and_convert(promise: PyodideFuture) -> Any:
            result = await promise
            kind = type(result)
            if kind in rpc_plain.PLAIN_TYPES or kind is record:
                return result
            return wrapper._convert_result(result)

        def method(*args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
            plain = None if kwargs else rpc_plain.across_or_none(args)
            if plain is None:
                found: Coroutine[Any, Any, Any] = wrapper._conver_and_invoke(
                    rpc_property, args, kwargs
                )
                return found
            return await_and_convert(call(name, plain))

        record = rpc_plain.record_type()
        return method
