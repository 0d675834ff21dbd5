"""Clients of WebSockets, and the Workers they talk to."""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import TYPE_CHECKING, Any

import pytest
from dev_session import WITHIN_S
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dev_session import Dev, Project
    from websockets.sync.client import ClientConnection

ECHO = """
import os
from js import WebSocketPair
from pyodide.ffi import create_proxy
from workers import Response, WorkerEntrypoint

VERSION = "one"


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = request.url.rpartition("/")[2]
        if path == "pid":
            return Response(str(os.getpid()))
        if request.headers.get("upgrade") != "websocket":
            return Response("hello")
        if path == "members":
            return Response("members only", status=403)
        if path == "broken":
            raise ValueError("before the upgrade")
        client, server = WebSocketPair.new().object_values()
        server.accept()
        server.binaryType = "arraybuffer"

        def on_message(event):
            if event.data == "version":
                server.send(VERSION)
            elif event.data == "close":
                server.close(4003, "enough")
            elif event.data == "die":
                os._exit(3)
            else:
                server.send(event.data)

        server.addEventListener("message", create_proxy(on_message))
        server.onclose = lambda event: print("closed", event.code, event.reason, event.wasClean)
        headers = {"Sec-WebSocket-Protocol": "chat", "X-Mine": "yes"} if path == "chat" else None
        return Response(None, status=101, web_socket=client, headers=headers)
"""


ROOM = """
import os
from js import WebSocketPair, WebSocketRequestResponsePair
from pyodide.ffi import to_js
from workers import DurableObject, Response, WorkerEntrypoint

VERSION = "one"


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.headers.get("upgrade") != "websocket":
            return Response(str(os.getpid()))
        return await self.env.ROOM.getByName("lobby").fetch(request.js_object)


class Room(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.ctx.setWebSocketAutoResponse(WebSocketRequestResponsePair.new("ping", "pong"))

    async def fetch(self, request):
        name = request.url.rpartition("/")[2]
        client, server = WebSocketPair.new().object_values()
        self.ctx.acceptWebSocket(server, to_js([name]))
        server.serializeAttachment(to_js({"name": name}))
        self.tell(f"{name} joined")
        return Response(None, status=101, web_socket=client)

    def tell(self, text):
        for ws in self.ctx.getWebSockets():
            ws.send(text)

    async def webSocketMessage(self, ws, message):
        if message == "die":
            os._exit(3)
        count = (await self.ctx.storage.get("count") or 0) + 1
        await self.ctx.storage.put("count", count)
        self.tell(f"{VERSION} {ws.deserializeAttachment().name} {count}: {message}")

    async def webSocketClose(self, ws, code, reason, wasClean):
        self.tell_others(ws, f"{ws.deserializeAttachment().name} left {code} {wasClean}")

    def tell_others(self, ws, text):
        for other in self.ctx.getWebSockets():
            if other.js_id != ws.js_id:
                other.send(text)
"""


ROOM_CONFIG: dict[str, Any] = {
    "durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]},
    "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}],
}


@pytest.fixture
def client() -> Iterator[Callable[..., ClientConnection]]:
    """``client(dev, "/path")`` opens a WebSocket."""
    with contextlib.ExitStack() as stack:

        def open_(dev: Dev, path: str = "/", **options: Any) -> ClientConnection:
            url = dev.url.replace("http", "ws", 1).replace("localhost", "127.0.0.1") + path
            options = {"compression": None, "max_size": None, "proxy": None} | options
            connecting = connect(url, open_timeout=WITHIN_S, close_timeout=WITHIN_S, **options)
            return stack.enter_context(connecting)

        yield open_


def hears(client: ClientConnection) -> str | bytes:
    return client.recv(timeout=WITHIN_S)


def asks(client: ClientConnection, message: str | bytes) -> str | bytes:
    client.send(message)
    return hears(client)


def ends_with(client: ClientConnection) -> tuple[int | None, str | None]:
    """Code and reason the client saw when the connection ended."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            client.recv(timeout=WITHIN_S)
    return client.close_code, client.close_reason


def vanish(client: ClientConnection) -> None:
    """As a machine that loses its power, but at once: the connection is reset."""
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.socket.shutdown(socket.SHUT_RD)
    client.socket.close()


@pytest.fixture
def echo(project: Callable[..., Project], dev: Callable[..., Dev]) -> Dev:
    return dev(project(entry=ECHO)).ready()


@pytest.fixture
def room(project: Callable[..., Project], dev: Callable[..., Dev]) -> Dev:
    return dev(project(entry=ROOM, **ROOM_CONFIG)).ready()
