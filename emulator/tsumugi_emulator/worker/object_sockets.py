"""The hibernating WebSockets of one object in memory: their tags, and what is attached to them.

A :class:`~tsumugi_emulator.bindings.durable_object_sockets.SocketControl`. It is made again from
what the supervisor remembers when the object comes back to memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.javascript.web.socket_arguments import replies_to_close
from tsumugi_emulator.javascript.web.socket_pipe import Close, End, Item, Lost, pipe
from tsumugi_emulator.javascript.web.websocket import State, WebSocket
from tsumugi_emulator.worker.hibernation import Inbox
from tsumugi_emulator.worker.socket_frames import (
    AutoResponse,
    ObjectAtWork,
    SocketAttachment,
    SocketHibernates,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.bindings.object_port import ObjectAddress
    from tsumugi_emulator.worker.hibernation import Hibernation
    from tsumugi_emulator.worker.live_object import LiveObject
    from tsumugi_emulator.worker.socket_frames import ObjectSockets, Target


class Accepted:
    """One socket of the object."""

    __slots__ = ("_sent", "_sockets", "answered_ms", "id", "socket", "tags")

    def __init__(
        self,
        sockets: SocketsOfObject,
        socket: WebSocket,
        tags: Sequence[str],
        socket_id: int | None,
    ) -> None:
        self._sockets = sockets
        self.socket = socket
        self.tags = tuple(tags)
        #: None while both ends of the pair are in this process.
        self.id = socket_id
        #: The attachment the supervisor knows.
        self._sent = socket._attachment
        self.answered_ms: int | None = None
        socket._state = State.HIBERNATABLE
        socket._context = sockets.live.context
        socket._on_change = self._changed

    def _changed(self, socket: WebSocket) -> None:
        if self.id is not None and socket._attachment is not self._sent:
            assert socket._attachment is not None, "it is never taken away"
            self._sent = socket._attachment
            self._sockets.hub.channel.send(SocketAttachment(self.id, self._sent))

    def connected(self) -> None:
        """The other end of the pair went out with a response."""
        self.id = self.socket._end.other.number
        if self.id is None:
            return  # to another server: it lives in this process
        live, channel = self._sockets.live, self._sockets.hub.channel
        channel.send(SocketHibernates(self.id, target_of(live.address), list(self.tags)))
        self._changed(self.socket)
        self._sockets.at_work()

    def close_came(self, item: Item) -> None:
        self.socket._closed_in = True
        if isinstance(item, Close) and replies_to_close():
            if self.id is None and not self.socket._closed_out:
                self.socket._end.send(item)
            self.socket._closed_out = True

    def over(self) -> None:
        self._sockets.remove(self)


class SocketsOfObject:
    def __init__(self, live: LiveObject, hub: Hibernation, told: ObjectSockets | None) -> None:
        self.live = live
        self.hub = hub
        #: The oldest first.
        self._accepted: list[Accepted] = []
        #: Pairs whose other end has not gone out yet keep the object in memory.
        self._pinned: set[Accepted] = set()
        self.auto_response: tuple[str, str] | None = None
        #: What the supervisor was told of the object.
        self._at_work = False
        if told is not None:
            self._restore(told)

    def _restore(self, told: ObjectSockets) -> None:
        if told.auto_response is not None:
            self.auto_response = (told.auto_response[0], told.auto_response[1])
        for socket_id, tags, attachment, _, closed_out in told.sockets:
            near, far = pipe()
            socket = WebSocket(near)
            socket._attachment = attachment
            socket._closed_out = closed_out
            self._accepted.append(Accepted(self, socket, tags, socket_id))
            self.hub.sockets.open(socket_id, far)

    # -- SocketControl ----------------------------------------------------------------------------

    @property
    def count(self) -> int:
        return len(self._accepted)

    def accept(self, socket: WebSocket, tags: list[str]) -> None:
        accepted = Accepted(self, socket, tags, None)
        self._accepted.append(accepted)
        self._pin(accepted)
        inbox = Inbox(self.hub, self.live.address, None)
        inbox.accepted = accepted
        end: End = socket._end

        def connected() -> None:
            accepted.connected()
            if accepted.id is not None:
                self.hub.connected(inbox, accepted.id)
                self._unpin(accepted)

        end.on_outside = connected
        end.attach(lambda item: self._take(accepted, inbox, item))

    def _take(self, accepted: Accepted, inbox: Inbox, item: Item) -> None:
        """Something from a pair whose both ends are in this process."""
        pair = self.auto_response
        if pair is not None and item == pair[0]:
            accepted.answered_ms = self.live.now_ms()
            accepted.socket._end.send(pair[1])
            return
        end = accepted.socket._end
        inbox.put(item, lambda: end.consumed(item))

    def with_tag(self, tag: str | None) -> Sequence[WebSocket]:
        if tag is None:
            return [accepted.socket for accepted in reversed(self._accepted)]
        return [accepted.socket for accepted in self._accepted if tag in accepted.tags]

    def tags_of(self, socket: WebSocket) -> Sequence[str] | None:
        return next((a.tags for a in self._accepted if a.socket is socket), None)

    def set_auto_response(self, pair: tuple[str, str] | None) -> None:
        self.auto_response = pair
        request, response = (None, "") if pair is None else pair
        self.hub.channel.send(AutoResponse(target_of(self.live.address), request, response))

    def answered_ms(self, socket: WebSocket) -> int | None:
        for accepted in self._accepted:
            if accepted.socket is socket:
                known = self.hub.answered_ms
                return accepted.answered_ms if accepted.id is None else known.get(accepted.id)
        return None

    # -- Their life -------------------------------------------------------------------------------

    def by_id(self, socket_id: int) -> Accepted | None:
        return next((a for a in self._accepted if a.id == socket_id), None)

    def remove(self, accepted: Accepted) -> None:
        self._unpin(accepted)
        accepted.socket._state = State.RELEASED
        if accepted in self._accepted:
            self._accepted.remove(accepted)

    def at_work(self) -> None:
        """Calls run that may have something to tell: the supervisor must know, if it does not."""
        if self._at_work or all(call.is_known for call in self.live.calls):
            return
        if any(accepted.id is not None for accepted in self._accepted):
            self._at_work = True
            self.hub.channel.send(ObjectAtWork(target_of(self.live.address), True))

    def at_rest(self) -> None:
        if self._at_work:
            self._at_work = False
            self.hub.channel.send(ObjectAtWork(target_of(self.live.address), False))

    def leave(self, *, drop: bool) -> None:
        """The object leaves memory. Connections stay, unless it broke: then they end with it."""
        self.at_rest()
        for accepted in list(self._accepted):
            if accepted.id is None:
                accepted.socket._end.send(Lost())
            elif drop:
                self.hub.ended(accepted.id)
            else:
                self.hub.sockets.close(accepted.id)
            self.remove(accepted)

    def _pin(self, accepted: Accepted) -> None:
        self._pinned.add(accepted)
        self.live.context.begin()

    def _unpin(self, accepted: Accepted) -> None:
        if accepted in self._pinned:
            self._pinned.discard(accepted)
            self.live.context.finish()


def target_of(address: ObjectAddress) -> Target:
    return (address.namespace, address.object_id, address.name)
