"""One WebSocket connection over a transport that is only a list of bytes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.server.websocket_protocol import WebSocketProtocol
from tsumugi_emulator.web_socket_connection import MAX_MESSAGE_BYTES
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    BytesMessage,
    CloseConnection,
    Message,
    Ping,
    Pong,
    Request,
    TextMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class Transport:
    def __init__(self) -> None:
        self.written = bytearray()
        self.closed = False
        self.aborted = False
        self.is_read = True

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        assert self.is_read, "it reads"
        self.is_read = False

    def resume_reading(self) -> None:
        assert not self.is_read, "it does not read"
        self.is_read = True

    def get_extra_info(self, _name: str) -> None:
        return None


class Worker:
    """What the supervisor does with a connection, written down."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_message(self, data: str | bytes) -> None:
        self.heard.append(data)

    def on_close(self, code: int, reason: str, error: str) -> None:
        self.heard.append((code, reason, error))

    def on_drained(self) -> None:
        self.heard.append("drained")


class Server:
    connections: set[Any]
    tasks: set[Any]

    def __init__(self) -> None:
        self.connections, self.tasks = set(), set()

    async def loaded_app(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self.scope = scope
        scope["connection"].accept([(b"x-mine", b"yes")], self.worker)

    worker: Worker


class Open:
    """An open connection: ``client`` speaks the protocol, ``worker`` is the receiver."""

    def __init__(self) -> None:
        self.server = Server()
        self.worker = self.server.worker = Worker()
        self.transport = Transport()
        self.connection = WebSocketProtocol(self.server, self.server, {})
        self.connection.connection_made(self.transport)
        self.client = WSConnection(ConnectionType.CLIENT)

    async def shake_hands(self) -> Open:
        self.arrives(self.client.send(Request(host="example.test", target="/a%20b?c=d")))
        await asyncio.gather(*self.server.tasks)
        self.replies()
        return self

    def arrives(self, data: bytes) -> None:
        self.connection.data_received(data)

    def sends(self, *events: Any) -> None:
        for event in events:
            self.arrives(self.client.send(event))

    def replies(self) -> list[Any]:
        """What has come back since the last time."""
        data, self.transport.written = bytes(self.transport.written), bytearray()
        self.client.receive_data(data)
        return list(self.client.events())


type Case = Callable[[Open], Coroutine[Any, Any, None]]


def run(case: Case) -> None:
    async def main() -> None:
        await case(await Open().shake_hands())

    asyncio.run(main())


def test_the_application_sees_the_request() -> None:
    async def case(ws: Open) -> None:
        scope = ws.server.scope
        assert (scope["path"], scope["query_string"]) == ("/a b", b"c=d")
        headers = dict(scope["headers"])
        assert headers[b"host"] == b"example.test"
        assert headers[b"upgrade"].lower() == b"websocket"
        assert len(headers[b"sec-websocket-key"]) == 24

    run(case)


def test_messages_go_both_ways() -> None:
    async def case(ws: Open) -> None:
        ws.sends(Message("text"), Message(b"bytes"))
        ws.connection.send("re: text")
        ws.connection.send(b"re: bytes")
        assert ws.worker.heard == ["text", b"bytes"]
        text, data = ws.replies()
        assert (type(text), text.data) == (TextMessage, "re: text")
        assert (type(data), bytes(data.data)) == (BytesMessage, b"re: bytes")

    run(case)


def test_fragments_are_one_message() -> None:
    async def case(ws: Open) -> None:
        ws.sends(
            Message("one ", message_finished=False),
            Ping(b"between"),
            Message("two", message_finished=True),
            Message(b"\x00", message_finished=False),
            Message(b"\x01", message_finished=True),
        )
        assert ws.worker.heard == ["one two", b"\x00\x01"]
        assert [type(event) for event in ws.replies()] == [Pong]

    run(case)


def test_bytes_may_come_one_by_one() -> None:
    async def case(ws: Open) -> None:
        for byte in ws.client.send(Message("slowly")):
            ws.arrives(bytes([byte]))
        assert ws.worker.heard == ["slowly"]

    run(case)


def test_a_close_frame_waits_for_an_answer() -> None:
    async def case(ws: Open) -> None:
        ws.sends(CloseConnection(4000, "bye"))
        assert ws.worker.heard == [(4000, "bye", "")]
        assert not ws.transport.closed
        ws.connection.close(4001, "and you")
        (close,) = ws.replies()
        assert (close.code, close.reason) == (4001, "and you")
        assert ws.transport.closed

    run(case)


def test_a_close_frame_without_a_code_is_one() -> None:
    async def case(ws: Open) -> None:
        ws.connection.close(1005, "")
        (close,) = ws.replies()
        assert close.code == 1005
        ws.arrives(ws.client.send(close.response()))
        assert ws.worker.heard == [(1005, "", "")]
        assert ws.transport.closed

    run(case)


def test_a_ping_after_our_close_frame_does_not_end_the_connection() -> None:
    async def case(ws: Open) -> None:
        ping = ws.client.send(Ping(b"late"))
        ws.connection.close(1000, "")
        ws.arrives(ping)
        ws.sends(Message("still said"))
        assert not ws.transport.closed
        assert ws.worker.heard == ["still said"]

    run(case)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"\x81\x82\x00\x00\x00\x00\xc3\x28", 1007, id="text that is no UTF-8"),
        pytest.param(b"\x91\x80\x00\x00\x00\x00", 1002, id="a reserved bit"),
        pytest.param(b"\x81\x01x", 1002, id="a frame without a mask"),
    ],
)
def test_what_is_no_websocket_ends_the_connection(data: bytes, code: int) -> None:
    async def case(ws: Open) -> None:
        ws.arrives(data)
        (close,) = ws.replies()
        assert close.code == code
        ((heard, _, error),) = ws.worker.heard
        assert heard == 0
        assert error
        assert ws.transport.closed

    run(case)


def test_a_message_too_large_ends_the_connection() -> None:
    async def case(ws: Open) -> None:
        ws.sends(Message(b"x" * MAX_MESSAGE_BYTES))
        assert len(ws.worker.heard.pop()) == MAX_MESSAGE_BYTES
        ws.sends(Message(b"x" * (MAX_MESSAGE_BYTES + 1)))
        (close,) = ws.replies()
        assert (close.code, close.reason) == (1009, "Message is too large")
        assert ws.worker.heard == [(0, "", "Message is too large")]

    run(case)


def test_a_connection_that_is_lost_is_told_once() -> None:
    async def case(ws: Open) -> None:
        ws.connection.connection_lost(None)
        ws.connection.connection_lost(None)
        ws.connection.send("into the void")
        ws.connection.close(1000, "")
        ws.connection.set_reading(False)
        assert ws.worker.heard == [(0, "", "")]
        assert ws.server.connections == set()

    run(case)


def test_reading_stops_and_goes_on() -> None:
    async def case(ws: Open) -> None:
        for on in (False, False, True, True):
            ws.connection.set_reading(on)
            assert ws.transport.is_read is on
        ws.connection.set_reading(False)
        ws.connection.close(1000, "")
        assert ws.transport.is_read, "or the answer is never seen"

    run(case)


def test_a_slow_client_is_noticed() -> None:
    async def case(ws: Open) -> None:
        ws.connection.pause_writing()
        assert not ws.connection.writable
        ws.connection.resume_writing()
        assert ws.connection.writable
        assert ws.worker.heard == ["drained"]

    run(case)
