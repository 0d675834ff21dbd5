"""``TransformStream`` and its identity kinds: what is written on one side is read on the other.

A write is done when the reader has asked for it, as in the runtime.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript.arrays import call_back
from tsumugi_emulator.javascript.buffers import bytes_of
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.promise import as_awaitable, as_exception
from tsumugi_emulator.javascript.strings import to_number
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.stream_sources import high_water_mark
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.javascript.web.writable import WritableStream

if TYPE_CHECKING:
    from collections.abc import Awaitable


class Transformer(Protocol):
    """Turns one chunk into any number of ``stream._emit`` calls."""

    def transform(self, chunk: Any, stream: TransformStream) -> Awaitable[Any] | None: ...

    def flush(self, stream: TransformStream) -> Awaitable[Any] | None: ...


class Identity:
    """Chunks pass as they are."""

    __slots__ = ()

    def transform(self, chunk: Any, stream: TransformStream) -> None:
        stream._emit(chunk)

    def flush(self, stream: TransformStream) -> None:
        return None


@js_class("TransformStream")
class TransformStream(JsProxy):
    __slots__ = ("_blocked", "_readable", "_transformer", "_turn", "_writable")

    def __init__(
        self, transformer: Transformer, *, write_ahead: float = 1, read_ahead: float = 0
    ) -> None:
        self._transformer = transformer
        #: Nobody has asked for the next chunk yet.
        self._blocked = True
        self._turn: asyncio.Future[None] | None = None
        self._readable = ReadableStream(_ReadSide(self), high_water=read_ahead)
        self._writable = WritableStream(_WriteSide(self), high_water=write_ahead)
        if read_ahead > 0:
            self._blocked = False

    @classmethod
    def _construct(
        cls, transformer: Any = None, writable: Any = None, readable: Any = None
    ) -> TransformStream:
        if transformer is None or transformer is jsnull:
            return cls(Identity())
        user = _UserTransformer(transformer)
        stream = cls(
            user,
            write_ahead=high_water_mark(writable, 1),
            read_ahead=high_water_mark(readable, 0),
        )
        user.start(stream, member(transformer, "start"))
        return stream

    @js_property
    def readable(self) -> ReadableStream:
        return self._readable

    @js_property
    def writable(self) -> WritableStream:
        return self._writable

    # -- Inside the emulator ------------------------------------------------------------------

    def _emit(self, chunk: Any) -> None:
        """Hand a chunk to the readable side.

        Raises:
            JsException: the readable side is closed or has failed.
        """
        readable = self._readable
        if readable._error is not None:
            raise readable._error
        if readable._state != "readable" or readable._close_requested:
            raise type_error("The readable side of this TransformStream is no longer readable.")
        self._blocked = True
        readable._enqueue(chunk)
        if (readable._desired or 0) > 0:
            self._unblock()

    def _unblock(self) -> None:
        self._blocked = False
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(None)

    def _fail(self, error: BaseException) -> None:
        self._readable._fail(error)
        self._writable._fail(error)
        self._unblock()

    def _terminate(self) -> None:
        self._readable._close()
        self._writable._fail(type_error("The transform stream has been terminated"))
        self._unblock()

    async def _wait_for_turn(self) -> None:
        while self._blocked:
            self._turn = asyncio.get_running_loop().create_future()
            await self._turn


TransformStreamClass = TransformStream.constructor


class _ReadSide:
    __slots__ = ("_transform",)

    def __init__(self, transform: TransformStream) -> None:
        self._transform = transform

    def pull(self, _stream: ReadableStream) -> None:
        self._transform._unblock()

    def cancel(self, reason: Any) -> None:
        self._transform._writable._fail(
            type_error("The readable side of this stream was cancelled.")
            if reason is None or reason is jsnull
            else as_exception(reason)
        )
        self._transform._unblock()


class _WriteSide:
    __slots__ = ("_transform",)

    def __init__(self, transform: TransformStream) -> None:
        self._transform = transform

    def write(self, chunk: Any) -> Awaitable[Any] | None:
        transform = self._transform
        if transform._blocked:
            return self._write_in_turn(chunk)
        return self._apply(chunk)

    async def _write_in_turn(self, chunk: Any) -> None:
        await self._transform._wait_for_turn()
        if self._transform._writable._error is not None:
            raise self._transform._writable._error
        pending = self._apply(chunk)
        if pending is not None:
            await pending

    def _apply(self, chunk: Any) -> Awaitable[Any] | None:
        transform = self._transform
        try:
            pending = transform._transformer.transform(chunk, transform)
        except Exception as error:
            transform._fail(error)
            raise
        return None if pending is None else self._finish(pending)

    async def _finish(self, pending: Awaitable[Any]) -> None:
        try:
            await pending
        except Exception as error:
            self._transform._fail(error)
            raise

    def close(self) -> Awaitable[Any] | None:
        transform = self._transform
        try:
            pending = transform._transformer.flush(transform)
        except Exception as error:
            transform._fail(error)
            raise
        if pending is None:
            self._close_readable()
            return None
        return self._close_after(pending)

    async def _close_after(self, pending: Awaitable[Any]) -> None:
        await self._finish(pending)
        self._close_readable()

    def _close_readable(self) -> None:
        readable = self._transform._readable
        if readable._error is not None:
            raise readable._error
        readable._close()

    def abort(self, reason: Any) -> None:
        self._transform._readable._fail(as_exception(reason))
        self._transform._unblock()


@js_class("TransformStreamDefaultController", constructible=False)
class TransformStreamDefaultController(JsProxy):
    __slots__ = ("_transform",)

    def __init__(self, transform: TransformStream) -> None:
        self._transform = transform

    @js_property
    def desiredSize(self) -> Any:
        desired = self._transform._readable._desired
        return jsnull if desired is None else desired

    @js_method
    def enqueue(self, chunk: Any = None) -> None:
        self._transform._emit(chunk)

    @js_method
    def error(self, reason: Any = None) -> None:
        self._transform._fail(as_exception(reason))

    @js_method
    def terminate(self) -> None:
        self._transform._terminate()


class _UserTransformer:
    """The callbacks of a transformer object."""

    __slots__ = ("_controller", "_transformer")

    def __init__(self, transformer: Any) -> None:
        self._transformer = transformer
        self._controller: TransformStreamDefaultController | None = None

    def start(self, stream: TransformStream, callback: Any) -> None:
        self._controller = TransformStreamDefaultController(stream)
        if callback is not None:
            stream._writable._started = as_awaitable(call_back(callback, self._controller))

    def transform(self, chunk: Any, stream: TransformStream) -> Awaitable[Any] | None:
        callback = member(self._transformer, "transform")
        if callback is None:
            stream._emit(chunk)
            return None
        return as_awaitable(call_back(callback, chunk, self._controller))

    def flush(self, stream: TransformStream) -> Awaitable[Any] | None:
        callback = member(self._transformer, "flush")
        return None if callback is None else as_awaitable(call_back(callback, self._controller))


class _Bytes(Identity):
    """Identity for bytes only, counting them when a length was promised."""

    __slots__ = ("_left",)

    def __init__(self, length: int | None = None) -> None:
        self._left = length

    def transform(self, chunk: Any, stream: TransformStream) -> None:
        data = bytes_of(chunk)
        if data is None:
            what = "a string" if isinstance(chunk, str) else "an object of non-ArrayBuffer type"
            raise type_error(
                "This TransformStream is being used as a byte stream, but received "
                f"{what} on its writable side. If you wish to write a string, you'll probably want "
                "to explicitly UTF-8-encode it with TextEncoder."
            )
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise type_error("Attempt to write too many bytes through a FixedLengthStream.")
        if data:
            stream._emit(data)

    def flush(self, stream: TransformStream) -> None:
        if self._left:
            raise type_error("FixedLengthStream did not see all expected bytes before close().")


@js_class("IdentityTransformStream")
class IdentityTransformStream(TransformStream):
    __slots__ = ()

    @classmethod
    def _construct(cls, *_options: Any) -> IdentityTransformStream:
        return cls(_Bytes())


@js_class("FixedLengthStream")
class FixedLengthStream(TransformStream):
    """Sets the Content-Length of a response it is the body of."""

    __slots__ = ()

    @classmethod
    def _construct(cls, length: Any = None, *_options: Any) -> FixedLengthStream:
        expected = int(to_number(length))
        stream = cls(_Bytes(expected))
        stream._readable._expected_length = expected
        return stream


IdentityTransformStreamClass = IdentityTransformStream.constructor
FixedLengthStreamClass = FixedLengthStream.constructor
