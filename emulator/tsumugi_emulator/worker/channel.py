"""Frames over a socket pair. Knows nothing of what a frame means."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.worker.frames import Frame, FrameDecoder, encode

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable


class Channel(asyncio.Protocol):
    """One end of the pair. ``on_frame`` runs for each frame in order, ``on_close`` once.

    What ``on_frame`` raises goes to the loop's exception handler, and the next frame is taken.
    """

    def __init__(
        self, on_frame: Callable[[Frame], None], on_close: Callable[[], None] | None = None
    ) -> None:
        self._on_frame = on_frame
        self._on_close = on_close
        self._decoder = FrameDecoder()
        self._transport: Any = None
        self._outbox: list[bytes] = []
        self._writable = asyncio.Event()
        self._writable.set()
        self._at_turn_end: Callable[[Callable[[], None]], object]
        #: Runs before anything leaves: what frames tell of must be on disk (ADR-0073).
        self.before_write: Callable[[], None] | None = None

    @classmethod
    async def open(
        cls,
        sock: socket.socket,
        on_frame: Callable[[Frame], None],
        on_close: Callable[[], None] | None = None,
        *,
        at_turn_end: Callable[[Callable[[], None]], object] | None = None,
    ) -> Channel:
        """Talk over ``sock``; ``at_turn_end`` is how the loop calls back when a turn is over."""
        loop = asyncio.get_running_loop()
        sock.setblocking(False)
        channel = cls(on_frame, on_close)
        channel._at_turn_end = at_turn_end or loop.call_soon
        await loop.create_unix_connection(lambda: channel, sock=sock)
        return channel

    def send(self, frame: Frame) -> None:
        """Queue a frame; all frames of one loop turn leave in one write."""
        if self._transport is None:
            return
        if not self._outbox:
            self._at_turn_end(self._flush)
        self._outbox.append(encode(frame))

    def flush(self) -> None:
        """Write what is queued now, for a process about to exit."""
        self._flush()

    def _flush(self) -> None:
        if self.before_write is not None:
            self.before_write()
        outbox, self._outbox = self._outbox, []
        transport = self._transport
        # Of a peer that has ended the loop tells a turn after it has closed the transport.
        if outbox and transport is not None and not transport.is_closing():
            transport.write(outbox[0] if len(outbox) == 1 else b"".join(outbox))

    async def drain(self) -> None:
        """Wait until the peer keeps up with what was sent."""
        await self._writable.wait()

    def close(self) -> None:
        self._flush()
        if self._transport is not None:
            self._transport.close()

    # -- asyncio.Protocol -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            try:
                self._on_frame(frame)
            except Exception as error:
                # One request's trouble must not cost all others the connection.
                asyncio.get_running_loop().call_exception_handler(
                    {
                        "message": f"A frame of type {type(frame).__name__} failed: {error!r}",
                        "exception": error,
                    }
                )
        # Answers given at once leave before anything else that the frames set going.
        self._flush()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._writable.set()
        if self._on_close is not None:
            self._on_close()
