"""Multipart uploads to R2, and bodies that are kept as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from binding_harness import Bench


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
