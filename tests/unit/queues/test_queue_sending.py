"""What a send does: limits, delays, metrics, retention. One queue, many days, no waiting."""

from __future__ import annotations

import pytest
from queue_harness import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Emulated,
    emulated,
    hanging,
    message,
    messages,
)
from tsumugi_emulator.queues import (
    Batch,
    BatchResult,
    Metrics,
    OutgoingMessage,
    QueueError,
    QueueSettings,
    Send,
    limits,
)
from tsumugi_emulator.queues.events import Expired

NOW = {"max_batch_size": 100, "max_batch_timeout_s": 0}


@emulated
async def test_a_queues_delay_holds_for_a_send(it: Emulated) -> None:
    it.broker.change(QueueSettings("q", delivery_delay_s=2))
    it.consume(**NOW)
    await it.send("a")
    await it.after(SECOND)
    assert it.delivered == []
    await it.after(SECOND)
    assert it.contents == ["a"]


@emulated
async def test_each_message_may_have_its_own_delay(it: Emulated) -> None:
    it.broker.change(QueueSettings("q", delivery_delay_s=2))
    it.consume(**NOW)
    for delay_s in range(10, 0, -1):
        it.broker.send("q", [message(delay_s=delay_s)])
    for count in range(1, 11):
        await it.after(SECOND)
        assert len(it.delivered) == count


@emulated
async def test_a_delayed_batch_arrives_together(it: Emulated) -> None:
    it.broker.change(QueueSettings("q", delivery_delay_s=2))
    it.consume(**NOW)
    await it.send("ab", batch_delay_s=3)
    await it.after(3 * SECOND - 1)
    assert it.delivered == []
    await it.after(1)
    assert it.contents == ["ab"]


@emulated
async def test_the_most_specific_delay_wins_and_zero_is_a_delay(it: Emulated) -> None:
    it.broker.change(QueueSettings("q", delivery_delay_s=5))
    it.consume(**NOW)
    it.broker.send("q", messages("a"))
    it.broker.send("q", messages("b"), batch_delay_s=3, as_batch=True)
    it.broker.send("q", messages("c", delay_s=2), batch_delay_s=3)
    it.broker.send("q", messages("d", delay_s=0), batch_delay_s=3)
    it.broker.send("q", messages("e"), batch_delay_s=0)
    await it.after(MINUTE)
    assert it.contents == ["de", "c", "b", "a"]
    assert it.delivered_ms == [0, 2_000, 3_000, 5_000]


@emulated
async def test_a_message_may_be_delayed_for_a_day(it: Emulated) -> None:
    it.consume(**NOW)
    it.broker.send("q", [message(delay_s=86_400)])
    await it.after(DAY - 1)
    assert it.delivered == []
    await it.after(1)
    assert it.sizes == [1]


@emulated
async def test_delayed_messages_join_the_line_when_their_delay_ends(it: Emulated) -> None:
    it.consume(max_batch_size=100, max_batch_timeout_s=10)
    it.broker.send("q", [message("a", delay_s=2)])
    await it.after(SECOND)
    await it.send("b")
    await it.after(MINUTE)
    assert it.contents == ["ba"]


@emulated
async def test_more_delayed_messages_than_workerd_has_timers(it: Emulated) -> None:
    it.consume(**NOW)
    for _ in range(120):
        it.broker.send("q", [message(delay_s=60)] * 100)
    assert it.broker.metrics("q").backlog_count == 0
    await it.after(MINUTE)
    assert sum(it.sizes) == 12_000
    assert max(it.sizes) == 100


@emulated
async def test_metrics_of_a_send_are_those_from_before_it(it: Emulated) -> None:
    it.consume(max_batch_size=100, max_batch_timeout_s=60)
    assert await it.send("a") == Metrics(0, 0, 0)
    await it.after(SECOND)
    assert await it.send("bc") == Metrics(1, 1, it.started_ms)
    assert await it.send("d") == Metrics(3, 3, it.started_ms)
    assert it.broker.metrics("q") == Metrics(4, 4, it.started_ms)


@emulated
async def test_metrics_count_neither_delayed_messages_nor_those_in_flight(it: Emulated) -> None:
    it.consume(hanging, max_batch_size=1, max_batch_timeout_s=0)
    it.broker.send("q", [message("aa", delay_s=60), message("b"), message("cc")])
    await it.clock.settle()
    assert it.contents == ["b"]
    assert it.broker.metrics("q") == Metrics(1, 2, it.started_ms)


@pytest.mark.parametrize(
    ("sent", "options", "code", "text"),
    [
        (
            [message(b"x" * 128_001)],
            {},
            10204,
            "message length of 128001 bytes exceeds limit of 128000",
        ),
        (
            [message(b"x" * 128_001)],
            {"as_batch": True},
            10204,
            "message in batch has length 128001 bytes"
            " which exceeds single message size limit of 128000",
        ),
        ([message()] * 101, {}, 10206, "batch message count of 101 exceeds limit of 100"),
        (
            [message(b"x" * 100_000)] * 3,
            {},
            10205,
            "batch size of 300000 bytes exceeds limit of 256000",
        ),
        (
            [message(delay_s=86_401)],
            {},
            10203,
            "message delay 86401 is invalid: must be a whole number of seconds from 0 to 86400",
        ),
        (
            [message(), message(delay_s=-1)],
            {},
            10203,
            "message delay -1 is invalid: must be a whole number of seconds from 0 to 86400",
        ),
        (
            [message()] * 2,
            {"batch_delay_s": 86_401},
            10202,
            "batch delay 86401 is invalid: must be a whole number of seconds from 0 to 86400",
        ),
        (
            [message(content_type="xml")],
            {},
            10203,
            "message content type xml is invalid; if specified, "
            "must be one of 'text', 'json', 'bytes', or 'v8'",
        ),
    ],
)
def test_a_send_beyond_a_limit_is_refused_and_stores_nothing(
    sent: list[OutgoingMessage], options: dict[str, object], code: int, text: str
) -> None:
    async def scenario(it: Emulated) -> None:
        it.consume(**NOW)
        with pytest.raises(QueueError) as raised:
            it.broker.send("q", sent, **options)  # type: ignore[arg-type]
        assert str(raised.value) == raised.value.message == text
        assert raised.value.code == code
        assert 400 <= raised.value.http_status < 500
        await it.after(MINUTE)
        assert it.delivered == []

    emulated(scenario)()


@emulated
async def test_limits_themselves_are_allowed(it: Emulated) -> None:
    it.broker.send("q", [message(b"x" * 128_000)] * 2)
    it.broker.send("q", [message()] * 100)
    assert it.broker.metrics("q").backlog_count == 102


@emulated
async def test_the_count_is_checked_before_sizes_and_sizes_before_the_total(it: Emulated) -> None:
    for sent, code in (
        ([message(b"x" * 128_001)] * 101, 10206),
        ([message(b"x" * 128_001)] * 3, 10204),
        ([message(b"x" * 128_000, delay_s=-1)] * 3, 10205),
    ):
        with pytest.raises(QueueError) as raised:
            it.broker.send("q", sent)
        assert raised.value.code == code


@emulated
async def test_sends_made_together_succeed_or_are_refused_on_their_own(it: Emulated) -> None:
    it.consume(**NOW)
    answers = it.broker.send_together(
        [
            Send("q", messages("a")),
            Send("q", [message(b"x" * 128_001)]),
            Send("unknown", messages("b")),
            Send("q", messages("cd"), batch_delay_s=1),
            Send("q", messages("e")),
        ]
    )
    codes = [answer.code if isinstance(answer, QueueError) else None for answer in answers]
    assert codes == [None, 10204, 10104, None, None]
    assert answers[4] == Metrics(1, 1, it.started_ms)
    await it.after(SECOND)
    assert it.contents == ["ae", "cd"]


def test_a_full_queue_refuses_a_send_and_delayed_messages_fill_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_BACKLOG_BYTES", 3)

    @emulated
    async def test(it: Emulated) -> None:
        it.broker.send("q", [message("a")])
        it.broker.send("q", [message("bc", delay_s=60)])
        with pytest.raises(QueueError, match="Storage Limit Exceeded") as refused:
            it.broker.send("q", [message("d")])
        assert refused.value.code == 10251
        it.consume(**NOW)
        await it.after(MINUTE)
        await it.send("d")
        assert it.contents == ["a", "bc", "d"]

    test()


@emulated
async def test_sending_to_an_unknown_queue_names_the_fix(it: Emulated) -> None:
    with pytest.raises(QueueError, match=r"queues\.producers") as raised:
        it.broker.send("unknown", [message()])
    assert raised.value.code == 10104


@emulated
async def test_messages_expire_after_four_days_without_a_consumer(it: Emulated) -> None:
    await it.send("abc")
    await it.after(DAY)
    await it.send("d")
    await it.after(3 * DAY - 1)
    assert it.broker.metrics("q").backlog_count == 4
    await it.after(1)
    assert it.broker.metrics("q") == Metrics(1, 1, it.started_ms + DAY)
    assert it.happened(Expired) == [Expired("q", 3, 345_600)]


@emulated
async def test_messages_expire_in_a_paused_queue(it: Emulated) -> None:
    it.consume(**NOW)
    it.broker.change(QueueSettings("q", paused=True, retention_s=60))
    await it.send("ab")
    await it.after(MINUTE)
    assert it.broker.metrics("q").backlog_count == 0
    assert it.happened(Expired) == [Expired("q", 2, 60)]


@emulated
async def test_a_message_delayed_beyond_its_retention_is_never_delivered(it: Emulated) -> None:
    it.consume(**NOW)
    it.broker.change(QueueSettings("q", retention_s=60))
    it.broker.send("q", [message(delay_s=61)])
    await it.after(HOUR)
    assert it.delivered == []
    assert it.happened(Expired) == [Expired("q", 1, 60)]


@emulated
async def test_a_shorter_retention_holds_at_once(it: Emulated) -> None:
    await it.send("ab")
    await it.after(DAY)
    it.broker.change(QueueSettings("q", retention_s=DAY // SECOND))
    await it.clock.settle()
    assert it.broker.metrics("q").backlog_count == 0


@emulated
async def test_a_retried_message_expires_four_days_after_it_was_sent(it: Emulated) -> None:
    def fail_once(_: Batch) -> BatchResult:
        it.broker.serve("q", None)
        return BatchResult(retry_all=True, retry_all_delay_s=3600)

    it.consume(fail_once, **NOW)
    await it.send("a")
    await it.after(DAY)
    await it.send("b")
    await it.after(3 * DAY - 1)
    assert it.broker.metrics("q").oldest_message_timestamp_ms == it.started_ms
    await it.after(1)
    assert it.broker.metrics("q") == Metrics(1, 1, it.started_ms + DAY)


@emulated
async def test_a_large_expired_backlog_goes_in_bounded_steps(it: Emulated) -> None:
    for _ in range(25):
        it.broker.send("q", [message()] * 100)
    await it.after(4 * DAY)
    assert it.broker.metrics("q").backlog_count == 0
    assert [event.count for event in it.happened(Expired)] == [1_000, 1_000, 500]
