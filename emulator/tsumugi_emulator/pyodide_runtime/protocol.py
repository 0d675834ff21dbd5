"""What the host process and its Node process say to each other. Pure.

Each frame is a 4-byte little-endian length and a MessagePack array that begins with its number.
The numbers' twin is ``pyodide_host/protocol.mjs``; a test compares the two.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any

import msgpack

#: A frame larger than this is a bug, not a message (bodies travel in chunks).
MAX_FRAME_BYTES = 256 * 1024 * 1024

_LENGTH = struct.Struct("<I")


class Say(IntEnum):
    """From Node. ``where`` is "scope\\nfile:line"."""

    #: where, operation, target, name, arguments: Node waits for ``Hear.REPLY``.
    CALL = 0
    #: id, whether it succeeded, value or error: the answer to ``Hear.INVOKE``.
    RESULT = 1
    #: number of a promise of Node's, whether it is fulfilled, value or error.
    SETTLED = 2
    #: How many frames had come when nothing was left that could make code runnable.
    IDLE = 3
    #: level, text; with the level "dropped", an event's kind and the place of a task
    LOG = 4
    #: [number of an object of the host's, how often it was given], ...
    RELEASE = 5
    #: version: the SDK is loaded.
    WARM = 6
    #: the number of the Ping
    PONG = 7
    #: How many frames had come when no code was runnable; timers nobody waits for any more.
    QUIET = 8
    #: The code to end with: Node does, and nothing follows.
    EXITED = 9


class Hear(IntEnum):
    """To Node."""

    #: id, scope, kind, arguments
    INVOKE = 0
    #: number of a promise of the host's, whether it is fulfilled, value or error.
    SETTLED = 1
    #: number of a timer
    FIRE = 2
    #: id of what was invoked
    CANCEL = 3
    #: a scope that is over, and its event's kind
    END = 4
    #: [number of an object of Node's, how often it was given], ...
    RELEASE = 5
    #: a number
    PING = 6
    #: whether it succeeded, value or error: the answer to ``Say.CALL``.
    REPLY = 7


class Value(IntEnum):
    """MessagePack extensions: JavaScript values that it has no form for."""

    UNDEFINED = 1
    BIGINT = 2
    DATE = 3
    MAP = 4
    SET = 5
    BUFFER = 6
    ERROR = 7
    #: Text with lone surrogates, as UTF-16.
    TEXT = 8
    REGEXP = 9
    SYMBOL = 10
    #: An object of the host's.
    HANDLE = 11
    #: An object of Node's.
    FOREIGN = 12
    PROMISE = 13
    STREAM = 14
    REQUEST = 15
    RESPONSE = 16
    LITERAL_MAP = 17
    #: A value that contains itself.
    GRAPH = 18
    REFERENCE = 19


class FrameError(Exception):
    """The bytes are no frame: the files of the two processes are of different versions."""


def encode(tree: Any) -> bytes:
    """A frame of plain values and ``msgpack.ExtType``."""
    body: bytes = msgpack.packb(tree)
    return _LENGTH.pack(len(body)) + body


def pack(tree: Any) -> bytes:
    """What an extension holds."""
    packed: bytes = msgpack.packb(tree)
    return packed


def unpack(data: bytes) -> Any:
    return msgpack.unpackb(data, strict_map_key=False)


class Decoder:
    """Incremental: feed it what arrives, take the frames that are complete."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[list[Any]]:
        """The frames completed by ``data``, in order.

        Raises:
            FrameError: a length that no frame has.
        """
        self._buffer += data
        frames: list[list[Any]] = []
        start, end = 0, len(self._buffer)
        while end - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer, start)
            if length > MAX_FRAME_BYTES:
                raise FrameError(f"frame of {length} bytes")
            if end - start - _LENGTH.size < length:
                break
            start += _LENGTH.size
            frames.append(unpack(bytes(self._buffer[start : start + length])))
            start += length
        del self._buffer[:start]
        return frames
