"""What of a Response reaches the client: its length is the body's, and gzip is done on the way."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from child_harness import child
from tsumugi_emulator.worker import frames

SOURCE = """
import js
from pyodide.ffi import to_js
from workers import Response, WorkerEntrypoint

def stream(length=None):
    made = js.TransformStream.new() if length is None else js.FixedLengthStream.new(length)
    writer = made.writable.getWriter()
    writer.write(to_js(b"hel"))
    writer.write(to_js(b"lo"))
    writer.close()
    return made.readable

def response(body, **init):
    return js.Response.new(body, to_js(init, dict_converter=js.Object.fromEntries))

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return {expression}
"""


def answer(expression: str, **request: Any) -> tuple[dict[str, str], bytes]:
    """The headers, as far as they are about the body, and the body."""
    with child(SOURCE.format(expression=expression)) as it:
        head = it.fetch(**request)
        assert isinstance(head, frames.Response), head
        it.settle()
        chunks = [frame.data for frame in it.sent if isinstance(frame, frames.StreamChunk)]
    about = ("content-length", "content-encoding")
    headers = {name: value for name, value in head.headers if name in about}
    return headers, head.body + b"".join(chunks)


@pytest.mark.parametrize("length", ["1", "9", "many"])
def test_a_length_in_the_headers_does_not_count(length: str) -> None:
    given = {"content-length": length}
    assert answer(f"Response('hello', headers={given})") == ({}, b"hello")
    assert answer(f"response(stream(), headers={given})") == ({}, b"hello")


def test_a_stream_of_known_length_tells_it() -> None:
    assert answer("response(stream(5))") == ({"content-length": "5"}, b"hello")
    assert answer("response(Response('hello').js_object.body)") == (
        {"content-length": "5"},
        b"hello",
    )
    assert answer("response(stream())") == ({}, b"hello")


def test_a_request_passed_back_keeps_its_length() -> None:
    with child(SOURCE.format(expression="Response(request.body)")) as it:
        frame = frames.Fetch(
            77, "POST", "http://worker.test/", [("content-length", "5")], b"hel", True
        )
        it.loop.call_soon(it.dispatcher.fetch, frame)
        it.loop.call_soon(it.dispatcher.chunk, frames.StreamChunk(77, b"lo", False))
        head = it.answer_to(77)
    assert ("content-length", "5") in head.headers


def test_head_may_tell_any_length() -> None:
    headers, _ = answer("Response('hello', headers={'content-length': '9'})", method="HEAD")
    assert headers == {"content-length": "9"}


@pytest.mark.parametrize("body", ["'hello'", "stream(5)", "stream()"])
def test_what_is_said_to_be_gzip_is_compressed(body: str) -> None:
    headers, data = answer(f"response({body}, headers={{'content-encoding': 'gzip'}})")
    assert headers == {"content-encoding": "gzip"}
    assert gzip.decompress(data) == b"hello"


def test_what_is_encoded_already_is_sent_as_it_is() -> None:
    init = "headers={'content-encoding': 'gzip'}, encodeBody='manual'"
    assert answer(f"response('hello', {init})")[1] == b"hello"
    assert answer(f"response('hello', {init}).clone()")[1] == b"hello"


def test_other_ways_of_encoding_are_refused() -> None:
    with child(SOURCE.format(expression="response('hello', encodeBody='x')")) as it:
        assert it.fetch().summary.endswith("TypeError: encodeBody: unexpected value: x")


def test_what_the_runtime_does_not_encode_is_left_alone() -> None:
    headers, data = answer("response('hello', headers={'content-encoding': 'deflate'})")
    assert (headers, data) == ({"content-encoding": "deflate"}, b"hello")


def test_brotli_is_left_out_so_that_clients_can_read_it() -> None:
    assert answer("response('hello', headers={'content-encoding': 'br'})") == ({}, b"hello")
