"""``ReadableStream``: chunks that are pulled, with back-pressure.

Chunks in the queue are JavaScript values, or ``bytes`` where the emulator made them: those become
a ``Uint8Array`` only when user code reads them. Not here: writing (``writable``), piping through
a transform (``transform``).
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.buffers import ArrayBuffer, Uint8Array, bytes_of
from tsumugi_emulator.javascript.containers import JsArray
from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.javascript.promise import PyodideFuture, promise_of, rejected
from tsumugi_emulator.javascript.values import (
    JsObject,
    JsProxy,
    js_class,
    js_method,
    js_property,
    js_static,
    js_to_python,
    jsnull,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from tsumugi_emulator.javascript.web.writable import WritableStream

#: What :meth:`ReadableStream._next` answers at the end.
END: Any = object()


class Source(Protocol):
    """Where a stream's chunks come from."""

    def pull(self, stream: ReadableStream) -> Awaitable[Any] | None:
        """Enqueue at least one chunk, or close the stream, by the time the result is done."""

    def cancel(self, reason: Any) -> Awaitable[Any] | None:
        """The consumer has lost interest."""


class _Request:
    """One pending read. ``raw`` readers get the chunk itself, others ``{value, done}``."""

    __slots__ = ("future", "raw")

    def __init__(self, *, raw: bool) -> None:
        self.future = PyodideFuture(loop=asyncio.get_running_loop())
        self.raw = raw

    def fulfil(self, chunk: Any) -> bool:
        if self.future.done():
            return False
        self.future.set_result(chunk if self.raw else read_result(chunk))
        return True

    def fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()


def read_result(chunk: Any) -> JsObject:
    """What ``reader.read()`` resolves with."""
    if chunk is END:
        return JsObject({"value": None, "done": True})
    return JsObject({"value": as_js_chunk(chunk), "done": False})


def as_js_chunk(chunk: Any) -> Any:
    return Uint8Array(ArrayBuffer(bytearray(chunk))) if type(chunk) is bytes else chunk


def as_bytes(chunk: Any) -> bytes:
    """The bytes of a chunk that must be bytes.

    Raises:
        JsException: TypeError, when it is anything else.
    """
    if type(chunk) is bytes:
        return chunk
    data = bytes_of(chunk)
    if data is None:
        raise type_error("This ReadableStream did not return bytes.")
    return data


@js_class("ReadableStream")
class ReadableStream(JsProxy):
    """Bound to the event that made it, when one did."""

    __slots__ = (
        "_again",
        "_close_requested",
        "_closed_waiters",
        "_context",
        "_disturbed",
        "_error",
        "_high_water",
        "_iterator",
        "_locked",
        "_pulling",
        "_queue",
        "_requests",
        "_size",
        "_source",
        "_state",
    )

    def __init__(self, source: Source | None = None, *, high_water: float = 0) -> None:
        self._source = source
        self._high_water = high_water
        self._queue: deque[Any] = deque()
        self._requests: deque[_Request] = deque()
        self._closed_waiters: list[PyodideFuture] = []
        self._state = "readable"
        self._error: BaseException | None = None
        self._locked = False
        self._disturbed = False
        self._pulling = False
        self._again = False
        self._close_requested = False
        self._iterator: AsyncIterator[bytes] | None = None
        self._size: Any = None
        self._context = io_context.current()

    @classmethod
    def _construct(cls, source: Any = None, strategy: Any = None) -> ReadableStream:
        from tsumugi_emulator.javascript.web.stream_sources import stream_of_underlying_source

        return stream_of_underlying_source(source, strategy)

    @classmethod
    def _from_source(cls, iterator: AsyncIterator[bytes]) -> ReadableStream:
        """A byte stream that asks ``iterator`` for a chunk whenever one is wanted."""
        stream = cls(_IteratorSource(iterator))
        stream._iterator = iterator
        return stream

    @classmethod
    def _from_bytes(cls, data: bytes) -> ReadableStream:
        stream = cls()
        if data:
            stream._queue.append(data)
        stream._close_requested = True
        if not data:
            stream._state = "closed"
        return stream

    # -- Filled by the source ---------------------------------------------------------------------

    def _enqueue(self, chunk: Any) -> None:
        while self._requests:
            if self._requests.popleft().fulfil(chunk):
                break
        else:
            self._queue.append(chunk)
        self._pull_if_needed()

    def _close(self) -> None:
        """End after what is queued."""
        self._close_requested = True
        if not self._queue:
            self._finish()

    def _finish(self) -> None:
        if self._state != "readable":
            return
        self._state = "closed"
        for request in self._requests:
            request.fulfil(END)
        self._requests.clear()
        for waiter in self._closed_waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _fail(self, error: BaseException) -> None:
        if self._state != "readable":
            return
        self._state = "errored"
        self._error = error
        self._queue.clear()
        for request in self._requests:
            request.fail(error)
        self._requests.clear()
        for waiter in self._closed_waiters:
            if not waiter.done():
                waiter.set_exception(error)
                waiter.exception()

    @property
    def _desired(self) -> float | None:
        if self._state == "errored":
            return None
        if self._state == "closed":
            return 0
        if self._size is None:
            return self._high_water - len(self._queue)
        return self._high_water - sum(self._size(chunk) for chunk in self._queue)

    def _pull_if_needed(self) -> None:
        if self._source is None or self._state != "readable" or self._close_requested:
            return
        if not self._requests and (self._desired or 0) <= 0:
            return
        if self._pulling:
            self._again = True
            return
        self._pulling = True
        try:
            pending = self._pull_now(self._source)
        except Exception as error:
            self._pulling = False
            self._fail(error)
            return
        if pending is None:
            self._pulling = False
        else:
            asyncio.ensure_future(pending).add_done_callback(self._pulled)

    def _pull_now(self, source: Source) -> Awaitable[Any] | None:
        """Pull until the source is satisfied or has to wait."""
        while True:
            self._again = False
            pending = source.pull(self)
            if pending is not None or not self._again:
                return pending

    def _pulled(self, done: asyncio.Future[Any]) -> None:
        self._pulling = False
        if done.cancelled():
            self._fail(JsException("Error", "The stream's source was cancelled."))
            return
        error = done.exception()
        if error is not None:
            self._fail(error)
        elif self._again:
            self._again = False
            self._pull_if_needed()

    # -- Read by consumers -----------------------------------------------------------------------

    def _read(self, *, raw: bool) -> PyodideFuture:
        """One read, in order: :data:`END`, a chunk, or what ``reader.read()`` gives."""
        self._disturbed = True
        request = _Request(raw=raw)
        if self._queue:
            request.fulfil(self._queue.popleft())
            if self._close_requested and not self._queue:
                self._finish()
            else:
                self._pull_if_needed()
        elif self._state == "closed":
            request.fulfil(END)
        elif self._error is not None:
            request.fail(self._error)
        else:
            self._requests.append(request)
            if self._context is not None and type(self._source) is _IteratorSource:
                self._context.track(request.future)
            self._pull_if_needed()
        return request.future

    async def _chunks(self) -> AsyncIterator[bytes]:
        """Every remaining chunk as bytes. Locks the stream; an early end cancels it.

        Raises:
            JsException: the stream is locked, failed, or holds something that is not bytes.
        """
        self._lock()
        self._disturbed = True
        try:
            if self._iterator is not None and not self._queue and self._state == "readable":
                iterator, self._iterator = self._iterator, None
                async for chunk in iterator:
                    yield chunk
                self._finish()
                return
            while (chunk := await self._read(raw=True)) is not END:
                yield as_bytes(chunk)
        except JsException as error:
            self._fail(error)
            raise

    async def _collect(self) -> bytes:
        return b"".join([chunk async for chunk in self._chunks()])

    async def _cancel(self, reason: Any = None) -> None:
        """Drop what is queued and tell the source, whoever holds the lock."""
        self._disturbed = True
        if self._error is not None:
            raise self._error
        if self._state == "closed":
            return
        self._queue.clear()
        self._finish()
        if self._source is not None:
            pending = self._source.cancel(reason)
            if pending is not None:
                await pending

    def _lock(self) -> None:
        if self._locked:
            raise type_error("This ReadableStream is currently locked to a reader.")
        self._locked = True

    def _check_owner(self) -> None:
        context = self._context
        if context is not None and io_context.current() is not context:
            context.owns("ReadableStreamSource")

    # -- Python ----------------------------------------------------------------------------------

    def __aiter__(self) -> StreamIterator:
        self._check_owner()
        self._lock()
        return StreamIterator(self)

    # -- JavaScript -------------------------------------------------------------------------------

    @js_property
    def locked(self) -> bool:
        return self._locked

    @js_method
    def getReader(self, options: Any = None) -> Any:
        from tsumugi_emulator.javascript.web.stream_readers import make_reader

        self._check_owner()
        return make_reader(self, options)

    @js_method
    def cancel(self, reason: Any = None) -> PyodideFuture:
        if self._locked:
            return rejected(type_error("This ReadableStream is currently locked to a reader."))
        self._check_owner()
        return promise_of(self._cancel(reason))

    @js_method
    def values(self, _options: Any = None) -> StreamIterator:
        return self.__aiter__()

    @js_method
    def tee(self) -> JsArray:
        from tsumugi_emulator.javascript.web.stream_sources import tee

        self._check_owner()
        return JsArray(list(tee(self)))

    @js_method
    def pipeTo(self, target: Any = None, options: Any = None) -> PyodideFuture:
        from tsumugi_emulator.javascript.web.piping import pipe_to

        return pipe_to(self, target, options)

    @js_method
    def pipeThrough(self, pair: Any = None, options: Any = None) -> Any:
        from tsumugi_emulator.javascript.web.piping import pipe_to

        writable: WritableStream = pair._get("writable")
        future = pipe_to(self, writable, options)
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        return pair._get("readable")


ReadableStreamClass = ReadableStream.constructor


class StreamIterator(JsProxy):
    """``async for chunk in stream``."""

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


class _IteratorSource:
    """Chunks of a Python async iterator."""

    __slots__ = ("_iterator",)

    def __init__(self, iterator: AsyncIterator[bytes]) -> None:
        self._iterator = iterator

    async def pull(self, stream: ReadableStream) -> None:
        stream._iterator = None
        try:
            chunk = await anext(self._iterator)
        except StopAsyncIteration:
            stream._close()
        else:
            stream._enqueue(chunk)

    async def cancel(self, reason: Any) -> None:
        close = getattr(self._iterator, "aclose", None)
        if close is not None:
            await close()


def _from_iterable(iterable: Any = None) -> ReadableStream:
    from tsumugi_emulator.javascript.web.stream_sources import stream_of_iterable

    return stream_of_iterable(iterable)


js_static(ReadableStream, "from_", _from_iterable)

__all__ = [
    "END",
    "ReadableStream",
    "ReadableStreamClass",
    "Source",
    "as_bytes",
    "as_js_chunk",
    "jsnull",
]
