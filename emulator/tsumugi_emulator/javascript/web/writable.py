"""``WritableStream`` and its writer: chunks go to a sink one at a time, with back-pressure."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import call_back
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.promise import (
    as_awaitable,
    as_exception,
    promise_of,
    rejected,
    resolved,
)
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.rejecting import rejecting

if TYPE_CHECKING:
    from collections.abc import Awaitable

LOCKED_TEXT = "This WritableStream is currently locked to a writer."
RELEASED_TEXT = "This WritableStream writer has been released."
CLOSED_TEXT = "This WritableStream has been closed."

_CLOSE: Any = object()


class Sink(Protocol):
    """Where written chunks go. A result of None means done."""

    def write(self, chunk: Any) -> Awaitable[Any] | None: ...

    def close(self) -> Awaitable[Any] | None: ...

    def abort(self, reason: Any) -> Awaitable[Any] | None: ...


@js_class("WritableStream")
class WritableStream(JsProxy):
    __slots__ = (
        "_closed",
        "_closing",
        "_context",
        "_error",
        "_high_water",
        "_in_flight",
        "_locked",
        "_queue",
        "_ready",
        "_sink",
        "_started",
    )

    def __init__(self, sink: Sink, *, high_water: float = 1) -> None:
        self._sink = sink
        self._high_water = high_water
        self._queue: deque[tuple[Any, PyodideFuture]] = deque()
        self._in_flight: PyodideFuture | None = None
        self._error: BaseException | None = None
        self._closing = False
        self._closed: PyodideFuture | None = None
        self._ready: PyodideFuture | None = None
        self._locked = False
        self._started: Awaitable[Any] | None = None
        self._context = io_context.current()

    @classmethod
    def _construct(cls, sink: Any = None, strategy: Any = None) -> WritableStream:
        from tsumugi_emulator.javascript.web.stream_sources import high_water_mark

        user_sink = _UserSink(sink)
        stream = cls(user_sink, high_water=high_water_mark(strategy, 1))
        user_sink.start(stream, member(sink, "start"))
        return stream

    # -- Inside the emulator ------------------------------------------------------------------

    @property
    def _desired(self) -> float | None:
        if self._error is not None:
            return None
        if self._closing:
            return 0
        return self._high_water - len(self._queue) - (self._in_flight is not None)

    def _write(self, chunk: Any) -> PyodideFuture:
        """The promise that the sink has taken ``chunk``."""
        if self._error is not None:
            return rejected(self._error)
        if self._closing:
            return rejected(type_error(CLOSED_TEXT))
        return self._put(chunk)

    def _end(self) -> PyodideFuture:
        if self._error is not None:
            return rejected(self._error)
        if self._closing:
            return rejected(type_error(CLOSED_TEXT))
        self._closing = True
        return self._put(_CLOSE)

    def _put(self, chunk: Any) -> PyodideFuture:
        future = PyodideFuture(loop=asyncio.get_running_loop())
        self._queue.append((chunk, future))
        self._advance()
        return future

    def _advance(self) -> None:
        while self._queue and self._in_flight is None and self._error is None:
            chunk, future = self._queue.popleft()
            self._in_flight = future
            try:
                pending = self._give(chunk)
            except Exception as error:
                self._settle(chunk, error)
                continue
            if pending is None:
                self._settle(chunk, None)
                continue
            asyncio.ensure_future(pending).add_done_callback(
                lambda done, chunk=chunk: self._given(chunk, done)  # type: ignore[misc]
            )

    def _give(self, chunk: Any) -> Awaitable[Any] | None:
        if self._started is not None:
            started, self._started = self._started, None
            return self._give_when_started(started, chunk)
        return self._sink.close() if chunk is _CLOSE else self._sink.write(chunk)

    async def _give_when_started(self, started: Awaitable[Any], chunk: Any) -> None:
        await started
        pending = self._give(chunk)
        if pending is not None:
            await pending

    def _given(self, chunk: Any, done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            self._settle(chunk, type_error("The write was cancelled."))
        else:
            self._settle(chunk, done.exception())
        self._advance()

    def _settle(self, chunk: Any, error: BaseException | None) -> None:
        future, self._in_flight = self._in_flight, None
        if future is not None and not future.done():
            if error is None:
                future.set_result(None)
            else:
                _fail(future, error)
        if error is not None:
            self._fail(error)
        elif chunk is _CLOSE:
            self._when_closed().set_result(None)
        if self._ready is not None and not self._ready.done() and (self._desired or 0) > 0:
            self._ready.set_result(None)

    def _fail(self, error: BaseException) -> None:
        if self._error is not None:
            return
        self._error = error
        for _, future in self._queue:
            _fail(future, error)
        self._queue.clear()
        for waiter in (self._ready, self._closed):
            if waiter is not None:
                _fail(waiter, error)

    def _when_closed(self) -> PyodideFuture:
        if self._closed is None:
            if self._error is not None:
                self._closed = rejected(self._error, handled=True)
            else:
                self._closed = PyodideFuture(loop=asyncio.get_running_loop())
        return self._closed

    def _when_ready(self) -> PyodideFuture:
        if self._error is not None:
            return rejected(self._error, handled=True)
        if (self._desired or 0) > 0 or self._closing:
            return resolved(None)
        if self._ready is None or self._ready.done():
            self._ready = PyodideFuture(loop=asyncio.get_running_loop())
        return self._ready

    async def _abort(self, reason: Any) -> None:
        if self._error is not None or (self._closed is not None and self._closed.done()):
            return
        self._fail(as_exception(reason))
        in_flight = self._in_flight
        pending = self._sink.abort(reason)
        if pending is not None:
            await pending
        if in_flight is not None and not in_flight.done():
            _fail(in_flight, as_exception(reason))

    def _check_owner(self) -> None:
        context = self._context
        if context is not None and io_context.current() is not context:
            context.owns("WritableStreamSink")

    # -- JavaScript -------------------------------------------------------------------------------

    @js_property
    def locked(self) -> bool:
        return self._locked

    @js_method
    def getWriter(self) -> WritableStreamDefaultWriter:
        return WritableStreamDefaultWriter(self)

    @js_method
    def close(self) -> PyodideFuture:
        return rejected(type_error(LOCKED_TEXT)) if self._locked else self._end()

    @js_method
    def abort(self, reason: Any = None) -> PyodideFuture:
        if self._locked:
            return rejected(type_error(LOCKED_TEXT))
        return promise_of(self._abort(reason))


WritableStreamClass = WritableStream.constructor


def _fail(future: PyodideFuture, error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        # A write nobody awaits must not be reported a second time by asyncio.
        future.exception()


@js_class("WritableStreamDefaultWriter")
class WritableStreamDefaultWriter(JsProxy):
    __slots__ = ("_stream",)

    def __init__(self, stream: WritableStream) -> None:
        if stream._locked:
            raise type_error(LOCKED_TEXT)
        stream._check_owner()
        stream._locked = True
        self._stream: WritableStream | None = stream

    @js_property
    def closed(self) -> PyodideFuture:
        if self._stream is None:
            return rejected(type_error(RELEASED_TEXT), handled=True)
        return self._stream._when_closed()

    @js_property
    def ready(self) -> PyodideFuture:
        if self._stream is None:
            return rejected(type_error(RELEASED_TEXT), handled=True)
        return self._stream._when_ready()

    @js_property
    def desiredSize(self) -> Any:
        if self._stream is None:
            raise type_error(RELEASED_TEXT)
        desired = self._stream._desired
        return jsnull if desired is None else desired

    @js_method
    @rejecting
    def write(self, chunk: Any = None) -> PyodideFuture:
        if self._stream is None:
            return rejected(type_error(RELEASED_TEXT))
        self._stream._check_owner()
        return self._stream._write(chunk)

    @js_method
    def close(self) -> PyodideFuture:
        if self._stream is None:
            return rejected(type_error(RELEASED_TEXT))
        return self._stream._end()

    @js_method
    def abort(self, reason: Any = None) -> PyodideFuture:
        if self._stream is None:
            return rejected(type_error(RELEASED_TEXT))
        return promise_of(self._stream._abort(reason))

    @js_method
    def releaseLock(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream._locked = False


WritableStreamDefaultWriterClass = WritableStreamDefaultWriter.constructor


@js_class("WritableStreamDefaultController", constructible=False)
class WritableStreamDefaultController(JsProxy):
    __slots__ = ("_stream",)

    def __init__(self, stream: WritableStream) -> None:
        self._stream = stream

    @js_method
    def error(self, reason: Any = None) -> None:
        self._stream._fail(as_exception(reason))


class _UserSink:
    """The callbacks of an underlying sink object."""

    __slots__ = ("_controller", "_sink")

    def __init__(self, sink: Any) -> None:
        self._sink = sink
        self._controller: WritableStreamDefaultController | None = None

    def start(self, stream: WritableStream, callback: Any) -> None:
        self._controller = WritableStreamDefaultController(stream)
        if callback is not None:
            stream._started = as_awaitable(call_back(callback, self._controller))

    def _call(self, name: str, *args: Any) -> Awaitable[Any] | None:
        callback = member(self._sink, name)
        return None if callback is None else as_awaitable(call_back(callback, *args))

    def write(self, chunk: Any) -> Awaitable[Any] | None:
        return self._call("write", chunk, self._controller)

    def close(self) -> Awaitable[Any] | None:
        return self._call("close")

    def abort(self, reason: Any) -> Awaitable[Any] | None:
        return self._call("abort", reason)
