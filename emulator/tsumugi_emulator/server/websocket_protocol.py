"""One WebSocket connection of a client, on uvicorn's transport. Loaded with the first of them.

It speaks the protocol (wsproto) and applies back-pressure. What the messages mean, and when to
close, is its receiver's business (``socket_services``).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Message,
    Ping,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

if TYPE_CHECKING:
    from tsumugi_emulator.socket_services import Receiver

#: Production's limit of a message (WebSockets limits); the rest of the connection is not read.
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
#: How long a client may take to answer a Close frame, or to read what was sent before the end.
CLOSE_LIMIT_S = 10.0


class WebSocketProtocol(asyncio.Protocol):
    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: Any = None) -> None:
        self._app = config.loaded_app
        self._connections = server_state.connections
        self._tasks = server_state.tasks
        self._loop = asyncio.get_running_loop()
        self._protocol = WSConnection(ConnectionType.SERVER)
        self._transport: Any = None
        self._receiver: Receiver | None = None
        self._parts: list[Any] = []
        self._size = 0
        #: A Close frame has come, or the end was told in another way.
        self._ended = False
        self._lost = asyncio.Event()
        self._limit: asyncio.TimerHandle | None = None
        self._accepted = False
        self.writable = True

    # -- asyncio.Protocol -------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._connections.add(self)

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
        self._connections.discard(self)
        self._lost.set()
        self._stop_limit()
        self._end(0, "", "")

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        if self._receiver is not None:
            self._receiver.on_drained()

    def shutdown(self) -> None:
        """The server stops."""
        if self._accepted:
            self.close(CloseReason.GOING_AWAY, "")
        self._transport.close()

    # -- The handshake: ASGI, up to its answer ----------------------------------------------------

    def _start(self, request: Request) -> None:
        target, _, query = request.target.partition("?")
        headers = [(b"host", request.host.encode()), *request.extra_headers]
        for name, values in (
            (b"sec-websocket-protocol", request.subprotocols),
            (b"sec-websocket-extensions", request.extensions),
        ):
            if values:
                headers.append((name, ", ".join(values).encode()))
        scope = {
            "type": "websocket",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "https" if self._transport.get_extra_info("sslcontext") else "http",
            "path": unquote(target),
            "raw_path": target.encode("ascii"),
            "query_string": query.encode("ascii"),
            "headers": headers,
            "client": self._transport.get_extra_info("peername"),
            "connection": self,
        }
        task = self._loop.create_task(self._run(scope))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, scope: dict[str, Any]) -> None:
        try:
            await self._app(scope, self._receive, self._send)
        finally:
            if not self._accepted:
                self._transport.close()

    async def _receive(self) -> dict[str, Any]:
        await self._lost.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        """The answer of a Worker that does not upgrade."""
        if self._lost.is_set():
            return
        if message["type"] == "http.response.start":
            self._write(RejectConnection(message["status"], message["headers"], has_body=True))
            return
        more = message.get("more_body", False)
        self._write(RejectData(message.get("body", b""), body_finished=not more))

    def accept(self, headers: list[tuple[bytes, bytes]], receiver: Receiver) -> None:
        """Switch protocols; ``receiver`` gets what the client sends from now on."""
        self._accepted = True
        self._receiver = receiver
        if self._lost.is_set():
            self._end(0, "", "")
        else:
            self._write(AcceptConnection(extra_headers=headers))

    # -- What comes in ----------------------------------------------------------------------------

    def _handle(self, event: Any) -> None:
        if isinstance(event, TextMessage | BytesMessage):
            self._message(event)
        elif isinstance(event, Ping):
            self._write(event.response())
        elif isinstance(event, CloseConnection):
            self._closed(event)
        elif isinstance(event, Request):
            self._start(event)

    def _message(self, event: TextMessage | BytesMessage) -> None:
        if self._ended:
            return
        data = event.data
        self._size += len(data) if isinstance(event, BytesMessage) else len(data.encode())
        if self._size > MAX_MESSAGE_BYTES:
            self._fail(CloseReason.MESSAGE_TOO_BIG, "Message is too large")
            return
        self._parts.append(data)
        if not event.message_finished:
            return
        parts, self._parts, self._size = self._parts, [], 0
        if self._receiver is None:
            return
        if isinstance(event, TextMessage):
            self._receiver.on_message(parts[0] if len(parts) == 1 else "".join(parts))
        else:
            self._receiver.on_message(bytes(parts[0]) if len(parts) == 1 else b"".join(parts))

    def _closed(self, event: CloseConnection) -> None:
        if self._protocol.state is ConnectionState.OPEN:  # no frame: what came was no WebSocket
            self._fail(event.code, event.reason or "Protocol error")
            return
        self._end(int(event.code), event.reason or "", "")
        if self._protocol.state is ConnectionState.CLOSED:
            self._finish()

    def _fail(self, code: int, text: str) -> None:
        """The client broke the protocol."""
        self._write(CloseConnection(code, text))
        self._end(0, "", text)
        self._finish()

    def _end(self, code: int, reason: str, error: str) -> None:
        if not self._ended:
            self._ended = True
            if self._receiver is not None:
                self._receiver.on_close(code, reason, error)

    def set_reading(self, on: bool) -> None:
        if self._lost.is_set() or self._transport.is_closing():
            return
        if on:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    # -- What goes out ----------------------------------------------------------------------------

    def send(self, data: str | bytes) -> None:
        """Send a message, unless the connection is over."""
        if self._protocol.state is ConnectionState.OPEN:
            self._write(Message(data))

    def close(self, code: int, reason: str) -> None:
        """Send a Close frame; the connection ends when the client has sent one too."""
        if self._protocol.state not in (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING):
            return
        without = code == CloseReason.NO_STATUS_RCVD
        self._write(CloseConnection(CloseReason.NO_STATUS_RCVD if without else code, reason or None))
        if self._protocol.state is ConnectionState.CLOSED:
            self._finish()
        else:
            self._limit_end()

    def drop(self) -> None:
        """End the connection without a Close frame."""
        self._ended = True
        self._finish()

    def _finish(self) -> None:
        """Close once everything sent is read."""
        self._transport.close()
        if not self._lost.is_set():
            self._limit_end()

    def _limit_end(self) -> None:
        self.set_reading(True)  # or the client's Close frame is never seen
        if self._limit is None:
            self._limit = self._loop.call_later(CLOSE_LIMIT_S, self._transport.abort)

    def _stop_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()

    def _write(self, event: Any) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._protocol.send(event))
