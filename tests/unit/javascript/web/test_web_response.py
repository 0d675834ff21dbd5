"""``workers.Response`` over the emulated platform (reference 1.5)."""

from __future__ import annotations

import datetime
from http import HTTPStatus

import js
import pytest
from pyodide.ffi import JsException, to_js
from tsumugi_emulator.javascript.mode import MODE
from web_event import Event, at_import
from workers import Blob, FormData, Response


def test_a_string_body_brings_its_content_type(event: Event) -> None:
    async def handler() -> None:
        response = Response("é")
        assert response.headers["content-type"] == "text/plain;charset=UTF-8"
        assert await response.bytes() == "é".encode()

    event.run(handler)


def test_a_bytes_body_has_no_content_type(event: Event) -> None:
    async def handler() -> None:
        assert Response(b"x").headers["content-type"] is None

    event.run(handler)


def test_no_body_is_none(event: Event) -> None:
    async def handler() -> None:
        assert Response().body is None
        assert await Response(None).text() == ""

    event.run(handler)


@pytest.mark.parametrize(
    "body",
    [{"a": 1}, [1], (1,), 5, True, 1.5, bytearray(b"x"), memoryview(b"x"), datetime.date.today()],
    ids=lambda body: type(body).__name__,
)
def test_other_python_bodies_are_refused_by_name(event: Event, body: object) -> None:
    async def handler() -> None:
        with pytest.raises(TypeError, match=f"Unsupported type in Response: {type(body).__name__}"):
            Response(body)

    event.run(handler)


def test_a_python_blob_is_refused_and_its_js_object_is_not(event: Event) -> None:
    async def handler() -> None:
        blob = Blob(["b"], content_type="text/css")
        with pytest.raises(TypeError, match="Unsupported type in Response: Blob"):
            Response(blob)
        response = Response(blob.js_object)
        assert response.headers["content-type"] == "text/css"
        assert await response.text() == "b"

    event.run(handler)


def test_javascript_bodies_are_accepted(event: Event) -> None:
    async def handler() -> None:
        assert await Response(to_js(b"ab")).text() == "ab"
        assert await Response(to_js(b"ab").buffer).text() == "ab"
        params = Response(js.URLSearchParams.new("a=1"))
        assert params.headers["content-type"] == "application/x-www-form-urlencoded;charset=UTF-8"
        assert await params.text() == "a=1"

    event.run(handler)


def test_a_form_body_carries_its_boundary(event: Event) -> None:
    async def handler() -> None:
        response = Response(FormData({"a": "b"}))
        boundary = response.headers["content-type"].removeprefix("multipart/form-data; boundary=")
        assert await response.text() == (
            f'--{boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--{boundary}--'
        )

    event.run(handler)


@pytest.mark.parametrize("status", [199, 600, 101, "abc"])
def test_a_status_outside_200_to_599_is_a_range_error(event: Event, status: object) -> None:
    async def handler() -> None:
        with pytest.raises(JsException) as caught:
            Response("x", status=status)
        assert caught.value.name == "RangeError"
        assert caught.value.message == (
            "Responses may only be constructed with status codes in the range 200 to 599, "
            "inclusive."
        )

    event.run(handler)


@pytest.mark.parametrize(
    ("status", "seen"), [("200", 200), (200.5, 200), (HTTPStatus.IM_A_TEAPOT, 418)]
)
def test_a_status_is_converted_as_javascript_does(event: Event, status: object, seen: int) -> None:
    async def handler() -> None:
        assert Response("x", status=status).status == seen

    event.run(handler)


def test_a_null_body_status_refuses_a_body(event: Event) -> None:
    async def handler() -> None:
        with pytest.raises(JsException, match="TypeError: Response with null body status"):
            Response("x", status=204)
        assert Response(None, status=204).status == 204
        assert Response("", status=204).body is None

    event.run(handler)


@pytest.mark.parametrize("status", [200, 404, 299, 499])
def test_the_status_text_is_empty_unless_given(event: Event, status: int) -> None:
    async def handler() -> None:
        assert Response("x", status=status).status_text == ""
        assert Response("x", status=status, status_text="Made").status_text == "Made"

    event.run(handler)


def test_from_json_is_plain_json_dumps(event: Event) -> None:
    async def handler() -> None:
        response = Response.from_json({"a": (1, 1.0, float("nan"))})
        assert response.headers["content-type"] == "application/json"
        assert await response.text() == '{"a": [1, 1.0, NaN]}'
        with pytest.raises(TypeError):
            Response.from_json(datetime.datetime(2026, 1, 2))
        with pytest.raises(ValueError, match="Responses may only be constructed"):
            Response.from_json({}, status=99)

    event.run(handler)


def test_json_on_the_class_makes_and_on_an_instance_reads(event: Event) -> None:
    async def handler() -> None:
        assert await Response.json({"a": 1}).json() == {"a": 1}
        made = js.Response.json(to_js({"a": None}), status=201)
        assert made.status == 201
        assert await made.text() == "{}"

    event.run(handler)


def test_redirect_is_a_raw_response(event: Event) -> None:
    async def handler() -> None:
        response = Response.redirect("https://example.com/x", 301)
        assert (response.status, response.headers.get("location")) == (301, "https://example.com/x")
        with pytest.raises(TypeError, match="Unable to parse URL: /x"):
            Response.redirect("/x")
        with pytest.raises(
            ValueError,
            match=r"200 is not a redirect status code\. It must be one of: 301, 302, 303",
        ):
            Response.redirect("https://example.com/", 200)

    event.run(handler)


def test_reading_twice_says_so(event: Event) -> None:
    async def handler() -> None:
        response = Response("once")
        await response.text()
        with pytest.raises(OSError, match="Response body is already used"):
            await response.text()
        with pytest.raises(JsException, match="Body has already been used"):
            await response.js_object.text()

    event.run(handler)


def test_a_clone_is_read_on_its_own(event: Event) -> None:
    async def handler() -> None:
        first = Response("both", headers={"x-a": "1"})
        second = first.clone()
        assert [await first.text(), await second.text()] == ["both", "both"]
        assert second.js_response.headers.get("x-a") == "1"

    event.run(handler)


def test_replace_body_keeps_status_and_headers(event: Event) -> None:
    async def handler() -> None:
        replaced = Response("one", status=202, headers={"a": "b"}).replace_body("two")
        assert (replaced.status, replaced.headers["a"], await replaced.text()) == (202, "b", "two")

    event.run(handler)


def test_set_cookie_stays_apart_while_other_headers_are_joined(event: Event) -> None:
    async def handler() -> None:
        headers = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("x", "1"), ("x", "2")]
        assert list(Response(None, headers=headers).headers.items()) == [
            ("Set-Cookie", "a=1"),
            ("Set-Cookie", "b=2"),
            ("x", "1, 2"),
        ]

    event.run(handler)


def test_a_bad_header_name_is_refused(event: Event) -> None:
    async def handler() -> None:
        with pytest.raises(JsException, match=r"^TypeError: Invalid header name\.$"):
            Response("x", headers={"a b": "c"})

    event.run(handler)


def test_a_body_cannot_be_made_at_global_scope() -> None:
    with pytest.raises(JsException, match="Disallowed operation called within global scope"):
        at_import(lambda: Response("x"))


def test_a_response_of_another_event_warns_when_its_body_is_read(event: Event) -> None:
    async def first() -> Response:
        return Response("kept")

    kept = event.run(first)
    later = Event()

    async def second() -> str:
        text: str = await kept.text()
        return text

    assert later.run(second) == "kept"
    assert "Cannot perform I/O on behalf of a different request" in event.warnings[0]
    assert "(I/O type: ReadableStreamSource)" in event.warnings[0]


def test_under_strict_a_response_of_another_event_fails_at_await(event: Event) -> None:
    async def first() -> Response:
        return Response("kept")

    kept = event.run(first)
    later = Event()

    async def second() -> None:
        reading = kept.js_object.text()
        with pytest.raises(JsException, match="on behalf of a different request"):
            await reading
        with pytest.raises(JsException, match="on behalf of a different request"):
            kept.body.getReader()

    MODE.strict = True
    try:
        later.run(second)
    finally:
        MODE.strict = False
