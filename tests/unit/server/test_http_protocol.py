"""Responses to clients that have gone: uvloop refuses to write to a closed transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.server.http_protocol import _GatheringTransport
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Callable


class Transport:
    """As uvloop's: closed for good once the peer is gone."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.gone = False

    def is_closing(self) -> bool:
        return self.gone

    def write(self, data: bytes) -> None:
        if self.gone:
            raise RuntimeError("unable to perform operation; the handler is closed")
        self.written.append(data)

    def close(self) -> None:
        self.gone = True


class Loop:
    """Keeps what is to run in the next turn."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], Any]] = []

    def call_soon(self, callback: Callable[[], Any]) -> None:
        self.soon.append(callback)

    def turn(self) -> None:
        soon, self.soon = self.soon, []
        for callback in soon:
            callback()


def gathering(transport: Any, loop: Any) -> _GatheringTransport:
    return _GatheringTransport(transport, loop)


def test_head_and_body_leave_in_one_write() -> None:
    transport, loop = Transport(), Loop()
    response = gathering(transport, loop)
    response.write(b"head ")
    response.write(b"body")
    loop.turn()
    assert transport.written == [b"head body"]


@pytest.mark.parametrize("goes", ["before it is flushed", "before it is closed"])
def test_a_client_that_goes_in_the_middle_gets_nothing_and_breaks_nothing(goes: str) -> None:
    transport, loop = Transport(), Loop()
    response = gathering(transport, loop)
    response.write(b"answer")
    transport.gone = True
    if goes == "before it is closed":
        response.close()
    loop.turn()
    assert transport.written == []


def test_what_is_written_before_closing_leaves() -> None:
    transport = Transport()
    response = gathering(transport, Loop())
    response.write(b"answer")
    response.close()
    assert transport.written == [b"answer"]


def test_a_frame_for_a_child_that_has_just_gone_breaks_nothing() -> None:
    channel = Channel(lambda _frame: None)
    transport: Any = Transport()
    channel.connection_made(transport)
    transport.gone = True
    channel._at_turn_end = lambda _flush: None
    channel.send(frames.Ping())
    channel.flush()
    assert transport.written == []
