"""The chunks of streams: what reads resolve with, and how bytes become JavaScript values."""

from __future__ import annotations

import asyncio
from typing import Any

from tsumugi_emulator.javascript.buffers import ArrayBuffer, Uint8Array, bytes_of
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.values import JsObject

#: What a raw read answers at the end of the stream.
END: Any = object()


class ReadRequest:
    """One pending read. ``raw`` readers get the chunk itself, others ``{value, done}``."""

    __slots__ = ("future", "raw")

    def __init__(self, *, raw: bool) -> None:
        self.future = PyodideFuture(loop=asyncio.get_running_loop())
        self.raw = raw

    def fulfil(self, chunk: Any) -> bool:
        if self.future.done():
            return False
        self.future.set_result(chunk if self.raw else read_result(chunk))
        return True

    def fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()


def read_result(chunk: Any) -> JsObject:
    """What ``reader.read()`` resolves with."""
    if chunk is END:
        return JsObject({"value": None, "done": True})
    return JsObject({"value": as_js_chunk(chunk), "done": False})


def as_js_chunk(chunk: Any) -> Any:
    return Uint8Array(ArrayBuffer(bytearray(chunk))) if type(chunk) is bytes else chunk


def as_bytes(chunk: Any) -> bytes:
    """The bytes of a chunk that must be bytes.

    Raises:
        JsException: TypeError, when it is anything else.
    """
    if type(chunk) is bytes:
        return chunk
    data = bytes_of(chunk)
    if data is None:
        raise type_error("This ReadableStream did not return bytes.")
    return data
