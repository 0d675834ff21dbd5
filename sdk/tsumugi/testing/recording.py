"""A producer binding that keeps what is sent to it. Delivers nothing, knows no consumer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tsumugi.testing.options import checked_options
from tsumugi.testing.values import JsDict, delivered

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from tsumugi.queues import ContentType

# https://developers.cloudflare.com/queues/platform/limits/ (1 KB is 1000 bytes)
MAX_MESSAGE_BYTES: Final = 128_000
MAX_BATCH_MESSAGES: Final = 100
MAX_BATCH_BYTES: Final = 256_000

_OPTIONS = ("contentType", "delaySeconds")


class QueueError(Exception):
    """A refusal of the queue service. In the runtime it is a ``pyodide.ffi.JsException``, which
    has the same ``name`` and ``message`` and appears, like this one, when the call is awaited."""

    def __init__(self, message: str) -> None:
        super().__init__(f"Error: {message}")
        self.name = "Error"
        self.message = message


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message as the queue took it; ``body`` is what a consumer would receive.

    ``delay_s`` is None when neither the message nor its batch named one: the queue's own delay
    applies.
    """

    body: Any
    content_type: ContentType
    delay_s: int | None
    size_bytes: int


class RecordingQueue:
    """Stands in for ``env.JOBS`` in a test; satisfies :class:`tsumugi.Queue`.

    ``sent`` holds every stored message in order, ``failure`` is raised by the next calls instead
    of storing anything. As in production a call counts only when it is awaited.
    """

    def __init__(self) -> None:
        self.sent: list[SentMessage] = []
        self.failure: Exception | None = None

    @property
    def bodies(self) -> list[Any]:
        """The bodies alone, for the common assertion."""
        return [message.body for message in self.sent]

    def send(
        self, body: Any, options: Mapping[str, object] | None = None, /, **named: Any
    ) -> Coroutine[Any, Any, Any]:
        """Store one message.

        Raises ``TypeError`` at the call for a body or an option that production refuses or
        silently changes; when awaited, :class:`QueueError` for a body over 128 KB.
        """
        checked = checked_options("send()", _OPTIONS, options, named)
        return self._store("send", [_sent(body, checked, default_delay_s=None)])

    def sendBatch(
        self, messages: Any, options: Mapping[str, object] | None = None, /, **named: Any
    ) -> Coroutine[Any, Any, Any]:
        """Store 1 to 100 messages of at most 256 KB together, all or none; see :meth:`send`."""
        checked = checked_options("sendBatch()", ("delaySeconds",), options, named)
        if not isinstance(messages, list):
            raise TypeError(
                f"sendBatch() takes a list of {{'body': ...}}, not {type(messages).__name__}"
            )
        if not messages:
            raise TypeError("sendBatch() requires at least one message")
        default_delay_s = checked.get("delaySeconds")
        return self._store("sendBatch", [_entry(item, default_delay_s) for item in messages])

    async def metrics(self) -> Any:
        """The backlog, as if nothing had been consumed."""
        size_bytes = sum(message.size_bytes for message in self.sent)
        return JsDict(backlogCount=len(self.sent), backlogBytes=size_bytes)

    async def _store(self, call: str, messages: list[SentMessage]) -> Any:
        if self.failure is not None:
            raise self.failure
        _check_limits(call, messages)
        self.sent.extend(messages)
        return JsDict(metadata=JsDict(metrics=await self.metrics()))


def _entry(item: object, default_delay_s: int | None) -> SentMessage:
    if not isinstance(item, dict):
        raise TypeError(
            f"sendBatch() takes a list of {{'body': ...}}, and one entry is a "
            f"{type(item).__name__} (production: not of type 'MessageSendRequest')"
        )
    if "body" not in item:
        raise TypeError("Message body cannot be undefined: an entry of sendBatch() has no 'body'")
    options = {name: value for name, value in item.items() if name != "body"}
    checked = checked_options("sendBatch() entry", _OPTIONS, options, {})
    return _sent(item["body"], checked, default_delay_s=default_delay_s)


def _sent(body: object, options: Mapping[str, Any], *, default_delay_s: int | None) -> SentMessage:
    content_type: ContentType = options.get("contentType", "json")
    value, size_bytes = delivered(body, content_type)
    delay_s = options.get("delaySeconds", default_delay_s)
    return SentMessage(value, content_type, delay_s, size_bytes)


def _check_limits(call: str, messages: list[SentMessage]) -> None:
    largest = max(message.size_bytes for message in messages)
    total = sum(message.size_bytes for message in messages)
    if len(messages) > MAX_BATCH_MESSAGES:
        fault = f"batch message count of {len(messages)} exceeds limit of {MAX_BATCH_MESSAGES}"
    elif largest > MAX_MESSAGE_BYTES:
        fault = f"message length of {largest} bytes exceeds limit of {MAX_MESSAGE_BYTES}"
    elif total > MAX_BATCH_BYTES:
        fault = f"batch size of {total} bytes exceeds limit of {MAX_BATCH_BYTES}"
    else:
        return
    raise QueueError(f"Queue {call} failed: {fault}")
