"""WebSockets that a Worker opens itself, and those that pass from one Worker to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from web_socket_session import ECHO, asks, client, echo, ends_with, vanish

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev_session import Dev, Project

__all__ = ["client", "echo"]

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
