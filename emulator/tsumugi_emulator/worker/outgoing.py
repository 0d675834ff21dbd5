"""What of a handler's Response reaches the client: its headers, its length, its encoding.

As the runtime sends it (asked of workerd): the length is the body's, whatever the headers say, and
a body whose headers name gzip is compressed on its way out, unless ``encodeBody`` is "manual". Not
here: sending it.
"""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.javascript.web.streams import ReadableStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tsumugi_emulator.javascript.web.response import Response

LENGTH = "content-length"
ENCODING = "content-encoding"
#: For zlib: a gzip header around what it makes.
_GZIP = zlib.MAX_WBITS | 16

type Headers = list[tuple[str, str]]


class Outgoing(NamedTuple):
    headers: Headers
    #: All of it, unless there are ``chunks``.
    body: bytes
    chunks: AsyncIterator[bytes] | None


def outgoing(response: Response, method: str) -> Outgoing:
    """What to send for a request of ``method``."""
    headers: Headers = response._headers._pairs
    body = response._body
    if method == "HEAD":  # its headers are all there is, and its length may be told
        return Outgoing(headers, *_as_it_is(body))
    if any(name == LENGTH for name, _ in headers):
        headers = [pair for pair in headers if pair[0] != LENGTH]
    encoding = None if body is None or response._is_encoded else _encoding(headers)
    if encoding == "gzip":
        if isinstance(body, ReadableStream):
            return Outgoing(headers, b"", _compressed(body._chunks()))
        return Outgoing(headers, gzip.compress(body or b""), None)
    if encoding == "br":  # which the runtime would do: the client reads the same
        headers = [pair for pair in headers if pair[0] != ENCODING]
    if isinstance(body, ReadableStream):
        length = body._expected_length
        if length is not None:
            headers = [*headers, (LENGTH, str(length))]
    return Outgoing(headers, *_as_it_is(body))


def _as_it_is(body: bytes | ReadableStream | None) -> tuple[bytes, AsyncIterator[bytes] | None]:
    if isinstance(body, ReadableStream):
        return b"", body._chunks()
    return body or b"", None


def _encoding(headers: Headers) -> str | None:
    return next((value.lower() for name, value in headers if name == ENCODING), None)


async def _compressed(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    compressor = zlib.compressobj(wbits=_GZIP)
    async for chunk in chunks:
        # Events of a stream must not wait for more of them.
        yield compressor.compress(chunk) + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield compressor.flush()
