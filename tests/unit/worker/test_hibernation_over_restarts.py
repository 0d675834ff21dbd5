"""What becomes of an object's connections when its code is reloaded or its process dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from socket_harness import ROOM, room, sockets_child
from tsumugi_emulator.socket_services import WINDOW
from tsumugi_emulator.worker import frames

if TYPE_CHECKING:
    from socket_harness import SocketsUnderTest


def test_messages_that_come_while_no_child_serves_wait() -> None:
    with sockets_child(ROOM) as child:
        ann = child.connect("/ann")
        child.objects_sleep()
        process, child.process = child.process, None
        ann.says("1", "2")
        child.loop.run_until_idle()
        assert ann.received == []
        child.process = process
        assert child.services is not None
        child.services.serve([frame_target(child)])
        assert ann.hears(2) == ["ann: 1", "ann: 2"]


def test_a_class_that_is_gone_takes_its_connections_along() -> None:
    with sockets_child(ROOM) as child:
        ann = child.connect("/ann")
        child.loop.run_until_idle()
        assert child.services is not None
        child.services.serve([])
        assert ann.dropped


def test_the_death_of_a_child_is_survived_even_by_a_close_on_its_way() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        child.objects_sleep()
        child.deaf = True  # what is sent to it now is lost
        bob.vanishes()
        child.loop.run_until_idle()
        child.deaf = False
        assert child.services is not None
        child.services.gone(child.process)
        assert ann.hears()[0][:10] == "left: bob "
        assert ann.says("still here").hears() == ["ann: still here"]


TWO_ROOMS = ROOM.replace('getByName("r")', "getByName(request.url[-1])").replace(
    'rpartition("/")[2]', 'rpartition("/")[2][:-1]'
)


@pytest.mark.parametrize("text", ["x", ""])
def test_connections_of_an_object_that_dies_at_work_end_and_others_stay(text: str) -> None:
    with sockets_child(TWO_ROOMS) as child:
        ann, bob, eve = (child.connect(path) for path in ("/ann1", "/bob1", "/eve2"))
        assert bob.says("handled").hears() == ["bob: handled"]
        assert ann.hears() == ["bob: handled"]
        child.objects_sleep()
        child.dies_over(bob, text)
        assert bob.is_dropped()
        assert ann.is_dropped(), "what she was to hear of it may be lost"
        assert not eve.dropped
        assert eve.says("still here").hears() == ["eve: still here"]
        assert child.warnings[0].startswith("2 hibernating WebSockets ended (1006)")
        assert child.connect("/liz1").says("x").hears() == ["liz: x"], "nobody else is there"


def test_the_object_hears_that_its_connections_ended(capsys: pytest.CaptureFixture[str]) -> None:
    closing = """
    async def webSocketClose(self, ws, code, reason, wasClean):
        print("closed", ws.deserializeAttachment().name, code, wasClean)
"""
    with sockets_child(ROOM + closing) as child:
        ann = child.connect("/ann")
        child.objects_sleep()
        child.dies_over(ann, "x")
        child.loop.run_until_idle()
    assert capsys.readouterr().out == "closed ann 1006 False\n"


def test_what_waits_for_a_child_behind_a_lost_message_is_lost_with_it() -> None:
    with sockets_child(ROOM) as child:
        ann = child.connect("/ann")
        child.objects_sleep()
        child.dies_over(ann, "1", then="2")
        assert ann.is_dropped()
        child.loop.run_until_idle()
        assert child.connect("/bob").says("x").hears() == ["bob: x"]
        assert ann.received == [], "the second says nothing of the first"


CALLED = TWO_ROOMS.replace(
    "class Room(DurableObject):",
    """class Room(DurableObject):
    async def announce(self, text):
        await self.ctx.storage.put("told", text)
        await asyncio.sleep(0.01)
        for ws in self.ctx.getWebSockets():
            ws.send(text)
""",
).replace(
    "    async def fetch(self, request):\n        return await",
    """    async def fetch(self, request):
        if "announce" in request.url:
            await self.env.ROOM.getByName("1").announce("hear, hear")
            return Response("announced")
        return await""",
    1,
)


@pytest.mark.parametrize("asleep", [True, False])
def test_connections_end_with_a_call_that_may_have_been_about_to_tell_them(asleep: bool) -> None:
    with sockets_child(CALLED) as child:
        ann, eve = child.connect("/ann1"), child.connect("/eve2")
        assert child.fetch("/announce").body == b"announced"
        assert ann.hears() == ["hear, hear"]
        if asleep:
            child.objects_sleep()
        child.start_fetch("/announce")
        child.loop.run_until_idle()
        assert child.services is not None
        child.services.gone(child.process)
        assert ann.dropped
        assert not eve.dropped


def test_connections_of_an_object_at_rest_survive_its_process() -> None:
    with sockets_child(CALLED) as child:
        ann = child.connect("/ann1")
        assert child.fetch("/announce").body == b"announced"
        assert ann.says("x").hears(2) == ["hear, hear", "ann: x"]
        child.loop.run_until_idle()
        assert child.services is not None
        child.services.gone(child.process)
        assert not ann.dropped


def test_a_message_that_came_before_the_object_had_its_connection_counts_once() -> None:
    with sockets_child(ROOM) as child:
        ann = child.connect("/ann")
        (connection,) = child.services._open.values()
        target, connection.target = connection.target, None
        ann.says("early")
        connection.target = target
        assert ann.hears() == ["ann: early"]
        child.loop.run_until_idle()
        assert (connection._unhandled, connection._room) == ({}, WINDOW)


def test_new_code_that_takes_the_object_by_force_keeps_its_connections() -> None:
    with sockets_child(room("ws.send('begun'); await asyncio.sleep(60 * (m == 'long'))")) as child:
        ann = child.connect("/ann")
        assert ann.says("long").hears() == ["begun"]
        (key,) = child.objects._live
        child.objects.wanted(frames.ObjectWanted(key, True))
        assert ann.says("short").hears() == ["begun"]
        assert not ann.dropped
        assert "Durable Object reset because its code was updated." in child.errors[0]


def frame_target(child: SocketsUnderTest) -> str:
    from object_harness import WORKER
    from tsumugi_emulator.durable.ids import namespace_key

    return namespace_key(WORKER, "Room")
