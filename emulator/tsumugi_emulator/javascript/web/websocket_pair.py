"""``WebSocketPair``: two sockets connected to each other; and the pair of an automatic response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_property
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy
from tsumugi_emulator.javascript.web.socket_pipe import pipe
from tsumugi_emulator.javascript.web.websocket import WebSocket

if TYPE_CHECKING:
    from collections.abc import Iterator


@js_class("WebSocketPair")
class WebSocketPair(JsProxy):
    """Properties "0" and "1"; iterable, so that ``client, server = WebSocketPair.new()`` works."""

    __slots__ = ("_sockets",)

    def __init__(self) -> None:
        io_context.require()
        one, other = pipe()
        self._sockets = (WebSocket(one), WebSocket(other))

    @classmethod
    def _construct(cls) -> WebSocketPair:
        return cls()

    def __getattr__(self, name: str) -> Any:
        if name in ("0", "1"):
            return self._sockets[int(name)]
        return super().__getattr__(name)

    def _entries(self) -> dict[str, Any]:
        return {"0": self._sockets[0], "1": self._sockets[1]}

    def _iterate(self) -> Iterator[WebSocket]:
        return iter(self._sockets)


@js_class("WebSocketRequestResponsePair")
class WebSocketRequestResponsePair(JsProxy):
    __slots__ = ("_request", "_response")

    def __init__(self, request: str, response: str) -> None:
        self._request = request
        self._response = response

    @classmethod
    def _construct(cls, *texts: Any) -> WebSocketRequestResponsePair:
        if len(texts) < 2:
            raise type_error(
                "Failed to construct 'WebSocketRequestResponsePair': constructor parameter "
                f"{len(texts) + 1} is not of type 'string'."
            )
        return cls(to_string(texts[0]), to_string(texts[1]))

    @js_property
    def request(self) -> str:
        return self._request

    @js_property
    def response(self) -> str:
        return self._response


WebSocketPairClass = WebSocketPair.constructor
WebSocketRequestResponsePairClass = WebSocketRequestResponsePair.constructor
