"""Calls between this child and children of other Workers: what is on the way, at this end.

A link is one call: its arguments and result, the functions passed along with them, and bodies that
are still being read. It ends with the caller's event at the latest. Not here: which child is at
the other end (the supervisor) and what a call runs (``services``).
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectId
from tsumugi_emulator.bindings.durable_object_stub import ReceivedStub
from tsumugi_emulator.bindings.object_port import ObjectAddress
from tsumugi_emulator.bindings.rpc_values import (
    DISPOSED_TEXT,
    Answer,
    RpcStub,
    dispose,
    packed_error,
    transfer,
    unanswered,
    unpacked_error,
)
from tsumugi_emulator.bindings.rpc_wire import Wire
from tsumugi_emulator.bindings.service import ServiceBinding, ServicePort, ServiceTarget
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.errors import JsException, js_error
from tsumugi_emulator.javascript.functions import js_class
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.link_bodies import UNREAD_TEXT, Bodies
from tsumugi_emulator.worker.link_frames import (
    Connect,
    Disconnect,
    Relay,
    RpcResult,
    Splice,
    StubCall,
)
from tsumugi_emulator.worker.socket_frames import (
    SocketClose,
    SocketCredit,
    SocketMessage,
    SocketMoved,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.bindings.durable_object_stub import Stub
    from tsumugi_emulator.bindings.object_port import ObjectPort
    from tsumugi_emulator.javascript.depth import Invocations
    from tsumugi_emulator.javascript.web.streams import ReadableStream
    from tsumugi_emulator.javascript.web.websocket import WebSocket
    from tsumugi_emulator.worker.link_sockets import LinkSockets
    from tsumugi_emulator.worker.sockets import Wire as SocketWire

    type Settle = Callable[[Any, BaseException | None], None]

#: What a Relay carries; the position is the code.
MESSAGES: tuple[type[Any], ...] = (
    StubCall,
    RpcResult,
    frames.StreamChunk,
    frames.StreamCredit,
    frames.StreamAbort,
    SocketMessage,
    SocketClose,
    SocketCredit,
    SocketMoved,
)
_CODES = {cls: code for code, cls in enumerate(MESSAGES)}

#: The number of a link's own call; calls of stubs count from 1.
OWN_CALL = 0


class Sender(Protocol):
    def send(self, frame: Any) -> None: ...


class Ports(ServicePort, Protocol):
    """Names of Durable Objects, as they travel, and back."""

    def name_of(self, port: ObjectPort, address: ObjectAddress) -> tuple[Any, ...]: ...

    def port_of(self, worker: str) -> ObjectPort: ...


class Links:
    """All links of this child, by the number the supervisor knows them under."""

    def __init__(self, channel: Sender, ports: Ports) -> None:
        self.channel = channel
        self.ports = ports
        self._numbers = itertools.count(1)
        self._open: dict[int, Link] = {}

    def call(
        self,
        where: tuple[str, tuple[Any, ...]],
        method: str | None,
        args: list[Any] | None,
        *,
        depth: int,
        invocations: Invocations | None = None,
        on_broken: Callable[[JsException], None] | None = None,
    ) -> PyodideFuture:
        """Call another Worker, ``where`` being its name and the target in it.

        ``args`` have been transferred; without any, the method is read as a property.
        ``on_broken`` hears of an object that was reset.
        """
        future = PyodideFuture(loop=asyncio.get_running_loop())
        caller = io_context.require()
        link = Link(self, next(self._numbers), calls=True)
        link.enter(caller)
        try:
            packed = b"" if args is None else link.wire.pack(JsArray(args))
        except JsException:
            link.cut("")
            raise
        link.await_answer(Answer(caller, future).deliver, on_broken)
        self._open[link.number] = link
        worker, target = where
        link.invoked = 0 if invocations is None else invocations.count
        self.channel.send(Connect(link.number, worker, target, method, packed, depth, link.invoked))
        return future

    def accept(self, number: int) -> Link:
        """The end of a link that another child has opened."""
        link = self._open[number] = Link(self, number, calls=False)
        return link

    def take_over(self, number: int, socket: int) -> SocketWire | None:
        """A socket of link ``number`` whose client this child has from now on."""
        link = self._open.get(number)
        return None if link is None else link.link_sockets().hand_over(socket)

    def forget(self, link: Link) -> None:
        self._open.pop(link.number, None)

    def relayed(self, frame: Relay) -> None:
        link = self._open.get(frame.link)
        if link is not None:
            code, *fields = frame.message
            link.take(MESSAGES[code](*fields))

    def disconnected(self, frame: Disconnect) -> None:
        link = self._open.pop(frame.link, None)
        if link is not None:
            link.cut(frame.reason)


class Link:
    """One end. The side that ``calls`` closes it."""

    def __init__(self, links: Links, number: int, *, calls: bool) -> None:
        self._links = links
        self.number = number
        self._calls = calls
        self.wire = Wire(self)
        #: The event at this end, and a context in which it is the current one.
        self.event: io_context.IoContext = None  # type: ignore[assignment]  # set by enter()
        self._scope = contextvars.copy_context()
        # Each side numbers the streams it sends: odd for the caller, even for the callee.
        self._bodies = Bodies(self, 1 if calls else 2, self._close_if_done)
        #: Made when the first WebSocket crosses.
        self._sockets: LinkSockets | None = None
        self._questions = itertools.count(1)
        self._waiting: dict[int, Settle] = {}
        self._on_broken: Callable[[JsException], None] | None = None
        self._exported: dict[int, RpcStub] = {}
        #: The Workers the request had invoked when this call was made.
        self.invoked = 0
        #: The functions that are being unpacked.
        self._lent: list[RpcStub] = []
        #: Whether the other side has given this one functions to call.
        self._has_stubs = False
        #: Why it ended.
        self._cut: str | None = None
        #: Called once when it ends.
        self.on_close: Callable[[], None] = lambda: None

    def enter(self, event: io_context.IoContext) -> None:
        """Belong to the running event."""
        self.event = self._bodies.event = event
        self._scope = contextvars.copy_context()
        if self._calls:
            event.on_end.append(self.close)
        else:
            event.on_end.append(self._bodies.stop_reading)

    # -- Talking --------------------------------------------------------------------------------

    def send(self, message: Any) -> None:
        if self._cut is None:
            fields = (_CODES[type(message)], *message)
            self._links.channel.send(Relay(self.number, fields))

    def await_answer(self, settle: Settle, on_broken: Callable[[JsException], None] | None) -> None:
        self._waiting[OWN_CALL] = settle
        self._on_broken = on_broken

    def answer(
        self, question: int, result: Any, error: BaseException | None, *, broken: bool = False
    ) -> bool:
        """Send how a call of the other side ended; whether functions went with it."""
        stubs: list[RpcStub] = []
        packed = b""
        if error is None:
            try:
                packed = self.wire.pack(transfer([result], stubs)[0])
            except JsException as refusal:
                error = refusal
        counted = None if self.event is None else self.event.invocations
        invoked = 0 if counted is None else counted.count
        if error is None:
            self.send(RpcResult(question, packed, None, False, invoked))
            return bool(stubs)
        self.send(RpcResult(question, None, packed_error(error), broken, invoked))
        return False

    def call_stub(self, stub: int, args: list[Any], settle: Settle, depth: int) -> None:
        if self._cut is not None:
            settle(None, js_error("Error", DISPOSED_TEXT))
            return
        question = next(self._questions)
        try:
            packed = self.wire.pack(JsArray(args))
        except JsException as error:
            settle(None, error)
            return
        self._waiting[question] = settle
        self.send(StubCall(question, stub, packed, depth))

    # -- Hearing --------------------------------------------------------------------------------

    def take(self, message: Any) -> None:
        match message:
            case RpcResult():
                self._scope.copy().run(self._settled, message)
            case StubCall():
                self._scope.copy().run(self._called, message)
            case SocketMessage() | SocketClose() | SocketCredit() | SocketMoved():
                self.link_sockets().take(message)
            case _:
                self._bodies.take(message)

    def _settled(self, message: RpcResult) -> None:
        settle = self._waiting.pop(message.id, None)
        if settle is None:
            return
        if message.id == OWN_CALL and self.event.invocations is not None:
            self.event.invocations.count += max(0, message.invocations - self.invoked)
        if message.error is not None:
            error = unpacked_error(*message.error)
            if message.broken and self._on_broken is not None:
                self._on_broken(error)
            settle(None, error)
        else:
            assert message.value is not None
            self._lent = []  # what a result brings is the caller's as long as its event lasts
            settle(self.wire.unpack(message.value), None)
        self._close_if_done()

    def arguments(self, packed: bytes) -> tuple[list[Any], list[RpcStub]]:
        """The values of a call from the other side, and the functions among them."""
        lent: list[RpcStub] = []
        self._lent = lent
        return list(self.wire.unpack(packed)._items), lent

    def _called(self, message: StubCall) -> None:
        question = message.id
        stub = self._exported.get(message.stub)
        args, lent = self.arguments(message.args)

        def settle(result: Any, error: BaseException | None) -> None:
            self.answer(question, result, error)
            dispose(lent)

        if stub is None:
            settle(None, js_error("Error", DISPOSED_TEXT))
        else:
            stub._receive(args, settle, message.depth)

    # -- WirePort -------------------------------------------------------------------------------

    def export_stub(self, stub: RpcStub) -> int:
        number = len(self._exported) + 1
        self._exported[number] = stub
        return number

    def stub(self, number: int) -> RpcStub:
        self._has_stubs = True
        made = RemoteStub(self, number)
        self._lent.append(made)
        return made

    def send_body(self, body: bytes | ReadableStream) -> int:
        return self._bodies.send(body)

    def body(self, number: int) -> ReadableStream:
        return self._bodies.receive(number)

    def send_socket(self, socket: WebSocket) -> int:
        return self.link_sockets().send(socket)

    def socket(self, number: int) -> WebSocket:
        return self.link_sockets().receive(number)

    def splice(self, socket: int, link: int, onto: int) -> None:
        self._links.channel.send(Splice(self.number, socket, link, onto))

    def link_sockets(self) -> LinkSockets:
        if self._sockets is None:
            from tsumugi_emulator.worker.link_sockets import LinkSockets

            self._sockets = LinkSockets(
                self, 1 if self._calls else 2, self._close_if_done, link=self.number
            )
        return self._sockets

    def name_object(self, stub: Stub) -> tuple[Any, ...]:
        address, port = stub._origin()
        return self._links.ports.name_of(port, address)

    def object_stub(self, name: tuple[Any, ...]) -> ReceivedStub:
        worker, *address = name
        object_id = DurableObjectId(ObjectAddress(*address))
        return ReceivedStub(object_id, self._links.ports.port_of(worker))

    def service(self, target: ServiceTarget) -> ServiceBinding:
        return ServiceBinding(target, self._links.ports)

    # -- Ending ---------------------------------------------------------------------------------

    def _close_if_done(self) -> None:
        """Close it once nothing can come over it any more, on the side that called."""
        if not self._calls or self._waiting or self._has_stubs:
            return
        if self._bodies.busy or (self._sockets is not None and self._sockets.busy):
            return
        # Functions given away can be called as long as the event lasts; an object's lasts too long.
        if not self._exported or self.event.gate is not None:
            self.close()

    def close(self) -> None:
        """The caller's event is over, or needs it no more."""
        if self._cut is None:
            self._links.channel.send(Disconnect(self.number, ""))
            self._links.forget(self)
            self.cut("")

    def cut(self, reason: str) -> None:
        """Nothing comes or goes any more."""
        if self._cut is not None:
            return
        self._cut = reason
        if self.event is not None:
            with contextlib.suppress(ValueError):
                self.event.on_end.remove(self.close if self._calls else self._bodies.stop_reading)
        self._bodies.cut(reason or UNREAD_TEXT)
        if self._sockets is not None:
            self._sockets.cut()
        waiting, self._waiting = self._waiting, {}
        for settle in waiting.values():
            settle(None, unanswered(reason))
        self.on_close()


@js_class("RpcStub", constructible=False)
class RemoteStub(RpcStub):
    """A function in another child."""

    __slots__ = ("_link", "_number")

    def __init__(self, link: Link, number: int) -> None:
        self._link = link
        self._number = number
        self._event = link.event
        self._disposed = False

    def _twin(self) -> RemoteStub:
        return RemoteStub(self._link, self._number)

    def _send(self, copied: list[Any], answer: Answer, _lent: list[RpcStub], depth: int) -> None:
        self._link.call_stub(self._number, copied, answer.deliver, depth)

    def _receive(self, args: list[Any], settle: Settle, depth: int) -> None:
        self._link.call_stub(self._number, args, settle, depth)
