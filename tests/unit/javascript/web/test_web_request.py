"""``workers.Request`` over the emulated platform (reference 1.5)."""

from __future__ import annotations

from http import HTTPMethod

import js
import pytest
from pyodide.ffi import JsException, to_js
from tsumugi_emulator.javascript.web.request import Request as HostRequest
from web_event import Event, at_import
from workers import FormData, Request

URL = "https://example.com/p?q=1"


def test_a_request_from_the_wire_shows_what_came_in(event: Event) -> None:
    async def handler() -> None:
        wire = HostRequest._from_wire("POST", URL, [("x-a", "1"), ("x-a", "2")], b"body")
        request = Request(wire)
        assert request.method is HTTPMethod.POST
        assert (request.url, request.headers["X-A"], request.cf) == (URL, "1, 2", None)
        assert request.headers["missing"] is None
        assert not request.body_used
        assert await request.text() == "body"
        assert request.body_used

    event.run(handler)


def test_reading_a_request_twice_is_an_os_error(event: Event) -> None:
    async def handler() -> None:
        request = Request(URL, method="POST", body="x")
        await request.text()
        for read in (request.text, request.json, request.bytes, request.form_data):
            with pytest.raises(OSError, match="Body already used"):
                await read()

    event.run(handler)


def test_an_unknown_method_is_a_key_error_when_read(event: Event) -> None:
    async def handler() -> None:
        request = Request(URL, method="PROPFIND")
        with pytest.raises(KeyError, match="PROPFIND"):
            _ = request.method

    event.run(handler)


def test_methods_are_normalised(event: Event) -> None:
    async def handler() -> None:
        assert Request(URL, method="put").method is HTTPMethod.PUT
        assert Request(URL, method=HTTPMethod.DELETE).method is HTTPMethod.DELETE

    event.run(handler)


def test_a_dict_body_is_sent_as_its_text(event: Event) -> None:
    async def handler() -> None:
        assert await Request(URL, method="POST", body={"a": 1}).text() == "{'a': 1}"

    event.run(handler)


def test_bodies_of_every_kind_arrive(event: Event) -> None:
    async def handler() -> None:
        assert await Request(URL, method="POST", body=b"ab").bytes() == b"ab"
        assert await Request(URL, method="POST", body=to_js(b"ab")).text() == "ab"
        form = await Request(URL, method="POST", body=FormData({"a": "b"})).form_data()
        assert form["a"] == "b"
        assert await Request(URL, method="POST", body='{"a": null}').json() == {"a": None}

    event.run(handler)


def test_get_refuses_a_body(event: Event) -> None:
    async def handler() -> None:
        with pytest.raises(JsException, match="GET or HEAD method cannot have a body"):
            Request(URL, body="x")

    event.run(handler)


def test_a_relative_url_is_refused(event: Event) -> None:
    async def handler() -> None:
        with pytest.raises(JsException, match=r"^TypeError: Invalid URL: /x$"):
            Request("/x")

    event.run(handler)


def test_a_request_can_be_made_at_global_scope_without_a_body() -> None:
    assert at_import(lambda: Request(URL, headers={"a": "b"}).headers["a"]) == "b"


def test_a_new_request_takes_the_body_of_the_old_one(event: Event) -> None:
    async def handler() -> None:
        old = Request(URL, method="POST", body="moved", headers={"x": "y"})
        new = Request(old, method="PUT")
        assert old.body_used
        assert (new.method, new.headers["x"]) == (HTTPMethod.PUT, "y")
        assert await new.text() == "moved"

    event.run(handler)


def test_a_clone_leaves_the_original_readable(event: Event) -> None:
    async def handler() -> None:
        request = Request(URL, method="POST", body="c")
        copy = request.clone()
        assert [await request.text(), await copy.text()] == ["c", "c"]

    event.run(handler)


def test_incoming_headers_cannot_be_changed(event: Event) -> None:
    async def handler() -> None:
        request = HostRequest._from_wire("GET", URL, [("a", "b")], None)
        with pytest.raises(JsException, match="Can't modify immutable headers"):
            request.headers.set("a", "c")
        assert js.Request.new(request).headers.get("a") == "b"

    event.run(handler)


def test_the_body_of_bytes_can_be_iterated_as_a_stream(event: Event) -> None:
    async def handler() -> None:
        request = Request(HostRequest._from_wire("POST", URL, [], b"chunk"))
        assert [data.to_bytes() async for data in request.body] == [b"chunk"]
        assert request.body_used

    event.run(handler)
