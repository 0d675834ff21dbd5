"""WebSockets through ``tsumugi dev``: real clients, real processes, reloads and deaths."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
from typing import TYPE_CHECKING, Any

import pytest
from dev_session import WITHIN_S, eventually, needs_compiled_packages, needs_process_ids
from websockets.exceptions import ConnectionClosed, InvalidStatus
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


class TestAWorkerWithWebSockets:
    def test_echoes_text_and_bytes(self, echo: Dev, client: Any) -> None:
        ws = client(echo)
        assert asks(ws, "héllo") == "héllo"
        assert asks(ws, b"\x00\xff") == b"\x00\xff"
        assert asks(ws, "") == ""
        assert echo.get("/").text == "hello"

    @pytest.mark.parametrize("size", [200_000, 8_000_000])
    def test_echoes_big_messages(self, echo: Dev, client: Any, size: int) -> None:
        ws = client(echo)
        text = "ä" + "x" * size
        data = os.urandom(1024) * (size // 1024)
        assert asks(ws, text) == text
        assert asks(ws, data) == data

    def test_ends_a_connection_with_a_message_too_big(self, echo: Dev, client: Any) -> None:
        ws = client(echo)
        with contextlib.suppress(ConnectionClosed):
            ws.send(b"x" * (32 * 1024 * 1024 + 1))
        assert ends_with(ws) == (1009, "Message is too large")
        assert asks(client(echo), "next") == "next"

    def test_sees_how_the_client_closes(self, echo: Dev, client: Any) -> None:
        ws = client(echo)
        asks(ws, "x")
        ws.close(4001, "bye")
        assert (ws.close_code, ws.close_reason) == (4001, "bye")
        echo.wait_for("closed 4001 bye True")

    def test_closes_with_its_own_code(self, echo: Dev, client: Any) -> None:
        ws = client(echo)
        ws.send("close")
        assert ends_with(ws) == (4003, "enough")
        echo.wait_for("closed 4003 enough True")

    def test_answers_with_headers_and_a_protocol(self, echo: Dev, client: Any) -> None:
        ws = client(echo, "/chat", subprotocols=["other", "chat"])
        assert ws.subprotocol == "chat"
        assert ws.response.headers["x-mine"] == "yes"

    def test_may_refuse(self, echo: Dev, client: Any) -> None:
        with pytest.raises(InvalidStatus) as refused:
            client(echo, "/members")
        assert refused.value.response.status_code == 403
        assert refused.value.response.body == b"members only"

    def test_answers_a_fault_before_the_upgrade_with_its_traceback(
        self, echo: Dev, client: Any
    ) -> None:
        with pytest.raises(InvalidStatus) as failed:
            client(echo, "/broken")
        assert failed.value.response.status_code == 500
        assert b"ValueError: before the upgrade" in failed.value.response.body
        echo.wait_for("GET /broken failed")

    def test_answers_a_request_that_is_no_upgrade(self, echo: Dev) -> None:
        answer = echo.get("/", headers={"Upgrade": "websocket", "Connection": "Upgrade"})
        assert answer.status_code == 400

    def test_is_not_wedged_by_clients_that_vanish(self, echo: Dev, client: Any) -> None:
        for _ in range(20):
            ws = client(echo)
            asks(ws, "x")
            vanish(ws)
        echo.wait_for("closed 1006 WebSocket disconnected without .* False", times=20)
        assert asks(client(echo), "still here") == "still here"

    def test_is_not_wedged_by_a_client_that_does_not_read(self, echo: Dev, client: Any) -> None:
        slow, quick = client(echo, max_queue=1), client(echo)
        big = "x" * 1_000_000
        for _ in range(20):
            slow.send(big)
        assert asks(quick, "quick") == "quick"
        assert [hears(slow) for _ in range(20)] == [big] * 20

    def test_serves_open_connections_with_the_code_they_began_with(
        self, echo: Dev, client: Any
    ) -> None:
        old = client(echo)
        echo.project.replace("src/entry.py", 'VERSION = "one"', 'VERSION = "two"')
        echo.wait_for("Reloaded in")
        new = client(echo)
        assert (asks(old, "version"), asks(new, "version")) == ("one", "two")
        old.close()
        eventually(lambda: len(echo.children()) <= 2, "the old process is gone")
        assert asks(new, "x") == "x"

    def test_that_dies_takes_its_connections_along(self, echo: Dev, client: Any) -> None:
        ws = client(echo)
        ws.send("die")
        assert ends_with(ws)[0] == 1006
        echo.wait_for("starting it again")
        assert asks(client(echo), "again") == "again"

    def test_says_goodbye_when_the_emulator_stops(self, echo: Dev, client: Any) -> None:
        ws = client(echo)
        asks(ws, "x")
        assert echo.stop() == 0
        assert ends_with(ws)[0] == 1001


class TestAHibernatingRoom:
    def test_is_a_chat(self, room: Dev, client: Any) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        bob = client(room, "/bob")
        assert (hears(ann), hears(bob)) == ("bob joined", "bob joined")
        ann.send("hi")
        assert (hears(ann), hears(bob)) == ("one ann 1: hi", "one ann 1: hi")
        bob.close(4002)
        assert hears(ann) == "bob left 4002 True"
        assert asks(ann, "ping") == "pong"

    def test_keeps_its_connections_over_a_reload(self, room: Dev, client: Any) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        assert asks(ann, "x") == "one ann 1: x"
        room.project.replace("src/entry.py", 'VERSION = "one"', 'VERSION = "two"')
        room.wait_for("Reloaded in")
        assert asks(ann, "x") == "two ann 2: x"
        bob = client(room, "/bob")
        assert (hears(bob), hears(ann)) == ("bob joined", "bob joined")
        vanish(bob)
        assert hears(ann) == "bob left 1006 False"

    def test_loses_no_message_while_code_is_saved_again_and_again(
        self, room: Dev, client: Any
    ) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        total, heard = 200, []
        for number in range(total):
            ann.send(str(number))
            if number % 50 == 25:
                with (room.project.directory / "src/entry.py").open("a") as entry:
                    entry.write(f"# save {number}\n")
        heard = [str(hears(ann)).partition(" ann ")[2] for _ in range(total)]
        assert heard == [f"{number + 1}: {number}" for number in range(total)]

    @needs_process_ids
    def test_keeps_its_connections_when_its_process_is_killed(self, room: Dev, client: Any) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        assert asks(ann, "x") == "one ann 1: x"
        os.kill(int(room.get("/").text), signal.SIGKILL)
        room.wait_for("starting it again")
        assert asks(ann, "x") == "one ann 2: x"

    def test_loses_its_connections_when_a_handler_ends_its_process(
        self, room: Dev, client: Any
    ) -> None:
        ann = client(room, "/ann")
        assert hears(ann) == "ann joined"
        bob = client(room, "/bob")
        assert (hears(bob), hears(ann)) == ("bob joined", "bob joined")
        bob.send("die")
        room.wait_for("starting it again")
        assert (ends_with(bob)[0], ends_with(ann)[0]) == (1006, 1006)
        eve = client(room, "/eve")
        assert hears(eve) == "eve joined"
        assert asks(eve, "x") == "one eve 1: x"


FASTAPI = """
import asgi
from fastapi import FastAPI, WebSocket, WebSocketDisconnect

app = FastAPI()


@app.get("/")
async def hello():
    return {"hello": "http"}


@app.websocket("/echo/{name}")
async def echo(ws: WebSocket, name: str, loud: bool = False):
    await ws.accept()
    try:
        while True:
            message = await ws.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message["code"], message.get("reason"))
            if message.get("text") == "leave":
                await ws.close(4004, "left")
                return
            if message.get("text") == "fail":
                raise ValueError("in the application")
            if message.get("bytes") is not None:
                await ws.send_bytes(message["bytes"])
            else:
                text = f"{name}: {message['text']}"
                await ws.send_text(text.upper() if loud else text)
    except WebSocketDisconnect as gone:
        print("disconnected", gone.code)


Default = asgi.entrypoint(app)
"""


@needs_compiled_packages
class TestFastApi:
    @pytest.fixture
    def app(self, project: Callable[..., Project], dev: Callable[..., Dev]) -> Dev:
        return dev(project(entry=FASTAPI)).ready()

    def test_echoes(self, app: Dev, client: Any) -> None:
        ws = client(app, "/echo/ann")
        assert asks(ws, "hi") == "ann: hi"
        assert asks(ws, b"\x00\x01") == b"\x00\x01"
        assert asks(client(app, "/echo/bob?loud=1"), "hi") == "BOB: HI"
        assert app.get("/").json() == {"hello": "http"}

    def test_closes_and_is_told_of_disconnects(self, app: Dev, client: Any) -> None:
        ws = client(app, "/echo/ann")
        ws.send("leave")
        assert ends_with(ws) == (4004, "left")
        ws = client(app, "/echo/ann")
        asks(ws, "x")
        ws.close(4001)
        app.wait_for("disconnected 4001")
        ws = client(app, "/echo/ann")
        asks(ws, "x")
        vanish(ws)
        app.wait_for("disconnected 1006")

    def test_that_fails_ends_the_connection(self, app: Dev, client: Any) -> None:
        ws = client(app, "/echo/ann")
        ws.send("fail")
        assert ends_with(ws)[0] == 1011
        app.wait_for("ValueError: in the application")


OUTGOING = """
import asyncio
from js import WebSocket
from workers import Response, WorkerEntrypoint, fetch


def queue_of(ws):
    got = asyncio.Queue()
    ws.onopen = lambda event: got.put_nowait("open")
    ws.onmessage = lambda event: got.put_nowait(event.data)
    ws.onclose = lambda event: got.put_nowait((event.code, event.reason, event.wasClean))
    ws.onerror = lambda event: got.put_nowait(event.message)
    return got


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path, _, target = request.url.partition("?")
        kind = path.rpartition("/")[2]
        if kind == "new":
            ws = WebSocket.new(target.replace("http", "ws"), "chat")
            got = queue_of(ws)
            heard = [ws.readyState, await got.get()]
            if heard[1] == "open":
                ws.send("hi")
                heard += [ws.readyState, ws.protocol, await got.get()]
                ws.close(4000, "done")
            return Response(repr([*heard, await got.get()]))
        answer = await fetch(target, headers={"Upgrade": "websocket"})
        if kind == "relay":
            return answer
        ws = answer.js_object.webSocket
        if not ws:
            return Response(repr([answer.status, await answer.text()]))
        got = queue_of(ws)
        ws.accept()
        ws.send("hi")
        heard = [answer.status, await got.get()]
        ws.send("close")
        return Response(repr([*heard, await got.get(), ws.readyState]))
"""


class TestAWorkerAsAClient:
    @pytest.fixture
    def outgoing(self, project: Callable[..., Project], dev: Callable[..., Dev]) -> Dev:
        return dev(project(entry=OUTGOING, at="outgoing"), "--api-port", "0").ready()

    def test_connects_with_new(self, echo: Dev, outgoing: Dev) -> None:
        assert outgoing.get(f"/new?{echo.url}/chat").text == repr(
            [0, "open", 1, "chat", "hi", (4000, "done", True)]
        )

    def test_hears_that_nobody_answers(self, echo: Dev, outgoing: Dev) -> None:
        assert outgoing.get("/new?ws://127.0.0.1:1/").text == repr(
            [
                0,
                "Error: Network connection lost.",
                (1006, "Failed to establish websocket connection", False),
            ]
        )
        assert (
            "expected server to reply with HTTP status code 101"
            in outgoing.get(f"/new?{echo.url}/members").text
        )

    def test_connects_with_fetch(self, echo: Dev, outgoing: Dev) -> None:
        assert outgoing.get(f"/fetch?{echo.url}/").text == repr(
            [101, "hi", (4003, "enough", True), 3]
        )
        assert outgoing.get(f"/fetch?{echo.url}/members").text == repr([403, "members only"])

    def test_may_stand_between_a_client_and_a_server(
        self, echo: Dev, outgoing: Dev, client: Any
    ) -> None:
        ws = client(outgoing, f"/relay?{echo.url}/")
        assert asks(ws, "through") == "through"
        assert asks(ws, b"x" * 3_000_000) == b"x" * 3_000_000
        ws.close(4001, "bye")
        echo.wait_for("closed 4001 bye True")
        assert (ws.close_code, ws.close_reason) == (4001, "bye")


FRONT = """
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/inside"):
            return Response(await self.talk())
        return await self.env.BACK.fetch(request.js_object)

    async def talk(self):
        import asyncio

        answer = await self.env.BACK.fetch("http://back/", headers={"Upgrade": "websocket"})
        ws = answer.js_object.webSocket
        got = asyncio.Queue()
        ws.onmessage = lambda event: got.put_nowait(event.data)
        ws.onclose = lambda event: got.put_nowait((event.code, event.reason))
        ws.accept()
        ws.send("hi")
        heard = [await got.get()]
        ws.send("close")
        return repr([*heard, await got.get()])
"""


class TestTwoWorkers:
    @pytest.fixture
    def both(self, project: Callable[..., Project], dev: Callable[..., Dev]) -> Dev:
        back = project(entry=ECHO, at="back", name="back")
        services = [{"binding": "BACK", "service": "back"}]
        front = project(entry=FRONT, at="front", name="front", services=services)
        paths = [str(made.directory / "wrangler.json") for made in (front, back)]
        return dev(front, "-c", paths[0], "-c", paths[1]).ready()

    def test_pass_a_connection_on(self, both: Dev, client: Any) -> None:
        ws = client(both)
        assert asks(ws, "through both") == "through both"
        assert asks(ws, b"x" * 3_000_000) == b"x" * 3_000_000
        ws.close(4001, "bye")
        assert (ws.close_code, ws.close_reason) == (4001, "bye")
        both.wait_for("closed 4001 bye True")
        ws = client(both)
        ws.send("close")
        assert ends_with(ws) == (4003, "enough")
        ws = client(both)
        asks(ws, "x")
        vanish(ws)
        both.wait_for("closed 1006 .* False")

    def test_talk_to_each_other(self, both: Dev) -> None:
        assert both.get("/inside").text == repr(["hi", (4003, "enough")])

    def test_lose_the_connection_when_one_dies(self, both: Dev, client: Any) -> None:
        ws = client(both)
        ws.send("die")
        assert ends_with(ws)[0] == 1006
        both.wait_for("starting it again")
        assert asks(client(both), "again") == "again"
