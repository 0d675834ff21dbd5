"""Events of hibernating WebSockets: each wakes its object, and one of a socket follows the other.

The supervisor holds the connections and knows what was attached to them; here is what the objects
in memory see of them. Not here: the arguments of ``ctx`` methods (``durable_object_sockets``).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.object_port import ObjectAddress
from tsumugi_emulator.javascript.web.socket_pipe import (
    LOST_CODE,
    LOST_TEXT,
    Close,
    Failed,
    Item,
)
from tsumugi_emulator.tracebacks import report
from tsumugi_emulator.worker.object_calls import ObjectCall
from tsumugi_emulator.worker.socket_frames import (
    ObjectSockets,
    SocketAnswered,
    SocketClose,
    SocketCredit,
    SocketMessage,
)
from tsumugi_emulator.worker.sockets import closing_item

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.worker.live_object import LiveObject
    from tsumugi_emulator.worker.object_sockets import Accepted, SocketsOfObject
    from tsumugi_emulator.worker.objects import Objects
    from tsumugi_emulator.worker.sockets import Sender, Sockets


class Hibernation:
    """All hibernating sockets of this child."""

    def __init__(
        self,
        objects: Objects,
        sockets: Sockets,
        channel: Sender,
        log: Callable[[str, str], None],
    ) -> None:
        self._objects = objects
        self.sockets = sockets
        self.channel = channel
        self._log = log
        self._inboxes: dict[int, Inbox] = {}
        #: What the supervisor told of objects that have not looked at their sockets yet.
        self._told: dict[ObjectAddress, ObjectSockets] = {}
        #: When a connection was last answered automatically.
        self.answered_ms: dict[int, int] = {}
        sockets.hibernation = objects.hibernation = self

    def frame_handlers(self) -> dict[type, Callable[[Any], None]]:
        return {ObjectSockets: self._tell, SocketAnswered: self._answered}

    # -- Objects in memory ------------------------------------------------------------------------

    def has_any(self, live: LiveObject) -> bool:
        """Whether there are connections that the object has not looked at yet."""
        return _nameless(live.address) in self._told

    def sockets_of(self, live: LiveObject) -> SocketsOfObject:
        """Made when the object first asks for them."""
        from tsumugi_emulator.worker.object_sockets import SocketsOfObject

        return SocketsOfObject(live, self, self._told.pop(_nameless(live.address), None))

    def left(self, live: LiveObject, sockets: SocketsOfObject | None, *, drop: bool) -> None:
        """The object leaves memory; with ``drop`` its connections end too."""
        if sockets is None and drop and _nameless(live.address) in self._told:
            sockets = self.sockets_of(live)
        self._told.pop(_nameless(live.address), None)
        if sockets is not None:
            sockets.leave(drop=drop)

    def _tell(self, frame: ObjectSockets) -> None:
        self._told[_nameless(ObjectAddress(*frame.target))] = frame
        for socket_id, _, _, time_ms, _ in frame.sockets:
            if time_ms is not None:
                self.answered_ms[socket_id] = time_ms

    def _answered(self, frame: SocketAnswered) -> None:
        self.answered_ms[frame.id] = frame.time_ms

    # -- Connections ------------------------------------------------------------------------------

    def connected(self, inbox: Inbox, socket_id: int) -> None:
        """What was a pair in this process is a connection now."""
        inbox.id = socket_id
        self._inboxes[socket_id] = inbox

    def arrive(self, frame: SocketMessage | SocketClose) -> None:
        """Something for an object, which need not be in memory."""
        assert frame.target is not None, "it is an object's"
        inbox = self._inboxes.get(frame.id)
        if inbox is None:
            inbox = self._inboxes[frame.id] = Inbox(self, ObjectAddress(*frame.target), frame.id)
        if isinstance(frame, SocketMessage):
            size = len(frame.data)
            inbox.put(frame.data, lambda: self.channel.send(SocketCredit(frame.id, size)))
            return
        item = closing_item(frame)
        if isinstance(item, Close):
            from tsumugi_emulator.javascript.web.socket_arguments import replies_to_close

            if replies_to_close():  # at once: the object may take its time
                self.sockets.send_close(frame.id, item)
        inbox.put(item)

    def ended(self, socket_id: int) -> None:
        """The socket's last event is over."""
        self._inboxes.pop(socket_id, None)
        self.answered_ms.pop(socket_id, None)
        self.sockets.drop(socket_id)

    def call(self, address: ObjectAddress, call: Call, done: Callable[[], None]) -> None:
        """Run ``call`` as an event of the object; ``done`` when it is over, however it ended."""
        live = self._objects.find(address)

        async def work(instance: Any) -> None:
            await call(live, instance)

        def settle(_result: Any, error: BaseException | None) -> None:
            if error is not None:
                name = live.kind.cls.__name__
                self._log("error", f"A WebSocket handler of {name} failed\n{report(error)}")
            done()

        live.deliver(SocketEvent(live, work, settle))


type Call = Callable[[LiveObject, Any], Any]


class SocketEvent(ObjectCall):
    __slots__ = ()

    is_known = True  # a message is, until it has been handled


class Inbox:
    """What has arrived for one socket; the next event begins when the one before is over."""

    __slots__ = ("_address", "_hub", "_items", "accepted", "id")

    def __init__(self, hub: Hibernation, address: ObjectAddress, socket_id: int | None) -> None:
        self._hub = hub
        self._address = address
        #: Each with what to tell its sender when it has been handled.
        self._items: deque[tuple[Item, Callable[[], None]]] = deque()
        #: None while both ends of the pair are in this process.
        self.id = socket_id
        #: The socket, as the object in memory knows it: it may come back to memory another one.
        self.accepted: Accepted | None = None

    def put(self, item: Item, handled: Callable[[], None] = lambda: None) -> None:
        self._items.append((item, handled))
        if len(self._items) == 1:
            self._start()

    def _start(self) -> None:
        self._hub.call(self._address, self._event, self._done)

    async def _event(self, live: LiveObject, instance: Any) -> None:
        if self.id is not None:
            self.accepted = live.sockets.by_id(self.id)
        if self.accepted is None:
            return  # the object was reset meanwhile
        await live.kind.socket_event(instance, *_event_of(self.accepted, self._items[0][0]))

    def _done(self) -> None:
        item, handled = self._items.popleft()
        if not isinstance(item, str | bytes):
            self._items.clear()
            if self.accepted is not None:
                self.accepted.over()
            if self.id is not None:
                self._hub.ended(self.id)
            return
        handled()
        if self._items:
            self._start()


def _event_of(accepted: Accepted, item: Item) -> tuple[str, tuple[Any, ...]]:
    """The handler's name and its arguments."""
    from tsumugi_emulator.javascript.buffers import ArrayBuffer
    from tsumugi_emulator.javascript.errors import js_error

    socket = accepted.socket
    if isinstance(item, str):
        return "webSocketMessage", (socket, item)
    if isinstance(item, bytes):
        return "webSocketMessage", (socket, ArrayBuffer(bytearray(item)))
    accepted.close_came(item)
    if isinstance(item, Failed):
        return "webSocketError", (socket, js_error("Error", item.text))
    if isinstance(item, Close):
        return "webSocketClose", (socket, item.code, item.reason, True)
    return "webSocketClose", (socket, LOST_CODE, LOST_TEXT, False)


def _nameless(address: ObjectAddress) -> ObjectAddress:
    return address._replace(name=None)


__all__ = ["Hibernation", "Inbox"]
