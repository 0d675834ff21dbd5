"""uvicorn's HTTP protocol with one write for a response's head and body.

Two writes are two system calls here and two wake-ups of the client. Everything else is uvicorn's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio


class OneWriteProtocol(HttpToolsProtocol):
    def connection_made(self, transport: Any) -> None:
        # The protocol uses what a transport offers, not what it is.
        gathering: Any = _GatheringTransport(transport, self.loop)
        super().connection_made(gathering)


class _GatheringTransport:
    """Gathers what is written in one loop turn; otherwise the transport it wraps."""

    __slots__ = ("_held", "_loop", "_transport")

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        held, self._held = self._held, []
        # A client that has gone meanwhile gets nothing; uvloop refuses to write to it.
        if held and not self._transport.is_closing():
            self._transport.write(held[0] if len(held) == 1 else b"".join(held))
