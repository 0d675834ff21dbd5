"""The child's side of the WebSocket connections the supervisor holds: messages both ways.

Each connection is the far end of a pipe, whose near end the Worker's code reads. Connections of
hibernating sockets are read by their objects (``object_sockets``).
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.web.socket_pipe import Close, End, Failed, Item, Lost
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.socket_frames import (
    SocketClose,
    SocketCredit,
    SocketMessage,
    SocketMoved,
    SocketMoves,
    SocketPasses,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.javascript.web.response import Response
    from tsumugi_emulator.worker.events import EventRun

#: Characters or bytes on the way to a client that does not read, before the rest waits here.
WINDOW = 1024 * 1024

NO_UPGRADE_TEXT = (
    "Worker tried to return WebSocket in a response to a request which did not contain the header "
    '"Upgrade: websocket".'
)


class Sender(Protocol):
    def send(self, frame: Any) -> None: ...


class Hibernation(Protocol):
    """Takes what arrives for objects that may not be in memory."""

    def arrive(self, frame: SocketMessage | SocketClose) -> None: ...


class Wire:
    """One connection. What its pipe brings goes out, what comes in goes into the pipe."""

    __slots__ = (
        "_channel",
        "_closed_in",
        "_closed_out",
        "_forget",
        "_outbox",
        "_room",
        "closed",
        "end",
        "id",
    )

    def __init__(
        self, socket_id: int, end: End, channel: Sender, forget: Callable[[Wire], None]
    ) -> None:
        self.id = socket_id
        self.end = end
        self._channel = channel
        self._forget = forget
        self._outbox: deque[Item] = deque()
        self._room = WINDOW
        self._closed_in = False
        self._closed_out = False
        #: Done when it is over in both directions.
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        end.on_consumed = lambda size: channel.send(SocketCredit(socket_id, size))

    def moved_to(self, socket_id: int, channel: Sender, forget: Callable[[Wire], None]) -> Wire:
        """The same pipe on another connection."""
        made = Wire(socket_id, self.end, channel, forget)
        made._closed_in, made._closed_out = self._closed_in, self._closed_out
        return made

    def open(self, *, is_connection: bool = True) -> None:
        """Begin; ``is_connection`` unless the supervisor does not know it by this number."""
        if is_connection:
            self.end.number = self.id
        self.end.attach(self.send, outside=True)

    def send(self, item: Item) -> None:
        if isinstance(item, Lost | Failed):
            self._channel.send(SocketClose(self.id, 0, "", "", None))
            self._forget(self)
            return
        self._outbox.append(item)
        self._flush()

    def _flush(self) -> None:
        outbox = self._outbox
        while outbox and self._room > 0:
            item = outbox.popleft()
            if isinstance(item, Close):
                self._closed_out = True
                self._channel.send(SocketClose(self.id, item.code, item.reason, "", None))
                if self._closed_in:
                    self._forget(self)
                return
            assert isinstance(item, str | bytes)
            self._room -= len(item)
            self._channel.send(SocketMessage(self.id, item, None))
            self.end.consumed(item)

    def flush_all(self) -> None:
        """Send what waits, whether the client reads or not: nobody will be here to do it."""
        self._room = sys.maxsize
        self._flush()

    def credit(self, size: int) -> None:
        self._room += size
        self._flush()

    def receive(self, item: Item) -> None:
        if not isinstance(item, str | bytes):
            self._closed_in = True
            if not isinstance(item, Close):
                self._outbox.clear()
            if self._closed_out or not isinstance(item, Close):
                self._forget(self)
        self.end.send(item)

    def cut_if_unread(self) -> None:
        """Its event is over: a socket that nobody accepted has no reader any more."""
        if not self.end.other.is_read:
            self.send(Lost())


class Passing:
    """A connection on its way to the child its socket came from: what that has sent comes first."""

    def __init__(self, sockets: Sockets, socket_id: int, end: End, run: EventRun) -> None:
        self._sockets = sockets
        self._id = socket_id
        self.end = end
        self.run = run
        #: The link it comes over is this event's.
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        run.context.track(self._over)
        run.hold(self._over)
        end.other.on_moved = self._moved
        end.attach(self._forward)

    def _forward(self, item: Item) -> None:
        self._sockets.forward(self._id, item)
        self.end.consumed(item)
        if isinstance(item, Lost | Failed):  # the way is cut
            self._sockets.cut(self._id)
            self.done()

    def _moved(self) -> None:
        self._sockets.passed(self._id)
        self.done()

    def done(self) -> None:
        if not self._over.done():
            self._over.set_result(None)


class Sockets:
    """The connections of this child."""

    def __init__(self, channel: Sender) -> None:
        self._channel = channel
        self._wires: dict[int, Wire] = {}
        #: Connections that go to other children.
        self._passing: dict[int, Passing] = {}
        #: Takes a socket from the link it came over.
        self.take_over: Callable[[int, int], Wire | None] = lambda _link, _socket: None
        #: Set when the Worker has Durable Objects.
        self.hibernation: Hibernation | None = None

    def frame_handlers(self) -> dict[type, Callable[[Any], None]]:
        return {
            SocketMessage: self._message,
            SocketClose: self._close,
            SocketCredit: self._credit,
            SocketMoves: self._moves,
        }

    def upgrade(self, run: EventRun, request: frames.Fetch, response: Response) -> None:
        """Answer an upgrade: the client talks to the socket of ``response`` from now on.

        Raises:
            JsException: the socket, or the request, is not one that can be upgraded.
        """
        if not is_upgrade(request):
            raise type_error(NO_UPGRADE_TEXT)
        end: End = response._web_socket._release()
        self._channel.send(
            frames.Response(
                request.id, 101, response._status_text, response._headers._pairs, b"", False
            )
        )
        passage = end.other.passage
        if passage is None:
            self._keep(run, request.id, end)
            return
        self._passing[request.id] = Passing(self, request.id, end, run)
        self._channel.send(SocketPasses(request.id, *passage))

    def _keep(self, run: EventRun, socket_id: int, end: End) -> None:
        """Stand between the client and the pipe."""
        wire = self.open(socket_id, end)
        run.context.on_end.append(wire.cut_if_unread)
        if end.leads_outside:
            # It only passes through here; the way on belongs to this event.
            run.context.track(wire.closed)
            run.hold(wire.closed)

    def open(self, socket_id: int, end: End) -> Wire:
        wire = self._wires[socket_id] = Wire(socket_id, end, self._channel, self._forget)
        wire.open()
        return wire

    def send_close(self, socket_id: int, close: Close) -> None:
        """Close a connection whose socket need not be in memory."""
        wire = self._wires.get(socket_id)
        if wire is not None:
            wire.send(close)
        else:
            self._channel.send(SocketClose(socket_id, close.code, close.reason, "", None))

    def drop(self, socket_id: int) -> None:
        """It is over; the client is told nothing more."""
        self.close(socket_id)
        self._channel.send(SocketClose(socket_id, 0, "", "", None))

    def close(self, socket_id: int) -> None:
        """Its socket leaves memory; the connection stays."""
        wire = self._wires.pop(socket_id, None)
        if wire is not None:
            wire.flush_all()

    # -- Moving between children ------------------------------------------------------------------

    def _moves(self, frame: SocketMoves) -> None:
        if frame.link == 0:
            self._stays(frame.id)
            return
        before = self.take_over(frame.link, frame.socket)
        if before is None:  # it was over before the client was there
            self._channel.send(SocketClose(frame.id, 0, "", "", None))
            return
        wire = before.moved_to(frame.id, self._channel, self._forget)
        self._wires[frame.id] = wire
        wire.open()

    def forward(self, socket_id: int, item: Item) -> None:
        match item:
            case str() | bytes():
                self._channel.send(SocketMessage(socket_id, item, None))
            case Close():
                self._channel.send(SocketClose(socket_id, item.code, item.reason, "", None))
            case _:
                self._channel.send(SocketClose(socket_id, 0, "", "", None))

    def passed(self, socket_id: int) -> None:
        """Nothing more of it comes through here."""
        if self._passing.pop(socket_id, None) is not None:
            self._channel.send(SocketMoved(socket_id))

    def cut(self, socket_id: int) -> None:
        """Nothing more of it can come through here."""
        self._passing.pop(socket_id, None)

    def _stays(self, socket_id: int) -> None:
        passing = self._passing.pop(socket_id, None)
        if passing is not None:
            passing.end.other.on_moved = None
            self._keep(passing.run, socket_id, passing.end)
            passing.done()

    def _forget(self, wire: Wire) -> None:
        if self._wires.get(wire.id) is wire:
            del self._wires[wire.id]
        if not wire.closed.done():
            wire.closed.set_result(None)

    # -- Frames -----------------------------------------------------------------------------------

    def _message(self, frame: SocketMessage) -> None:
        if self._passing:
            self._stays(frame.id)
        if frame.target is not None and self.hibernation is not None:
            self.hibernation.arrive(frame)
        elif (wire := self._wires.get(frame.id)) is not None:
            wire.receive(frame.data)

    def _close(self, frame: SocketClose) -> None:
        if self._passing:
            self._stays(frame.id)
        if frame.target is not None and self.hibernation is not None:
            self.hibernation.arrive(frame)
        elif (wire := self._wires.get(frame.id)) is not None:
            wire.receive(closing_item(frame))

    def _credit(self, frame: SocketCredit) -> None:
        wire = self._wires.get(frame.id)
        if wire is not None:
            wire.credit(frame.size)


def closing_item(frame: SocketClose) -> Close | Lost | Failed:
    if frame.error:
        return Failed(frame.error)
    return Close(frame.code, frame.reason) if frame.code else Lost()


def is_upgrade(request: frames.Fetch) -> bool:
    return any(
        name == "upgrade" and value.lower() == "websocket" for name, value in request.headers
    )


__all__ = ["Sockets", "Wire", "closing_item", "is_upgrade"]
