"""What accepting a hibernating WebSocket refuses, and automatic responses."""

from __future__ import annotations

import ast

import pytest
from socket_harness import ROOM, room, sockets_child

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
