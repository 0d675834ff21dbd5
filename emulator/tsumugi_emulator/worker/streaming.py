"""Bodies in pieces over the channel, with credit so that neither side buffers without bound."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.worker.frames import StreamChunk, StreamCredit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tsumugi_emulator.javascript.io_context import IoContext

#: Bytes a sender may have on the way before the reader asks for more.
WINDOW_BYTES = 256 * 1024
#: A single frame carries at most this much of a body.
CHUNK_BYTES = 64 * 1024


class Sender(Protocol):
    def send(self, frame: Any, /) -> None: ...


class StreamError(Exception):
    """The peer ended the stream early; the text says why."""


class IncomingStream:
    """The receiving end: chunks as they arrive, credit returned as they are read."""

    def __init__(self, stream_id: int, channel: Sender) -> None:
        self._id = stream_id
        self._channel = channel
        self._chunks: asyncio.Queue[bytes | StreamError | None] = asyncio.Queue()

    def feed(self, data: bytes, *, more: bool) -> None:
        if data:
            self._chunks.put_nowait(data)
        if not more:
            self._chunks.put_nowait(None)

    def abort(self, reason: str) -> None:
        self._chunks.put_nowait(StreamError(reason))

    async def chunks(self, context: IoContext) -> AsyncIterator[bytes]:
        """What arrives, in order; waiting for it counts as pending I/O of the event.

        Raises:
            StreamError: the sender ended the stream early.
        """
        while True:
            chunk = await self._next(context)
            if chunk is None:
                return
            if isinstance(chunk, StreamError):
                raise chunk
            self._channel.send(StreamCredit(self._id, len(chunk)))
            yield chunk

    async def _next(self, context: IoContext) -> bytes | StreamError | None:
        if not self._chunks.empty():
            return self._chunks.get_nowait()
        context.begin()
        try:
            return await self._chunks.get()
        finally:
            context.finish()


class OutgoingStream:
    """The sending end: waits while the reader has no room."""

    def __init__(self, stream_id: int, channel: Sender) -> None:
        self._id = stream_id
        self._channel = channel
        self._room = WINDOW_BYTES
        self._more_room = asyncio.Event()
        self._aborted: str | None = None

    def credit(self, count: int) -> None:
        self._room += count
        self._more_room.set()

    def abort(self, reason: str) -> None:
        self._aborted = reason
        self._more_room.set()

    async def send(self, data: bytes, *, more: bool) -> None:
        """Send a piece of the body.

        Raises:
            StreamError: the reader went away.
        """
        for start in range(0, max(len(data), 1), CHUNK_BYTES):
            # An empty end needs no room: waiting for some would be waiting for nothing.
            while data and self._room <= 0 and self._aborted is None:
                self._more_room.clear()
                await self._more_room.wait()
            if self._aborted is not None:
                raise StreamError(self._aborted)
            piece = data[start : start + CHUNK_BYTES]
            self._room -= len(piece)
            last = start + CHUNK_BYTES >= len(data)
            self._channel.send(StreamChunk(self._id, piece, more or not last))
