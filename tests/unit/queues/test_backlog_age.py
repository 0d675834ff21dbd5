"""The age of a backlog is remembered from send to send, and by nothing else."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.queues import OutgoingMessage, QueueStore
from tsumugi_emulator.queues.messages import Move

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def queries() -> list[str]:
    return []


@pytest.fixture
def store(queries: list[str]) -> Iterator[QueueStore]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    made = QueueStore(db)
    made.ensure("q", now_ms=1)
    db.set_trace_callback(queries.append)
    yield made
    made.close()


def put(store: QueueStore, at_ms: int, *, delay_s: int = 0) -> None:
    store.put("q", [OutgoingMessage(b"x")], default_delay_s=delay_s, now_ms=at_ms)


def age(store: QueueStore) -> int:
    return store.metrics("q").oldest_message_timestamp_ms


def test_sends_to_a_backlog_ask_for_its_oldest_message_once(
    store: QueueStore, queries: list[str]
) -> None:
    put(store, 10)
    for at_ms in range(11, 20):
        assert age(store) == 10
        put(store, at_ms)
    assert sum("FROM ready" in query for query in queries) == 2  # the head, and those that returned


def test_a_lease_makes_the_next_message_the_oldest(store: QueueStore) -> None:
    put(store, 10)
    put(store, 20)
    assert age(store) == 10
    store.lease("q", size=1)
    assert age(store) == 20


def test_a_message_that_comes_back_may_be_the_oldest(store: QueueStore) -> None:
    put(store, 10)
    put(store, 20)
    lease, (first,) = store.lease("q", size=1)
    assert age(store) == 20
    store.settle(lease, [Move(first, "q", 0)], now_ms=30)
    assert age(store) == 10


def test_a_delay_that_ends_brings_an_older_message(store: QueueStore) -> None:
    put(store, 10, delay_s=1)
    put(store, 500)
    assert age(store) == 500
    store.promote("q", now_ms=2_000, expired_ms=0, limit=10)
    assert age(store) == 10


def test_expiry_and_purges_are_seen(store: QueueStore) -> None:
    for at_ms in (10, 20, 30):
        put(store, at_ms)
    assert age(store) == 10
    store.expire("q", expired_ms=10, limit=10)
    assert age(store) == 20
    store.purges.start("q", now_ms=40)
    assert age(store) == 0
    put(store, 50)
    assert age(store) == 50


def test_what_a_failed_transaction_saw_is_forgotten(store: QueueStore) -> None:
    put(store, 10)
    put(store, 20)

    def fail() -> Any:
        with store.transaction():
            store.lease("q", size=1)
            assert age(store) == 20
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert age(store) == 10
