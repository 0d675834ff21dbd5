"""WebSockets to the outside: ``new WebSocket(url)``, and ``fetch`` with ``Upgrade: websocket``.

Loaded when first used. What a socket does once it is connected is ``websocket``'s business.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from wsproto import ConnectionType
from wsproto.events import AcceptConnection, RejectConnection, RejectData, Request
from wsproto.utilities import ProtocolError

from tsumugi_emulator.javascript import depth, io_context
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.errors import DOMException, connection_lost, js_error, type_error
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import jsnull
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.response import Response
from tsumugi_emulator.javascript.web.socket_pipe import Close, End, Failed, Item, Lost, pipe
from tsumugi_emulator.javascript.web.url import parse
from tsumugi_emulator.javascript.web.websocket import WebSocket
from tsumugi_emulator.web_socket_connection import WebSocketConnection

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.web.request import Request as JsRequest

#: Bytes or characters the code may be behind before the peer has to wait.
WINDOW = 1024 * 1024
SWITCHING_PROTOCOLS = 101
_SEPARATORS = frozenset('()<>@,;:\\/[]?={}"')
#: Written by the handshake.
_HANDSHAKE_HEADERS = frozenset(
    {
        "connection", "content-length", "host", "sec-websocket-extensions", "sec-websocket-key",
        "sec-websocket-protocol", "sec-websocket-version", "transfer-encoding", "upgrade",
    }
)  # fmt: skip

_open: set[ClientConnection] = set()


def open_connections() -> int:
    """Sockets held on the running loop."""
    return len(_open)


class ClientConnection(WebSocketConnection):
    """The connection is one end of a pipe; the code's ``WebSocket`` is at the other."""

    def __init__(self, request: Request) -> None:
        super().__init__(ConnectionType.CLIENT)
        self._request = request
        self._rejection: RejectConnection | None = None
        self._body = bytearray()
        self.answered: asyncio.Future[Answer] = self._loop.create_future()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        _open.add(self)
        self._write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        _open.discard(self)
        super().connection_lost(exc)
        self._answer(None)

    def _handshake(self, event: Any) -> None:
        if isinstance(event, AcceptConnection):
            self._answer(Answer(self._accepted(), SWITCHING_PROTOCOLS, event))
        elif isinstance(event, RejectConnection):
            self._rejection = event
            if not event.has_body:
                self._reject()
        elif isinstance(event, RejectData):
            self._body += event.data
            if event.body_finished:
                self._reject()

    def _accepted(self) -> End:
        near, far = pipe()
        self._receiver = _Reader(self, far)
        return near

    def _reject(self) -> None:
        assert self._rejection is not None, "it came before its body"
        answer = Answer(None, self._rejection.status_code, self._rejection, bytes(self._body))
        self._answer(answer)
        self._transport.close()

    def _answer(self, answer: Answer | None) -> None:
        if self.answered.done():
            return
        if answer is None:
            self.answered.set_exception(connection_lost())
        else:
            self.answered.set_result(answer)


class Answer:
    """How a server answered the handshake; ``end`` is there when it switched protocols."""

    def __init__(self, end: End | None, status: int, event: Any, body: bytes = b"") -> None:
        self.end = end
        self.status = status
        self.body = body
        self.headers: list[tuple[str, str]] = [
            (bytes(name).decode("latin-1").lower(), bytes(value).decode("latin-1"))
            for name, value in getattr(event, "headers", None) or event.extra_headers
        ]
        self.protocol: str | None = getattr(event, "subprotocol", None)


class _Reader:
    """Between the connection and its end of the pipe."""

    def __init__(self, connection: ClientConnection, end: End) -> None:
        self._connection = connection
        self._end = end
        self._room = WINDOW
        end.on_consumed = self._taken
        end.attach(self._send, outside=True)

    def on_message(self, data: str | bytes) -> None:
        self._room -= len(data)
        if self._room <= 0:
            self._connection.set_reading(False)
        self._end.send(data)

    def on_close(self, code: int, reason: str, error: str) -> None:
        if error:
            self._end.send(Failed(error))
        else:
            self._end.send(Close(code, reason) if code else Lost())

    def on_drained(self) -> None:
        return None

    def _taken(self, size: int) -> None:
        was_full = self._room <= 0
        self._room += size
        if was_full and self._room > 0:
            self._connection.set_reading(True)

    def _send(self, item: Item) -> None:
        if isinstance(item, Close):
            self._connection.close(item.code, item.reason)
        elif isinstance(item, str | bytes):
            self._connection.send(item)
            self._end.consumed(item)
        else:
            self._connection.drop()


async def _connect(url: str, headers: list[tuple[str, str]], protocols: list[str]) -> Answer:
    """Shake hands with the server at ``url``.

    Raises:
        JsException: there is none, it went away, or the way to it is too deep.
    """
    parts = urlsplit(url)
    secure = parts.scheme in ("wss", "https")
    request = Request(
        host=parts.netloc.rpartition("@")[2],
        target=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        subprotocols=protocols,
        extra_headers=[
            (name.encode(), value.encode("latin-1", "replace"))
            for name, value in (*headers, *depth.header_for(url))
            if name not in _HANDSHAKE_HEADERS
        ],
    )
    port = parts.port or (443 if secure else 80)
    try:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: ClientConnection(request), parts.hostname or "", port, ssl=secure or None
        )
        try:
            return await connection.answered
        except asyncio.CancelledError:
            connection.drop()
            raise
    except (OSError, ProtocolError):
        raise connection_lost() from None


# -- new WebSocket(url, protocols) ----------------------------------------------------------------


def construct(url: Any, protocols: Any) -> WebSocket:
    event = io_context.require()
    text = to_string(url)
    address = _address_of(text)
    offered = _protocols_of(protocols)
    socket = WebSocket(None)
    socket._url = text
    connecting = asyncio.ensure_future(_connect(address, [], offered))
    event.track(connecting)
    resume = event.resumer()

    def abandon(_socket: WebSocket) -> None:
        connecting.cancel()

    def connected(done: asyncio.Future[Answer]) -> None:
        socket._on_change = None
        resume(lambda: _settle(socket, done))

    socket._on_change = abandon
    connecting.add_done_callback(connected)
    return socket


def _settle(socket: WebSocket, connecting: asyncio.Future[Answer]) -> None:
    if connecting.cancelled():
        text = "Called close before connection was established."
        socket._not_connected(js_error("Error", text))
    elif (error := connecting.exception()) is not None:
        assert isinstance(error, Exception), "cancellation is told apart above"
        socket._not_connected(error)
    elif (answer := connecting.result()).end is None:
        socket._not_connected(
            type_error(
                "Failed to establish the WebSocket connection: expected server to reply with HTTP "
                "status code 101 (switching protocols), but received "
                f"{answer.status} instead."
            )
        )
    else:
        socket._connected(answer.end, jsnull if answer.protocol is None else answer.protocol)


def _address_of(text: str) -> str:
    parsed = parse(text)
    if parsed is None:
        raise _syntax_error("The url is invalid.")
    if parsed.protocol not in ("ws:", "wss:"):
        raise _syntax_error("The url scheme must be ws or wss.")
    if parsed.hash:
        raise _syntax_error("The url fragment must be empty.")
    return str(parsed.href)


def _protocols_of(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, JsArray):
        one = to_string(value)
        if not _is_token(one):
            raise _syntax_error("The protocol header token is invalid.")
        return [one]
    names = [to_string(item) for item in value._items]
    if not names:
        raise _syntax_error("The protocols array cannot be empty.")
    if not all(map(_is_token, names)):
        raise _syntax_error("One of the protocol header tokens is invalid.")
    if len(set(names)) < len(names):
        raise _syntax_error("The protocols header cannot have repeating values.")
    return names


def _is_token(text: str) -> bool:
    return bool(text) and all("!" <= char <= "~" and char not in _SEPARATORS for char in text)


def _syntax_error(text: str) -> DOMException:
    return DOMException(f"WebSocket Constructor: {text}", "SyntaxError")


# -- fetch ----------------------------------------------------------------------------------------


async def fetch_upgrade(request: JsRequest) -> Response:
    """The answer to a request with ``Upgrade: websocket``; its socket waits to be accepted."""
    url = request._url.partition("#")[0]
    headers = list(request._headers._pairs)
    offered = [
        name.strip()
        for key, value in headers
        if key == "sec-websocket-protocol"
        for name in value.split(",")
    ]
    event = io_context.require()
    answer = await _connect(url, headers, offered)
    switched = answer.end is not None
    response = Response(
        None if switched else answer.body, Headers._from_pairs(answer.headers, immutable=True)
    )
    response._status = answer.status
    response._url = url
    if answer.end is not None:
        end = answer.end
        response._web_socket = WebSocket(end)
        if answer.protocol is not None:
            response._web_socket._protocol = answer.protocol
        event.on_end.append(lambda: None if end.is_read else end.send(Lost()))
    return response


__all__ = ["construct", "fetch_upgrade", "open_connections"]
