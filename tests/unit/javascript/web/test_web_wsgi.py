"""``wsgi.fetch``: a synchronous application over streams and ``run_sync`` (reference 1.6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.web.request import Request as HostRequest
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.worker.loop import WorkerLoop
from workers import Request, wsgi

if TYPE_CHECKING:
    from web_event import Event

Start = Callable[[str, list[tuple[str, str]]], Any]


def run(event: Event, handler: Callable[[], Any]) -> Any:
    async def inside() -> Any:
        io_context.enter(event.context)
        return await asyncio.create_task(handler())  # stacks are switched in tasks of an event

    with asyncio.Runner(loop_factory=WorkerLoop) as runner:
        return runner.run(inside())


def echo(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
    body = environ["wsgi.input"].read()
    start(
        "201 Made", [("Content-Type", "text/plain"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    )
    yield environ["REQUEST_METHOD"].encode() + environ["PATH_INFO"].encode("latin-1")
    yield environ["QUERY_STRING"].encode() + body + environ["workers.env"].encode()


def test_a_wsgi_application_reads_and_answers_in_streams(event: Event) -> None:
    async def handler() -> None:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"bo"
            yield b"dy"

        headers = [("content-type", "text/plain")]
        stream = ReadableStream._from_source(chunks())
        wire = HostRequest._from_wire("POST", "http://x/p%20q?a=b", headers, stream)
        response = await wsgi.fetch(echo, Request(wire), "env")
        assert (response.status, response.statusText) == (201, "Made")
        assert list(response.headers.getSetCookie()) == ["a=1", "b=2"]
        assert await response.text() == "POST/p qa=bbodyenv"

    run(event, handler)


def test_the_body_is_produced_as_it_is_read_and_closed_when_the_client_leaves(event: Event) -> None:
    produced: list[int] = []
    closed: list[bool] = []

    class Body:
        def __iter__(self) -> Iterator[bytes]:
            for number in range(100):
                produced.append(number)
                yield b"%d" % number

        def close(self) -> None:
            closed.append(True)

    def app(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        start("200 OK", [])
        return Body()

    async def handler() -> None:
        wire = HostRequest._from_wire("GET", "http://x/", [], None)
        response = await wsgi.fetch(app, Request(wire), "env")
        reader = response.body.getReader()
        assert (await reader.read()).value.to_bytes() == b"0"
        await response._body._cancel(None)
        assert closed == [True]
        assert len(produced) < 5

    run(event, handler)
