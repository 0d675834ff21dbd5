"""Where the chunks of a ``ReadableStream`` come from: user code, iterators, another stream."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import call_back, iterate_js
from tsumugi_emulator.javascript.buffers import TypedArray, bytes_of
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.errors import range_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.promise import as_awaitable, as_exception
from tsumugi_emulator.javascript.strings import to_number
from tsumugi_emulator.javascript.values import JsProxy, PyProxy, jsnull
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.streams import END, ReadableStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable


class IteratorSource:
    """Chunks of a Python async iterator, one for each pull."""

    __slots__ = ("_iterator",)

    def __init__(self, iterator: AsyncIterator[Any]) -> None:
        self._iterator = iterator

    async def pull(self, stream: ReadableStream) -> None:
        stream._iterator = None
        try:
            chunk = await anext(self._iterator)
        except StopAsyncIteration:
            stream._close()
        else:
            stream._enqueue(chunk)

    async def cancel(self, _reason: Any) -> None:
        close = getattr(self._iterator, "aclose", None)
        if close is not None:
            await close()


# -- User code: new ReadableStream({start, pull, cancel}) -----------------------------------------


class _Controller(JsProxy):
    __slots__ = ("_stream",)

    def __init__(self, stream: ReadableStream) -> None:
        self._stream = stream

    @js_property
    def desiredSize(self) -> Any:
        desired = self._stream._desired
        return jsnull if desired is None else desired

    @js_method
    def enqueue(self, chunk: Any = None) -> None:
        stream = self._stream
        if stream._close_requested or stream._state != "readable":
            raise type_error("Unable to enqueue")
        stream._enqueue(self._check(chunk))

    @js_method
    def close(self) -> None:
        if self._stream._close_requested or self._stream._state != "readable":
            raise type_error("This ReadableStream is closed.")
        self._stream._close()

    @js_method
    def error(self, reason: Any = None) -> None:
        self._stream._fail(as_exception(reason))

    def _check(self, chunk: Any) -> Any:
        return chunk


@js_class("ReadableStreamDefaultController", constructible=False)
class ReadableStreamDefaultController(_Controller):
    __slots__ = ()


@js_class("ReadableByteStreamController", constructible=False)
class ReadableByteStreamController(_Controller):
    """Of ``type: "bytes"`` streams. ``byobRequest`` is always null: enqueue the bytes instead."""

    __slots__ = ()

    @js_property
    def byobRequest(self) -> Any:
        return jsnull

    def _check(self, chunk: Any) -> Any:
        data = bytes_of(chunk)
        if data is None:
            raise type_error(
                "Failed to execute 'enqueue' on 'ReadableByteStreamController': parameter 1 is not "
                "of type 'ArrayBuffer or ArrayBufferView'."
            )
        if not data:
            raise type_error("Cannot enqueue a zero-length ArrayBuffer.")
        return data


class _UserSource:
    """The callbacks of an underlying source object."""

    __slots__ = ("_controller", "_on_cancel", "_on_pull", "_started")

    def __init__(self, source: Any, controller: _Controller) -> None:
        self._controller = controller
        self._on_pull = member(source, "pull")
        self._on_cancel = member(source, "cancel")
        self._started: Awaitable[Any] | None = None

    def start(self, callback: Any) -> None:
        if callback is not None:
            self._started = as_awaitable(call_back(callback, self._controller))

    def pull(self, _stream: ReadableStream) -> Awaitable[Any] | None:
        if self._started is not None:
            return self._pull_when_started()
        if self._on_pull is None:
            return None
        return as_awaitable(call_back(self._on_pull, self._controller))

    async def _pull_when_started(self) -> None:
        started, self._started = self._started, None
        if started is not None:
            await started
        if self._on_pull is not None and self._controller._stream._state == "readable":
            pending = as_awaitable(call_back(self._on_pull, self._controller))
            if pending is not None:
                await pending

    def cancel(self, reason: Any) -> Awaitable[Any] | None:
        if self._on_cancel is None:
            return None
        return as_awaitable(call_back(self._on_cancel, reason))


def underlying_source(source: Any, strategy: Any) -> ReadableStream:
    """``new ReadableStream(source, strategy)``."""
    is_bytes = member(source, "type") == "bytes"
    high_water = high_water_mark(strategy, 0 if is_bytes else 1)
    stream = ReadableStream(high_water=high_water)
    stream._size = size_of(strategy)
    kind = ReadableByteStreamController if is_bytes else ReadableStreamDefaultController
    user_source = _UserSource(source, kind(stream))
    stream._source = user_source
    stream._pulling = True  # nothing is pulled before start() has run and this call is over
    user_source.start(member(source, "start"))
    if io_context.current() is None:
        stream._pulling = False
    else:
        asyncio.get_running_loop().call_soon(_begin, stream)
    return stream


def _begin(stream: ReadableStream) -> None:
    stream._pulling = stream._again = False
    stream._pull_if_needed()


def high_water_mark(strategy: Any, default: float) -> float:
    value = member(strategy, "highWaterMark")
    if value is None:
        return default
    number = to_number(value)
    if math.isnan(number) or number < 0:
        raise range_error("Invalid highWaterMark")
    return number


def size_of(strategy: Any) -> Callable[[Any], float] | None:
    size = member(strategy, "size")
    return None if size is None else lambda chunk: to_number(call_back(size, chunk))


# -- ReadableStream.from(iterable) ----------------------------------------------------------------


def stream_of_iterable(iterable: Any) -> ReadableStream:
    """``ReadableStream.from``: also a Python (async) iterable that crossed as a proxy."""
    target = iterable._unwrap() if isinstance(iterable, PyProxy) else iterable
    return ReadableStream(IteratorSource(_values(target)))


async def _values(target: Any) -> AsyncIterator[Any]:
    if hasattr(target, "__aiter__"):
        async for value in target:
            yield python_to_js(value)
    elif isinstance(target, JsProxy | str):
        for value in iterate_js(target):
            yield value
    else:
        for value in target:
            yield python_to_js(value)


# -- tee ------------------------------------------------------------------------------------------


class _Branch:
    __slots__ = ("_tee",)

    def __init__(self, tee_: _Tee) -> None:
        self._tee = tee_

    def pull(self, _stream: ReadableStream) -> Awaitable[Any] | None:
        return self._tee.pull()

    def cancel(self, reason: Any) -> Awaitable[Any] | None:
        return self._tee.cancel(reason)


class _Tee:
    """Reads the original once and gives every chunk to the branches that still listen."""

    __slots__ = ("_branches", "_original", "_reading")

    def __init__(self, original: ReadableStream) -> None:
        original._lock()
        self._original = original
        self._reading = False
        self._branches = [ReadableStream(_Branch(self)) for _ in range(2)]
        for branch in self._branches:
            branch._context = original._context
            branch._waits_on_io = original._waits_on_io

    def pull(self) -> Awaitable[Any] | None:
        if self._reading:
            return None  # the read under way serves both branches
        self._reading = True
        return self._read()

    async def _read(self) -> None:
        try:
            chunk = await self._original._read(raw=True)
        except Exception as error:
            for branch in self._branches:
                branch._fail(error)
            return
        finally:
            self._reading = False
        for branch in self._branches:
            if branch._state != "readable":
                continue
            if chunk is END:
                branch._close()
            else:
                branch._enqueue(_copy(chunk))

    def cancel(self, reason: Any) -> Awaitable[Any] | None:
        if any(branch._state == "readable" for branch in self._branches):
            return None
        return self._original._cancel(reason)


def _copy(chunk: Any) -> Any:
    # Two readers must not share one buffer.
    return bytes(chunk._view()) if isinstance(chunk, TypedArray) else chunk


def tee(stream: ReadableStream) -> tuple[ReadableStream, ReadableStream]:
    """Two streams with the content of one, which stays locked."""
    first, second = _Tee(stream)._branches
    return first, second
