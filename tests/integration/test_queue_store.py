"""Queues in a real file: what survives what. Time is passed in; nothing waits."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.queues import (
    Metrics,
    OutgoingMessage,
    QueueError,
    QueueSettings,
    QueueStore,
    StoredMessage,
)
from tsumugi_emulator.queues.messages import Move
from tsumugi_emulator.queues.schema import MIGRATIONS, NewerSchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class PulledPlugError(Exception):
    pass


T0 = 1_000_000
NEVER = -1


@pytest.fixture
def store(tmp_path: Path) -> Iterator[QueueStore]:
    store = QueueStore.open(tmp_path)
    store.ensure("q", now_ms=T0)
    yield store
    store.close()


def outgoing(text: str, *, delay_s: int | None = None) -> list[OutgoingMessage]:
    return [OutgoingMessage(letter.encode(), "text", delay_s) for letter in text]


def put(store: QueueStore, text: str, *, at_ms: int = T0, delay_s: int = 0) -> None:
    store.put("q", outgoing(text), default_delay_s=delay_s, now_ms=at_ms)


def text(messages: list[StoredMessage]) -> str:
    return "".join(message.body.decode() for message in messages)


def take(store: QueueStore, queue: str = "q", *, size: int = 100) -> str:
    """Deliver and ack."""
    lease, messages = store.lease(queue, size=size)
    store.settle(lease, [], now_ms=T0)
    return text(messages)


def rows(path: Path, query: str) -> list[tuple[int, ...]]:
    with sqlite3.connect(path / "queues.sqlite") as db:
        found = db.execute(query).fetchall()
    db.close()
    return found


def test_messages_come_back_as_they_were_sent_in_order(store: QueueStore) -> None:
    store.put(
        "q",
        [OutgoingMessage(b"\x00\xff", "bytes"), OutgoingMessage("é".encode(), "text")],
        default_delay_s=0,
        now_ms=T0,
    )
    _, messages = store.lease("q", size=10)
    assert [message[1:5] for message in messages] == [
        (b"\x00\xff", "bytes", T0, 1),
        ("é".encode(), "text", T0, 1),
    ]


def test_ids_are_the_given_random_bytes_in_hex(tmp_path: Path) -> None:
    counter = iter(range(1_000))
    store = QueueStore.open(tmp_path, random_bytes=lambda count: bytes([next(counter)] * count))
    store.ensure("q", now_ms=T0)
    put(store, "ab")
    _, messages = store.lease("q", size=10)
    assert [message.id for message in messages] == ["01" * 16, "01" * 16]
    store.close()


def test_everything_survives_closing_and_opening(tmp_path: Path, store: QueueStore) -> None:
    put(store, "abc")
    put(store, "d", delay_s=60)
    store.change(QueueSettings("q", paused=True), now_ms=T0)
    store.close()
    again = QueueStore.open(tmp_path)
    assert again.metrics("q") == Metrics(3, 3, T0)
    assert again.line("q").next_due_ms == T0 + 60_000
    assert again.queue("q").settings.paused
    assert take(again) == "abc"
    again.promote("q", now_ms=T0 + 60_000, expired_ms=NEVER, limit=10)
    assert take(again) == "d"
    again.close()


def test_a_lease_whose_owner_died_returns_in_place_with_its_delivery_counted(
    tmp_path: Path, store: QueueStore
) -> None:
    put(store, "abcdef")
    store.lease("q", size=2)
    store.lease("q", size=2)
    successor = QueueStore.open(tmp_path)
    assert successor.metrics("q") == Metrics(6, 6, T0)
    _, messages = successor.lease("q", size=10)
    assert [(message.body, message.attempts) for message in messages] == [
        (b"a", 2),
        (b"b", 2),
        (b"c", 2),
        (b"d", 2),
        (b"e", 1),
        (b"f", 1),
    ]
    successor.close()


def test_a_settled_lease_leaves_nothing_behind(tmp_path: Path, store: QueueStore) -> None:
    put(store, "abc")
    lease, (a, b, _) = store.lease("q", size=3)
    moves = [Move(a, "q", T0), Move(b, "dlq", T0, starts_over=True)]
    store.settle(lease, moves, now_ms=T0)
    assert rows(tmp_path, "SELECT count(*) FROM leases") == [(0,)]
    assert rows(tmp_path, "SELECT count(*) FROM ready") == [(2,)]
    assert [take(store), take(store, "dlq")] == ["a", "b"]
    assert rows(tmp_path, "SELECT count(*) FROM ready") == [(0,)]
    assert rows(tmp_path, "SELECT sum(ready_count), sum(ready_bytes) FROM lines") == [(0, 0)]


def test_a_settlement_is_all_or_nothing(tmp_path: Path, store: QueueStore) -> None:
    put(store, "abc")
    lease, messages = store.lease("q", size=3)

    with contextlib.suppress(PulledPlugError), store.transaction():
        store.settle(lease, [Move(messages[0], "dlq", T0, starts_over=True)], now_ms=T0)
        raise PulledPlugError
    assert [record.name for record in store.queues()] == ["q"]
    assert rows(tmp_path, "SELECT count(*) FROM ready") == [(3,)]
    store.settle(lease, [Move(messages[0], "q", T0)], now_ms=T0)
    assert take(store) == "a"


def test_a_dead_letter_keeps_id_and_timestamp_and_starts_over(store: QueueStore) -> None:
    put(store, "a")
    lease, [a] = store.lease("q", size=1)
    later_ms = T0 + 50_000
    store.settle(lease, [Move(a, "dlq", later_ms, starts_over=True)], now_ms=later_ms)
    _, [dead] = store.lease("dlq", size=1)
    assert dead[:5] == a[:5]
    assert dead.attempts == 1


@pytest.mark.parametrize("delay_ms", [0, 1_000])
def test_a_dead_letter_is_kept_as_long_as_any_other_message(
    store: QueueStore, delay_ms: int
) -> None:
    put(store, "a")
    lease, [a] = store.lease("q", size=1)
    later_ms = T0 + 50_000
    store.settle(lease, [Move(a, "dlq", later_ms + delay_ms, starts_over=True)], now_ms=later_ms)
    promoted = store.promote("dlq", now_ms=later_ms + delay_ms, expired_ms=later_ms - 1, limit=10)
    assert promoted.expired == 0
    assert store.expire("dlq", expired_ms=later_ms - 1, limit=10) == 0
    assert store.metrics("dlq").oldest_message_timestamp_ms == T0
    assert store.expire("dlq", expired_ms=later_ms, limit=10) == 1


def test_a_retry_does_not_prolong_a_messages_life(store: QueueStore) -> None:
    put(store, "a", at_ms=T0)
    lease, [a] = store.lease("q", size=1)
    put(store, "b", at_ms=T0 + 10)
    store.settle(lease, [Move(a, "q", T0 + 20)], now_ms=T0 + 20)
    put(store, "c", at_ms=T0 + 30)
    assert store.metrics("q") == Metrics(3, 3, T0), "a stands behind b and is older"
    assert store.expire("q", expired_ms=T0 + 9, limit=10) == 1
    assert store.metrics("q") == Metrics(2, 2, T0 + 10)
    assert take(store) == "bc"


def test_messages_in_flight_do_not_expire(store: QueueStore) -> None:
    put(store, "ab")
    lease, messages = store.lease("q", size=1)
    assert store.expire("q", expired_ms=T0, limit=10) == 1
    store.settle(lease, [Move(messages[0], "q", T0)], now_ms=T0 + 1)
    assert store.expire("q", expired_ms=T0, limit=10) == 1
    assert store.metrics("q") == Metrics()


def test_expiry_is_bounded_and_goes_on_where_it_stopped(store: QueueStore) -> None:
    put(store, "abcdefgh")
    assert [store.expire("q", expired_ms=T0, limit=3) for _ in range(4)] == [3, 3, 2, 0]


def test_delays_that_ended_while_nobody_looked_end_in_order(store: QueueStore) -> None:
    for letter, delay_s in (("c", 3), ("a", 1), ("b", 2), ("B", 2), ("z", 60)):
        put(store, letter, delay_s=delay_s)
    late_ms = T0 + 10_000
    assert store.promote("q", now_ms=late_ms, expired_ms=NEVER, limit=2).joined == 2
    assert store.line("q").next_due_ms == T0 + 2_000
    assert store.promote("q", now_ms=late_ms, expired_ms=NEVER, limit=100).joined == 2
    assert store.promote("q", now_ms=late_ms, expired_ms=NEVER, limit=100).joined == 0
    assert store.line("q").next_due_ms == T0 + 60_000
    assert take(store) == "abBc"


def test_a_clock_set_back_neither_reorders_nor_loses(store: QueueStore) -> None:
    put(store, "a", at_ms=T0)
    put(store, "b", at_ms=T0 - 5_000)
    put(store, "c", at_ms=T0 + 1)
    assert store.metrics("q").oldest_message_timestamp_ms == T0
    assert store.expire("q", expired_ms=T0 - 1, limit=10) == 0
    assert take(store) == "abc"


def test_a_retry_by_a_clock_set_back_expires_although_a_younger_message_stands_before_it(
    store: QueueStore,
) -> None:
    put(store, "a", at_ms=T0)
    lease, messages = store.lease("q", size=1)
    put(store, "b", at_ms=T0 + 100)
    store.settle(lease, [Move(messages[0], "q", T0 - 5_000)], now_ms=T0 - 5_000)
    assert store.expire("q", expired_ms=T0, limit=10) == 1
    assert take(store) == "b"


def test_a_message_leaves_its_lease_without_the_others(store: QueueStore) -> None:
    put(store, "abc")
    lease, (a, b, c) = store.lease("q", size=3)
    store.move([Move(a, "dlq", T0, starts_over=True)], now_ms=T0)
    store.discard([b])
    assert take(store, "dlq") == "a"
    store.settle(lease, [Move(c, "q", T0)], now_ms=T0)
    assert take(store) == "c"
    assert store.metrics("q") == Metrics()


def test_queues_do_not_see_each_other(store: QueueStore) -> None:
    store.ensure("other", now_ms=T0)
    put(store, "a")
    store.put("other", outgoing("x"), default_delay_s=0, now_ms=T0)
    put(store, "b")
    assert [take(store, "other"), take(store)] == ["x", "ab"]


def test_an_unknown_queue_is_an_error(store: QueueStore) -> None:
    for ask in (store.metrics, store.line, store.queue, store.waiting_since_ms):
        with pytest.raises(QueueError):
            ask("unknown")
    with pytest.raises(QueueError):
        store.change(QueueSettings("unknown"), now_ms=T0)


def test_the_most_recent_change_holds_between_configuration_and_api(store: QueueStore) -> None:
    in_file = QueueSettings("q", delivery_delay_s=5)
    assert store.declare(in_file, now_ms=T0 + 1).settings == in_file
    from_api = QueueSettings("q", delivery_delay_s=60)
    assert store.change(from_api, now_ms=T0 + 2).settings == from_api
    assert store.declare(in_file, now_ms=T0 + 3).settings == from_api, "the file did not change"
    edited = QueueSettings("q", delivery_delay_s=7)
    assert store.declare(edited, now_ms=T0 + 4).settings == edited
    record = store.queue("q")
    assert (record.created_ms, record.modified_ms) == (T0, T0 + 4)


def test_a_file_without_settings_does_not_undo_the_api(store: QueueStore) -> None:
    from_api = QueueSettings("q", retention_s=60)
    store.change(from_api, now_ms=T0)
    assert store.declare(QueueSettings("q"), now_ms=T0).settings == from_api


def test_queues_have_an_identifier_that_never_changes(tmp_path: Path, store: QueueStore) -> None:
    queue_id = store.queue("q").queue_id
    assert len(queue_id) == 32
    assert int(queue_id, 16) >= 0
    again = QueueStore.open(tmp_path)
    assert again.queue("q").queue_id == queue_id
    again.close()


def test_a_file_of_a_newer_version_is_refused_and_left_alone(
    tmp_path: Path, store: QueueStore
) -> None:
    store.close()
    with sqlite3.connect(tmp_path / "queues.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(NewerSchemaError, match="upgrade"):
        QueueStore.open(tmp_path)
    assert rows(tmp_path, "PRAGMA user_version") == [(99,)]


def test_opening_brings_the_schema_to_the_newest_version(tmp_path: Path, store: QueueStore) -> None:
    assert rows(tmp_path, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert rows(tmp_path, "PRAGMA journal_mode") == [("wal",)]


def test_no_question_is_answered_by_reading_the_backlog(tmp_path: Path, store: QueueStore) -> None:
    """SQLite counts its own work: the same for ten messages and for ten thousand."""
    from tsumugi_emulator.queues import upkeep

    db = sqlite3.connect(tmp_path / "queues.sqlite", isolation_level=None)
    spent: list[int] = []
    for size in (10, 10_000):
        for _ in range(max(1, size // 100)):
            put(store, "m" * min(size, 100))
            put(store, "m" * min(size, 100), delay_s=60)
        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        db.set_progress_handler(count, 1)
        upkeep.oldest(db, store.line("q"), behind=store.line("q").unacked_place)
        db.execute("BEGIN")
        line = store.line("q")
        snapshot = line.snapshot()
        upkeep.promote(db, line, now_ms=T0, expired_ms=NEVER, limit=100)
        upkeep.expire(db, line, expired_ms=NEVER, limit=100)
        line.restore(snapshot)
        db.execute("ROLLBACK")
        db.set_progress_handler(None, 1)
        spent.append(steps)
    db.close()
    assert spent[1] < spent[0] + 2_000
