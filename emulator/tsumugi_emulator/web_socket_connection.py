"""One WebSocket connection over a transport: the protocol and back-pressure, for either side.

The bytes are wsproto's. What messages mean, and when to close, is the receiver's business; the
handshake is that of the subclasses (``server.websocket_protocol``, ``javascript.web``).
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Message, Ping, TextMessage
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

#: Production's limit of a message, in bytes (WebSockets limits).
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
TOO_LARGE_TEXT = "Message is too large"
#: How long the peer may take to answer a Close frame, or to read what was sent before the end.
CLOSE_LIMIT_S = 10.0


class Receiver(Protocol):
    """Gets what the peer sends.

    ``on_close`` comes once and last. Its code is 0 when there was no Close frame, and then
    ``error`` says how the peer broke the protocol, if it did.
    """

    def on_message(self, data: str | bytes) -> None: ...

    def on_close(self, code: int, reason: str, error: str) -> None: ...

    def on_drained(self) -> None:
        """The peer keeps up again."""


class WebSocketConnection(asyncio.Protocol):
    def __init__(self, kind: ConnectionType) -> None:
        self._loop = asyncio.get_running_loop()
        self._protocol = WSConnection(kind)
        self._transport: Any = None
        self._receiver: Receiver | None = None
        #: Of the message that is arriving.
        self._parts: list[Any] = []
        self._size = 0
        #: A Close frame has come, or the end was told in another way.
        self._ended = False
        self._lost = asyncio.Event()
        self._reading = True
        self._limit: asyncio.TimerHandle | None = None
        #: Whether the peer keeps up with what is sent.
        self.writable = True

    # -- asyncio.Protocol -------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            self._protocol.receive_data(data)
            for event in self._protocol.events():
                self._handle(event)
        except RemoteProtocolError as error:
            if error.event_hint is not None:
                self._write(error.event_hint)
            self._transport.close()
        except LocalProtocolError:
            self._transport.close()  # more data after the end

    def eof_received(self) -> None:
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()
        if self._limit is not None:
            self._limit.cancel()
        self._end(0, "", "")

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        if self._receiver is not None:
            self._receiver.on_drained()

    # -- What comes in ----------------------------------------------------------------------------

    def _handshake(self, event: Any) -> None:
        """What arrives before messages may."""
        raise NotImplementedError

    def _handle(self, event: Any) -> None:
        if isinstance(event, TextMessage | BytesMessage):
            self._message(event)
        elif isinstance(event, Ping):
            if self._is(ConnectionState.OPEN):  # after a Close frame nothing else may be sent
                self._write(event.response())
        elif isinstance(event, CloseConnection):
            self._closed(event)
        else:
            self._handshake(event)

    def _message(self, event: TextMessage | BytesMessage) -> None:
        if self._ended:
            return
        data = event.data
        self._size += len(data.encode()) if isinstance(data, str) else len(data)
        if self._size > MAX_MESSAGE_BYTES:
            self._fail(CloseReason.MESSAGE_TOO_BIG, TOO_LARGE_TEXT)
            return
        self._parts.append(data)
        if not event.message_finished:
            return
        parts, self._parts, self._size = self._parts, [], 0
        if self._receiver is not None:
            whole = parts[0] if len(parts) == 1 else type(data)().join(parts)
            self._receiver.on_message(whole if isinstance(whole, str) else bytes(whole))

    def _closed(self, event: CloseConnection) -> None:
        if self._is(ConnectionState.OPEN):  # no Close frame: what came was no WebSocket
            self._fail(event.code, event.reason or "Protocol error")
            return
        self._end(int(event.code), event.reason or "", "")
        if self._is(ConnectionState.CLOSED):
            self._finish()

    def _fail(self, code: int, text: str) -> None:
        """The peer broke the protocol."""
        self._write(CloseConnection(code, text))
        self._end(0, "", text)
        self._finish()

    def _end(self, code: int, reason: str, error: str) -> None:
        if not self._ended:
            self._ended = True
            if self._receiver is not None:
                self._receiver.on_close(code, reason, error)

    def set_reading(self, on: bool) -> None:
        """Whether to read on; the peer has to wait meanwhile."""
        if on is self._reading or self._lost.is_set() or self._transport.is_closing():
            return
        self._reading = on
        if on:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    # -- What goes out ----------------------------------------------------------------------------

    def send(self, data: str | bytes) -> None:
        """Send a message, unless the connection is over."""
        if self._is(ConnectionState.OPEN):
            self._write(Message(data))

    def close(self, code: int, reason: str) -> None:
        """Send a Close frame; the connection ends when the peer has sent one too."""
        if not self._is(ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING):
            return
        without = code == CloseReason.NO_STATUS_RCVD
        sent = CloseReason.NO_STATUS_RCVD if without else code
        self._write(CloseConnection(sent, reason or None))
        if self._is(ConnectionState.CLOSED):
            self._finish()
        else:
            self._limit_end()

    def drop(self) -> None:
        """End the connection without a Close frame."""
        self._ended = True
        self._finish()

    def _finish(self) -> None:
        """Close once the peer has read everything."""
        self._transport.close()
        if not self._lost.is_set():
            self._limit_end()

    def _limit_end(self) -> None:
        self.set_reading(True)  # or the peer's Close frame is never seen
        if self._limit is None:
            self._limit = self._loop.call_later(CLOSE_LIMIT_S, self._transport.abort)

    def _is(self, *states: ConnectionState) -> bool:
        return self._protocol.state in states

    def _write(self, event: Any) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._protocol.send(event))
