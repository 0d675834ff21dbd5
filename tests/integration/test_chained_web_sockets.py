"""WebSockets passed on through two Workers: those in the middle may go (ADR-0236)."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from dev_session import Dev, Project, needs_moving_sockets
from web_socket_session import ECHO, ROOM, ROOM_CONFIG, asks, client, ends_with, hears

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["client"]

pytestmark = needs_moving_sockets

#: Passes everything on to the next Worker; ``/pid/NAME`` is answered by the Worker of that name.
MIDDLE = """
import os
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/pid/NAME"):
            return Response(str(os.getpid()))
        return await self.env.NEXT.fetch(request)
"""
EARLY = 300


class Chain:
    """first -> second -> third, which holds a room or, by ``last``, another Worker."""

    def __init__(self, directory: Any, last: str, config: dict[str, Any]) -> None:
        names = ["first", "second", "third"]
        self.projects = [
            _project(
                directory / name,
                MIDDLE.replace("NAME", name),
                {"services": [{"binding": "NEXT", "service": following}]},
            )
            for name, following in zip(names, [*names[1:], "last"], strict=True)
        ]
        self.last = _project(directory / "last", last, config)
        configs = [str(p.directory / "wrangler.json") for p in (*self.projects, self.last)]
        options = [part for path in configs for part in ("-c", path)]
        self.dev = Dev(self.projects[0], *options).ready()

    def save(self, project: Project) -> None:
        after = self.dev.mark()
        project.replace("src/entry.py", "\nclass Default", "\n# saved\nclass Default")
        self.dev.wait_for("Reloaded in", after=after)

    def kill(self, name: str) -> None:
        after = self.dev.mark()
        os.kill(int(self.dev.get(f"/pid/{name}").text), signal.SIGKILL)
        self.dev.wait_for("starting it again", after=after)


def _project(directory: Any, entry: str, config: dict[str, Any]) -> Project:
    made = Project(directory)
    made.configure(name=directory.name, **config)
    made.write("src/entry.py", entry)
    return made


@pytest.fixture
def room(tmp_path: Any) -> Iterator[Chain]:
    early = f"[server.send(str(n)) for n in range({EARLY})]"
    made = Chain(tmp_path, ROOM.replace('self.tell(f"{name} joined")', early), ROOM_CONFIG)
    yield made
    made.dev.close()


@pytest.fixture
def echo(tmp_path: Any) -> Iterator[Chain]:
    made = Chain(tmp_path, ECHO, {})
    yield made
    made.dev.close()


def test_a_hibernating_socket_survives_every_worker_it_passed(room: Chain, client: Any) -> None:
    ann = client(room.dev, "/ann")
    assert [hears(ann) for _ in range(EARLY)] == [str(n) for n in range(EARLY)], "in order"
    assert asks(ann, "x") == "one ann 1: x"
    room.kill("second")
    assert asks(ann, "x") == "one ann 2: x"
    room.save(room.projects[2])
    room.kill("third")
    room.kill("first")
    assert asks(ann, "x") == "one ann 3: x"
    room.save(room.last)
    assert asks(ann, "x") == "one ann 4: x"
    ann.close(4002)
    assert ann.close_code == 4002


@pytest.mark.long
def test_a_socket_that_code_holds_needs_only_that_code(echo: Chain, client: Any) -> None:
    ws = client(echo.dev, "/")
    assert asks(ws, b"x" * 2_000_000) == b"x" * 2_000_000
    for name in ("first", "second", "third"):
        echo.kill(name)
    assert asks(ws, "still there") == "still there"
    ws.send("close")
    assert ends_with(ws) == (4003, "enough")
