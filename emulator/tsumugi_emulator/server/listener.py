"""The listening socket and uvicorn on it. The socket outlives every reload."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from typing import TYPE_CHECKING, Any

import uvicorn

from tsumugi_emulator.server.http_protocol import OneWriteProtocol
from tsumugi_emulator.server.ingress import ResponseCutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: How many ports after the wanted one are tried (wrangler tries the next ones too).
PORT_TRIES = 100
BACKLOG = 1024
#: How long requests have to end when the emulator stops.
GRACE_S = 1

#: What uvicorn logs before it cancels the requests that are left.
CUT_OFF = "Cancel %s running task(s), timeout graceful shutdown exceeded"
#: Told where they happen, or by that line.
TOLD = (ResponseCutError, asyncio.CancelledError)


class PortsTakenError(Exception):
    """No port of the range is free."""


def listen(ip: str, port: int) -> socket.socket:
    """A listening socket on ``port`` or the next free one; port 0 takes any.

    Raises:
        PortsTakenError: all of the range is taken.
        OSError: the address does not exist on this machine.
    """
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    for candidate in [0] if port == 0 else range(port, min(port + PORT_TRIES, 65536)):
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((ip, candidate))
            sock.listen(BACKLOG)
        except OSError as error:
            sock.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
        else:
            return sock
    raise PortsTakenError(f"ports {port} to {port + PORT_TRIES - 1} on {ip} are all in use")


class Listener:
    """uvicorn serving one ASGI application on one socket, started and stopped by us."""

    def __init__(self, app: Any, sock: socket.socket, log: Callable[[str, str], None]) -> None:
        _route_server_log(log)
        config = uvicorn.Config(
            app,
            http=OneWriteProtocol,
            ws=_load_websockets,  # type: ignore[arg-type]  # called as the class is
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
        )
        self._socket = sock
        self._server = _Server(config)

    async def start(self) -> None:
        self._server.config.load()
        self._server.lifespan = self._server.config.lifespan_class(self._server.config)
        await self._server.startup(sockets=[self._socket])

    def tick_in_background(self) -> Any:
        """The loop that keeps uvicorn's date header and its limits current."""
        return self._server.main_loop()

    async def stop(self) -> None:
        self._server.should_exit = True
        await self._server.shutdown(sockets=[self._socket])


def _load_websockets(**options: Any) -> Any:
    """A connection that wants to be a WebSocket; most projects never have one."""
    from tsumugi_emulator.server.websocket_protocol import WebSocketProtocol

    return WebSocketProtocol(**options)


class _ServerLog(logging.Handler):
    """uvicorn's own complaints, as lines of the emulator."""

    def __init__(self, log: Callable[[str, str], None]) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and isinstance(record.exc_info[1], TOLD):
            return
        if record.msg == CUT_OFF and isinstance(record.args, tuple):
            self._log("warn", _cut_off(*record.args))
        else:
            self._log(record.levelname.lower(), self.format(record))


def _cut_off(count: Any) -> str:
    requests = "1 request was" if count == 1 else f"{count} requests were"
    return f"{requests} still under way and had to be cut off."


def _route_server_log(log: Callable[[str, str], None]) -> None:
    logger = logging.getLogger("uvicorn.error")
    logger.handlers[:] = [_ServerLog(log)]
    logger.propagate = False


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:  # the emulator handles signals
        yield
