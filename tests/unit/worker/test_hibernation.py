"""WebSockets that hibernate with their Durable Object."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from socket_harness import SOCKET_FLAGS, sockets_child
from tsumugi_emulator.socket_services import WINDOW
from tsumugi_emulator.worker import frames

if TYPE_CHECKING:
    from socket_harness import SocketsUnderTest

ROOM = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await self.env.ROOM.getByName("r").fetch(request.js_object)


class Room(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.woken = 0

    async def fetch(self, request):
        name = request.url.rpartition("/")[2]
        client, server = WebSocketPair.new().object_values()
        self.ctx.acceptWebSocket(server, to_js([name, "all"]))
        server.serializeAttachment(to_js({"name": name}))
        return Response(None, status=101, web_socket=client)

    async def webSocketMessage(self, ws, message):
        self.woken += 1
        await self.heard(ws, message)

    async def heard(self, ws, message):
        for other in self.ctx.getWebSockets("all"):
            other.send(f"{ws.deserializeAttachment().name}: {message}")

    async def webSocketClose(self, ws, code, reason, wasClean):
        for other in self.ctx.getWebSockets():
            if other.js_id != ws.js_id:
                other.send(f"left: {ws.deserializeAttachment().name} {code} {reason} {wasClean}")

    async def webSocketError(self, ws, error):
        for other in self.ctx.getWebSockets():
            if other.js_id != ws.js_id:
                other.send(f"failed: {ws.deserializeAttachment().name} {error}")
"""


def room(heard: str) -> str:
    """The room, with another answer to a message ``m`` on ``ws``."""
    return f"{ROOM}\n    async def heard(self, ws, m):\n        {heard}\n"


def test_messages_are_events_of_the_object() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        ann.says("hi")
        assert (ann.hears(), bob.hears()) == (["ann: hi"], ["ann: hi"])


def test_bytes_are_an_array_buffer_whatever_the_date() -> None:
    with sockets_child(room("ws.send(m.constructor.name + repr(m.to_bytes()))")) as child:
        assert child.connect("/ann").says(b"\x00x").hears() == ["ArrayBufferb'\\x00x'"]


def test_the_object_leaves_memory_while_its_sockets_stay() -> None:
    with sockets_child(room("ws.send(f'{self.woken} {ws.deserializeAttachment().name}')")) as child:
        ann = child.connect("/ann")
        assert ann.says("x", "x").hears(2) == ["1 ann", "2 ann"]
        child.objects_sleep()
        assert ann.says("x").hears() == ["1 ann"], "a new instance knows the attachment"


def test_the_last_attachment_survives() -> None:
    counting = (
        "n = getattr(ws.deserializeAttachment(), 'n', 0); "
        "ws.serializeAttachment(to_js({'n': n + 1})); ws.send(str(n + 1))"
    )
    with sockets_child(room(counting)) as child:
        ann = child.connect("/ann")
        assert ann.says("x", "x").hears(2) == ["1", "2"]
        child.objects_sleep()
        assert ann.says("x").hears() == ["3"]


def test_sockets_are_found_by_tag_before_and_after_sleep() -> None:
    looking = (
        "ws.send(repr([len(self.ctx.getWebSockets()), len(self.ctx.getWebSockets('ann')), "
        "len(self.ctx.getWebSockets('none')), list(self.ctx.getTags(ws))]))"
    )
    with sockets_child(room(looking)) as child:
        ann = child.connect("/ann")
        child.connect("/bob")
        awake = ann.says("x").hears()
        child.objects_sleep()
        assert ann.says("x").hears() == awake == ["[2, 1, 0, ['ann', 'all']]"]


def test_the_newest_socket_comes_first_and_those_of_a_tag_in_order() -> None:
    looking = (
        "names = lambda sockets: [s.deserializeAttachment().name for s in sockets]; "
        "ws.send(repr([names(self.ctx.getWebSockets()), names(self.ctx.getWebSockets('all'))]))"
    )
    with sockets_child(room(looking)) as child:
        ann = child.connect("/ann")
        child.connect("/bob")
        assert ann.says("x").hears() == ["[['bob', 'ann'], ['ann', 'bob']]"]


def test_one_message_of_a_socket_is_handled_after_the_other() -> None:
    slowly = "ws.send('begin ' + m); await asyncio.sleep(0.01); ws.send('end ' + m)"
    with sockets_child(room(slowly)) as child:
        ann = child.connect("/ann")
        assert ann.says("1", "2").hears(4) == ["begin 1", "end 1", "begin 2", "end 2"]


def test_sockets_do_not_wait_for_each_other() -> None:
    slowly = "ws.send('begin'); await asyncio.sleep(0.01); ws.send('end')"
    with sockets_child(room(slowly)) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        ann.says("x")
        bob.says("x")
        assert bob.hears() == ["begin"]
        assert ann.received == ["begin"], "it still sleeps"
        assert (ann.hears(2), bob.hears()) == (["begin", "end"], ["end"])


def test_a_close_is_answered_at_once_and_told_to_the_object() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        child.objects_sleep()
        bob.closes(4001, "bye")
        assert bob.hears_close() == (4001, "bye")
        assert ann.hears() == ["left: bob 4001 bye True"]


def test_a_closed_socket_is_not_found_any_more() -> None:
    with sockets_child(room("ws.send(str(len(self.ctx.getWebSockets())))")) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        bob.closes()
        child.loop.run_until_idle()
        assert [text for text in ann.says("x").hears(2) if text.isdigit()] == ["1"]
        child.objects_sleep()
        assert ann.says("x").hears() == ["1"]


def test_a_client_that_vanishes_is_a_close_that_was_not_clean() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        child.objects_sleep()
        bob.vanishes()
        assert ann.hears() == [
            "left: bob 1006 WebSocket disconnected without sending Close frame. False"
        ]


def test_a_client_that_breaks_the_protocol_is_an_error_of_its_socket() -> None:
    with sockets_child(ROOM) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        bob.breaks_the_protocol("Message is too large")
        assert ann.hears() == ["failed: bob Error: Message is too large"]


def test_before_the_flag_the_handler_answers_a_close() -> None:
    flags = SOCKET_FLAGS - {"web_socket_auto_reply_to_close"}
    program = ROOM + "\n    async def webSocketClose(self, ws, code, reason, clean):\n"
    with sockets_child(program + "        ws.close(4002, 'mine')\n", flags=flags) as child:
        ann = child.connect("/ann")
        ann.closes(4001)
        assert ann.hears_close() == (4002, "mine")
    with sockets_child(program + "        pass\n", flags=flags) as child:
        ann = child.connect("/ann")
        ann.closes(4001)
        assert ann.is_dropped()
        assert ann.close_frame is None


def test_the_object_may_close_and_hears_of_the_answer() -> None:
    with sockets_child(room("ws.close(4005, 'enough')")) as child:
        ann, bob = child.connect("/ann"), child.connect("/bob")
        bob.says("x")
        assert bob.hears_close() == (4005, "enough")
        child.loop.run_until_idle()
        bob.closes(4005, "enough")
        assert ann.hears() == ["left: bob 4005 enough True"]
        assert not bob.dropped


def test_missing_handlers_are_no_error() -> None:
    silent = ROOM.partition("    async def webSocketMessage")[0]
    with sockets_child(silent) as child:
        ann = child.connect("/ann")
        ann.says("x")
        ann.closes(4000)
        assert ann.hears_close() == (4000, "")
        child.loop.run_until_idle()
        assert child.errors == []


def test_a_handler_that_fails_is_logged_and_the_next_message_comes() -> None:
    with sockets_child(room("ws.send(m); raise ValueError(m)")) as child:
        ann = child.connect("/ann")
        assert ann.says("a", "b").hears(2) == ["a", "b"]
        child.loop.run_until_idle()
        assert ["ValueError: a" in child.errors[0], len(child.errors)] == [True, 2]


def test_handlers_take_as_many_arguments_as_they_like() -> None:
    program = ROOM + "\n    def webSocketMessage(self, ws):\n        ws.send('one argument')\n"
    with sockets_child(program) as child:
        assert child.connect("/ann").says("x").hears() == ["one argument"]


def test_an_object_that_is_reset_loses_its_connections() -> None:
    with sockets_child(room("self.ctx.abort('broken')")) as child:
        ann = child.connect("/ann")
        ann.says("x")
        assert ann.is_dropped()
        assert child.connect("/bob").says("x").is_dropped(), "and starts anew"


def test_what_was_written_is_on_disk_before_a_message_leaves() -> None:
    program = room("self.ctx.storage.kv.put('n', 1); ws.send('written')")
    with sockets_child(program) as child:
        ann = child.connect("/ann")
        assert ann.says("x").hears() == ["written"]
        child.objects_sleep()


# -- Automatic responses --------------------------------------------------------------------------

AUTOMATIC = """
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.woken = 0
        self.ctx.setWebSocketAutoResponse(WebSocketRequestResponsePair.new("ping", "pong"))

    async def heard(self, ws, m):
        pair = self.ctx.getWebSocketAutoResponse()
        time = self.ctx.getWebSocketAutoResponseTimestamp(ws)
        ws.send(f"{self.woken} {pair.request} {pair.response} {time.getTime() if time else None}")
"""


def test_an_automatic_response_does_not_wake_the_object() -> None:
    with sockets_child(ROOM + AUTOMATIC) as child:
        ann = child.connect("/ann")
        assert ann.says("x").hears() == ["1 ping pong None"]
        child.objects_sleep()
        assert ann.says("ping").hears() == ["pong"]
        child.loop.run_until_idle()
        assert not child.objects._live
        assert ann.says("x").hears() == [f"1 ping pong {child.clock.now_ms()}"]


def test_an_automatic_response_keeps_its_place_and_its_time_while_awake() -> None:
    with sockets_child(ROOM + AUTOMATIC) as child:
        ann = child.connect("/ann")
        assert sorted(map(str, ann.says("x", "ping").hears(2)))[1] == "pong"
        assert ann.says("x").hears() == [f"2 ping pong {child.clock.now_ms()}"]


def test_an_automatic_response_can_be_taken_back() -> None:
    taking_back = room(
        "self.ctx.setWebSocketAutoResponse(WebSocketRequestResponsePair.new('ping', 'pong')) "
        "if m == 'on' else self.ctx.setWebSocketAutoResponse(); "
        "ws.send(f'{m} {bool(self.ctx.getWebSocketAutoResponse())}')"
    )
    with sockets_child(taking_back) as child:
        ann = child.connect("/ann")
        assert ann.says("on").hears() == ["on True"]
        assert ann.says("ping").hears() == ["pong"]
        assert ann.says("off").hears() == ["off False"]
        assert ann.says("ping").hears() == ["ping False"]


def test_automatic_responses_have_a_size() -> None:
    checks = (
        "pair = WebSocketRequestResponsePair.new; "
        "ws.send(refusal(self.ctx.setWebSocketAutoResponse, pair('x' * 2049, ''))); "
        "ws.send(refusal(self.ctx.setWebSocketAutoResponse, pair('', 'x' * 2049)))"
    )
    with sockets_child(room(checks)) as child:
        assert child.connect("/ann").says("x").hears(2) == [
            "RangeError: Request cannot be larger than 2048 bytes. A request of size 2049 was "
            "provided.",
            "RangeError: Response cannot be larger than 2048 bytes. A response of size 2049 was "
            "provided.",
        ]


def test_an_automatic_response_is_a_request_and_a_response() -> None:
    made = "ws.send(refusal(WebSocketRequestResponsePair.new, 'ping'))"
    with sockets_child(room(made)) as child:
        assert child.connect("/ann").says("x").hears() == [
            "TypeError: Failed to construct 'WebSocketRequestResponsePair': constructor parameter "
            "2 is not of type 'string'."
        ]


# -- What acceptWebSocket refuses -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        (
            "refusal(accept, to_js({}))",
            "TypeError: Failed to execute 'acceptWebSocket' on 'DurableObjectState': parameter 1 "
            "is not of type 'WebSocket'.",
        ),
        (
            "refusal(accept, a, ['tag'])",
            "TypeError: Failed to execute 'acceptWebSocket' on 'DurableObjectState': parameter 2 "
            "is not of type 'Array'.",
        ),
        (
            "(a.accept(), refusal(accept, a))[1]",
            "Error: Cannot call `acceptWebSocket()` if the WebSocket was already accepted via "
            "`accept()`",
        ),
        (
            "(b.accept(), refusal(accept, a))[1]",
            "Error: Cannot call `acceptWebSocket()` on this WebSocket because its pair has "
            "already been accepted or used in a Response.",
        ),
        (
            "(accept(a), refusal(a.accept))[1]",
            "TypeError: Can't accept() WebSocket after enabling hibernation.",
        ),
        (
            "refusal(accept, a, to_js([str(n) for n in range(11)]))",
            "Error: a Hibernatable WebSocket cannot have more than 10 tags",
        ),
        (
            "refusal(accept, a, to_js(['x' * 257]))[-62:]",
            'x" is longer than the max tag length (256 characters).'.rjust(62, "x"),
        ),
        (
            "(accept(a, to_js(['t', 't', 'u'])), list(self.ctx.getTags(a)))[1]",
            ["t", "u"],
        ),
        (
            "refusal(self.ctx.getTags, a)",
            "Error: you must call 'acceptWebSocket()' before attempting to access the tags of a "
            "WebSocket.",
        ),
        (
            "(a.accept(), refusal(self.ctx.getTags, a))[1]",
            "Error: only hibernatable websockets can have tags.",
        ),
    ],
)
def test_accepting_has_its_rules(code: str, refused: object) -> None:
    checks = f"a, b = WebSocketPair.new(); accept = self.ctx.acceptWebSocket; ws.send(repr({code}))"
    with sockets_child(room(checks)) as child:
        (text,) = child.connect("/ann").says("x").hears()
        assert ast.literal_eval(str(text)) == refused


# -- Both ends in this process --------------------------------------------------------------------

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
