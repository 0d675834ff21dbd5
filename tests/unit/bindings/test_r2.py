"""R2 over the boundary: the rows "R2" of the verified reference and what the runtime answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from binding_harness import Bench

HELLO_MD5 = "5d41402abc4b2a76b9719d911017c592"
PUT = 'await env.R2.put("k", "hello")\n'


def error(bench: Bench, expression: str) -> str:
    text: str = bench.run(f"{PUT}return await error_of({expression})")
    return text


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
    ("options", "text"),
    [
        (
            '{"range": {"offset": 2.5}}',
            "RangeError: Invalid range. Starting offset (2.5) must be an integer, not floating "
            "point.",
        ),
        (
            '{"onlyIf": js.Headers.new(to_js([["if-none-match", "x"]]))}',
            "Error: Invalid ETag in if-none-match header",
        ),
        (
            '{"onlyIf": js.Headers.new(to_js([["if-match", chr(34) + "x"]]))}',
            "Error: Unclosed double quote for Etag",
        ),
    ],
)
def test_odd_ranges_and_entity_tags_are_refused(bench: Bench, options: str, text: str) -> None:
    body = f'await env.R2.put("k", "hello")\nreturn await error_of(env.R2.get("k", {options}))'
    assert bench.run(body) == text


def test_a_range_without_an_end_may_be_infinite(bench: Bench) -> None:
    body = """
await env.R2.put("k", "hello")
return await (await env.R2.get("k", range={"offset": 2, "length": float("inf")})).text()
"""
    assert bench.run(body) == "llo"


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
    assert error(bench, f'env.R2.put("k", {value})') == (
        "TypeError: Failed to execute 'put' on 'R2Bucket': parameter 2 is not of type "
        "'ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob'."
    )


def test_a_stream_must_have_a_known_length(bench: Bench) -> None:
    text = error(bench, 'env.R2.put("k", js.TransformStream.new().readable)')
    assert text.startswith("TypeError: Provided readable stream must have a known length")


def test_an_object_is_read_once(bench: Bench) -> None:
    body = f"""
{PUT}
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
    ("asked", "text", "where"),
    [
        ('{"offset": 1}', "ello", {"offset": 1, "length": 4}),
        ('{"offset": 1, "length": 2}', "el", {"offset": 1, "length": 2}),
        ('{"length": 2}', "he", {"offset": 0, "length": 2}),
        ('{"suffix": 2}', "lo", {"offset": 3, "length": 2}),
        ('{"suffix": 20}', "hello", {"offset": 0, "length": 5}),
        ('{"offset": 1, "length": 200}', "ello", {"offset": 1, "length": 4}),
        ('js.Headers.new(to_js([["range", "bytes=1-2"]]))', "el", {"offset": 1, "length": 2}),
        ('js.Headers.new(to_js([["range", "bytes=-2"]]))', "lo", {"offset": 3, "length": 2}),
        ('js.Headers.new(to_js([["range", "bytes=10-12"]]))', "hello", {"offset": 0, "length": 5}),
    ],
)
def test_ranges(bench: Bench, asked: str, text: str, where: dict[str, int]) -> None:
    body = f"""
{PUT}
o = await env.R2.get("k", range={asked})
return [await o.text(), o.range]
"""
    assert bench.run(body) == [text, where]


@pytest.mark.parametrize("asked", ['{"offset": 5}', '{"offset": 10}', '{"length": 0}'])
def test_a_range_that_leaves_nothing(bench: Bench, asked: str) -> None:
    text = "Error: get: The requested range is not satisfiable (10039)"
    assert error(bench, f'env.R2.get("k", range={asked})') == text


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (
            '{"offset": -1}',
            "RangeError: Invalid range. Starting offset (-1) must be greater than or equal to 0.",
        ),
        ('{"suffix": 1, "offset": 1}', "TypeError: Suffix is incompatible with offset."),
        (
            '"bytes=1-2"',
            "TypeError: Incorrect type for the 'range' field on 'GetOptions': the provided value "
            "is not of type 'Range or Headers'.",
        ),
    ],
)
def test_ranges_that_are_none(bench: Bench, asked: str, text: str) -> None:
    assert error(bench, f'env.R2.get("k", range={asked})') == text


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (f'{{"etagMatches": "{HELLO_MD5}"}}', True),
        ('{"etagMatches": "x"}', False),
        ('{"etagMatches": "*"}', True),
        (f'{{"etagDoesNotMatch": "{HELLO_MD5}"}}', False),
        ('{"etagDoesNotMatch": "x"}', True),
        ('{"etagDoesNotMatch": "*"}', False),
        ('{"uploadedBefore": datetime.datetime(1970, 1, 2)}', False),
        ('{"uploadedBefore": datetime.datetime(2030, 1, 1)}', True),
        ('{"uploadedAfter": datetime.datetime(1970, 1, 2)}', True),
        ('{"uploadedAfter": datetime.datetime(2030, 1, 1)}', False),
        (
            f'{{"etagMatches": "{HELLO_MD5}", "uploadedBefore": datetime.datetime(1970, 1, 2)}}',
            True,
        ),
        (f'js.Headers.new(to_js([["if-match", \'"{HELLO_MD5}"\']]))', True),
        (f'js.Headers.new(to_js([["if-none-match", \'W/"{HELLO_MD5}"\']]))', False),
        (
            'js.Headers.new(to_js([["if-modified-since", "Sun, 09 Sep 2040 01:46:40 GMT"]]))',
            False,
        ),
        ("{}", True),
    ],
)
def test_conditions_decide_over_bodies_and_writes(
    bench: Bench, condition: str, holds: bool
) -> None:
    body = f"""
{PUT}
condition = {condition}
got = await env.R2.get("k", onlyIf=condition)
put = await env.R2.put("k", "hello", onlyIf=condition)
return [hasattr(got, "body"), put is not None]
"""
    assert bench.run(body) == [holds, holds]


def test_conditions_on_what_is_not_there(bench: Bench) -> None:
    body = """
async def created(**condition):
    made = await env.R2.put("new", "x", onlyIf=condition)
    await env.R2.delete("new")
    return made is not None
return [await created(etagDoesNotMatch="*"), await created(etagMatches="x"),
        await created(uploadedAfter=datetime.datetime(1970, 1, 2))]
"""
    assert bench.run(body) == [True, False, False]


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
    assert error(bench, f'env.R2.put("k", "hello", {options})') == text


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
    assert error(bench, f"env.R2.{call}") == text


FILES = """
for key in ("a/1", "a/2", "b/1", "b/c/1", "top", "z"):
    await env.R2.put(key, key, customMetadata={"k": key}, httpMetadata={"contentType": "x/y"})
def keys(page):
    return [o.key for o in page["objects"]]
"""


def test_a_list_is_in_order_and_holds_raw_objects(bench: Bench) -> None:
    body = f"""
{FILES}
page = await env.R2.list()
first = page["objects"][0]
return [keys(page), page.truncated, page.get("cursor"), isinstance(first, JsProxy), first.size,
        first.customMetadata.object_keys().to_py()]
"""
    names = ["a/1", "a/2", "b/1", "b/c/1", "top", "z"]
    assert bench.run(body) == [names, False, None, True, 3, []]


@pytest.mark.parametrize(
    ("options", "keys", "prefixes"),
    [
        ("prefix='a/'", ["a/1", "a/2"], []),
        ("delimiter='/'", ["top", "z"], ["a/", "b/"]),
        ("delimiter='/', prefix='b/'", ["b/1"], ["b/c/"]),
        ("startAfter='b/1'", ["b/c/1", "top", "z"], []),
        ("startAfter='a/1', prefix='a/'", ["a/2"], []),
        ("delimiter='1'", ["a/2", "top", "z"], ["a/1", "b/1", "b/c/1"]),
    ],
)
def test_a_list_is_cut_and_grouped(
    bench: Bench, options: str, keys: list[str], prefixes: list[str]
) -> None:
    body = f"""
{FILES}
page = await env.R2.list({options})
return [keys(page), page["delimitedPrefixes"]]
"""
    assert bench.run(body) == [keys, prefixes]


def test_a_list_goes_on_from_its_cursor(bench: Bench) -> None:
    body = f"""
{FILES}
pages, cursor = [], None
while True:
    page = await env.R2.list(limit=1, delimiter="/", cursor=cursor)
    pages.append(keys(page) + page["delimitedPrefixes"])
    cursor = page.get("cursor")
    if not page.truncated:
        return pages
"""
    assert bench.run(body) == [["a/"], ["b/"], ["top"], ["z"]]


def test_a_list_includes_metadata_when_asked(bench: Bench) -> None:
    body = f"""
{FILES}
page = await env.R2.list(limit=1, include=["customMetadata"])
first = page["objects"][0]
return [first.customMetadata.k, first.httpMetadata.object_keys().to_py()]
"""
    assert bench.run(body) == ["a/1", []]


def test_several_objects_are_deleted_at_once(bench: Bench) -> None:
    body = f"""
{FILES}
await env.R2.delete(["a/1", "a/2", "never was"])
return keys(await env.R2.list())
"""
    assert bench.run(body) == ["b/1", "b/c/1", "top", "z"]


@pytest.mark.parametrize("count", [1000, 1001])
def test_more_keys_than_production_deletes_at_once_are_told(bench: Bench, count: int) -> None:
    body = f"await env.R2.delete([str(number) for number in range({count})])"
    with bench.worker(body) as under_test:
        under_test.fetch()
        told = "delete() takes up to 1000 keys, and these are 1001"
        assert [told in warning for warning in under_test.warnings] == [True] * (count - 1000)


def test_a_big_object_comes_back_in_any_range(bench: Bench) -> None:
    body = """
data = bytes(range(256)) * (3 * 4096 + 1)
await env.R2.put("big", data)
whole = bytes(await (await env.R2.get("big")).arrayBuffer())
at = 2**20 - 3
some = await env.R2.get("big", range={"offset": at, "length": 2**20 + 7})
part = bytes(await some.arrayBuffer())
return [whole == data, part == data[at : at + 2**20 + 7]]
"""
    assert bench.run(body) == [True, True]


PARTS = 'big = b"A" * (5 * 1024 * 1024)\nu = await env.R2.createMultipartUpload("mp")\n'


def test_parts_become_an_object(bench: Bench) -> None:
    body = """
big = b"A" * (5 * 1024 * 1024)
u = await env.R2.createMultipartUpload("mp", customMetadata={"q": "1"})
one = await u.uploadPart(1, big)
two = await u.uploadPart(2, "tail")
o = await u.complete([one, two])
part = await (await env.R2.get("mp", range={"offset": len(big) - 2, "length": 4})).text()
return [u.key, type(u.uploadId).__name__, two.partNumber, o.size, o.etag, o.customMetadata,
        o.checksums.toJSON(), part]
"""
    found: list[Any] = bench.run(body)
    assert found == [
        "mp", "str", 2, 5242884, "03ea87a5790ef586173426797c8028a3-2", {"q": "1"}, {}, "AAta",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (
            'await u.complete([await u.uploadPart(1, "a"), await u.uploadPart(2, "b")])',
            "completeMultipartUpload: Your proposed upload is smaller than the minimum allowed "
            "object size. (10011)",
        ),
        (
            "await u.complete([await u.uploadPart(1, big), await u.uploadPart(2, big + b'x'),"
            " await u.uploadPart(3, 'x')])",
            "completeMultipartUpload: There was a problem with the multipart upload. (10048)",
        ),
        (
            'await u.uploadPart(1, "a"); await u.complete([{"partNumber": 1, "etag": "x"}])',
            "completeMultipartUpload: One or more of the specified parts could not be found. "
            "(10025)",
        ),
        (
            'await u.abort(); await u.uploadPart(1, "x")',
            "uploadPart: The specified multipart upload does not exist. (10024)",
        ),
        (
            'p = await u.uploadPart(1, "x"); await u.complete([p]); await u.complete([p])',
            "completeMultipartUpload: The specified multipart upload does not exist. (10024)",
        ),
        (
            'await env.R2.resumeMultipartUpload("mp", "nope").abort()',
            "abortMultipartUpload: We encountered an internal error. Please try again. (10001)",
        ),
    ],
)
def test_what_an_upload_refuses(bench: Bench, steps: str, text: str) -> None:
    body = f"""
{PARTS}
async def steps():
    {steps}
return await error_of(steps())
"""
    assert bench.run(body) == f"Error: {text}"


def test_a_part_number_has_bounds(bench: Bench) -> None:
    assert bench.run(f'{PARTS}return await error_of(u.uploadPart(0, "b"))') == (
        "TypeError: Part number must be between 1 and 10000 (inclusive). Actual value was: 0"
    )


def test_an_upload_is_resumed_and_its_parts_replaced(bench: Bench) -> None:
    body = f"""
{PARTS}
again = env.R2.resumeMultipartUpload("mp", u.uploadId)
await again.uploadPart(1, "old")
part = await again.uploadPart(1, "new")
await again.complete([part])
await again.abort()
return await (await env.R2.get("mp")).text()
"""
    assert bench.run(body) == "new"


def test_a_request_body_can_be_kept(bench: Bench) -> None:
    from binding_harness import child

    source = """
from workers import Response, WorkerEntrypoint
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.R2.put("upload", request.js_object.body)
        return Response(await (await self.env.R2.get("upload")).text())
"""
    with child(source, env=bench.env) as it:
        assert it.fetch(method="POST", body=b"payload").body == b"payload"
