"""What requests and responses share: their body and the ways to read it.

A body of bytes stays bytes: reading it as text never builds a stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.buffers import ArrayBuffer, Uint8Array, bytes_of
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_method, js_property
from tsumugi_emulator.javascript.promise import promise_of, rejected, resolved
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.rejecting import rejecting
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.javascript.web.unicode import utf8

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.javascript.io_context import IoContext
    from tsumugi_emulator.javascript.web.headers import Headers

BODY_USED_TEXT = (
    "Body has already been used. It can only be used once. Use tee() first if you need to read it "
    "twice."
)
TEXT_TYPE = "text/plain;charset=UTF-8"
FORM_TYPE = "application/x-www-form-urlencoded;charset=UTF-8"

#: What a body is, inside the emulator.
Content = bytes | ReadableStream | None

_BOM = b"\xef\xbb\xbf"


def extract(value: Any) -> tuple[Content, str | None]:
    """The body a ``BodyInit`` describes, and the content type it brings along."""
    if value is None or value is jsnull:
        return None, None
    if type(value) is str:
        return utf8(value), TEXT_TYPE
    if isinstance(value, ReadableStream):
        return _claim_stream(value), None
    data = bytes_of(value)
    if data is not None:
        return data, None
    if isinstance(value, JsProxy):
        return _extract_object(value)
    return utf8(to_string(value)), TEXT_TYPE


def _claim_stream(stream: ReadableStream) -> ReadableStream:
    if stream._disturbed:
        raise type_error(
            "This ReadableStream is disturbed (has already been read from), and cannot be used as "
            "a body."
        )
    if stream._locked:
        raise type_error("This ReadableStream is currently locked to a reader.")
    return stream


def _extract_object(value: JsProxy) -> tuple[Content, str | None]:
    kind = value._class_name()
    if kind in ("Blob", "File"):
        return value._data, value._type or None
    if kind == "URLSearchParams":
        return utf8(value._to_string()), FORM_TYPE
    if kind == "FormData":
        from tsumugi_emulator.javascript.web.multipart import encode_form

        return encode_form(value._entries_list)
    return utf8(to_string(value)), TEXT_TYPE


class Body(JsProxy):
    """Mixin. Subclasses have the attributes below, and ``_headers``."""

    __slots__ = ("_body", "_body_used", "_context", "_headers")

    _body: Content
    _body_used: bool
    _headers: Headers
    #: The event the object was made in: elsewhere its body cannot be read.
    _context: IoContext | None

    @js_property
    def body(self) -> Any:
        body = self._body
        if body is None:
            return jsnull
        if type(body) is bytes:
            body = self._body = ReadableStream._from_bytes(body)
            body._context = self._context
            if self._body_used:
                body._state, body._disturbed = "closed", True
        return body

    @js_property
    def bodyUsed(self) -> bool:
        return self._is_used()

    @js_method
    @rejecting
    def text(self) -> PyodideFuture:
        return self._consume(_as_text)

    @js_method
    @rejecting
    def json(self) -> PyodideFuture:
        return self._consume(_as_json)

    @js_method
    @rejecting
    def arrayBuffer(self) -> PyodideFuture:
        return self._consume(_as_array_buffer)

    @js_method
    @rejecting
    def bytes(self) -> PyodideFuture:
        return self._consume(_as_bytes)

    @js_method
    @rejecting
    def blob(self) -> PyodideFuture:
        from tsumugi_emulator.javascript.web.blob import Blob

        content_type = self._headers._value("content-type") or ""
        return self._consume(lambda data: Blob(data, content_type))

    @js_method
    @rejecting
    def formData(self) -> PyodideFuture:
        from tsumugi_emulator.javascript.web.multipart import decode_form

        content_type = self._headers._value("content-type")
        return self._consume(lambda data: decode_form(data, content_type))

    # -- Inside the emulator ------------------------------------------------------------------

    def _is_used(self) -> bool:
        body = self._body
        return self._body_used or (isinstance(body, ReadableStream) and body._disturbed)

    def _consume(self, convert: Callable[[Any], Any]) -> PyodideFuture:
        """The promise of the whole body, converted."""
        body = self._body
        if self._body_used or (body is not None and type(body) is not bytes and self._is_used()):
            return rejected(type_error(BODY_USED_TEXT))
        context = self._context
        if context is not None and context is not io_context.current():
            context.owns("ReadableStreamSource")
        if isinstance(body, ReadableStream):
            return self._consume_stream(body, convert)
        self._body_used = body is not None
        try:
            return resolved(convert(body or b""))
        except Exception as error:
            return rejected(error)

    def _consume_stream(
        self, stream: ReadableStream, convert: Callable[[Any], Any]
    ) -> PyodideFuture:
        if stream._locked:
            return rejected(type_error("This ReadableStream is currently locked to a reader."))
        self._body_used = True

        async def read() -> Any:
            return convert(await stream._collect())

        future = promise_of(read())
        context = io_context.current()
        if context is not None and stream._waits_on_io:
            context.track(future)
        return future

    def _clone_body(self) -> Content:
        """A second body with the same content, for ``clone()``."""
        if self._is_used():
            raise type_error(BODY_USED_TEXT)
        body = self._body
        if not isinstance(body, ReadableStream):
            return body
        from tsumugi_emulator.javascript.web.stream_sources import tee

        self._body, copy = tee(body)
        return copy


def _as_text(data: bytes) -> str:
    if data.startswith(_BOM):
        data = data[3:]
    return data.decode("utf-8", "replace")


def _as_json(data: bytes) -> Any:
    from tsumugi_emulator.javascript.json_text import parse

    return parse(_as_text(data))


def _as_array_buffer(data: bytes) -> ArrayBuffer:
    return ArrayBuffer(bytearray(data))


def _as_bytes(data: bytes) -> Any:
    return Uint8Array(ArrayBuffer(bytearray(data)))
