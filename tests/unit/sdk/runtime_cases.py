"""The SDK against the runtime's own objects: the real `workers` package over the boundary.

Not collected by name: `test_under_the_runtime.py` runs it in a process of its own, because the
runtime's modules are loaded for good.
"""

from __future__ import annotations

import array
import asyncio
import inspect
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.bindings.port import Metrics, SendRequest
from tsumugi_emulator.bindings.queue_batch import QueueController, Settlement
from tsumugi_emulator.bindings.queue_body import decode_body, encode_body
from tsumugi_emulator.bindings.queue_producer import WorkerQueue
from tsumugi_emulator.javascript import install, io_context
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.values import JsObject
from tsumugi_emulator.javascript.wait_until import ExecutionContext
from tsumugi_emulator.worker.loop import WorkerLoop

install(compatibility_flags=frozenset({"queues_json_messages"}))

import workers
from tsumugi import (
    Backoff,
    Message,
    MessageBatch,
    Queue,
    QueueConsumer,
    QueueMetrics,
    Reject,
    consumes,
)
from tsumugi.testing import RecordingQueue
from workers.rpc import _BindingWrapper, _EnvWrapper, python_to_rpc

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T0_MS = 1_790_000_000_000


class Port:
    """Answers every send at once; keeps what was sent."""

    def __init__(self) -> None:
        self.requests: list[SendRequest] = []

    def queue_send(self, request: SendRequest, answer: Callable[..., None]) -> None:
        self.requests.append(request)
        answer(Metrics(3, 14, T0_MS), None)

    def queue_metrics(self, queue: str, answer: Callable[..., None]) -> None:
        answer(Metrics(3, 14, T0_MS), None)


def _encoded(body: Any, content_type: str) -> bytes:
    return encode_body(python_to_js(python_to_rpc(body)), content_type)


def in_event[T](work: Callable[[io_context.IoContext], Coroutine[Any, Any, T]]) -> T:
    async def event() -> T:
        context = io_context.IoContext("queue", pytest.fail)
        io_context.enter(context)
        return await work(context)

    with asyncio.Runner(loop_factory=WorkerLoop) as runner:
        return runner.run(event())


def controller(
    event: io_context.IoContext, *bodies: Any, content_type: str = "json"
) -> tuple[QueueController, Settlement]:
    settlement = Settlement(event)
    wire = [
        (
            f"m{i}",
            T0_MS,
            1,
            content_type,
            _encoded(body, content_type),
        )
        for i, body in enumerate(bodies)
    ]
    return QueueController(settlement, "orders", wire, Metrics(5, 50, T0_MS)), settlement


def members(protocol: type) -> set[str]:
    return set(protocol.__protocol_attrs__)  # type: ignore[attr-defined]


# -- The types are the objects -----------------------------------------------------------------


def test_the_types_have_the_surface_of_production_and_nothing_else() -> None:
    # https://developers.cloudflare.com/queues/configuration/javascript-apis/
    assert members(Message) == {"id", "timestamp", "body", "attempts", "ack", "retry"}
    assert members(MessageBatch) == {"queue", "messages", "metadata", "ackAll", "retryAll"}
    assert members(Queue) == {"send", "sendBatch", "metrics"}


def test_every_member_of_a_batch_exists_on_the_real_one() -> None:
    async def check(event: io_context.IoContext) -> None:
        batch = _BindingWrapper(controller(event, {"a": 1})[0])
        [message] = batch.messages
        assert [name for name in members(MessageBatch) if not hasattr(batch, name)] == []
        assert [name for name in members(Message) if not hasattr(message, name)] == []
        metrics = batch.metadata.metrics
        assert [name for name in members(QueueMetrics) if not hasattr(metrics, name)] == []
        assert (batch.queue, message.id, message.attempts) == ("orders", "m0", 1)
        assert isinstance(message.timestamp, datetime)
        assert message.timestamp.tzinfo is None
        assert message.body.a == message.body["a"] == 1

    in_event(check)


def test_decisions_take_the_options_the_types_promise() -> None:
    async def check(event: io_context.IoContext) -> None:
        raw, settlement = controller(event, 1, 2, 3)
        batch = _BindingWrapper(raw)
        first, second, third = batch.messages
        assert first.ack() is None
        assert second.retry(delaySeconds=60) is None
        assert third.retry() is None
        assert batch.retryAll(delaySeconds=5) is None
        assert list(settlement.explicit_acks) == ["m0"]
        assert settlement.retries == {"m1": 60, "m2": None}
        assert (settlement.retry_all, settlement.retry_all_delay_s) == (True, 5)

    in_event(check)


def test_a_real_queue_answers_as_the_types_promise() -> None:
    async def check(event: io_context.IoContext) -> None:
        port = Port()
        queue = _BindingWrapper(WorkerQueue("orders", port))
        assert [name for name in members(Queue) if not hasattr(queue, name)] == []
        one = await queue.send({"a": 1}, contentType="json", delaySeconds=60)
        many = await queue.sendBatch([{"body": "x", "delaySeconds": 1}], delaySeconds=2)
        for result in (one, many):
            assert result.metadata.metrics.backlogCount == 3
            assert result.metadata.metrics.backlogBytes == 14
        assert (await queue.metrics()).backlogCount == 3
        assert [request.messages for request in port.requests] == [
            [(b'{"a":1}', "json", 60)],
            [(b'"x"', "json", 1)],
        ]

    in_event(check)


# -- The fakes are the objects -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (None, "json"),
        (True, "json"),
        ("é", "json"),
        (1.0, "json"),
        (-0.0, "json"),
        (1.5, "json"),
        (1e20, "json"),
        (float("nan"), "json"),
        (2**53 - 2, "json"),
        ({"a": {"b": [1, None, {"c": []}]}}, "json"),
        ({1: "a", None: "b", False: "c"}, "json"),
        ([], "json"),
        ({}, "json"),
        (datetime(2020, 1, 2, 3, 4, 5, 678_999), "json"),
        (datetime(2020, 1, 2, 3, 4, 5, 999, tzinfo=UTC), "json"),
        ("text", "text"),
        ("", "text"),
        (b"\x00\xff", "bytes"),
        (memoryview(b"\x00\xff"), "bytes"),
        (array.array("B", [1, 2]), "bytes"),
        ({"at": datetime(2020, 1, 2, 3, 4, 5, 678_999), "tags": {1, 2}}, "v8"),
        ([float("inf"), 1.0, None, {"raw": b"x"}], "v8"),
    ],
)
def test_the_recording_queue_delivers_what_the_real_one_does(body: Any, content_type: Any) -> None:
    async def check(event: io_context.IoContext) -> None:
        batch = _BindingWrapper(controller(event, body, content_type=content_type)[0])
        recording = RecordingQueue()
        await recording.send(body, contentType=content_type)
        [fake], [real] = recording.sent, batch.messages
        assert fake.body == real.body
        assert type(fake.body).__name__ == type(real.body).__name__
        if content_type != "v8":
            assert fake.size_bytes == len(_encoded(body, content_type))

    in_event(check)


@pytest.mark.parametrize("body", [(1,), bytearray(b"x"), 2**53 - 1, b"x", {1, 2}, object()])
def test_the_recording_queue_refuses_only_what_the_real_one_refuses_or_loses(body: Any) -> None:
    with pytest.raises(TypeError):
        RecordingQueue().send(body)
    try:
        received = decode_body(_encoded(body, "json"), "json")
    except Exception:
        return
    assert python_to_rpc(body) is not received
    assert isinstance(received, JsObject)  # {} or {"0": ...}: not what was sent


# -- The consumer is an entrypoint -------------------------------------------------------------


class Default(QueueConsumer):
    @consumes("orders", model=int, retry=Backoff(base_s=7), dead_letter="DEAD", concurrency=2)
    async def order(self, number: int, message: Message[int]) -> None:
        await asyncio.sleep(0)
        if number == 2:
            raise OSError
        if number == 3:
            raise Reject("three is never right")
        await self.env.AUDIT.send({"seen": number})


def test_a_consumer_is_a_real_entrypoint_whose_queue_method_has_productions_form() -> None:
    assert issubclass(Default, workers.WorkerEntrypoint)
    inspect.signature(Default.queue).bind(None, "batch", None, None)


def test_a_consumer_settles_real_messages_and_sends_with_real_bindings() -> None:
    async def check(event: io_context.IoContext) -> None:
        port = Port()
        env = JsObject({name: WorkerQueue(name.lower(), port) for name in ("AUDIT", "DEAD")})
        worker = Default(ExecutionContext(event), env)
        assert isinstance(worker.env, _EnvWrapper)
        raw, settlement = controller(event, 1, 2, 3, "four")
        await worker.queue(raw, None, None)
        assert list(settlement.explicit_acks) == ["m0", "m2", "m3"]
        assert settlement.retries == {"m1": 7}
        sent = sorted((request.queue, request.messages[0][:2]) for request in port.requests)
        assert sent == [
            ("audit", (b'{"seen":1}', "json")),
            ("dead", (b'"four"', "json")),
            ("dead", (b"3", "json")),
        ]

    in_event(check)
