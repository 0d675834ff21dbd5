"""WebSockets of an object that does not let them hibernate, and a Worker that is the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from socket_harness import ROOM, sockets_child

if TYPE_CHECKING:
    from socket_harness import SocketsUnderTest


VISITOR = (
    ROOM
    + """

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        answer = await self.env.ROOM.getByName("r").fetch(
            "http://room/ann", headers={"Upgrade": "websocket"})
        ws = answer.js_object.webSocket
        got = asyncio.Queue()
        ws.accept()
        ws.onmessage = lambda event: got.put_nowait(event.data)
        ws.onclose = lambda event: got.put_nowait((event.code, event.reason))
        ws.send("hi")
        heard = [answer.status, await got.get()]
        ws.close(4000, "bye")
        return Response(repr([*heard, await got.get()]))
"""
)


def test_a_worker_may_talk_to_a_hibernating_socket_itself() -> None:
    with sockets_child(VISITOR) as child:
        assert child.text() == "[101, 'ann: hi', (4000, 'bye')]"


def still_there(child: SocketsUnderTest) -> int:
    return len(child.objects._live)


def test_a_plain_socket_keeps_its_object_in_memory() -> None:
    program = ROOM.replace(
        'self.ctx.acceptWebSocket(server, to_js([name, "all"]))',
        "server.accept(); server.onmessage = lambda event: server.send(event.data)",
    )
    with sockets_child(program) as child:
        ann = child.connect("/ann")
        child.loop.run_until_idle()
        child.wait(60_000)
        assert still_there(child) == 1
        assert ann.says("x").hears() == ["x"]
        ann.closes()
        child.objects_sleep()


def test_a_plain_socket_ends_when_new_code_takes_over() -> None:
    program = ROOM.replace(
        'self.ctx.acceptWebSocket(server, to_js([name, "all"]))', "server.accept()"
    )
    with sockets_child(program) as child:
        ann = child.connect("/ann")
        child.loop.run_until_idle()
        child.objects.drain()
        assert ann.is_dropped()
