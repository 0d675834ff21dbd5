"""Ready-made transforms: text encoding and compression streams."""

from __future__ import annotations

import codecs
import zlib
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.buffers import bytes_of
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_property
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.web.encoding import Label, resolve_label
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.transform import TransformStream
from tsumugi_emulator.javascript.web.unicode import utf8

if TYPE_CHECKING:
    from collections.abc import Callable


class _Encoder:
    __slots__ = ()

    def transform(self, chunk: Any, stream: TransformStream) -> None:
        data = utf8(to_string(chunk))
        if data:
            stream._emit(data)

    def flush(self, stream: TransformStream) -> None:
        return None


@js_class("TextEncoderStream")
class TextEncoderStream(TransformStream):
    __slots__ = ()

    @classmethod
    def _construct(cls) -> TextEncoderStream:  # type: ignore[override]
        return cls(_Encoder())

    @js_property
    def encoding(self) -> str:
        return "utf-8"


class _Decoder:
    __slots__ = ("_codec",)

    def __init__(self, label: Label, *, fatal: bool) -> None:
        self._codec = codecs.getincrementaldecoder(label.codec)("strict" if fatal else "replace")

    def transform(self, chunk: Any, stream: TransformStream) -> None:
        self._push(_bytes(chunk), stream, final=False)

    def flush(self, stream: TransformStream) -> None:
        self._push(b"", stream, final=True)

    def _push(self, data: bytes, stream: TransformStream, *, final: bool) -> None:
        try:
            text = self._codec.decode(data, final)
        except UnicodeDecodeError:
            raise type_error("Failed to decode input.") from None
        if text:
            stream._emit(text)


@js_class("TextDecoderStream")
class TextDecoderStream(TransformStream):
    __slots__ = ("_label",)

    _label: str

    @classmethod
    def _construct(cls, label: Any = None, options: Any = None) -> TextDecoderStream:  # type: ignore[override]
        resolved = resolve_label(label, keep_bom=bool(member(options, "ignoreBOM")))
        made = cls(_Decoder(resolved, fatal=bool(member(options, "fatal"))))
        made._label = resolved.name
        return made

    @js_property
    def encoding(self) -> str:
        return self._label


#: Compression format -> zlib's window bits.
_WINDOW = {"gzip": 31, "deflate": 15, "deflate-raw": -15}


def _window(format_: Any) -> int:
    bits = _WINDOW.get(to_string(format_))
    if bits is None:
        raise type_error(
            "The compression format must be either 'deflate', 'deflate-raw' or 'gzip'."
        )
    return bits


class _Zlib:
    """Pushes bytes through one zlib object."""

    __slots__ = ("_feed", "_finish")

    def __init__(self, feed: Callable[[bytes], bytes], finish: Callable[[], bytes]) -> None:
        self._feed = feed
        self._finish = finish

    def transform(self, chunk: Any, stream: TransformStream) -> None:
        self._emit(self._feed, stream, _bytes(chunk))

    def flush(self, stream: TransformStream) -> None:
        self._emit(self._finish, stream)

    def _emit(self, step: Callable[..., bytes], stream: TransformStream, *args: bytes) -> None:
        try:
            data = step(*args)
        except zlib.error:
            raise type_error("Decompression failed.") from None
        if data:
            stream._emit(data)


@js_class("CompressionStream")
class CompressionStream(TransformStream):
    __slots__ = ()

    @classmethod
    def _construct(cls, format_: Any = None) -> CompressionStream:  # type: ignore[override]
        machine = zlib.compressobj(wbits=_window(format_))
        return cls(_Zlib(machine.compress, machine.flush))


@js_class("DecompressionStream")
class DecompressionStream(TransformStream):
    __slots__ = ()

    @classmethod
    def _construct(cls, format_: Any = None) -> DecompressionStream:  # type: ignore[override]
        machine = zlib.decompressobj(wbits=_window(format_))

        def finish() -> bytes:
            rest = machine.flush()
            if not machine.eof:
                raise type_error("Called close() on a decompression stream with incomplete data")
            return rest

        return cls(_Zlib(machine.decompress, finish))


def _bytes(chunk: Any) -> bytes:
    data = bytes_of(chunk)
    if data is None:
        raise type_error(
            "This TransformStream is being used as a byte stream, but received an "
            "object of non-ArrayBuffer type on its writable side."
        )
    return data


TextEncoderStreamClass = TextEncoderStream.constructor
TextDecoderStreamClass = TextDecoderStream.constructor
CompressionStreamClass = CompressionStream.constructor
DecompressionStreamClass = DecompressionStream.constructor
