"""What holds for every batch and every result, whatever the numbers."""

from __future__ import annotations

from hypothesis import given, strategies as st
from tsumugi_emulator.queues import BatchResult, ConsumerSettings, StoredMessage
from tsumugi_emulator.queues.policy import (
    Ack,
    DeadLetter,
    Drop,
    Form,
    Load,
    Nothing,
    Retry,
    WaitUntil,
    next_batch,
    rescaled,
    settle,
)

consumers = st.builds(
    ConsumerSettings,
    queue=st.just("q"),
    max_batch_size=st.integers(1, 100),
    max_batch_timeout_s=st.integers(0, 60),
    max_retries=st.integers(0, 100),
    dead_letter_queue=st.none() | st.just("dlq"),
    max_concurrency=st.none() | st.integers(1, 250),
    retry_delay_s=st.integers(0, 86_400),
)
batches = st.lists(
    st.builds(
        StoredMessage,
        id=st.sampled_from("abcdefghij"),
        body=st.just(b""),
        content_type=st.just("json"),
        timestamp_ms=st.just(0),
        attempts=st.integers(1, 101),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda message: message.id,
)
seconds = st.none() | st.integers(-100, 200_000)
ids = st.sampled_from("abcdefghijz")
results = st.builds(
    BatchResult,
    outcome=st.sampled_from(["ok", "exception", "exceededWallTime", "canceled", "new in 2027"]),
    ack_all=st.booleans(),
    retry_all=st.booleans(),
    retry_all_delay_s=seconds,
    explicit_acks=st.frozensets(ids),
    retries=st.dictionaries(ids, seconds),
)


@given(
    waiting=st.integers(0, 1_000),
    since_ms=st.integers(0, 100_000),
    waited_ms=st.integers(0, 100_000),
    consumer=consumers,
)
def test_a_batch_is_never_empty_never_too_large_and_never_late(
    waiting: int, since_ms: int, waited_ms: int, consumer: ConsumerSettings
) -> None:
    now_ms = since_ms + waited_ms
    match next_batch(waiting, waiting_since_ms=since_ms, settings=consumer, now_ms=now_ms):
        case Form(size=size):
            assert 1 <= size <= min(waiting, consumer.max_batch_size)
            assert size == consumer.max_batch_size or size == waiting
        case WaitUntil(when_ms=when_ms):
            assert 0 < waiting < consumer.max_batch_size
            assert now_ms < when_ms <= now_ms + 60_000
            at_last = next_batch(
                waiting, waiting_since_ms=since_ms, settings=consumer, now_ms=when_ms
            )
            assert at_last == Form(waiting)
        case Nothing():
            assert waiting == 0


@given(messages=batches, result=results, consumer=consumers)
def test_every_message_gets_one_decision_that_its_own_call_explains(
    messages: list[StoredMessage], result: BatchResult, consumer: ConsumerSettings
) -> None:
    decisions = settle(messages, result, settings=consumer, now_ms=1_000)
    assert len(decisions) == len(messages)
    for message, decision in zip(messages, decisions, strict=True):
        last = message.attempts > consumer.max_retries
        match decision:
            case Ack():
                assert message.id not in result.retries
                if message.id not in result.explicit_acks and not result.ack_all:
                    assert result.outcome == "ok"
                    assert not result.retry_all
            case Retry():
                assert not last
                assert 0 <= decision.delay_s <= 86_400
                assert decision.due_ms == 1_000 + decision.delay_s * 1_000
                assert (decision.asked_s is None) or not 0 <= decision.asked_s <= 86_400
            case DeadLetter(queue=queue):
                assert last
                assert queue == consumer.dead_letter_queue
            case Drop():
                assert last
                assert consumer.dead_letter_queue is None
        if message.id in result.explicit_acks and message.id not in result.retries:
            assert decision == Ack(), "an explicit ack survives everything"


@given(messages=batches, result=results, consumer=consumers)
def test_a_decision_does_not_depend_on_the_other_messages(
    messages: list[StoredMessage], result: BatchResult, consumer: ConsumerSettings
) -> None:
    together = settle(messages, result, settings=consumer, now_ms=1_000)
    alone = [settle([one], result, settings=consumer, now_ms=1_000)[0] for one in messages]
    assert together == alone


@given(
    consumer=consumers,
    steps=st.lists(st.tuples(st.integers(0, 50_000), st.sampled_from(["ok", "exception"]))),
)
def test_concurrency_stays_within_bounds_and_moves_one_step_at_a_time(
    consumer: ConsumerSettings, steps: list[tuple[int, str]]
) -> None:
    current = Load()
    for backlog, outcome in steps:
        following = rescaled(current, backlog=backlog, outcome=outcome, settings=consumer)
        assert 1 <= following.allowed <= (consumer.max_concurrency or 250)
        assert abs(following.allowed - current.allowed) <= 1
        assert 0 <= following.failing <= 1
        assert not (outcome == "exception" and following.allowed > current.allowed)
        current = following
