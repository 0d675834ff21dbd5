"""``WebSocket``: one end of a connection, wherever the other end is.

It sends to and reads from a pipe (``socket_pipe``). Not here: connections that leave the process
(``websocket_client``, ``worker.sockets``) and the events of hibernating sockets.
"""

from __future__ import annotations

import asyncio
import contextvars
from enum import Enum
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.buffers import ArrayBuffer, bytes_of
from tsumugi_emulator.javascript.clone import deserialize, serialize
from tsumugi_emulator.javascript.errors import js_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.strings import truthy
from tsumugi_emulator.javascript.values import jsnull
from tsumugi_emulator.javascript.web.blob import Blob
from tsumugi_emulator.javascript.web.events import Event, EventTarget, event_handler
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.socket_arguments import (
    close_of,
    replies_to_close,
    text_of,
)
from tsumugi_emulator.javascript.web.socket_events import CloseEvent, ErrorEvent, MessageEvent
from tsumugi_emulator.javascript.web.socket_pipe import (
    LOST_CODE,
    LOST_TEXT,
    Close,
    Failed,
    Item,
    Lost,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.javascript.io_context import IoContext
    from tsumugi_emulator.javascript.web.socket_pipe import End

#: Attachments live in the memory of the runtime (Durable Object limits).
MAX_ATTACHMENT_BYTES = 16 * 1024
NOT_ACCEPTED_TEXT = (
    "You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending "
    "messages."
)


class State(Enum):
    CONNECTING = "connecting"
    #: Neither accepted nor part of a response yet.
    IDLE = "idle"
    ACCEPTED = "accepted"
    #: Accepted by a Durable Object's ``ctx.acceptWebSocket``.
    HIBERNATABLE = "hibernatable"
    #: Given away with a response, or over.
    RELEASED = "released"


@js_class("WebSocket")
class WebSocket(EventTarget):
    __slots__ = (
        "_attachment",
        "_binary_type",
        "_closed_in",
        "_closed_out",
        "_context",
        "_error",
        "_half_open",
        "_hold",
        "_made_by_new",
        "_on_change",
        "_pipe",
        "_protocol",
        "_scope",
        "_state",
        "_url",
    )

    CONNECTING = READY_STATE_CONNECTING = 0
    OPEN = READY_STATE_OPEN = 1
    CLOSING = READY_STATE_CLOSING = 2
    CLOSED = READY_STATE_CLOSED = 3

    def __init__(self, end: End | None) -> None:
        super().__init__()
        self._pipe = end
        self._state = State.CONNECTING if end is None else State.IDLE
        self._made_by_new = end is None
        self._url: Any = jsnull
        self._protocol: Any = ""
        standard = MODE.flag("websocket_standard_binary_type")
        self._binary_type = "blob" if standard else "arraybuffer"
        self._closed_in = False
        self._closed_out = False
        self._half_open = False
        self._error: Exception | None = None
        self._attachment: bytes | None = None
        #: Told that the attachment changed, or that it was closed.
        self._on_change: Callable[[WebSocket], None] | None = None
        self._context: IoContext | None = None
        self._scope: contextvars.Context | None = None
        #: Keeps the event alive while the connection is open.
        self._hold: asyncio.Future[None] | None = None

    @classmethod
    def _construct(cls, url: Any = None, protocols: Any = None) -> WebSocket:
        from tsumugi_emulator.javascript.web.websocket_client import construct

        return construct(url, protocols)

    # -- JavaScript -----------------------------------------------------------------------------

    onopen = event_handler("open")
    onmessage = event_handler("message")
    onclose = event_handler("close")
    onerror = event_handler("error")

    @js_method
    def accept(self, options: Any = None) -> None:
        if self._made_by_new:
            raise type_error(
                "Websockets obtained from the 'new WebSocket()' constructor cannot call accept"
            )
        if self._state is State.RELEASED:
            raise type_error("Can't accept() WebSocket that was already used in a response.")
        if self._state is State.HIBERNATABLE:
            raise type_error("Can't accept() WebSocket after enabling hibernation.")
        if self._state is State.ACCEPTED:
            return
        self._half_open = truthy(member(options, "allowHalfOpen"))
        self._accept()

    @js_method
    def send(self, message: Any = None) -> None:
        if message is None:
            raise type_error(
                "Failed to execute 'send' on 'WebSocket': parameter 1 is not of type 'ArrayBuffer "
                "or ArrayBufferView or string'."
            )
        data = bytes_of(message)
        text = None if data is not None else text_of(message)
        if self._closed_out:
            raise type_error("Can't call WebSocket send() after close().")
        if self._state is State.RELEASED:
            return  # the standard: what is sent after the connection is over is ignored
        self._check_accepted()
        self._end.send(text if data is None else data)  # type: ignore[arg-type]

    @js_method
    def close(self, code: Any = None, reason: Any = None) -> None:
        if self._state is State.CONNECTING:
            self._changed()
            return
        if self._closed_out or self._state is State.RELEASED:
            return
        self._check_accepted()
        if self._error is not None:
            raise self._error
        sent = close_of(code, reason)
        self._closed_out = True
        self._end.send(sent)
        self._changed()

    @js_method
    def serializeAttachment(self, value: Any = None) -> None:
        data = serialize(value)
        if len(data) > MAX_ATTACHMENT_BYTES:
            raise js_error(
                "Error",
                f"A WebSocket 'attachment' cannot be larger than {MAX_ATTACHMENT_BYTES} bytes."
                f"'attachment' was {len(data)} bytes.",
            )
        self._attachment = data
        self._changed()

    @js_method
    def deserializeAttachment(self) -> Any:
        return jsnull if self._attachment is None else deserialize(self._attachment)

    @js_property
    def readyState(self) -> int:
        if self._error is not None or (self._closed_in and self._closed_out):
            return self.CLOSED
        if self._closed_in or self._closed_out:
            return self.CLOSING
        return self.CONNECTING if self._state is State.CONNECTING else self.OPEN

    @js_property
    def url(self) -> Any:
        return self._url

    @js_property
    def protocol(self) -> Any:
        return self._protocol

    @js_property
    def extensions(self) -> Any:
        return ""

    def _set_binary_type(self, value: Any) -> None:
        if value in ("blob", "arraybuffer"):  # others are ignored (Web IDL enumerations)
            self._binary_type = value

    binaryType = js_property(lambda self: self._binary_type, _set_binary_type)

    # -- Its pipe ---------------------------------------------------------------------------------

    @property
    def _end(self) -> End:
        assert self._pipe is not None, "it is connected"
        return self._pipe

    def _check_accepted(self) -> None:
        if self._state not in (State.ACCEPTED, State.HIBERNATABLE):
            raise type_error(NOT_ACCEPTED_TEXT)
        if self._context is not None:
            self._context.owns("Native")

    def _release(self) -> End:
        """Give the connection away, to whoever gets the response this socket is part of.

        Raises:
            JsException: it is in use, or was given away already.
        """
        if self._made_by_new:
            raise type_error(
                "Can't return WebSocket in a Response if it was created with `new WebSocket()`"
            )
        match self._state:
            case State.RELEASED:
                raise type_error("Can't return WebSocket that was already used in a response.")
            case State.HIBERNATABLE:
                raise type_error(
                    "Can't return WebSocket in a Response after calling acceptWebSocket()."
                )
            case State.ACCEPTED:
                raise type_error("Can't return WebSocket in a Response after calling accept().")
        self._state = State.RELEASED
        return self._end

    def _handed_over(self) -> WebSocket:
        """The same connection as another event sees it."""
        made = WebSocket(self._release())
        made._url, made._protocol = self._url, self._protocol
        return made

    def _connected(self, end: End, protocol: Any) -> None:
        """``new WebSocket``: the connection is there."""
        self._pipe = end
        self._protocol = protocol
        self._accept()
        self._dispatch(Event("open"))

    def _not_connected(self, error: Exception) -> None:
        """``new WebSocket``: there will be no connection."""
        self._state = State.RELEASED
        self._closed_in = True
        self._fail(error)
        self._dispatch(
            CloseEvent(LOST_CODE, "Failed to establish websocket connection", clean=False)
        )

    def _accept(self) -> None:
        event = io_context.require()
        self._state = State.ACCEPTED
        self._context = event
        self._scope = contextvars.copy_context()
        event.on_end.append(self._cut)
        if self._end.leads_outside:
            self._keep_event()
        else:
            # Both ends are here: nothing but this event's own code can make anything happen.
            self._end.on_outside = self._keep_event
        loop = asyncio.get_running_loop()
        if event.gate is None:

            def arrive(item: Item) -> None:
                loop.call_soon(self._take, item, context=self._new_scope())

        else:
            resume = event.resumer()

            def arrive(item: Item) -> None:
                resume(lambda: self._new_scope().run(self._take, item))

        self._end.attach(arrive)

    def _new_scope(self) -> contextvars.Context:
        assert self._scope is not None, "it is accepted"
        return self._scope.copy()

    def _keep_event(self) -> None:
        event = self._context
        if event is None or self._closed_in or self._hold is not None:
            return
        self._hold = asyncio.get_running_loop().create_future()
        event.track(self._hold)
        event.wait_until.append(self._hold)

    def _let_go(self) -> None:
        if self._hold is not None and not self._hold.done():
            self._hold.set_result(None)

    def _cut(self) -> None:
        """The event is over, and with it the connection, unless it was closed before."""
        self._let_go()
        if self._state is State.ACCEPTED and not (self._closed_in and self._closed_out):
            self._state = State.RELEASED
            self._end.send(Lost())

    def _forget_event(self) -> None:
        """It is over before its event is, which may live for long."""
        if self._context is not None and self._cut in self._context.on_end:
            self._context.on_end.remove(self._cut)

    def _changed(self) -> None:
        if self._on_change is not None:
            self._on_change(self)

    # -- What arrives -----------------------------------------------------------------------------

    def _take(self, item: Item) -> None:
        if self._closed_in or (self._context is not None and self._context.ended):
            return
        match item:
            case str():
                self._dispatch(MessageEvent(item))
            case bytes():
                self._dispatch(MessageEvent(self._binary(item)))
            case Close(code, reason):
                self._closed_in = True
                self._reply_to(item)
                self._dispatch(CloseEvent(code, reason, clean=True))
            case Lost():
                self._closed_in = True
                self._state = State.RELEASED
                self._dispatch(CloseEvent(LOST_CODE, LOST_TEXT, clean=False))
            case Failed(text):
                self._closed_in = True
                self._state = State.RELEASED
                self._fail(js_error("Error", text))
        self._end.consumed(item)
        if self._closed_in:
            self._let_go()
            if self._closed_out:
                self._forget_event()

    def _binary(self, data: bytes) -> Any:
        return Blob(data) if self._binary_type == "blob" else ArrayBuffer(bytearray(data))

    def _reply_to(self, close: Close) -> None:
        """Answer a Close frame, unless the code wants to do that itself."""
        if replies_to_close() and not self._half_open and not self._closed_out:
            self._closed_out = True
            self._end.send(close)

    def _fail(self, error: Exception) -> None:
        if self._error is None:
            self._error = error
            self._dispatch(ErrorEvent(str(error), error))


WebSocketClass = WebSocket.constructor
for _name in ("CONNECTING", "OPEN", "CLOSING", "CLOSED"):
    for _constant in (_name, f"READY_STATE_{_name}"):
        setattr(WebSocketClass, _constant, getattr(WebSocket, _name))


__all__ = ["State", "WebSocket", "WebSocketClass"]
