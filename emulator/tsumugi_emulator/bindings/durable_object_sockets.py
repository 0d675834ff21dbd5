"""``ctx.acceptWebSocket`` and its relatives: WebSockets that outlive their object in memory.

Checks arguments as the runtime does. What an object remembers of its sockets is ``SocketControl``'s
business, the events are ``worker.hibernation``'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript.errors import js_error, range_error, type_error
from tsumugi_emulator.javascript.functions import js_method
from tsumugi_emulator.javascript.strings import to_int32, to_string
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.unicode import utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.javascript.web.websocket import WebSocket

# Durable Object limits.
MAX_TAGS = 10
MAX_TAG_CHARS = 256
MAX_SOCKETS = 32_768
MAX_AUTO_RESPONSE_BYTES = 2048
MAX_EVENT_TIMEOUT_MS = 604_800_000

ACCEPTED_TEXT = (
    "Cannot call `acceptWebSocket()` if the WebSocket was already accepted via `accept()`"
)
PAIR_USED_TEXT = (
    "Cannot call `acceptWebSocket()` on this WebSocket because its pair has already been accepted "
    "or used in a Response."
)


class SocketControl(Protocol):
    """What an object remembers of the sockets it accepted."""

    auto_response: tuple[str, str] | None

    @property
    def count(self) -> int: ...

    def accept(self, socket: WebSocket, tags: list[str]) -> None: ...

    def with_tag(self, tag: str | None) -> Sequence[WebSocket]:
        """The sockets that have ``tag``, the oldest first; with None all, the newest first."""

    def tags_of(self, socket: WebSocket) -> Sequence[str] | None: ...

    def set_auto_response(self, pair: tuple[str, str] | None) -> None: ...

    def answered_ms(self, socket: WebSocket) -> int | None: ...


class ObjectControl(Protocol):
    @property
    def sockets(self) -> SocketControl: ...


class SocketMethods(JsProxy):
    """The part of ``DurableObjectState`` that is about WebSockets."""

    _control: Any
    _event_timeout_ms: int | None = None

    @property
    def _sockets(self) -> SocketControl:
        control: ObjectControl = self._control
        return control.sockets

    @js_method
    def acceptWebSocket(self, socket: Any = None, tags: Any = None) -> None:
        from tsumugi_emulator.javascript.web.websocket import State

        accepted = _socket_argument(socket, "acceptWebSocket")
        names = _tags_of(tags)
        if accepted._state in (State.ACCEPTED, State.HIBERNATABLE):
            raise js_error("Error", ACCEPTED_TEXT)
        if accepted._state is not State.IDLE:
            raise type_error(
                "Tried to make an api::WebSocket hibernatable when it was in an incompatible state."
            )
        if accepted._end.other.is_read:
            raise js_error("Error", PAIR_USED_TEXT)
        sockets = self._sockets
        if sockets.count >= MAX_SOCKETS:
            raise js_error(
                "Error",
                f"only {MAX_SOCKETS} websockets can be accepted on a single Durable Object "
                "instance",
            )
        sockets.accept(accepted, names)

    @js_method
    def getWebSockets(self, tag: Any = None) -> Any:
        from tsumugi_emulator.javascript.arrays import JsArray

        name = None if tag is None else to_string(tag)
        return JsArray(list(self._sockets.with_tag(name)))

    @js_method
    def getTags(self, socket: Any = None) -> Any:
        from tsumugi_emulator.javascript.arrays import JsArray
        from tsumugi_emulator.javascript.web.websocket import State

        found = _socket_argument(socket, "getTags")
        tags = self._sockets.tags_of(found)
        if tags is not None:
            return JsArray(list(tags))
        if found._state is State.ACCEPTED:
            raise js_error("Error", "only hibernatable websockets can have tags.")
        raise js_error(
            "Error",
            "you must call 'acceptWebSocket()' before attempting to access the tags of a "
            "WebSocket.",
        )

    # -- Automatic responses ----------------------------------------------------------------------

    @js_method
    def setWebSocketAutoResponse(self, pair: Any = None) -> None:
        from tsumugi_emulator.javascript.web.websocket_pair import WebSocketRequestResponsePair

        if pair is None:
            self._sockets.set_auto_response(None)
            return
        if not isinstance(pair, WebSocketRequestResponsePair):
            raise _wrong_type("setWebSocketAutoResponse", "WebSocketRequestResponsePair")
        for what, text in (("request", pair._request), ("response", pair._response)):
            size = len(utf8(text))
            if size > MAX_AUTO_RESPONSE_BYTES:
                raise range_error(
                    f"{what.capitalize()} cannot be larger than {MAX_AUTO_RESPONSE_BYTES} bytes. "
                    f"A {what} of size {size} was provided."
                )
        self._sockets.set_auto_response((pair._request, pair._response))

    @js_method
    def getWebSocketAutoResponse(self) -> Any:
        from tsumugi_emulator.javascript.web.websocket_pair import WebSocketRequestResponsePair

        pair = self._sockets.auto_response
        return jsnull if pair is None else WebSocketRequestResponsePair(*pair)

    @js_method
    def getWebSocketAutoResponseTimestamp(self, socket: Any = None) -> Any:
        from tsumugi_emulator.javascript.date import JsDate

        found = _socket_argument(socket, "getWebSocketAutoResponseTimestamp")
        time_ms = self._sockets.answered_ms(found)
        return jsnull if time_ms is None else JsDate(time_ms)

    # -- Time limits, which are accepted and not enforced here ------------------------------------

    @js_method
    def setHibernatableWebSocketEventTimeout(self, timeout_ms: Any = None) -> None:
        limit = 0 if timeout_ms is None else to_int32(timeout_ms)
        if limit > MAX_EVENT_TIMEOUT_MS:
            raise js_error("Error", f"Event timeout should not exceed {MAX_EVENT_TIMEOUT_MS} ms.")
        self._event_timeout_ms = limit or None

    @js_method
    def getHibernatableWebSocketEventTimeout(self) -> Any:
        return jsnull if self._event_timeout_ms is None else self._event_timeout_ms


def _socket_argument(value: Any, method: str) -> WebSocket:
    from tsumugi_emulator.javascript.web.websocket import WebSocket

    if not isinstance(value, WebSocket):
        raise _wrong_type(method, "WebSocket")
    return value


def _wrong_type(method: str, expected: str, parameter: int = 1) -> Exception:
    return type_error(
        f"Failed to execute '{method}' on 'DurableObjectState': parameter {parameter} is not of "
        f"type '{expected}'."
    )


def _tags_of(value: Any) -> list[str]:
    from tsumugi_emulator.javascript.arrays import JsArray

    if value is None:
        return []
    if not isinstance(value, JsArray):
        raise _wrong_type("acceptWebSocket", "Array", 2)
    tags: dict[str, None] = {}
    for tag in map(to_string, value._items):
        if len(tags) >= MAX_TAGS:
            raise js_error(
                "Error", f"a Hibernatable WebSocket cannot have more than {MAX_TAGS} tags"
            )
        if len(tag) > MAX_TAG_CHARS:
            raise js_error(
                "Error",
                f'"{tag}" is longer than the max tag length ({MAX_TAG_CHARS} characters).',
            )
        tags[tag] = None
    return list(tags)
