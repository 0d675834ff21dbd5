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
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property, js_static
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.promise import promise_of, rejected
from tsumugi_emulator.javascript.values import JsProxy
from tsumugi_emulator.javascript.web.chunks import END, ReadRequest, as_bytes, as_js_chunk
from tsumugi_emulator.javascript.web.rejecting import rejecting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tsumugi_emulator.javascript.web.stream_readers import StreamIterator
    from tsumugi_emulator.javascript.web.writable import WritableStream


class Source(Protocol):
    """Where a stream's chunks come from."""

    def pull(self, stream: ReadableStream) -> Awaitable[Any] | None:
        """Enqueue at least one chunk, or close the stream, by the time the result is done."""

    def cancel(self, reason: Any) -> Awaitable[Any] | None:
        """The consumer has lost interest."""


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
        "_expected_length",
        "_high_water",
        "_iterator",
        "_locked",
        "_pulling",
        "_queue",
        "_requests",
        "_size",
        "_source",
        "_state",
        "_waits_on_io",
    )

    def __init__(self, source: Source | None = None, *, high_water: float = 0) -> None:
        self._source = source
        self._high_water = high_water
        self._queue: deque[Any] = deque()
        self._requests: deque[ReadRequest] = deque()
        self._closed_waiters: list[PyodideFuture] = []
        self._state = "readable"
        self._error: BaseException | None = None
        self._locked = False
        self._disturbed = False
        self._pulling = False
        self._again = False
        self._close_requested = False
        self._iterator: AsyncIterator[bytes] | None = None
        #: The strategy's ``size(chunk)``; every chunk counts 1 without it.
        self._size: Callable[[Any], float] | None = None
        #: Reads wait on the outside, not on this event's own code.
        self._waits_on_io = False
        #: Total bytes, when known beforehand: becomes the Content-Length.
        self._expected_length: int | None = None
        self._context = io_context.current()

    @classmethod
    def _construct(cls, source: Any = None, strategy: Any = None) -> ReadableStream:
        from tsumugi_emulator.javascript.web.stream_sources import underlying_source

        return underlying_source(source, strategy)

    @classmethod
    def _from_source(cls, iterator: AsyncIterator[bytes]) -> ReadableStream:
        """A byte stream that asks ``iterator`` for a chunk whenever one is wanted."""
        from tsumugi_emulator.javascript.web.stream_sources import IteratorSource

        stream = cls(IteratorSource(iterator))
        stream._iterator = iterator
        stream._waits_on_io = True
        return stream

    @classmethod
    def _from_bytes(cls, data: bytes) -> ReadableStream:
        stream = cls()
        stream._expected_length = len(data)
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
        request = ReadRequest(raw=raw)
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
            if self._waits_on_io and self._context is not None:
                self._context.track(request.future)
            self._pull_if_needed()
        return request.future

    def _unread(self, data: bytes) -> None:
        """Put back the rest of a chunk."""
        self._queue.appendleft(data)
        if self._state == "closed":
            self._state = "readable"

    def _release(self, error: BaseException) -> None:
        """Fail the reads of a reader that let go."""
        requests, self._requests = self._requests, deque()
        for request in requests:
            request.fail(error)

    def _when_closed(self) -> PyodideFuture:
        if self._error is not None:
            return rejected(self._error)
        waiter = PyodideFuture(loop=asyncio.get_running_loop())
        if self._state == "closed":
            waiter.set_result(None)
        else:
            self._closed_waiters.append(waiter)
        return waiter

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
                while (chunk := await self._next_of(iterator)) is not END:
                    yield chunk
                self._finish()
                return
            while (chunk := await self._read(raw=True)) is not END:
                yield as_bytes(chunk)
        except JsException as error:
            self._fail(error)
            raise

    async def _next_of(self, iterator: AsyncIterator[bytes]) -> Any:
        """The source's next chunk or :data:`END`; waiting for it is I/O of the stream's event."""
        context = self._context
        if context is not None:
            context.begin()
        try:
            return await anext(iterator, END)
        finally:
            if context is not None:
                context.finish()

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
        from tsumugi_emulator.javascript.web.stream_readers import StreamIterator

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
    @rejecting
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
    @rejecting
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


def _from_iterable(iterable: Any = None) -> ReadableStream:
    from tsumugi_emulator.javascript.web.stream_sources import stream_of_iterable

    return stream_of_iterable(iterable)


js_static(ReadableStream, "from_", _from_iterable)

__all__ = ["END", "ReadableStream", "ReadableStreamClass", "Source", "as_bytes", "as_js_chunk"]
