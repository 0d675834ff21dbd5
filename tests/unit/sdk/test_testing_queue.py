from __future__ import annotations

import array
import asyncio
import collections
import decimal
import enum
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel
from tsumugi.testing import JsDict, QueueError, RecordingQueue, SentMessage

if TYPE_CHECKING:
    from collections.abc import Coroutine


def sent(*arguments: Any, **options: Any) -> SentMessage:
    queue = RecordingQueue()
    asyncio.run(queue.send(*arguments, **options))
    [message] = queue.sent
    return message


def failure_of(call: Coroutine[Any, Any, Any]) -> str:
    with pytest.raises(QueueError) as caught:
        asyncio.run(call)
    return str(caught.value)


class Colour(enum.StrEnum):
    RED = "red"


class Model(BaseModel):
    a: int = 1


@dataclass
class Point:
    x: int = 1


def test_what_is_sent_is_kept_in_order() -> None:
    queue = RecordingQueue()

    async def send_all() -> None:
        await queue.send("a")
        await queue.sendBatch([{"body": "b", "delaySeconds": 1}, {"body": "c"}], delaySeconds=9)

    asyncio.run(send_all())
    assert queue.bodies == ["a", "b", "c"]
    assert [message.delay_s for message in queue.sent] == [None, 1, 9]


def test_a_send_answers_with_the_backlog() -> None:
    queue = RecordingQueue()
    result = asyncio.run(queue.send({"a": 1}))
    assert result.metadata.metrics == {"backlogCount": 1, "backlogBytes": len('{"a":1}')}
    assert result["metadata"]["metrics"] == asyncio.run(queue.metrics())


def test_a_send_that_nobody_awaits_stores_nothing() -> None:
    queue = RecordingQueue()
    queue.send("lost").close()
    assert queue.sent == []


def test_options_arrive_by_keyword_or_as_one_dict() -> None:
    by_keyword = sent("x", contentType="text", delaySeconds=0)
    assert by_keyword == sent("x", {"contentType": "text", "delaySeconds": 0})
    assert (by_keyword.content_type, by_keyword.delay_s) == ("text", 0)


@pytest.mark.parametrize(
    ("body", "arrives_as"),
    [
        (None, None),
        ("text", "text"),
        (True, True),
        (1.0, 1),
        (-0.0, 0),
        (1e20, 1e20),
        (float("nan"), None),
        (float("inf"), None),
        (2**53 - 2, 2**53 - 2),
        ({"a": {"b": [1, None]}}, {"a": {"b": [1, None]}}),
        ({1: "a", 2: "b"}, {"1": "a", "2": "b"}),
        ({None: 1, 2.0: 2, False: 3}, {"undefined": 1, "2": 2, "false": 3}),
        (range(3), [0, 1, 2]),
        (collections.deque([1]), [1]),
        (collections.Counter("aa"), {"a": 2}),
        (Colour.RED, "red"),
        (datetime(2020, 1, 2, 3, 4, 5, 678_999, tzinfo=UTC), "2020-01-02T03:04:05.678Z"),
    ],
)
def test_a_json_body_arrives_as_javascript_leaves_it(body: Any, arrives_as: Any) -> None:
    received = sent(body).body
    assert received == arrives_as
    assert type(received) is type(arrives_as) or isinstance(received, JsDict)


def test_a_json_object_allows_attribute_access() -> None:
    body = sent({"customer": {"name": "Ada", "items": 3}}).body
    assert body.customer.name == body["customer"]["name"] == "Ada"
    assert callable(body.customer.items)  # a dict's own methods win
    assert not hasattr(body, "missing")


def test_a_received_body_is_a_copy() -> None:
    body = {"a": [1]}
    received = sent(body).body
    body["a"].append(2)
    assert received == {"a": [1]}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            {"a": [(1, 2)]},
            r"body\['a'\]\[0\]: <class 'tuple'> cannot be sent over RPC. Send a list",
        ),
        (bytearray(b"x"), "cannot be sent over RPC. Send bytes"),
        (2**53 - 1, "Do not know how to serialize a BigInt"),
        (b"x", 'contentType="bytes"'),
        ({"a": {1}}, r"body\['a'\]: set would arrive as {}"),
        (decimal.Decimal(1), "decimal.Decimal would arrive as {}"),
        (uuid.UUID(int=1), "uuid.UUID would arrive as {}"),
        (date(2026, 1, 1), "datetime.date would arrive as {}"),
        (Point(), "Point would arrive as {}"),
        (Model(), r'Send value.model_dump\(mode="json"\)'),
        ({("a", 1): 2}, "cannot use .* as a key"),
        (len, "would arrive as {}"),
    ],
)
def test_a_body_that_production_refuses_or_empties_is_refused_at_the_call(
    body: Any, complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        RecordingQueue().send(body)
    with pytest.raises(TypeError, match=complaint):
        RecordingQueue().sendBatch([{"body": "fine"}, {"body": body}])


def test_bytes_arrive_as_a_writable_memoryview() -> None:
    for body in (b"\x00\xff", memoryview(b"\x00\xff"), array.array("B", [0, 255])):
        received = sent(body, contentType="bytes").body
        assert isinstance(received, memoryview)
        assert (bytes(received), received.readonly) == (b"\x00\xff", False)


def test_v8_keeps_datetimes_sets_bytes_and_infinity() -> None:
    moment = datetime(2020, 1, 2, 3, 4, 5, 678_999)
    body = sent(
        {"at": moment, "tags": {1, 2}, "raw": b"x", "far": float("inf")}, contentType="v8"
    ).body
    assert body.at == datetime(2020, 1, 2, 3, 4, 5, 678_000)
    assert (body.tags, bytes(body.raw), body.far) == ({1, 2}, b"x", float("inf"))


@pytest.mark.parametrize(
    ("body", "content_type", "complaint"),
    [
        (5, "text", 'Content Type "text" requires a value of type string'),
        ("x", "bytes", 'Content Type "bytes" requires a value of type ArrayBufferView'),
        (Point(), "v8", "could not be cloned"),
        ("x", "xml", "Unsupported queue message content type: xml"),
        ("x", None, "Unsupported queue message content type: None"),
    ],
)
def test_a_body_must_fit_its_content_type(body: Any, content_type: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        RecordingQueue().send(body, contentType=content_type)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"delay_seconds": 5}, "write delaySeconds=, not delay_seconds="),
        ({"content_type": "text"}, "write contentType=, not content_type="),
        ({"ttl": 5}, r"unknown option 'ttl'.*known: contentType, delaySeconds"),
        ({"delaySeconds": "5"}, "whole number of seconds"),
    ],
)
def test_an_option_that_production_ignores_is_refused(
    options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        RecordingQueue().send("x", **options)
    with pytest.raises(TypeError, match=complaint):
        RecordingQueue().sendBatch([{"body": "x", **options}])


def test_a_body_given_by_name_is_refused_because_the_name_would_be_sent_too() -> None:
    with pytest.raises(TypeError):
        RecordingQueue().send(body="x")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "requires at least one message"),
        (({"body": 1},), "takes a list .* not tuple"),
        (({"body": n} for n in range(2)), "takes a list .* not generator"),
        (["x"], "MessageSendRequest"),
        ([{"message": "x"}], "Message body cannot be undefined"),
    ],
)
def test_a_batch_of_the_wrong_shape_is_refused(messages: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        RecordingQueue().sendBatch(messages)


def test_the_largest_message_is_accepted_and_one_byte_more_is_not() -> None:
    assert sent("x" * 127_998).size_bytes == 128_000  # with the quotes of JSON
    assert failure_of(RecordingQueue().send("x" * 127_999)) == (
        "Error: Queue send failed: message length of 128001 bytes exceeds limit of 128000"
    )


def test_size_is_measured_in_bytes_as_encoded() -> None:
    assert sent("é").size_bytes == 4
    assert sent("é", contentType="text").size_bytes == 2
    assert sent(b"abc", contentType="bytes").size_bytes == 3


def test_a_batch_takes_100_messages_and_no_more() -> None:
    queue = RecordingQueue()
    asyncio.run(queue.sendBatch([{"body": n} for n in range(100)]))
    assert len(queue.sent) == 100
    assert failure_of(queue.sendBatch([{"body": n} for n in range(101)])) == (
        "Error: Queue sendBatch failed: batch message count of 101 exceeds limit of 100"
    )
    assert len(queue.sent) == 100


def test_a_batch_over_256_kilobytes_is_refused_whole() -> None:
    queue = RecordingQueue()
    assert "batch size of 300006 bytes exceeds limit of 256000" in failure_of(
        queue.sendBatch([{"body": "x" * 100_000}] * 3)
    )
    assert queue.sent == []


def test_a_failure_can_be_arranged() -> None:
    queue = RecordingQueue()
    queue.failure = QueueError("Queue send failed: Too Many Requests")
    assert failure_of(queue.send("x")) == "Error: Queue send failed: Too Many Requests"
    queue.failure = None
    asyncio.run(queue.send("x"))
    assert queue.bodies == ["x"]
