"""A server on this machine to fetch from."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.web.fetch import close_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from web_event import Event


class Server:
    """Answers by path and remembers the requests. One connection may carry many."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.connections = 0
        self.handlers: list[asyncio.Task[Any]] = []
        self.asked = asyncio.Event()
        self.release = asyncio.Event()
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.handlers.append(task)
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        line = (await reader.readline()).decode()
        if not line:
            return False
        headers = {}
        while field := (await reader.readline()).decode().strip():
            name, _, value = field.partition(": ")
            headers[name.lower()] = value
        body = await self._body(reader, headers)
        method, path, _ = line.split()
        self.requests.append((f"{method} {path}", headers, body))
        self.asked.set()
        await getattr(self, path.partition("?")[0].strip("/") or "root")(writer, body)
        await writer.drain()
        return True

    async def _body(self, reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return await reader.readexactly(int(headers.get("content-length", 0)))
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(parts)

    def _reply(self, writer: asyncio.StreamWriter, status: str, body: bytes, *fields: str) -> None:
        head = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *fields, "", ""]
        writer.write("\r\n".join(head).encode() + body)

    async def root(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        self._reply(writer, "200 Fine", body or b"hello", "X-A: 1", "x-a: 2", "set-cookie: c=1")

    async def moved(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        self._reply(writer, "302 Found", b"", "location: /")

    async def kept(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        self._reply(writer, "307 Temporary Redirect", b"", "location: /")

    async def loop(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        self._reply(writer, "302 Found", b"", "location: /loop")

    async def packed(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        self._reply(writer, "200 OK", gzip.compress(b"unpacked"), "content-encoding: gzip")

    async def deflated(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        self._reply(writer, "200 OK", b"as it came", "content-encoding: deflate")

    async def nothing(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async def cut(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart")
        writer.close()

    async def slow(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        await writer.drain()
        await self.release.wait()
        writer.write(b"6\r\nsecond\r\n0\r\n\r\n")

    async def never(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        await self.release.wait()
        writer.close()


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server()
    listener = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        server.release.set()
        await close_client()
        listener.close()
        await asyncio.wait([*server.handlers, asyncio.ensure_future(asyncio.sleep(0))], timeout=5)


def against_server(event: Event, handler: Callable[[Server], Awaitable[Any]]) -> None:
    async def run() -> None:
        async with serving() as server:
            await handler(server)

    event.run(run)
