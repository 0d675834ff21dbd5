"""What R2 answers with: descriptions of objects, with or without their bodies.

Python sees them wrapped, except inside a list, where they are raw (verified reference, row R2).
"""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.r2_arguments import HTTP_FIELDS, wrong_type
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.buffers import ArrayBuffer
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import connection_lost
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.structs import struct
from tsumugi_emulator.javascript.values import JsObject, JsProxy
from tsumugi_emulator.javascript.web.body import Body
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.storage.r2 import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tsumugi_emulator.storage.bodies import Piece
    from tsumugi_emulator.storage.r2 import R2Store, StoredObject


@js_class("Checksums", constructible=False)
class Checksums(JsProxy):
    __slots__ = ("_hashes",)

    def __init__(self, hashes: dict[str, str]) -> None:
        self._hashes = hashes

    @js_property
    def md5(self) -> ArrayBuffer | None:
        return self._digest("md5")

    @js_property
    def sha1(self) -> ArrayBuffer | None:
        return self._digest("sha1")

    @js_property
    def sha256(self) -> ArrayBuffer | None:
        return self._digest("sha256")

    @js_property
    def sha384(self) -> ArrayBuffer | None:
        return self._digest("sha384")

    @js_property
    def sha512(self) -> ArrayBuffer | None:
        return self._digest("sha512")

    @js_method
    def toJSON(self) -> JsObject:
        return struct({name: self._hashes.get(name) for name in ALGORITHMS})

    def _digest(self, name: str) -> ArrayBuffer | None:
        digest = self._hashes.get(name)
        return None if digest is None else ArrayBuffer(bytearray.fromhex(digest))

    def _entries(self) -> dict[str, Any]:
        return {name: self._digest(name) for name in ALGORITHMS}


class _Described:
    """Mixin: the accessors of an object's description."""

    __slots__ = ()

    _object: StoredObject
    _range: tuple[int, int] | None

    @js_property
    def key(self) -> str:
        return self._object.key

    @js_property
    def version(self) -> str:
        return self._object.version

    @js_property
    def size(self) -> int:
        return self._object.size

    @js_property
    def etag(self) -> str:
        return self._object.etag

    @js_property
    def httpEtag(self) -> str:
        return f'"{self._object.etag}"'

    @js_property
    def checksums(self) -> Checksums:
        return Checksums(self._object.checksums)

    @js_property
    def uploaded(self) -> JsDate:
        return JsDate(self._object.uploaded_ms)

    @js_property
    def httpMetadata(self) -> JsObject:
        http = self._object.http
        items = {name: http.get(name) for name in HTTP_FIELDS}
        return struct(
            {name: JsDate(item) if isinstance(item, int) else item for name, item in items.items()}
        )

    @js_property
    def customMetadata(self) -> JsObject:
        return JsObject(dict(self._object.custom))

    @js_property
    def range(self) -> JsObject | None:
        if self._range is None:
            return None
        return struct({"offset": self._range[0], "length": self._range[1], "suffix": None})

    @js_property
    def storageClass(self) -> str:
        return self._object.storage_class

    @js_property
    def ssecKeyMd5(self) -> None:
        return None  # customer keys are not emulated

    @js_method
    def writeHttpMetadata(self, headers: Any = None, *_rest: Any) -> None:
        if not isinstance(headers, Headers):
            raise wrong_type("writeHttpMetadata", 1, "Headers", "HeadResult")
        for field, item in self._object.http.items():
            text = formatdate(item / 1000, usegmt=True) if isinstance(item, int) else item
            Headers.set(headers, HTTP_FIELDS[field], text)

    def _entries(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = (
    "storageClass", "range", "customMetadata", "httpMetadata", "uploaded", "checksums",
    "httpEtag", "etag", "size", "version", "key",
)  # fmt: skip


@js_class("HeadResult", constructible=False)
class HeadResult(_Described, JsProxy):
    __slots__ = ("_object", "_range")

    def __init__(self, stored: StoredObject, range_: tuple[int, int] | None = None) -> None:
        self._object = stored
        self._range = range_


@js_class("GetResult", constructible=False)
class GetResult(_Described, Body):
    """An object with its body, read once."""

    __slots__ = ("_object", "_range")

    def __init__(self, store: R2Store, stored: StoredObject, range_: tuple[int, int]) -> None:
        self._object = stored
        self._range = range_
        content_type = stored.http.get("contentType")
        pairs = [("content-type", str(content_type))] if content_type is not None else []
        self._headers = Headers._from_pairs(pairs)
        self._context = io_context.current()
        self._body_used = False
        self._body = _body(store, stored, range_)


def _body(store: R2Store, stored: StoredObject, range_: tuple[int, int]) -> bytes | ReadableStream:
    """What fits into one chunk is read at once, the rest as it is consumed."""
    pieces = store.pieces(stored, offset=range_[0], length=range_[1])
    if not pieces:
        return b""
    if len(pieces) == 1:
        return store.bodies.read(pieces[0]) or b""
    stream = ReadableStream._from_source(_read(store, pieces))
    stream._expected_length = range_[1]
    return stream


async def _read(store: R2Store, pieces: list[Piece]) -> AsyncIterator[bytes]:
    for piece in pieces:
        data = store.bodies.read(piece)
        if data is None:  # replaced or deleted since
            raise connection_lost()
        yield data
