"""The supervisor moves a connection to the child its socket came from, and keeps the order."""

from __future__ import annotations

from typing import Any

import pytest
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.service_links import End
from tsumugi_emulator.socket_services import SocketServices
from tsumugi_emulator.worker.socket_frames import (
    SocketClose,
    SocketMessage,
    SocketMoved,
    SocketMoves,
    SocketPasses,
)


class Options:
    pyodide: Any = None


class Process:
    """A child: what it was sent."""

    def __init__(self, services: SocketServices) -> None:
        self.linked = 0
        self.sent: list[Any] = []
        self.operator = self
        self.web_sockets = services
        self.options = Options()

    def send(self, frame: Any) -> None:
        self.sent.append(frame)


class Client:
    writable = True

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def send(self, data: str | bytes) -> None:
        self.heard.append(data)

    def close(self, code: int, reason: str) -> None:
        self.heard.append((code, reason))

    def drop(self) -> None:
        self.heard.append("dropped")

    def set_reading(self, on: bool) -> None:
        pass


class World:
    """Connection 7 of the Worker in front; its socket 2 came over link 5 from the one behind."""

    def __init__(self) -> None:
        self.front_services = SocketServices(FakeClock(), lambda: None, lambda *_line: None)
        self.back_services = SocketServices(FakeClock(), lambda: None, lambda *_line: None)
        self.front: Any = Process(self.front_services)
        self.back: Any = Process(self.back_services)
        self.client = Client()
        self.front_services.source = lambda process, link, socket: (
            (End(self.back, -3), socket) if (process, link) == (self.front, 5) else None
        )
        self.connection = self.front_services.open(7, self.front, self.client)

    def front_says(self, frame: Any) -> None:
        self.front_services.take(frame, self.front)

    def back_says(self, frame: Any) -> None:
        self.back_services.take(frame, self.back)


def message(data: str) -> SocketMessage:
    return SocketMessage(7, data, None)


@pytest.fixture
def world() -> World:
    return World()


def test_the_child_behind_gets_the_connection_and_what_its_client_says(world: World) -> None:
    world.front_says(SocketPasses(7, 5, 2))
    assert world.back.sent == [SocketMoves(7, -3, 2)]
    assert (world.front.linked, world.back.linked) == (0, 1)
    world.connection.on_message("hi")
    assert world.back.sent[-1] == message("hi")
    assert world.front.sent == []


def test_what_came_through_the_middle_is_heard_before_what_comes_straight(world: World) -> None:
    world.front_says(SocketPasses(7, 5, 2))
    world.back_says(message("3"))
    world.back_says(SocketClose(7, 4000, "bye", "", None))
    world.front_says(message("1"))
    world.front_says(message("2"))
    assert world.client.heard == ["1", "2"]
    world.front_says(SocketMoved(7))
    assert world.client.heard == ["1", "2", "3", (4000, "bye")]


@pytest.mark.parametrize("cut", ["the middle dies", "a link behind it is cut"])
def test_a_middle_that_may_have_held_messages_takes_the_connection_along(
    world: World, cut: str
) -> None:
    world.front_says(SocketPasses(7, 5, 2))
    world.back_says(message("2"))
    if cut == "the middle dies":
        world.front_services.gone(world.front)
    else:
        world.front_says(SocketClose(7, 0, "", "", None))
    assert world.client.heard == ["dropped"], "the first message may have been lost"
    assert world.back.sent[-1] == SocketClose(7, 0, "", "", None)
    assert (world.front.linked, world.back.linked) == (0, 0)


def test_a_middle_that_dies_after_its_mark_takes_nothing_along(world: World) -> None:
    world.front_says(SocketPasses(7, 5, 2))
    world.front_says(SocketMoved(7))
    world.front_services.gone(world.front)
    world.back_says(message("1"))
    assert world.client.heard == ["1"]


def test_a_child_behind_that_dies_takes_a_held_connection_along(world: World) -> None:
    world.front_says(SocketPasses(7, 5, 2))
    world.front_says(SocketMoved(7))
    world.back_services.gone(world.back)
    assert world.client.heard == ["dropped"]


def test_a_socket_of_nobody_stays(world: World) -> None:
    world.front_says(SocketPasses(7, 6, 2))
    assert world.front.sent == [SocketMoves(7, 0, 0)]
    world.connection.on_message("hi")
    assert world.front.sent[-1] == message("hi")


def test_a_child_that_is_no_cpython_gets_no_connection(world: World) -> None:
    world.back.options.pyodide = object()
    world.front_says(SocketPasses(7, 5, 2))
    assert world.front.sent == [SocketMoves(7, 0, 0)]
