"""Bodies that travel over one link, in both directions, as chunks with credit (``streaming``).

Not here: what they are the bodies of, and when the link ends (``links``).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.bindings.rpc_values import remote_error
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.worker.frames import StreamAbort, StreamChunk, StreamCredit
from tsumugi_emulator.worker.streaming import IncomingStream, OutgoingStream, StreamError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tsumugi_emulator.javascript.io_context import IoContext

#: Why a body ends that nobody has read to its end.
UNREAD_TEXT = "The other side has not read the body to its end."


class Sender(Protocol):
    def send(self, message: Any, /) -> None: ...


class Bodies:
    def __init__(self, sender: Sender, first: int, on_done: Callable[[], None]) -> None:
        """Numbers count from ``first`` in steps of two; ``on_done`` runs when one is complete."""
        self._sender = sender
        self._numbers = itertools.count(first, 2)
        self._on_done = on_done
        self._incoming: dict[int, IncomingStream] = {}
        #: Those that were named, and are not read to their end.
        self._reading: set[int] = set()
        self._outgoing: dict[int, OutgoingStream] = {}
        #: The event at this end.
        self.event: IoContext | None = None

    @property
    def busy(self) -> bool:
        """Whether anything is still on the way."""
        return bool(self._reading or self._outgoing)

    def take(self, message: Any) -> None:
        match message:
            case StreamChunk(id=number, data=data, more=more):
                self._stream(number).feed(data, more=more)
            case StreamCredit(id=number, size=size):
                if number in self._outgoing:
                    self._outgoing[number].credit(size)
            case StreamAbort(id=number, reason=reason):
                stream = self._outgoing.get(number) or self._stream(number)
                stream.abort(reason)

    def _stream(self, number: int) -> IncomingStream:
        # Its chunks may come before what names it is unpacked.
        found = self._incoming.get(number)
        if found is None:
            found = self._incoming[number] = IncomingStream(number, self._sender)
        return found

    # -- Sending ----------------------------------------------------------------------------------

    def send(self, body: bytes | ReadableStream) -> int:
        """Start sending; the event lives until that is done. The number is the stream's."""
        number = next(self._numbers)
        outgoing = self._outgoing[number] = OutgoingStream(number, self._sender)
        task = asyncio.ensure_future(self._send(number, outgoing, body))
        if self.event is not None:
            self.event.wait_until.append(task)
            self.event.track(task)
        return number

    async def _send(
        self, number: int, outgoing: OutgoingStream, body: bytes | ReadableStream
    ) -> None:
        try:
            if isinstance(body, bytes):
                await outgoing.send(body, more=True)
            else:
                chunks: Any = body._chunks()
                async with contextlib.aclosing(chunks):
                    async for chunk in chunks:
                        await outgoing.send(chunk, more=True)
            await outgoing.send(b"", more=False)
        except StreamError:
            pass  # nobody reads it any more
        except BaseException as error:
            self._sender.send(StreamAbort(number, to_string(remote_error(error).message)))
        finally:
            self._outgoing.pop(number, None)
            self._on_done()

    # -- Receiving --------------------------------------------------------------------------------

    def receive(self, number: int) -> ReadableStream:
        """The stream that the other side sends as ``number``."""
        self._reading.add(number)
        stream = ReadableStream._from_source(self._chunks(number, self._stream(number)))
        stream._context = None
        return stream

    async def _chunks(self, number: int, incoming: IncomingStream) -> AsyncIterator[bytes]:
        assert self.event is not None  # whoever reads runs in one
        complete = False
        try:
            async for chunk in incoming.chunks(self.event):
                yield chunk
            complete = True
        except StreamError as error:
            complete = True
            raise js_error("Error", str(error)) from None
        finally:
            if not complete:
                self._sender.send(StreamAbort(number, UNREAD_TEXT))
            self._reading.discard(number)
            self._on_done()

    def stop_reading(self) -> None:
        """The event is over: what it has not read, it never will."""
        for number in self._reading:
            self._sender.send(StreamAbort(number, UNREAD_TEXT))
        self._reading.clear()

    def cut(self, reason: str) -> None:
        """Nothing comes or goes any more."""
        for incoming in self._incoming.values():
            incoming.abort(reason)
        for outgoing in self._outgoing.values():
            outgoing.abort(reason)
