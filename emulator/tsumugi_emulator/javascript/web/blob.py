"""``Blob`` and ``File``: immutable bytes with a type."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import iterate_js
from tsumugi_emulator.javascript.buffers import ArrayBuffer, Uint8Array, bytes_of
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.promise import resolved
from tsumugi_emulator.javascript.strings import to_number, to_string
from tsumugi_emulator.javascript.values import JsProxy, PyProxy, jsnull
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.javascript.web.unicode import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.javascript.futures import PyodideFuture


@js_class("Blob")
class Blob(JsProxy):
    __slots__ = ("_data", "_type")

    def __init__(self, data: bytes, type_: str = "") -> None:
        self._data = data
        self._type = type_

    @classmethod
    def _construct(cls, parts: Any = None, options: Any = None) -> Blob:
        return cls(_join(parts), _type_option(options))

    @js_property
    def size(self) -> int:
        return len(self._data)

    @js_property
    def type(self) -> str:
        return self._type

    @js_method
    def text(self) -> PyodideFuture:
        return resolved(self._data.decode("utf-8", "replace"))

    @js_method
    def arrayBuffer(self) -> PyodideFuture:
        return resolved(ArrayBuffer(bytearray(self._data)))

    @js_method
    def bytes(self) -> PyodideFuture:
        return resolved(Uint8Array(ArrayBuffer(bytearray(self._data))))

    @js_method
    def stream(self) -> ReadableStream:
        return ReadableStream._from_bytes(self._data)

    @js_method
    def slice(self, start: Any = None, end: Any = None, type_: Any = None) -> Blob:
        low = 0 if _absent(start) else int(to_number(start))
        high = len(self._data) if _absent(end) else int(to_number(end))
        return Blob(self._data[low:high], "" if _absent(type_) else to_string(type_).lower())


@js_class("File")
class File(Blob):
    __slots__ = ("_last_modified_ms", "_name")

    def __init__(self, data: bytes, name: str, type_: str = "", last_modified_ms: int = 0) -> None:
        super().__init__(data, type_)
        self._name = name
        self._last_modified_ms = last_modified_ms

    @classmethod
    def _construct(  # type: ignore[override]  # constructors differ, in JavaScript too
        cls, parts: Any = None, name: Any = None, options: Any = None
    ) -> File:
        modified = member(options, "lastModified")
        modified_ms = time.time_ns() // 1_000_000 if _absent(modified) else int(to_number(modified))
        return cls(_join(parts), to_string(name), _type_option(options), modified_ms)

    @js_property
    def name(self) -> str:
        return self._name

    @js_property
    def lastModified(self) -> int:
        return self._last_modified_ms


BlobClass = Blob.constructor
FileClass = File.constructor


def _absent(value: Any) -> bool:
    return value is None or value is jsnull


def _type_option(options: Any) -> str:
    value = member(options, "type")
    # The SDK passes None for "no type", which crosses as undefined.
    return "" if _absent(value) else to_string(value).lower()


def _join(parts: Any) -> bytes:
    return b"" if _absent(parts) else b"".join(_part(part) for part in _iterate(parts))


def _iterate(parts: Any) -> Iterator[Any]:
    return iter(parts._unwrap()) if isinstance(parts, PyProxy) else iterate_js(parts)


def _part(part: Any) -> bytes:
    if isinstance(part, Blob):
        return part._data
    data = bytes_of(part)
    return utf8(to_string(part)) if data is None else data
