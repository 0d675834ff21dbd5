"""A client's WebSocket connection on uvicorn's transport. Loaded with the first of them.

Up to the answer of the handshake it is an ASGI server: the Worker may answer with a page.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from wsproto import ConnectionType
from wsproto.events import AcceptConnection, RejectConnection, RejectData, Request
from wsproto.frame_protocol import CloseReason

from tsumugi_emulator.web_socket_connection import WebSocketConnection

if TYPE_CHECKING:
    from tsumugi_emulator.web_socket_connection import Receiver


class WebSocketProtocol(WebSocketConnection):
    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: Any = None) -> None:
        super().__init__(ConnectionType.SERVER)
        self._app = config.loaded_app
        self._connections = server_state.connections
        self._tasks = server_state.tasks
        self._accepted = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server stops."""
        if self._accepted:
            self.close(CloseReason.GOING_AWAY, "")
        self._transport.close()

    # -- ASGI, up to the answer -------------------------------------------------------------------

    def _handshake(self, event: Any) -> None:
        if isinstance(event, Request):
            task = self._loop.create_task(self._run(self._scope(event)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _scope(self, request: Request) -> dict[str, Any]:
        target, _, query = request.target.partition("?")
        headers = [(b"host", request.host.encode()), *request.extra_headers]
        if request.subprotocols:
            headers.append((b"sec-websocket-protocol", ", ".join(request.subprotocols).encode()))
        if request.extensions:
            offered = ", ".join(map(str, request.extensions))
            headers.append((b"sec-websocket-extensions", offered.encode()))
        return {
            "type": "websocket",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "https" if self._transport.get_extra_info("sslcontext") else "http",
            "path": unquote(target),
            "raw_path": target.encode("ascii"),
            "query_string": query.encode("ascii"),
            "headers": headers,
            "client": self._transport.get_extra_info("peername"),
            #: Whoever answers talks to this from then on (``server.upgrade``).
            "connection": self,
        }

    async def _run(self, scope: dict[str, Any]) -> None:
        try:
            await self._app(scope, self._receive, self._send)
        except Exception:
            # Where the server reports its other applications' faults (``listener``).
            logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
        finally:
            if not self._accepted:
                self._transport.close()

    async def _receive(self) -> dict[str, Any]:
        await self._lost.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        """The answer of a Worker that does not upgrade."""
        if self._lost.is_set():
            return
        if message["type"] == "http.response.start":
            self._write(RejectConnection(message["status"], message["headers"], has_body=True))
            return
        more = message.get("more_body", False)
        self._write(RejectData(message.get("body", b""), body_finished=not more))

    def accept(self, headers: list[tuple[bytes, bytes]], receiver: Receiver) -> None:
        """Switch protocols; ``receiver`` gets what the client sends from now on."""
        self._accepted = True
        self._receiver = receiver
        if self._lost.is_set():
            receiver.on_close(0, "", "")
        else:
            self._write(AcceptConnection(extra_headers=headers))
