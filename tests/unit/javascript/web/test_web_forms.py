"""``FormData``, ``Blob`` and ``File``, and their bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import js
import pytest
from pyodide.ffi import JsException, to_js
from workers import Blob, File, FormData, Response

if TYPE_CHECKING:
    from web_event import Event


def test_len_of_a_form_fails_as_in_production() -> None:
    with pytest.raises(TypeError, match="object of type 'generator' has no len"):
        len(FormData({"a": "b"}))


def test_a_missing_field_is_null_not_a_key_error() -> None:
    from pyodide.ffi import jsnull

    form = FormData({"a": "b"})
    assert form["missing"] is jsnull
    assert form.get("missing", "default") is jsnull


def test_a_form_keeps_repeated_fields_in_order() -> None:
    form = FormData({"a": "1", "b": "2"})
    form.append("a", "3")
    assert list(form.items()) == [("a", "1"), ("b", "2"), ("a", "3")]
    assert form.get_all("a") == ["1", "3"]
    form["a"] = "4"
    assert list(form.items()) == [("a", "4"), ("b", "2")]
    del form["b"]
    assert list(form) == ["a"]


def test_a_blob_in_a_form_becomes_a_file_named_after_its_field(event: Event) -> None:
    async def handler() -> None:
        field = FormData({"f": Blob(["x"], content_type="text/css")})["f"]
        assert isinstance(field, File)
        assert (field.name, field.content_type, await field.text()) == ("f", "text/css", "x")

    event.run(handler)


def test_files_survive_a_multipart_round_trip(event: Event) -> None:
    async def handler() -> None:
        form = FormData({"text": "a\nb", 'qu"ote': "é"})
        form.append("f", File([b"\x00\r\n--x"], "n.bin", content_type="a/b"), "other.bin")
        read = await Response(form).form_data()
        assert read["text"] == "a\nb"
        assert list(read.keys())[1] == "qu%22ote"
        file = read["f"]
        assert (file.name, file.content_type, await file.bytes()) == (
            "other.bin",
            "a/b",
            b"\x00\r\n--x",
        )

    event.run(handler)


def test_an_urlencoded_body_is_a_form(event: Event) -> None:
    async def handler() -> None:
        headers = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
        form = await Response("a=1&b=x+y", headers=headers).form_data()
        assert list(form.items()) == [("a", "1"), ("b", "x y")]

    event.run(handler)


def test_a_multipart_body_of_another_client_is_read(event: Event) -> None:
    body = (
        b'preamble\r\n--B\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\n--B\n'
        b'content-disposition: form-data; name="f"; filename="q\\"uote.txt"\n'
        b"content-type: text/plain\n\ntwo\n--B--\r\nepilogue"
    )

    async def handler() -> None:
        headers = {"content-type": 'multipart/form-data; boundary="B"'}
        form = await Response(body, headers=headers).form_data()
        assert form["a"] == "one"
        assert (form["f"].name, await form["f"].text()) == ('q"uote.txt', "two")

    event.run(handler)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("x", "text/plain", "Unrecognized Content-Type header value"),
        ("x", "multipart/form-data", "No boundary string in Content-Type header"),
        ("x", "multipart/form-data; boundary=B", "No initial boundary string"),
        ("--Bx", "multipart/form-data; boundary=B", "Boundary string was not succeeded by"),
        ("--B\r\nA: b\r\n\r\n", "multipart/form-data; boundary=B", "No subsequent boundary"),
        (
            "--B\r\nA: b\r\n\r\n\r\n--B--",
            "multipart/form-data; boundary=B",
            "No valid Content-Disp",
        ),
    ],
)
def test_what_is_not_a_form_says_why(event: Event, body: str, content_type: str, text: str) -> None:
    async def handler() -> None:
        with pytest.raises(TypeError, match=text):
            await Response(body, headers={"content-type": content_type}).form_data()

    event.run(handler)


def test_blobs_join_their_parts(event: Event) -> None:
    async def handler() -> None:
        blob = Blob(["é", b"\x01", Blob(["x"]), js.Blob.new(to_js(["y"]))], content_type="A/B")
        assert (blob.size, blob.content_type) == (5, "a/b")
        assert await blob.bytes() == b"\xc3\xa9\x01xy"
        assert await blob.slice(2, 4).bytes() == b"\x01x"
        assert await js.Blob.new(to_js(["abc"])).slice(-2).text() == "bc"

    event.run(handler)


def test_a_file_has_a_name_and_a_time() -> None:
    file = File(["abc"], "a.txt", content_type="text/plain", last_modified=5)
    assert (file.name, file.last_modified, file.size) == ("a.txt", 5, 3)


def test_a_name_ending_with_a_backslash_cannot_be_sent(event: Event) -> None:
    async def handler() -> None:
        with pytest.raises(JsException, match="Name or filename can't end with backslash"):
            Response(FormData({"a\\": "b"}))

    event.run(handler)
