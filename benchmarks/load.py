"""Requests as fast as they are answered, in a process of its own: ``python -m benchmarks.load``.

Keep-alive connections, one request in flight on each. Prints requests per second as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from typing import Any

#: Requests before this are not counted: connections open, code warms up.
WARM_UP_S = 0.5

_CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)


class Connection(asyncio.Protocol):
    """One keep-alive connection: asks again as soon as an answer is complete."""

    def __init__(self, request: bytes, done: asyncio.Future[None]) -> None:
        self._request = request
        self._done = done
        self._transport: Any = None
        self._held = b""
        self._usual_length = 0
        self.answers = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if self._held:
            data = self._held + data
        if len(data) != self._usual_length and not self._is_complete(data):
            self._held = data
            return
        self._held = b""
        self.answers += 1
        self._transport.write(self._request)

    def _is_complete(self, data: bytes) -> bool:
        head, separator, body = data.partition(b"\r\n\r\n")
        if not separator:
            return False
        length = _CONTENT_LENGTH.search(head + b"\r\n")
        if not head.startswith(b"HTTP/1.1 200") or length is None:
            self._fail(RuntimeError(f"not a plain answer: {data[:200]!r}"))
            return False
        if len(body) < int(length[1]):
            return False
        self._usual_length = len(data)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(exc or ConnectionResetError("the server closed the connection"))

    def _fail(self, error: Exception) -> None:
        if not self._done.done():
            self._done.set_exception(error)


async def measure(port: int, *, connections: int, seconds: float) -> float:
    """Requests per second over ``connections`` connections."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    request = b"GET / HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port
    opened = [
        (await loop.create_connection(lambda: Connection(request, done), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await asyncio.wait([done], timeout=WARM_UP_S)
    before, started = sum(one.answers for one in opened), time.perf_counter()
    await asyncio.wait([done], timeout=seconds)
    answers, took = sum(one.answers for one in opened) - before, time.perf_counter() - started
    if done.done():
        done.result()
    return answers / took


def main() -> None:
    """Measure what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    work = measure(options.port, connections=options.connections, seconds=options.seconds)
    print(json.dumps(run(work)))


if __name__ == "__main__":
    main()
