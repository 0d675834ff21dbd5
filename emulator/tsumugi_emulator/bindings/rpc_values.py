"""Values in Workers RPC: copied as structured clone does, functions and stubs passed along.

Both sides live in this process, so a value becomes its copy without bytes in between. Rules and
texts: python-workers-verified 3.5. Not here: calling anything.
"""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

from tsumugi_emulator import tracebacks
from tsumugi_emulator.bindings.rpc_bodies import BODIES, hand_over
from tsumugi_emulator.bindings.rpc_property import function_refusal, property_of
from tsumugi_emulator.durable.limits import MAX_RPC_BYTES
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import TYPED_ARRAYS, ArrayBuffer, DataView, TypedArray
from tsumugi_emulator.javascript.clone import structured_clone
from tsumugi_emulator.javascript.crossing import call_python, python_to_js
from tsumugi_emulator.javascript.depth import deeper
from tsumugi_emulator.javascript.errors import (
    CONNECTION_LOST,
    ERROR_NAMES,
    DOMException,
    JsException,
    clone_error,
    connection_lost,
    js_error,
    traits_of,
    with_traits,
)
from tsumugi_emulator.javascript.functions import JsFunction, call_js, js_class, js_method
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.maps import JsLiteralMap, JsMap, JsSet
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.promise import as_awaitable, rejected
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
    from collections.abc import Callable

PROXY_TEXT = (
    "Proxy could not be serialized because it is not a valid RPC receiver type. The Proxy must "
    "emulate either a plain object or an RpcTarget, as indicated by the Proxy's prototype chain."
)
TOO_LARGE_TEXT = (
    "Serialized RPC arguments or return values are limited to 32MiB, but the size of this value "
    "was: {size} bytes."
)

DISPOSED_TEXT = "RPC stub used after being disposed."

#: Types whose values are the same on both sides (by identity of the type).
_SAME = frozenset({str, int, bool, float, type(None), JsNull, JsBigInt})


def transfer(values: list[Any], stubs: list[RpcStub] | None = None) -> list[Any]:
    """What the other side receives for these arguments; the functions among it go to ``stubs``.

    Raises:
        JsException: DataCloneError for what may not cross, Error for more than 32 MiB.
    """
    if all(type(value) in _SAME and (type(value) is not str) for value in values):
        return values
    copy = _Transfer()
    try:
        copied = [copy.value(value) for value in values]
    except RecursionError:
        raise js_error("RangeError", "Maximum call stack size exceeded") from None
    if copy.size > MAX_RPC_BYTES:
        raise js_error("Error", TOO_LARGE_TEXT.format(size=copy.size))
    if stubs is not None:
        stubs += copy.stubs
    return copied


class _Transfer:
    __slots__ = ("_seen", "size", "stubs")

    def __init__(self) -> None:
        self.stubs: list[RpcStub] = []
        #: An estimate of the serialized size: it only has to notice what is far too large.
        self.size = 0
        self._seen: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            self.size += len(value)
            return value
        self.size += 9
        if kind in _SAME:
            return value
        found = self._seen.get(id(value))
        if found is not None:
            return found
        copied = self._container(value, kind)
        return self._other(value) if copied is None else copied

    def _container(self, value: Any, kind: type) -> Any:
        copied: Any = None
        if kind is JsObject:
            props: dict[str, Any] = {}
            copied = self._seen[id(value)] = JsObject(props)
            for key, item in value._props.items():
                self.size += len(key)
                props[key] = self.value(item)
        elif kind is JsArray:
            items: list[Any] = []
            copied = self._seen[id(value)] = JsArray(items)
            items.extend([self.value(item) for item in value._items])
        elif kind is JsMap:
            copied = self._seen[id(value)] = JsMap()
            for key, item in value._data.values():
                copied.set(self.value(key), self.value(item))
        elif kind is JsSet:
            copied = self._seen[id(value)] = JsSet()
            for item in value._data.values():
                copied.add(self.value(item))
        return copied

    def _other(self, value: Any) -> Any:
        if isinstance(value, ArrayBuffer | TypedArray | DataView):
            return self._buffer(value)
        if isinstance(value, PyProxy):
            if callable(value._obj):
                return self._stub(RpcStub.to_function(value))
            raise clone_error(PROXY_TEXT)
        if isinstance(value, JsLiteralMap):
            raise clone_error(PROXY_TEXT)
        if isinstance(value, JsException):
            name = value.name if value.name in ERROR_NAMES else "Error"
            return JsException(name, to_string(value.message))
        if isinstance(value, BODIES):
            return hand_over(value)
        duplicate = getattr(type(value), "_for_rpc", None)
        if duplicate is not None:
            copied = duplicate(value)
            return self._stub(copied) if isinstance(copied, RpcStub) else copied
        if isinstance(value, JsFunction):
            return self._stub(RpcStub.to_function(value))
        return structured_clone(value)  # a Date, or the error that tells what it is

    def _stub(self, stub: RpcStub) -> RpcStub:
        self.stubs.append(stub)
        return stub

    def _buffer(self, value: Any) -> Any:
        content = bytearray(value._view())
        self.size += len(content)
        buffer = ArrayBuffer(content)
        if isinstance(value, ArrayBuffer):
            return buffer
        name = value._class_name()
        return DataView(buffer) if name == "DataView" else TYPED_ARRAYS[name](buffer)


@js_class("RpcStub", constructible=False)
class RpcStub(JsProxy):
    """A function on the other side: calling it runs it in the event it came from.

    One that was an argument is the receiver's until the call ends; ``dup()`` makes one to keep.
    """

    __slots__ = ("_context", "_disposed", "_event", "_target")

    typeof = "function"

    def __init__(self, target: Any, event: io_context.IoContext) -> None:
        self._target = target
        self._event = event
        self._context = contextvars.copy_context()
        self._disposed = False

    @classmethod
    def to_function(cls, value: Any) -> RpcStub:
        target = PyProxy(value._unwrap()) if isinstance(value, PyProxy) else value
        return cls(target, io_context.require())

    @js_method
    def dup(self) -> RpcStub:
        self._check_kept()
        return self._twin()

    def _twin(self) -> RpcStub:
        twin = RpcStub(self._target, self._event)
        twin._context = self._context
        return twin

    def _for_rpc(self) -> RpcStub:
        self._check_kept()
        return self._twin()

    def _check_kept(self) -> None:
        """Whether it may still be used.

        Raises:
            JsException: with ``--strict``, when the call it was an argument of is over.
        """
        if not self._disposed:
            return
        if MODE.strict:
            raise js_error("Error", DISPOSED_TEXT)
        self._disposed = False  # said once
        io_context.require().warn(
            f"{io_context.user_line()}in production this fails: Error: {DISPOSED_TEXT} A function "
            "that came as an argument is disposed of when the call ends: keep function.dup()."
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_js(self._invoke, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return property_of(self, name)

    def _rpc_refusal(self, name: str) -> JsException:
        return function_refusal(name)

    def _rpc_call(self, method: str, _args: list[Any] | None) -> PyodideFuture:
        return rejected(function_refusal(method))

    def _invoke(self, *args: Any) -> PyodideFuture:
        lent: list[RpcStub] = []
        try:
            self._check_kept()
            depth = deeper()
            copied = transfer(list(args), lent)
        except JsException as error:
            return rejected(error)
        future = PyodideFuture(loop=asyncio.get_running_loop())
        answer = Answer(io_context.require(), future)
        self._send(copied, answer, lent, depth)
        return future

    def _send(self, copied: list[Any], answer: Answer, lent: list[RpcStub], depth: int) -> None:
        def settle(result: Any, error: BaseException | None) -> None:
            answer.settle(result, error)
            dispose(lent)

        self._receive(copied, settle, depth)

    def _receive(
        self, args: list[Any], settle: Callable[[Any, BaseException | None], None], depth: int
    ) -> None:
        """Run a call whose arguments have crossed; ``settle`` gets a value of this side."""
        if self._event.ended:
            settle(None, js_error("Error", DISPOSED_TEXT))
            return

        async def work(_instance: Any = None) -> Any:
            result = call_python(self._target, *args)
            promise = as_awaitable(result)
            return result if promise is None else python_to_js(await promise)

        self._event.admit(work, settle, self._context, depth)

    def _to_string(self) -> str:
        return "[object JsRpcStub]"


def dispose(stubs: list[RpcStub]) -> None:
    """End the stubs a call was given, once it is answered."""
    for stub in stubs:
        stub._disposed = True


class Answer:
    """Brings a call's outcome to its caller, as input to the caller's event."""

    __slots__ = ("_caller", "_future", "_resume")

    def __init__(self, caller: io_context.IoContext, future: PyodideFuture) -> None:
        caller.begin()
        self._caller = caller
        self._resume: Callable[[Callable[[], None]], None] = caller.resumer()
        self._future = future

    def settle(self, result: Any, error: BaseException | None) -> None:
        """``result`` is a JavaScript value of the callee's side."""
        if error is None:
            stubs: list[RpcStub] = []
            try:
                (result,) = transfer([result], stubs)
            except JsException as refusal:
                error = refusal
            for stub in stubs:
                self._caller.keep(stub._event)
        self.deliver(result, None if error is None else remote_error(error))

    def deliver(self, result: Any, error: BaseException | None) -> None:
        """Settle with what needs no conversion any more."""
        self._resume(lambda: self._deliver(result, error))

    def _deliver(self, result: Any, error: BaseException | None) -> None:
        self._caller.finish()
        future = self._future
        del self._future  # a call that is over must not keep a failure nobody asks for
        if future.done():
            return
        if error is None:
            future.set_result(js_to_python(result))
        else:
            future.set_exception(error)
            if self._caller.ended:
                future.exception()  # it ended for that reason: nobody is there to be told


def remote_error(error: BaseException) -> JsException:
    """What the caller sees: its class only if it is one of JavaScript's own."""
    if isinstance(error, JsException):
        if isinstance(error, DOMException):
            made: JsException = DOMException(error.message, error.name)
        elif error.name in ERROR_NAMES:
            made = JsException(error.name, to_string(error.message))
        else:
            made = JsException("Error", f"{error.name}: {to_string(error.message)}")
    else:
        made = JsException("Error", python_error_text(error))
        return with_traits(made, "remote")
    return with_traits(made, "remote", *traits_of(error))


def unanswered(reason: str) -> JsException:
    """What becomes of a call whose other side is gone, or was never to be reached."""
    if reason == CONNECTION_LOST:
        return connection_lost()
    return js_error("Error", reason or DISPOSED_TEXT)


def packed_error(error: BaseException) -> tuple[str, str, list[str]]:
    """What tells another process of it: name, text, and what else the runtime says of it."""
    seen = remote_error(error)
    return seen.name, to_string(seen.message), traits_of(seen)


def unpacked_error(name: str, text: str, traits: list[str]) -> JsException:
    return with_traits(JsException(name, text), "remote", *traits)


def python_error_text(error: BaseException) -> str:
    """The text of a JavaScript error that was made of a Python exception."""
    return f"PythonError: {tracebacks.message(error)}"


def python_failure(error: BaseException, *, at_once: bool = False) -> JsException:
    """What Python raised, as JavaScript catches it.

    ``at_once`` is what raised before a coroutine was made: JavaScript's own errors pass through it
    as they are, and there is no traceback without a frame.
    """
    if not at_once:
        return js_error("PythonError", tracebacks.message(error))
    if isinstance(error, JsException):
        return error
    return js_error("PythonError", tracebacks.message_at_once(error))


__all__ = [
    "Answer",
    "RpcStub",
    "dispose",
    "packed_error",
    "python_error_text",
    "python_failure",
    "remote_error",
    "transfer",
    "unanswered",
    "unpacked_error",
]
