"""WebSockets that pass through one Worker on their way to another: the middle may go (ADR-0236)."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from dev_session import Dev, Project, needs_moving_sockets
from web_socket_session import ECHO, ROOM, ROOM_CONFIG, asks, client, ends_with, hears

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["client"]

FRONT = """
import os
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.headers.get("upgrade") != "websocket":
            return Response(str(os.getpid()))
        if "/object/" in request.url:
            return await self.env.ROOM.getByName("the room").fetch(request)
        if "/echo/" in request.url:
            return await self.env.ECHO.fetch(request)
        return await self.env.BACK.fetch(request)
"""
FRONT_CONFIG: dict[str, Any] = {
    "services": [
        {"binding": "BACK", "service": "back"},
        {"binding": "ECHO", "service": "echo"},
    ],
    "durable_objects": {
        "bindings": [{"name": "ROOM", "class_name": "Room", "script_name": "back"}]
    },
}
EARLY = 300


class Three:
    """A Worker in front of a room and of an echo."""

    def __init__(self, directory: Any) -> None:
        room = ROOM.replace(
            'self.tell(f"{name} joined")',
            f"[server.send(str(n)) for n in range({EARLY})]",
        )
        self.front = self._project(directory / "front", FRONT, FRONT_CONFIG)
        self.back = self._project(directory / "back", room, ROOM_CONFIG)
        self.echo = self._project(directory / "echo", ECHO, {})
        configs = [
            str(made.directory / "wrangler.json") for made in (self.front, self.back, self.echo)
        ]
        self.dev = Dev(self.front, *(part for path in configs for part in ("-c", path))).ready()

    def _project(self, directory: Any, entry: str, config: dict[str, Any]) -> Project:
        made = Project(directory)
        made.configure(name=directory.name, **config)
        made.write("src/entry.py", entry)
        return made

    def save(self, project: Project, old: str, new: str) -> None:
        after = self.dev.mark()
        project.replace("src/entry.py", old, new)
        self.dev.wait_for("Reloaded in", after=after)


@pytest.fixture
def three(tmp_path: Any) -> Iterator[Three]:
    made = Three(tmp_path)
    yield made
    made.dev.close()


def joined(client: Callable[..., Any], three: Three, path: str) -> Any:
    """A client that has heard, in order, all that the room said before it was there."""
    ws = client(three.dev, path)
    assert [hears(ws) for _ in range(EARLY)] == [str(n) for n in range(EARLY)]
    return ws


@needs_moving_sockets
@pytest.mark.parametrize("way", [pytest.param("service", marks=pytest.mark.long), "object"])
def test_a_hibernating_socket_survives_every_reload_and_the_death_of_the_worker_it_passed(
    three: Three, client: Any, way: str
) -> None:
    ann = joined(client, three, f"/{way}/ann")
    assert asks(ann, "x") == "one ann 1: x"
    three.save(three.back, 'VERSION = "one"', 'VERSION = "two"')
    assert asks(ann, "x") == "two ann 2: x"
    three.save(three.front, "import os\n", "import os  # saved\n")
    assert asks(ann, "x") == "two ann 3: x"
    after = three.dev.mark()
    os.kill(int(three.dev.get("/").text), signal.SIGKILL)
    three.dev.wait_for("starting it again", after=after)
    assert asks(ann, "x") == "two ann 4: x"
    bob = joined(client, three, f"/{way}/bob")
    bob.send("die")  # the room's own process
    three.dev.wait_for("starting it again", times=2, after=after)
    assert (ends_with(bob)[0], ends_with(ann)[0]) == (1006, 1006)
    ann = joined(client, three, f"/{way}/ann")
    assert asks(ann, "x") == "two ann 5: x"
    assert asks(ann, "ping") == "pong"
    ann.close(4002)
    assert ann.close_code == 4002


@needs_moving_sockets
def test_a_socket_that_is_held_by_code_lives_as_long_as_that_code(
    three: Three, client: Any
) -> None:
    ws = client(three.dev, "/echo/x")
    assert asks(ws, b"x" * 2_000_000) == b"x" * 2_000_000
    os.kill(int(three.dev.get("/").text), signal.SIGKILL)  # only what stood in the middle
    three.dev.wait_for("starting it again")
    assert asks(ws, "still there") == "still there"
    three.save(three.echo, 'VERSION = "one"', 'VERSION = "two"')
    assert asks(ws, "version") == "one"  # it belongs to the code it began with
    assert asks(client(three.dev, "/echo/x"), "version") == "two"
    ws.send("close")
    assert ends_with(ws) == (4003, "enough")


def test_a_room_behind_a_worker_is_left_by_its_clients(three: Three, client: Any) -> None:
    ann, bob = joined(client, three, "/object/ann"), joined(client, three, "/object/bob")
    bob.close(4001)
    assert hears(ann) == "bob left 4001 True"
    assert asks(ann, "x") == "one ann 1: x"
