"""``fetch`` against a real server on this machine (reference 1.5, rows 16, j1)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import js
import pytest
from pyodide.ffi import JsException, to_js
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.promise import resolved
from tsumugi_emulator.javascript.web.fetch import open_connections
from tsumugi_emulator.javascript.web.pyfetch import pyfetch
from tsumugi_emulator.javascript.web.streams import ReadableStream
from web_event import Event, at_import, in_event
from web_server import Server, against_server, serving
from workers import Request, Response, fetch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def test_a_response_has_status_headers_and_body(event: Event) -> None:
    async def handler(server: Server) -> None:
        response = await fetch(server.url)
        assert isinstance(response, Response)
        assert (response.status, response.status_text, response.ok) == (200, "Fine", True)
        assert (response.url, response.redirected) == (f"{server.url}/", False)
        assert response.headers["x-a"] == "1, 2"
        assert await response.text() == "hello"
        with pytest.raises(OSError, match="Response body is already used"):
            await response.text()

    against_server(event, handler)


def test_method_headers_and_body_are_sent(event: Event) -> None:
    async def handler(server: Server) -> None:
        response = await fetch(server.url, method="POST", body="data", headers={"X-B": "c"})
        assert await response.text() == "data"
        name, headers, body = server.requests[0]
        assert (name, body) == ("POST /", b"data")
        assert (headers["x-b"], headers["content-length"]) == ("c", "4")
        assert "user-agent" not in headers

    against_server(event, handler)


def test_a_request_object_is_sent_once(event: Event) -> None:
    async def handler(server: Server) -> None:
        request = Request(server.url, method="PUT", body=b"x", headers={"host": "other.example"})
        assert await (await fetch(request)).bytes() == b"x"
        assert server.requests[0][1]["host"] == server.url.removeprefix("http://")
        with pytest.raises((OSError, JsException), match="used body"):
            await fetch(request)

    against_server(event, handler)


def test_a_streamed_body_is_sent_in_chunks(event: Event) -> None:
    async def handler(server: Server) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"one"
            yield b"two"

        body = ReadableStream._from_source(chunks())
        response = await js.fetch(server.url, method="POST", body=body)
        assert await response.text() == "onetwo"
        assert server.requests[0][1]["transfer-encoding"] == "chunked"

    against_server(event, handler)


def test_a_fixed_length_body_announces_its_length(event: Event) -> None:
    async def handler(server: Server) -> None:
        pair = js.FixedLengthStream.new(3)
        sending = js.fetch(server.url, method="POST", body=pair.readable)
        writer = pair.writable.getWriter()
        await writer.write(to_js(b"abc"))
        await writer.close()
        assert await (await sending).text() == "abc"
        assert server.requests[0][1]["content-length"] == "3"

    against_server(event, handler)


def test_redirects_are_followed_unless_manual(event: Event) -> None:
    async def handler(server: Server) -> None:
        followed = await fetch(f"{server.url}/moved", method="POST", body="x")
        assert (followed.redirected, followed.url) == (True, f"{server.url}/")
        assert [name for name, _, _ in server.requests] == ["POST /moved", "GET /"]
        kept = await fetch(f"{server.url}/kept", method="POST", body="x")
        assert await kept.text() == "x"
        manual = await fetch(f"{server.url}/moved", redirect="manual")
        assert (manual.status, manual.headers["location"]) == (302, "/")
        with pytest.raises(OSError, match="Too many redirects"):
            await fetch(f"{server.url}/loop")

    against_server(event, handler)


def test_a_request_that_came_in_is_forwarded_without_following(event: Event) -> None:
    from tsumugi_emulator.javascript.web.request import Request as HostRequest

    async def handler(server: Server) -> None:
        incoming = HostRequest._from_wire("GET", f"{server.url}/moved", [], None)
        assert (await fetch(Request(incoming))).status == 302

    against_server(event, handler)


def test_a_compressed_body_arrives_unpacked(event: Event) -> None:
    async def handler(server: Server) -> None:
        assert await (await fetch(f"{server.url}/packed")).text() == "unpacked"

    against_server(event, handler)


def test_other_encodings_are_the_workers_business(event: Event) -> None:
    async def handler(server: Server) -> None:
        response = await fetch(f"{server.url}/deflated")
        assert response.headers.get("content-encoding") == "deflate"
        assert await response.text() == "as it came"

    against_server(event, handler)


def test_a_null_body_status_has_no_body(event: Event) -> None:
    async def handler(server: Server) -> None:
        response = await fetch(f"{server.url}/nothing")
        assert (response.status, response.body) == (204, None)
        assert (await fetch(server.url, method="HEAD")).body is None

    against_server(event, handler)


def test_a_body_is_read_as_it_arrives(event: Event) -> None:
    async def handler(server: Server) -> None:
        response = await fetch(f"{server.url}/slow")
        chunks = aiter(response.body)
        assert (await anext(chunks)).to_bytes() == b"first"
        server.release.set()
        assert (await anext(chunks)).to_bytes() == b"second"

    against_server(event, handler)


def test_connections_are_kept_for_the_next_request(event: Event) -> None:
    async def handler(server: Server) -> None:
        for _ in range(3):
            await (await fetch(server.url)).text()
        assert server.connections == 1
        assert open_connections() == 1

    against_server(event, handler)


def test_a_connection_that_fails_is_an_os_error(event: Event) -> None:
    async def handler() -> None:
        async with serving() as server:
            url = server.url
        with pytest.raises(OSError, match=r"^Network connection lost\.$"):
            await fetch(url)
        with pytest.raises(JsException, match=r"^Error: Network connection lost\.$"):
            await js.fetch(url)

    event.run(handler)


def test_a_body_that_breaks_off_is_an_error_when_read(event: Event) -> None:
    async def handler(server: Server) -> None:
        response = await fetch(f"{server.url}/cut")
        with pytest.raises(OSError, match="Network connection lost"):
            await response.text()

    against_server(event, handler)


def test_a_relative_url_is_refused_at_await(event: Event) -> None:
    async def handler() -> None:
        promise = js.fetch("/x")
        with pytest.raises(JsException, match=r"^TypeError: Invalid URL: /x$"):
            await promise

    event.run(handler)


def test_a_scheme_that_is_not_http_is_refused(event: Event) -> None:
    async def handler() -> None:
        with pytest.raises(JsException, match="Fetch API cannot load: ftp://example"):
            await js.fetch("ftp://example.com/")

    event.run(handler)


def test_fetch_at_global_scope_fails_at_await() -> None:
    with pytest.raises(JsException, match="Disallowed operation called within global scope"):
        at_import(lambda: js.fetch("http://example.com"))


def test_an_abort_signal_ends_the_fetch(event: Event) -> None:
    async def handler(server: Server) -> None:
        controller = js.AbortController.new()
        promise = js.fetch(f"{server.url}/never", signal=controller.signal)
        await server.asked.wait()
        controller.abort()
        with pytest.raises(JsException) as caught:
            await promise
        assert caught.value.name == "AbortError"
        with pytest.raises(JsException, match="AbortError"):
            await js.fetch(server.url, signal=js.AbortSignal.abort())

    against_server(event, handler)


def test_a_fetch_counts_as_pending_until_it_answers(event: Event) -> None:
    async def handler(server: Server) -> None:
        promise = js.fetch(f"{server.url}/slow")
        assert event.context.pending == 1
        await promise
        await asyncio.sleep(0)
        assert event.context.pending == 0

    against_server(event, handler)


def test_a_response_of_another_event_warns(event: Event) -> None:
    async def run() -> None:
        async with serving() as server:
            kept = await in_event(event, lambda: fetch(server.url))
            await in_event(Event(), kept.text)

    asyncio.run(run())
    assert "Cannot perform I/O on behalf of a different request" in event.warnings[0]


def test_what_the_event_did_not_read_is_closed_with_it(event: Event) -> None:
    async def handler(server: Server) -> None:
        response = await fetch(f"{server.url}/slow")
        for end in event.context.on_end:
            end()
        for _ in range(20):
            await asyncio.sleep(0)
        with pytest.raises(OSError, match="Network connection lost"):
            await response.text()

    against_server(event, handler)


def test_a_fetcher_answers_instead_of_the_network(event: Event) -> None:
    binding = JsFunction(
        lambda request, _init: resolved(js.Response.new(f"{request.method} {request.url}"))
    )

    async def handler() -> None:
        response = await fetch("http://service/", method="PUT", fetcher=binding)
        assert await response.text() == "PUT http://service/"

    event.run(handler)


def test_the_newer_pyfetch_finds_a_bad_url_before_it_sends(event: Event) -> None:
    async def handler(server: Server) -> None:
        with pytest.raises(JsException, match=r"^TypeError: Invalid URL: /x$"):
            await pyfetch("/x")
        response = await pyfetch(server.url, method="POST", body="data")
        assert await response.text() == "data"
        with pytest.raises(OSError, match="too late"):
            await pyfetch(server.url, signal=js.AbortSignal.abort("too late"))

    against_server(event, handler)


def test_waiting_for_more_of_a_body_that_is_passed_on_is_pending_io(event: Event) -> None:
    """Otherwise the event would look hung while its response waits for another server."""

    async def handler(server: Server) -> None:
        response = await js.fetch(f"{server.url}/slow")
        chunks = response.body._chunks()
        assert await anext(chunks) == b"first"
        rest = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0)
        assert event.context.pending == 1
        server.release.set()
        assert await rest == b"second"
        assert [chunk async for chunk in chunks] == []
        assert event.context.pending == 0

    against_server(event, handler)
