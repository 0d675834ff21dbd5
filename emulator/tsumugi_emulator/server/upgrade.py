"""WebSocket upgrades: a request like any other, until the Worker answers it with a socket.

Loaded with the first upgrade.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.server.ingress import OWN_HEADERS, Exchange
from tsumugi_emulator.worker import frames

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.server.ingress import Receive, Send
    from tsumugi_emulator.socket_services import SocketServices
    from tsumugi_emulator.worker.process import WorkerProcess

SWITCHING_PROTOCOLS = 101
#: Written by the handshake itself.
_HANDSHAKE_HEADERS = OWN_HEADERS | {"content-length", "sec-websocket-accept"}


class Upgrade(Exchange):
    __slots__ = ("_sockets",)

    def __init__(
        self,
        process: WorkerProcess,
        scope: dict[str, Any],
        receive: Receive,
        send: Send,
        log: Callable[[str, str], None],
        sockets: SocketServices,
    ) -> None:
        super().__init__(process, scope, receive, send, log)
        self._sockets = sockets

    def on_frame(self, frame: Any) -> None:
        if isinstance(frame, frames.Response) and frame.status == SWITCHING_PROTOCOLS:
            # Here and now: messages may follow in the same read.
            self._accept(frame)
        super().on_frame(frame)

    def _accept(self, answer: frames.Response) -> None:
        connection = self._scope["connection"]
        socket = self._sockets.open(answer.id, self._process, connection)
        headers = [
            (name.encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in answer.headers
            if name not in _HANDSHAKE_HEADERS
        ]
        connection.accept(headers, socket)

    async def _respond(self, answer: Any) -> None:
        if not (isinstance(answer, frames.Response) and answer.status == SWITCHING_PROTOCOLS):
            await super()._respond(answer)
