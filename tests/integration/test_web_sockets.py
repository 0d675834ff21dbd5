"""WebSockets through ``tsumugi dev``: real clients, real processes, reloads and deaths."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import pytest
from dev_session import eventually, needs_compiled_packages
from web_socket_session import asks, client, echo, ends_with, hears, vanish
from websockets.exceptions import ConnectionClosed, InvalidStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev_session import Dev, Project

__all__ = ["client", "echo"]


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
