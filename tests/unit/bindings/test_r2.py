"""R2 over the boundary: the rows "R2" of the verified reference and what the runtime answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from binding_harness import HELLO_MD5, PUT_HELLO, error_with_hello

if TYPE_CHECKING:
    from binding_harness import Bench


def test_a_put_answers_what_was_stored(bench: Bench) -> None:
    body = """
o = await env.R2.put("k", "hello")
return [
    o.key, o["size"], o.etag, o.httpEtag, len(o.version), o.uploaded.isoformat(),
    o.httpMetadata, o.customMetadata, o.range, o.checksums.toJSON(), bytes(o.checksums.md5).hex(),
    hasattr(o, "body"), o.checksums.sha1,
]
"""
    assert bench.run(body) == [
        "k", 5, HELLO_MD5, f'"{HELLO_MD5}"', 32, "2026-01-01T00:00:00",
        {}, {}, None, {"md5": HELLO_MD5}, HELLO_MD5, False, None,
    ]  # fmt: skip


def test_from_december_2025_fields_that_are_not_set_are_there_and_none(bench: Bench) -> None:
    body = """
await env.R2.put("k", "hello", httpMetadata={"contentType": "text/x"})
o = await env.R2.get("k")
page = await env.R2.list()
return [
    o.httpMetadata, o.range, sorted(o.checksums.toJSON()), "cursor" in page, page.get("cursor"),
]
"""
    assert bench.run(body) == [
        {"contentType": "text/x"}, {"offset": 0, "length": 5}, ["md5"], False, None,
    ]  # fmt: skip
    http = dict.fromkeys(
        ("contentType", "contentLanguage", "contentDisposition", "contentEncoding",
         "cacheControl", "cacheExpiry")
    )  # fmt: skip
    assert bench.run(body, "enable_fast_jsg_struct") == [
        http | {"contentType": "text/x"}, {"offset": 0, "length": 5, "suffix": None},
        ["md5", "sha1", "sha256", "sha384", "sha512"], True, None,
    ]  # fmt: skip


def test_a_key_with_half_a_character_is_kept_as_text(bench: Bench) -> None:
    body = """
o = await env.R2.put("k\\ud800", "x")
return [o.key, (await env.R2.head("k\\ufffd")).key]
"""
    assert bench.run(body) == ["k\ufffd", "k\ufffd"]


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("'é'", "é".encode()),
        ("b'ab'", b"ab"),
        ("None", b""),
        ("''", b""),
        ("js.Blob.new(to_js(['x']))", b"x"),
        ("Response('s').js_object.body", b"s"),
    ],
)
def test_what_can_be_put(bench: Bench, value: str, stored: bytes) -> None:
    body = f"""
await env.R2.put("k", {value})
return bytes(await (await env.R2.get("k")).arrayBuffer())
"""
    assert bench.run(body) == stored


@pytest.mark.parametrize("value", ["1", "{'a': 1}", "Response('x')", "datetime.datetime.now()"])
def test_what_cannot_be_put(bench: Bench, value: str) -> None:
    assert error_with_hello(bench, f'env.R2.put("k", {value})') == (
        "TypeError: Failed to execute 'put' on 'R2Bucket': parameter 2 is not of type "
        "'ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob'."
    )


def test_a_stream_must_have_a_known_length(bench: Bench) -> None:
    text = error_with_hello(bench, 'env.R2.put("k", js.TransformStream.new().readable)')
    assert text.startswith("TypeError: Provided readable stream must have a known length")


def test_an_object_is_read_once(bench: Bench) -> None:
    body = f"""
{PUT_HELLO}
o = await env.R2.get("k")
before = o["bodyUsed"]
return [before, await o.text(), o["bodyUsed"], await error_of(o.text())]
"""
    text = (
        "TypeError: Body has already been used. It can only be used once. Use tee() first if you "
        "need to read it twice."
    )
    assert bench.run(body) == [False, "hello", True, text]


def test_an_object_is_read_as_json_or_streamed(bench: Bench) -> None:
    body = """
await env.R2.put("k", '{"a": 1}', httpMetadata={"contentType": "image/png"})
blob = await (await env.R2.get("k")).blob()
stream = (await env.R2.get("k")).body
return [
    await (await env.R2.get("k")).json(), blob.content_type, await Response(stream).text(),
    type(stream).__name__ == type(js.Response.new("x").body).__name__,
]
"""
    assert bench.run(body) == [{"a": 1}, "image/png", '{"a": 1}', True]


def test_what_is_not_there_is_none(bench: Bench) -> None:
    assert bench.run('return [await env.R2.get("k"), await env.R2.head("k")]') == [None, None]


def test_metadata_is_kept(bench: Bench) -> None:
    body = """
await env.R2.put("k", "x", customMetadata={"a": 1, "b": "é"}, httpMetadata={
    "contentType": "text/plain", "cacheControl": "no-store",
    "cacheExpiry": datetime.datetime(2001, 9, 9, 1, 46, 40, tzinfo=datetime.UTC),
})
o = await env.R2.head("k")
headers = js.Headers.new()
o.writeHttpMetadata(headers)
return [o.customMetadata, o.httpMetadata.contentType, o.httpMetadata["cacheExpiry"].year,
        sorted((k, v) for k, v in headers)]
"""
    assert bench.run(body) == [
        {"a": "1", "b": "é"},
        "text/plain",
        2001,
        [
            ("cache-control", "no-store"),
            ("content-type", "text/plain"),
            ("expires", "Sun, 09 Sep 2001 01:46:40 GMT"),
        ],
    ]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            "md5='6d41402abc4b2a76b9719d911017c592'",
            "Error: put: The MD5 checksum you specified did not match what we received.\n"
            "You provided a MD5 checksum with value: 6d41402abc4b2a76b9719d911017c592\n"
            f"Actual MD5 was: {HELLO_MD5} (10037)",
        ),
        ("md5='xx'", "TypeError: MD5 is 32 hex characters, not 2"),
        ("md5=b'abc'", "TypeError: MD5 is 16 bytes, not 3"),
        (
            f"md5='{HELLO_MD5}', sha1='aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d'",
            "TypeError: You cannot specify multiple hashing algorithms.",
        ),
        (
            "customMetadata={'a': 'x' * 2049}",
            "Error: put: Your metadata headers exceed the maximum allowed metadata size. (10012)",
        ),
        (
            "customMetadata='a'",
            "TypeError: Incorrect type for the 'customMetadata' field on 'PutOptions': the "
            "provided value is not of type 'object'.",
        ),
        (
            "onlyIf={'etagMatches': '\"x\"'}",
            'TypeError: Conditional ETag should not be wrapped in quotes ("x").',
        ),
        (
            "onlyIf={'uploadedAfter': datetime.datetime(3000, 1, 1)}",
            "TypeError: This API doesn't support dates after 2189.",
        ),
    ],
)
def test_what_a_put_refuses(bench: Bench, options: str, text: str) -> None:
    assert error_with_hello(bench, f'env.R2.put("k", "hello", {options})') == text


def test_other_checksums_are_kept_beside_md5(bench: Bench) -> None:
    sha1 = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
    body = f'return (await env.R2.put("k", "hello", sha1="{sha1}")).checksums.toJSON()'
    assert bench.run(body) == {"md5": HELLO_MD5, "sha1": sha1}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("get('k' * 1025)", "Error: get: The specified object name is not valid. (10020)"),
        ("put('k' * 1025, 'x')", "Error: put: The specified object name is not valid. (10020)"),
        (
            "put('k')",
            "TypeError: Failed to execute 'put' on 'R2Bucket': parameter 2 is not of type "
            "'ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob'.",
        ),
        (
            "delete()",
            "TypeError: Failed to execute 'delete' on 'R2Bucket': parameter 1 is not of type "
            "'string or Array'.",
        ),
        (
            "list(limit=1001)",
            "Error: list: MaxKeys params must be positive integer <= 1000. (10022)",
        ),
        ("list(include=['x'])", "RangeError: Unsupported include value x"),
    ],
)
def test_what_a_bucket_refuses(bench: Bench, call: str, text: str) -> None:
    assert error_with_hello(bench, f"env.R2.{call}") == text
