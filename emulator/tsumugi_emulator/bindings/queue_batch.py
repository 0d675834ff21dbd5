"""What a queue handler receives: the batch, its messages, and who wins when they are settled.

The precedence rules are workerd's (queues reference 2.2), with its warnings: the first call on a
message wins, a call on the batch does not undo it. What the service makes of the outcome is
``queues.policy``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.arguments import delay_seconds, options_object
from tsumugi_emulator.bindings.queue_body import decode_body
from tsumugi_emulator.bindings.queue_producer import metrics_object
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.values import JsObject, JsProxy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.bindings.port import Metrics
    from tsumugi_emulator.javascript.io_context import IoContext


class Settlement:
    """What the handler decided so far, in the shape the service receives."""

    __slots__ = ("ack_all", "event", "explicit_acks", "retries", "retry_all", "retry_all_delay_s")

    def __init__(self, event: IoContext) -> None:
        self.event = event
        self.ack_all = False
        self.retry_all = False
        self.retry_all_delay_s: int | None = None
        self.explicit_acks: dict[str, None] = {}
        self.retries: dict[str, int | None] = {}

    def _warn(self, call: str, earlier: str, message_id: str = "") -> None:
        on_message = f" on message {message_id}" if message_id else ""
        where = " on a message" if message_id else ""
        self.event.warn(
            f"Received a call to {call}(){on_message} after {earlier}() was already called. "
            f"Calling {call}(){where} after calling {earlier}() has no effect."
        )

    def retry(self, message_id: str, delay_s: int | None) -> None:
        if self.ack_all:
            self._warn("retry", "ackAll", message_id)
        elif message_id in self.explicit_acks:
            self._warn("retry", "ack", message_id)
        else:
            self.retries[message_id] = delay_s  # a later retry() replaces the delay

    def ack(self, message_id: str) -> None:
        if self.ack_all:
            return
        if self.retry_all:
            self._warn("ack", "retryAll", message_id)
        elif message_id in self.retries:
            self._warn("ack", "retry", message_id)
        else:
            self.explicit_acks[message_id] = None

    def retry_batch(self, delay_s: int | None) -> None:
        if self.ack_all:
            self._warn("retryAll", "ackAll")
            return
        self.retry_all = True
        if delay_s is not None:
            self.retry_all_delay_s = delay_s

    def ack_batch(self) -> None:
        if self.retry_all:
            self._warn("ackAll", "retryAll")
        else:
            self.ack_all = True


@js_class("QueueMessage", constructible=False)
class QueueMessage(JsProxy):
    __slots__ = (
        "_body",
        "_content_type",
        "_data",
        "_settlement",
        "_timestamp_ms",
        "attempts",
        "id",
    )

    @staticmethod
    def _for_sdk(message: QueueMessage) -> Any:
        from tsumugi_emulator.bindings.sdk_message import wrapped

        return wrapped(message)

    def __init__(self, settlement: Settlement, wire: tuple[str, int, int, str, bytes]) -> None:
        self.id, self._timestamp_ms, self.attempts, self._content_type, self._data = wire
        self._settlement = settlement
        self._body: Any = _UNREAD

    @property
    def _has_been_read(self) -> bool:
        return self._body is not _UNREAD

    @js_property
    def body(self) -> Any:
        if self._body is _UNREAD:
            self._body = decode_body(self._data, self._content_type)
        return self._body

    @js_property
    def timestamp(self) -> JsDate:
        return JsDate(self._timestamp_ms)

    @js_method
    def retry(self, options: Any = None, *_rest: Any) -> None:
        options = options_object(
            options, method="retry", owner="QueueMessage", position=1, expected="QueueRetryOptions"
        )
        self._settlement.event.owns("QueueMessage")
        self._settlement.retry(self.id, delay_seconds(options))

    @js_method
    def ack(self, *_rest: Any) -> None:
        self._settlement.event.owns("QueueMessage")
        self._settlement.ack(self.id)

    def _entries(self) -> dict[str, Any]:
        return {
            "attempts": self.attempts,
            "body": self.body,
            "timestamp": self.timestamp,
            "id": self.id,
        }


_UNREAD = object()


@js_class("QueueController", constructible=False)
class QueueController(JsProxy):
    """``batch``: production's own class name, which the SDK's error texts show."""

    __slots__ = ("_settlement", "messages", "metadata", "queue")

    def __init__(
        self,
        settlement: Settlement,
        queue: str,
        messages: Sequence[tuple[str, int, int, str, bytes]],
        metrics: Metrics,
    ) -> None:
        self._settlement = settlement
        self.queue = queue
        self.messages = JsArray([QueueMessage(settlement, message) for message in messages])
        self.metadata = JsObject({"metrics": metrics_object(metrics)})

    @js_method
    def retryAll(self, options: Any = None, *_rest: Any) -> None:
        options = options_object(
            options,
            method="retryAll",
            owner="QueueController",
            position=1,
            expected="QueueRetryOptions",
        )
        self._settlement.event.owns("QueueController")
        self._settlement.retry_batch(delay_seconds(options))

    @js_method
    def ackAll(self, *_rest: Any) -> None:
        self._settlement.event.owns("QueueController")
        self._settlement.ack_batch()

    def _entries(self) -> dict[str, Any]:
        return {"messages": self.messages, "queue": self.queue, "metadata": self.metadata}
