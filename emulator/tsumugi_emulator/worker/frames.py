"""What supervisor and child say to each other, and the bytes it becomes. Pure: no sockets.

Each frame is a named tuple; on the wire it is a 4-byte little-endian length and a msgpack array
``[code, *fields]``. ``id`` fields correlate an answer with its question and are unique per
direction of asking. A new frame goes at the end of ``FRAMES``: its position is its code.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack

from tsumugi_emulator.worker.link_frames import Connect, Disconnect, Relay, Splice
from tsumugi_emulator.worker.socket_frames import SOCKET_FRAMES, SocketFrame

if TYPE_CHECKING:
    from collections.abc import Callable

#: A frame larger than this is a bug, not a message (a 100 MB body travels in chunks).
MAX_FRAME_BYTES = 256 * 1024 * 1024


class Boot(NamedTuple):
    """Supervisor to a warm child: become this Worker."""

    worker: dict[str, Any]


class Fetch(NamedTuple):
    """An HTTP request; ``more`` says that ``StreamChunk`` frames with the body follow."""

    id: int
    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes
    more: bool


class StreamChunk(NamedTuple):
    """A piece of a body, either direction; ``more`` is false on the last one."""

    id: int
    data: bytes
    more: bool


class StreamCredit(NamedTuple):
    """The reader of stream ``id`` has room for ``size`` more bytes."""

    id: int
    size: int


class StreamAbort(NamedTuple):
    """The stream, or the request, ``id`` ends here: the peer went away or failed."""

    id: int
    reason: str


class Queue(NamedTuple):
    """A batch for the queue handler. A message is (id, timestamp_ms, attempts, format, body)."""

    id: int
    queue: str
    messages: list[tuple[str, int, int, str, bytes]]
    backlog_count: int
    backlog_bytes: int
    oldest_timestamp_ms: int


class Scheduled(NamedTuple):
    id: int
    cron: str
    scheduled_time_ms: int


class OperationDone(NamedTuple):
    """The answer to a child's operation; ``error`` is None or (code, message, status)."""

    id: int
    result: Any
    error: tuple[int, str, int] | None


class Drain(NamedTuple):
    """Finish what is in flight, take nothing new, exit."""


class Warm(NamedTuple):
    """The child has loaded the SDK and waits for Boot."""


class Ready(NamedTuple):
    """The Worker's code imported; ``handlers`` are the event types its default entrypoint takes.

    ``entrypoints`` and ``object_classes`` are the names of the classes it exports.
    """

    handlers: list[str]
    warnings: list[str]
    entrypoints: list[str] = []  # noqa: RUF012 - never changed
    object_classes: list[str] = []  # noqa: RUF012


class BootFailed(NamedTuple):
    """The Worker's code did not import; ``report`` is the user's traceback as text."""

    report: str


class Response(NamedTuple):
    """The handler's response to Fetch; ``more`` says that StreamChunk frames follow."""

    id: int
    status: int
    status_text: str
    headers: list[tuple[str, str]]
    body: bytes
    more: bool


class Failed(NamedTuple):
    """The event failed before it answered: the traceback, and its last line."""

    id: int
    report: str
    summary: str


class QueueResult(NamedTuple):
    """What the batch's handler decided, as production's ``FetcherQueueResult`` says it."""

    id: int
    outcome: str
    ack_all: bool
    retry_all: bool
    retry_all_delay_s: int | None
    explicit_acks: list[str]
    retries: list[tuple[str, int | None]]
    error: str


class Sends(NamedTuple):
    """Queue sends of one loop turn: (id, queue, messages, batch_delay_s or None, is batch).

    A message is (body, format, delay_s or None). Answered by one OperationDone each.
    """

    sends: list[tuple[int, str, list[tuple[bytes, str, int | None]], int | None, bool]]


class QueueMetrics(NamedTuple):
    id: int
    queue: str


class Cancel(NamedTuple):
    """The batch ``id`` ran out of time: stop its handler and report what it settled."""

    id: int


class Log(NamedTuple):
    """A line for the terminal that is not the Worker's own output."""

    level: str
    text: str


class AcquireObject(NamedTuple):
    """The child is about to use a Durable Object, named ``namespace/id``."""

    key: str


class ObjectGranted(NamedTuple):
    """The child may use the object; ``wanted`` says that another one waits for it."""

    key: str
    wanted: bool


class ObjectWanted(NamedTuple):
    """Let go of the object when nothing runs in it, or now by ``force``."""

    key: str
    force: bool


class ReleaseObject(NamedTuple):
    """The child has closed the object."""

    key: str


class AlarmSet(NamedTuple):
    """An object of the child has an alarm at this time, which may be the next of all."""

    due_ms: int


class Alarm(NamedTuple):
    """Run an object's alarm; answered by OperationDone once its outcome is recorded."""

    id: int
    namespace: str
    object_id: str
    scheduled_ms: int
    retry_count: int


class Ping(NamedTuple):
    """Supervisor to child: say that your event loop turns."""


class Pong(NamedTuple):
    """It does."""


Frame = (
    Boot
    | Fetch
    | StreamChunk
    | StreamCredit
    | StreamAbort
    | Queue
    | Scheduled
    | OperationDone
    | Drain
    | Warm
    | Ready
    | BootFailed
    | Response
    | Failed
    | QueueResult
    | Sends
    | QueueMetrics
    | Log
    | Cancel
    | AcquireObject
    | ObjectGranted
    | ObjectWanted
    | ReleaseObject
    | AlarmSet
    | Alarm
    | Ping
    | Pong
    | Connect
    | Relay
    | Disconnect
    | Splice
    | SocketFrame
)

FRAMES: tuple[type[Any], ...] = (
    Boot,
    Fetch,
    StreamChunk,
    StreamCredit,
    StreamAbort,
    Queue,
    Scheduled,
    OperationDone,
    Drain,
    Warm,
    Ready,
    BootFailed,
    Response,
    Failed,
    QueueResult,
    Sends,
    QueueMetrics,
    Log,
    Cancel,
    AcquireObject,
    ObjectGranted,
    ObjectWanted,
    ReleaseObject,
    AlarmSet,
    Alarm,
    Ping,
    Pong,
    Connect,
    Relay,
    Disconnect,
    Splice,
    *SOCKET_FRAMES,
)

_CODES = {cls: code for code, cls in enumerate(FRAMES)}
_LENGTH = struct.Struct("<I")


class FrameError(Exception):
    """The bytes are not a frame: supervisor and child are of different versions."""


def encode(frame: Frame) -> bytes:
    global _PACK
    body: bytes = _PACK((_CODES[type(frame)], *frame))
    if len(body) > KEPT_BYTES:
        _PACK = _packer()
    return _LENGTH.pack(len(body)) + body


#: A packer keeps a buffer as large as the largest frame it made: after larger ones it is replaced.
KEPT_BYTES = 1024 * 1024


def _packer() -> Callable[[Any], bytes]:
    pack: Callable[[Any], bytes] = msgpack.Packer(unicode_errors="surrogatepass").pack
    return pack


_PACK = _packer()


class FrameDecoder:
    """Incremental decoder: feed it what arrives, take the frames that are complete."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames completed by ``data``, in order.

        Raises:
            FrameError: a length or a code that no frame has.
        """
        buffer = self._buffer
        if not buffer and len(data) > _LENGTH.size:
            (length,) = _LENGTH.unpack_from(data)
            if length == len(data) - _LENGTH.size:  # the usual case: one frame, and no copy of it
                return [_decode(memoryview(data)[_LENGTH.size :])]
        buffer += data
        frames: list[Frame] = []
        start, end = 0, len(buffer)
        with memoryview(buffer) as view:
            while end - start >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(view, start)
                if length > MAX_FRAME_BYTES:
                    raise FrameError(f"frame of {length} bytes")
                if end - start - _LENGTH.size < length:
                    break
                body_start = start + _LENGTH.size
                frames.append(_decode(view[body_start : body_start + length]))
                start = body_start + length
        del buffer[:start]
        return frames


def _decode(body: memoryview) -> Frame:
    code, *fields = msgpack.unpackb(
        body, use_list=False, unicode_errors="surrogatepass", strict_map_key=False
    )
    if not 0 <= code < len(FRAMES):
        raise FrameError(f"unknown frame code {code}")
    frame: Frame = FRAMES[code](*fields)
    return frame
