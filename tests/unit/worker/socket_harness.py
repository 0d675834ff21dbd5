"""WebSockets without a process and without a network: a program, and clients that talk to it.

The child's side and the supervisor's side are real, and frames between them are encoded; only the
bytes on the wire are missing.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from child_harness import CURRENT_FLAGS, runtime
from loop_under_test import START_MS
from object_harness import PRELUDE, ObjectsUnderTest
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.durable.limits import IDLE_MS
from tsumugi_emulator.socket_services import SocketServices
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.hibernation import Hibernation
from tsumugi_emulator.worker.socket_frames import SOCKET_FRAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

SOCKET_FLAGS = CURRENT_FLAGS | {"web_socket_auto_reply_to_close", "websocket_standard_binary_type"}


class Client:
    """A browser's end: what it sends and what it has received."""

    def __init__(self, child: SocketsUnderTest) -> None:
        self._child = child
        self._receiver: Any = None
        self.received: list[str | bytes] = []
        #: Code and reason of the Close frame it got.
        self.close_frame: tuple[int, str] | None = None
        #: Whether the connection ended without one.
        self.dropped = False
        self.is_read = True
        self.writable = True

    # -- The Connection the supervisor holds ------------------------------------------------------

    def send(self, data: str | bytes) -> None:
        self.received.append(data)

    def close(self, code: int, reason: str) -> None:
        if self.close_frame is None:
            self.close_frame = (code, reason)

    def drop(self) -> None:
        self.dropped = True

    def set_reading(self, on: bool) -> None:
        self.is_read = on

    def attach(self, receiver: Any) -> None:
        self._receiver = receiver

    # -- What a test makes it do ------------------------------------------------------------------

    def says(self, *messages: str | bytes) -> Client:
        for message in messages:
            self._receiver.on_message(message)
        return self

    def closes(self, code: int = 1000, reason: str = "") -> None:
        self._receiver.on_close(code, reason, "")
        self._child.turn()

    def vanishes(self) -> None:
        self._receiver.on_close(0, "", "")
        self._child.turn()

    def breaks_the_protocol(self, text: str) -> None:
        self._receiver.on_close(0, "", text)
        self._child.turn()

    def reads_again(self) -> None:
        self.writable = True
        self._receiver.on_drained()
        self._child.turn()

    def hears(self, count: int = 1) -> list[str | bytes]:
        """The next ``count`` messages."""
        self._child.loop.run_until(lambda: len(self.received) >= count, f"{count} message(s)")
        heard, self.received = self.received[:count], self.received[count:]
        return heard

    def hears_close(self) -> tuple[int, str]:
        self._child.loop.run_until(lambda: self.close_frame is not None, "a Close frame")
        assert self.close_frame is not None
        return self.close_frame

    def is_dropped(self) -> bool:
        self._child.loop.run_until(lambda: self.dropped, "the end of the connection")
        return self.dropped


class SocketsUnderTest(ObjectsUnderTest):
    """A program with Durable Objects or without, which clients connect to."""

    def __init__(self, source: str, directory: Path, clock: FakeClock) -> None:
        self.services: SocketServices | None = None
        #: Whether what the supervisor sends is lost.
        self.deaf = False
        super().__init__(source, directory, has_sql=True, clock=clock)
        hibernation = Hibernation(
            self.objects, self.dispatcher.sockets, self, lambda *line: self.logs.append(line)
        )
        self._taken = {**self.dispatcher.frame_handlers(), **hibernation.frame_handlers()}
        self._connecting: dict[int, Client] = {}
        #: What the supervisor sends goes to this process, and back.
        self.process: Any = _Process(self)
        self.services = SocketServices(
            clock, lambda: self.process, lambda *line: self.logs.append(line)
        )

    def take(self, frame: frames.Frame) -> None:
        if self.deaf:
            return
        self.loop.call_soon(self._taken[type(frame)], _over_the_wire(frame))

    def send(self, frame: frames.Frame) -> None:
        services = self.services
        if services is not None and isinstance(frame, frames.AcquireObject):
            services.granted(self.process, *frame.key.rsplit("/", 1))
        super().send(frame)
        if services is None:
            return
        if isinstance(frame, frames.Response) and frame.status == 101:
            client = self._connecting.pop(frame.id)
            client.attach(services.open(frame.id, self.process, client))
        elif type(frame) in SOCKET_FRAMES:
            services.take(_over_the_wire(frame), self.process)

    # -- Clients ----------------------------------------------------------------------------------

    def connect(self, path: str = "/") -> Client:
        """A client whose upgrade was accepted."""
        client = Client(self)
        answer = self.upgrade(path, client)
        assert isinstance(answer, frames.Response), answer
        assert answer.status == 101
        return client

    def upgrade_slowly(self) -> Client:
        """A client that does not read what it is sent."""
        client = Client(self)
        client.writable = False
        self.upgrade("/", client)
        return client

    def upgrade(self, path: str = "/", client: Client | None = None) -> Any:
        """The Worker's answer to a request to upgrade."""
        number = next(self._ids)
        headers = [("upgrade", "websocket"), ("connection", "Upgrade")]
        self._connecting[number] = client or Client(self)
        frame = frames.Fetch(number, "GET", f"http://worker.test{path}", headers, b"", False)
        self.loop.call_soon(self.dispatcher.fetch, frame)
        return self.answer_to(number)

    # -- Time -------------------------------------------------------------------------------------

    def turn(self) -> None:
        """One turn of the loop."""
        self.loop.call_soon(self.loop.stop)
        self.loop.run_until_stopped()

    def dies_over(self, client: Client, text: str, *, then: str | None = None) -> None:
        """A child that was given ``text`` ends; another one serves.

        The client says ``then`` while none does.
        """
        assert self.services is not None
        self.deaf = True  # what is sent to it now is lost
        client.says(text)
        self.loop.run_until_idle()
        self.deaf = False
        process, self.process = self.process, None
        if then is not None:
            client.says(then)
        self.services.gone(process)
        self.process = process
        self.services.serve({s.target[0] for s in self.services._open.values() if s.target})

    def objects_sleep(self) -> None:
        """Long enough for idle objects to leave memory."""
        self.loop.run_until_idle()
        self.wait(2 * IDLE_MS)
        assert not self.objects._live, "they are gone"

    @property
    def active_events(self) -> int:
        return len(self.events.active)


class _Process:
    def __init__(self, child: SocketsUnderTest) -> None:
        self._child = child
        self.linked = 0

    def send(self, frame: Any) -> None:
        self._child.take(frame)


def _over_the_wire(frame: Any) -> Any:
    (decoded,) = frames.FrameDecoder().feed(frames.encode(frame))
    return decoded


SOCKETS_PRELUDE = (
    PRELUDE
    + """
from js import WebSocket, WebSocketPair, WebSocketRequestResponsePair


def upgraded(client):
    return Response(None, status=101, web_socket=client)


def refusal(call, *args):
    try:
        return repr(call(*args))
    except JsException as error:
        return f"{error.name}: {error.message}"


"""
)


@contextlib.contextmanager
def sockets_child(
    source: str, *, flags: frozenset[str] = SOCKET_FLAGS, strict: bool = False
) -> Iterator[SocketsUnderTest]:
    with tempfile.TemporaryDirectory() as directory, runtime(flags, strict=strict):
        under_test = SocketsUnderTest(
            SOCKETS_PRELUDE + source, Path(directory), FakeClock(START_MS)
        )
        with contextlib.closing(under_test):
            yield under_test


#: An object whose WebSockets hibernate: each message goes to all.
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
