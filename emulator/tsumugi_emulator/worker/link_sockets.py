"""WebSockets that cross a link: the pipe between the two ends goes over it, message by message.

A socket that only passes through a Worker on its way to a client moves to the child at the other
end (ADR-0236). One that a Worker's own code holds stays on the link, and an object that hibernates
with it stays in memory. Not here: when the link ends (``links``).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript.web.socket_pipe import End, Lost, pipe
from tsumugi_emulator.javascript.web.websocket import WebSocket
from tsumugi_emulator.worker.socket_frames import (
    SocketClose,
    SocketCredit,
    SocketMessage,
    SocketMoved,
)
from tsumugi_emulator.worker.sockets import Wire, closing_item

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.javascript.io_context import IoContext


class Sender(Protocol):
    """A link."""

    event: IoContext

    def send(self, message: Any, /) -> None: ...

    def splice(self, socket: int, link: int, onto: int) -> None:
        """A socket of this link is one of another link: it only passes through here."""


class LinkSockets:
    def __init__(
        self, sender: Sender, first: int, on_done: Callable[[], None], *, link: int
    ) -> None:
        """Numbers count from ``first`` in steps of two; ``on_done`` runs when one is closed.

        ``link`` is the number the supervisor knows this end under.
        """
        self._sender = sender
        self._link = link
        self._numbers = itertools.count(first, 2)
        self._on_done = on_done
        self._wires: dict[int, Wire] = {}
        #: Came before the response they belong to was unpacked.
        self._early: dict[int, list[Any]] = {}
        self._known: set[int] = set()

    @property
    def busy(self) -> bool:
        return bool(self._wires)

    def send(self, socket: WebSocket) -> int:
        """The other side gets this socket's connection, under this number."""
        number = next(self._numbers)
        end = socket._release()
        wire = self._open(number, end)
        if end.leads_outside:
            self._pass_on(wire, end.other)
        return number

    def _pass_on(self, wire: Wire, source: End) -> None:
        """It only passes through here; the way it comes by belongs to this event."""
        event = self._sender.event
        event.track(wire.closed)
        event.wait_until.append(wire.closed)
        if source.passage is None:
            return

        def moved() -> None:
            wire.flush_all()
            self._sender.send(SocketMoved(wire.id))
            self._forget(wire)

        source.on_moved = moved
        self._sender.splice(wire.id, *source.passage)

    def receive(self, number: int) -> WebSocket:
        near, far = pipe()
        far.passage = (self._link, number)
        self._open(number, far)
        for message in self._early.pop(number, []):
            self.take(message)
        return WebSocket(near)

    def _open(self, number: int, end: End) -> Wire:
        self._known.add(number)
        wire = self._wires[number] = Wire(number, end, self._sender, self._forget)
        wire.open(is_connection=False)
        return wire

    def _forget(self, wire: Wire) -> None:
        if not wire.closed.done():
            wire.closed.set_result(None)
        if self._wires.pop(wire.id, None) is not None:
            self._on_done()

    def take(self, message: Any) -> None:
        wire = self._wires.get(message.id)
        if wire is None:
            if message.id not in self._known:
                self._early.setdefault(message.id, []).append(message)
            return
        match message:
            case SocketMessage(data=data):
                wire.receive(data)
            case SocketClose():
                wire.receive(closing_item(message))
            case SocketCredit(size=size):
                wire.credit(size)
            case SocketMoved():
                self._moved(wire)

    # -- Moving -----------------------------------------------------------------------------------

    def hand_over(self, number: int) -> Wire | None:
        """The client is this child's own from now on: the link gets what is left, and no more.

        None if the socket is over already.
        """
        wire = self._wires.get(number)
        if wire is not None:
            wire.flush_all()
        self._sender.send(SocketMoved(number))
        if wire is not None:
            self._forget(wire)
        return wire

    def _moved(self, wire: Wire) -> None:
        if wire.end.on_moved is not None:
            wire.end.on_moved()
        self._forget(wire)

    def cut(self) -> None:
        """Nothing comes or goes any more."""
        for wire in list(self._wires.values()):
            wire.receive(Lost())
