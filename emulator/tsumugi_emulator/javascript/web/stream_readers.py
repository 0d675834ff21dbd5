"""Readers of a ``ReadableStream``: the default one, the BYOB one, and ``async for``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.buffers import ArrayBuffer, DataView, TypedArray
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.promise import promise_of, rejected
from tsumugi_emulator.javascript.values import JsObject, JsProxy, js_to_python
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.rejecting import rejecting
from tsumugi_emulator.javascript.web.streams import END, ReadableStream, as_bytes, as_js_chunk

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.futures import PyodideFuture

RELEASED_TEXT = "This ReadableStream reader has been released."


class StreamIterator(JsProxy):
    """``async for chunk in stream``; the lock is held until the end or ``return``."""

    __slots__ = ("_stream",)

    def __init__(self, stream: ReadableStream) -> None:
        self._stream = stream

    def __aiter__(self) -> StreamIterator:
        return self

    async def __anext__(self) -> Any:
        chunk = await self._stream._read(raw=True)
        if chunk is END:
            self._stream._locked = False
            raise StopAsyncIteration
        return js_to_python(as_js_chunk(chunk))

    @js_method
    def next(self) -> PyodideFuture:
        return self._stream._read(raw=False)

    @js_method
    def return_(self, reason: Any = None) -> PyodideFuture:
        self._stream._locked = False
        return promise_of(self._stream._cancel(reason))

    async def aclose(self) -> None:
        self._stream._locked = False
        await self._stream._cancel()


class _Reader(JsProxy):
    """What both readers share: the lock on their stream."""

    __slots__ = ("_closed", "_stream")

    def __init__(self, stream: ReadableStream) -> None:
        stream._lock()
        self._stream: ReadableStream | None = stream
        self._closed: PyodideFuture | None = None

    @classmethod
    def _construct(cls, stream: Any = None) -> _Reader:
        if not isinstance(stream, ReadableStream):
            raise type_error(
                f"Failed to construct '{cls.__name__}': constructor parameter 1 is not of type "
                "'ReadableStream'."
            )
        return cls(stream)

    @js_property
    def closed(self) -> PyodideFuture:
        if self._closed is None:
            if self._stream is None:
                self._closed = rejected(type_error(RELEASED_TEXT), handled=True)
            else:
                self._closed = self._stream._when_closed()
        return self._closed

    @js_method
    @rejecting
    def cancel(self, reason: Any = None) -> PyodideFuture:
        if self._stream is None:
            return rejected(type_error(RELEASED_TEXT))
        self._stream._check_owner()
        return promise_of(self._stream._cancel(reason))

    @js_method
    def releaseLock(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        stream._locked = False
        stream._release(type_error(RELEASED_TEXT))
        self._closed = rejected(type_error(RELEASED_TEXT), handled=True)


@js_class("ReadableStreamDefaultReader")
class ReadableStreamDefaultReader(_Reader):
    __slots__ = ()

    @js_method
    @rejecting
    def read(self) -> PyodideFuture:
        if self._stream is None:
            return rejected(type_error(RELEASED_TEXT))
        self._stream._check_owner()
        return self._stream._read(raw=False)


@js_class("ReadableStreamBYOBReader")
class ReadableStreamBYOBReader(_Reader):
    """Fills the view it is given; what does not fit waits for the next read."""

    __slots__ = ()

    @js_method
    @rejecting
    def read(self, view: Any = None, options: Any = None) -> PyodideFuture:
        at_least = member(options, "min")
        return self._read_into(view, 1 if at_least is None else at_least)

    @js_method
    @rejecting
    def readAtLeast(self, at_least: Any = 1, view: Any = None) -> PyodideFuture:
        return self._read_into(view, at_least)

    def _read_into(self, view: Any, at_least: int) -> PyodideFuture:
        if self._stream is None:
            return rejected(type_error(RELEASED_TEXT))
        if not isinstance(view, TypedArray | DataView):
            return rejected(type_error("read() requires an ArrayBufferView."))
        if len(view._view()) == 0:
            return rejected(
                type_error(
                    'You must call read() on a "byob" reader with a '
                    "positive-sized TypedArray object."
                )
            )
        self._stream._check_owner()
        return promise_of(_fill(self._stream, view, at_least))


async def _fill(stream: ReadableStream, view: Any, at_least: int) -> JsObject:
    target = view._view()
    filled = 0
    while filled < at_least:
        chunk = await stream._read(raw=True)
        if chunk is END:
            break
        data = as_bytes(chunk)
        taken = min(len(target) - filled, len(data))
        target[filled : filled + taken] = data[:taken]
        filled += taken
        if taken < len(data):
            stream._unread(data[taken:])
    kind = type(view)
    buffer: ArrayBuffer = view._buffer
    size = getattr(view, "_size", 1)
    value = kind(buffer, view._offset, filled // size)
    return JsObject({"value": value, "done": filled == 0})


def make_reader(stream: ReadableStream, options: Any) -> _Reader:
    if member(options, "mode") == "byob":
        return ReadableStreamBYOBReader(stream)
    return ReadableStreamDefaultReader(stream)


ReadableStreamDefaultReaderClass = ReadableStreamDefaultReader.constructor
ReadableStreamBYOBReaderClass = ReadableStreamBYOBReader.constructor

__all__ = [
    "ReadableStreamBYOBReader",
    "ReadableStreamDefaultReader",
    "StreamIterator",
    "make_reader",
]
