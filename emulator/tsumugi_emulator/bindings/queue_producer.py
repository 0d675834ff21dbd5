"""``env.QUEUE``: the producer side of a queue, with workerd's argument rules and texts."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.arguments import delay_seconds, option, options_object
from tsumugi_emulator.bindings.lossy import lossy_paths
from tsumugi_emulator.bindings.port import Metrics, Port, PortError, SendRequest
from tsumugi_emulator.bindings.queue_body import UNDEFINED_JSON, content_type_of, encode_body
from tsumugi_emulator.javascript import io_context, json_text as js_json
from tsumugi_emulator.javascript.arrays import JsArray, iterate_js
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import JsException, js_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.promise import rejected
from tsumugi_emulator.javascript.structs import fields
from tsumugi_emulator.javascript.to_python import for_sdk
from tsumugi_emulator.javascript.values import OBJECT_CONSTRUCTOR, JsObject, JsProxy, PyProxy

if TYPE_CHECKING:
    from collections.abc import Generator

#: A send nobody awaits leaves after this long, if its event lives on (ADR-0040).
UNAWAITED_SEND_S = 0.001

_MISSING = object()


class SendPromise(PyodideFuture):
    """The promise of a send. It leaves when awaited, or soon after if its event goes on.

    In a queue handler that returns at once, production loses a send nobody awaited; so do we.
    """

    def __init__(self, port: Port, request: SendRequest, verb: str) -> None:
        super().__init__(loop=asyncio.get_running_loop())
        self._port = port
        self._request: SendRequest | None = request
        self._verb = verb
        self._event = io_context.require()
        self._resume = self._event.resumer()
        self._line = ""
        self._event.unsent[id(self)] = self
        self._event.begin()
        if self._event.kind == "queue":
            self._line = io_context.user_line()
        self._timer: asyncio.TimerHandle | None = None
        # Most sends are awaited at once, and a timer costs more than looking whether it was.
        loop: Any = self.get_loop()
        self._called_s: float = loop.time()
        loop.at_turn_end(partial(copy_context().run, self._leave_later))

    def _leave_later(self) -> None:
        if self._request is not None:
            when_s = self._called_s + UNAWAITED_SEND_S
            self._timer = self.get_loop().call_at(when_s, self.leave)

    def __await__(self) -> Generator[Any, None, Any]:
        if self._request is not None:
            if asyncio.current_task() is self._event.handler:
                self.leave()
            else:
                # A task of its own: it needs a few turns to get a subrequest out, and an event
                # that ends meanwhile takes it along (verified reference, row "lost").
                loop = self.get_loop()
                loop.call_soon(loop.call_soon, self.leave)
        return super().__await__()

    __iter__ = __await__

    def leave(self) -> None:
        """Hand the messages over, once."""
        request, self._request = self._request, None
        if request is None:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._event.unsent.pop(id(self), None)
        self._port.queue_send(request, self._answer)

    def drop(self) -> str:
        """Forget the messages, as production does when the event is over; says what was lost."""
        request, self._request = self._request, None
        if self._timer is not None:
            self._timer.cancel()
        self._event.finish()
        count = len(request.messages) if request else 0
        return (
            f"{self._line}{self._verb}() to queue {request.queue if request else '?'!r} was not "
            f"awaited and its handler has returned: {count} message(s) lost, as in production. "
            f"Write `await env.<BINDING>.{self._verb}(...)`, or hold it with self.ctx.waitUntil()."
        )

    def _answer(self, metrics: Metrics | None, error: PortError | None) -> None:
        self._resume(lambda: self._settle(metrics, error))

    def _settle(self, metrics: Metrics | None, error: PortError | None) -> None:
        self._event.finish()
        if self.done():
            return
        if error is not None:
            self.set_exception(_service_error(self._verb, error))
        else:
            self.set_result(SendResult(metrics or Metrics(0, 0, 0)))


_set = object.__setattr__


class SendResult(JsObject):
    """What a send answers: an object that converts itself for the SDK while nobody changed it."""

    __slots__ = ("_made", "_metrics")

    _made: dict[str, Any] | None
    _metrics: Metrics

    def __init__(self, metrics: Metrics) -> None:
        # Setting an attribute of a JavaScript object sets its property.
        _set(self, "_metrics", metrics)
        _set(self, "_made", None)

    @property
    def _props(self) -> dict[str, Any]:  # type: ignore[override]
        made = self._made
        if made is None:
            made = {"metadata": JsObject({"metrics": metrics_object(self._metrics)})}
            _set(self, "_made", made)
        return made

    @property
    def constructor(self) -> Any:
        """Asked by the SDK before it converts: no reason to make the properties."""
        return OBJECT_CONSTRUCTOR[0] if self._made is None else super().constructor

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> Any:
        if self._made is not None or not for_sdk(default_converter):
            return super().to_py(depth=depth, default_converter=default_converter)
        count, size, oldest_ms = self._metrics
        oldest = default_converter(JsDate(oldest_ms), None, None) if oldest_ms else None
        return {"metadata": {"metrics": _metrics_fields(count, size, oldest)}}


def metrics_object(metrics: Metrics | None) -> JsObject:
    """``QueueMetrics``; the epoch is the service's word for "no message" and is not set."""
    count, size, oldest_ms = metrics or Metrics(0, 0, 0)
    return JsObject(_metrics_fields(count, size, JsDate(oldest_ms) if oldest_ms else None))


def _metrics_fields(count: int, size: int, oldest: Any) -> dict[str, Any]:
    return fields({"backlogCount": count, "backlogBytes": size, "oldestMessageTimestamp": oldest})


def _service_error(verb: str, error: PortError) -> JsException:
    if MODE.flag("queue_expose_error_codes"):
        return js_error("Error", f"{error.text} ({error.code})")
    return js_error("Error", f"Queue {verb} failed: {error.text}")


@js_class("WorkerQueue", constructible=False)
class WorkerQueue(JsProxy):
    """A producer binding."""

    __slots__ = ("_name", "_port")

    def __init__(self, name: str, port: Port) -> None:
        self._name = name
        self._port = port

    @js_method
    def send(self, body: Any = _MISSING, options: Any = None, *_rest: Any) -> PyodideFuture:
        io_context.require()
        try:
            return self._send(body, options)
        except JsException as error:
            return rejected(error)

    def _send(self, body: Any, options: Any) -> PyodideFuture:
        if body is _MISSING:
            raise type_error(
                "Failed to execute 'send' on 'WorkerQueue': parameter 1 is not of type 'JsValue'."
            )
        options = options_object(
            options, method="send", owner="WorkerQueue", position=2, expected="SendOptions"
        )
        if body is None:
            raise type_error("Message body cannot be undefined")
        content_type = content_type_of(
            option(options, "contentType"), _default_content_type(), fold_case=True
        )
        delay_s = delay_seconds(options)
        message = (self._encode("send", body, content_type), content_type, delay_s)
        return self._hand_over("send", [message], None)

    @js_method
    def sendBatch(self, messages: Any = None, options: Any = None, *_rest: Any) -> PyodideFuture:
        io_context.require()
        try:
            return self._send_batch(messages, options)
        except JsException as error:
            return rejected(error)

    def _send_batch(self, messages: Any, options: Any) -> PyodideFuture:
        items = _sequence(messages)
        options = options_object(
            options,
            method="sendBatch",
            owner="WorkerQueue",
            position=2,
            expected="SendBatchOptions",
        )
        if not items:
            raise type_error("sendBatch() requires at least one message")
        default = _default_content_type()
        encoded = [self._batch_item(item, default, index) for index, item in enumerate(items)]
        return self._hand_over("sendBatch", encoded, delay_seconds(options))

    def _batch_item(self, item: Any, default: str, index: int) -> tuple[bytes, str, int | None]:
        if type(item) is JsObject:
            read: Any = item._props.get
        elif isinstance(item, (JsProxy, PyProxy)):
            read = partial(option, item)
        else:
            raise type_error(
                "Incorrect type: the provided value is not of type 'MessageSendRequest'."
            )
        body = read("body")
        if body is None:
            raise type_error("Message body cannot be undefined")
        content_type = read("contentType")
        if content_type is None:
            content_type = default
        else:
            content_type = content_type_of(content_type, default, fold_case=False)
        data = self._encode("sendBatch", body, content_type, index)
        return (data, content_type, delay_seconds(item))

    @js_method
    def metrics(self) -> PyodideFuture:
        event = io_context.require()
        future = PyodideFuture(loop=asyncio.get_running_loop())
        event.track(future)

        def answer(metrics: Metrics | None, error: PortError | None) -> None:
            if error is not None:
                future.set_exception(js_error("Error", f"{error.text} ({error.code})"))
            else:
                future.set_result(metrics_object(metrics))

        self._port.queue_metrics(self._name, answer)
        return future

    def _encode(self, verb: str, body: Any, content_type: str, index: int | None = None) -> bytes:
        losses = js_json.LOSSES[0]
        data = encode_body(body, content_type)
        if js_json.LOSSES[0] != losses:
            path = "body" if index is None else f"messages[{index}].body"
            _warn_of_losses(self._name, verb, body, path)
        if data is UNDEFINED_JSON:
            raise _service_error(verb, PortError(10208, _NOT_JSON, 400))
        return data

    def _hand_over(self, verb: str, messages: list[Any], batch_delay_s: int | None) -> SendPromise:
        request = SendRequest(self._name, messages, batch_delay_s, verb == "sendBatch")
        return SendPromise(self._port, request, verb)


#: The service's answer to the text ``undefined``, which a function body becomes.
_NOT_JSON = "Internal Server Error"


def _default_content_type() -> str:
    return "json" if MODE.flag("queues_json_messages") else "v8"


def _sequence(messages: Any) -> list[Any]:
    if isinstance(messages, JsArray):
        return messages._items
    try:
        if isinstance(messages, (JsProxy, PyProxy)):
            return list(iterate_js(messages))
    except JsException:  # it is no iterable
        pass
    raise type_error(
        "Failed to execute 'sendBatch' on 'WorkerQueue': parameter 1 is not of type 'Sequence'."
    )


_warned: set[tuple[str, str]] = set()


def _warn_of_losses(queue: str, verb: str, body: Any, path: str) -> None:
    line = io_context.user_line()
    for where, what in lossy_paths(body, path):
        if (line, where) in _warned:
            continue
        _warned.add((line, where))
        io_context.require().warn(
            f"{line}{verb}() to queue {queue!r}: {where} is {what}, which JSON cannot hold; the "
            "consumer gets an empty or index-keyed object, as in production. Convert it first."
        )
