"""What the broker does when SQLite cannot write, with a real SQLite that runs out of room."""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import TYPE_CHECKING

import pytest
from queue_harness import SECOND, Emulated, acked, emulated, memory_connection, message
from tsumugi_emulator.queues import QueueError, QueueSettings, QueueStore
from tsumugi_emulator.queues.events import BatchDone, StoreFailed
from tsumugi_emulator.queues.store import DATABASE_FILE

if TYPE_CHECKING:
    from pathlib import Path


def refuse(db: sqlite3.Connection, what: str) -> None:
    db.execute(
        f"CREATE TEMP TRIGGER refuse BEFORE {what} BEGIN SELECT raise(ABORT, 'disk is full'); END"
    )


def allow(db: sqlite3.Connection) -> None:
    db.execute("DROP TRIGGER refuse")


@pytest.fixture
def db() -> sqlite3.Connection:
    return memory_connection()


def test_a_send_that_cannot_be_stored_is_an_error_and_changes_nothing(
    db: sqlite3.Connection,
) -> None:
    store = QueueStore(db)
    store.ensure("q", now_ms=0)
    store.put("q", [message()], default_delay_s=0, now_ms=5)
    refuse(db, "UPDATE ON lines")
    with pytest.raises(sqlite3.Error):
        store.put("q", [message()] * 3, default_delay_s=0, now_ms=6)
    allow(db)
    assert store.metrics("q").backlog_count == 1
    store.put("q", [message()], default_delay_s=0, now_ms=7)
    assert store.metrics("q").backlog_count == 2
    _, leased = store.lease("q", size=100)
    assert len(leased) == 2


def test_a_queue_that_could_not_be_created_does_not_exist(db: sqlite3.Connection) -> None:
    store = QueueStore(db)
    refuse(db, "INSERT ON lines")
    with pytest.raises(sqlite3.Error):
        store.declare(QueueSettings("q"), now_ms=0)
    allow(db)
    assert store.queues() == []
    with pytest.raises(QueueError):
        store.line("q")


def test_a_worker_sees_an_internal_error_and_the_broker_recovers(db: sqlite3.Connection) -> None:
    async def scenario() -> None:
        it = Emulated(QueueStore(db))
        it.consume(max_batch_timeout_s=0)
        refuse(db, "INSERT ON ready")
        with pytest.raises(QueueError) as raised:
            it.broker.send("q", [message()])
        assert raised.value.code == 15000
        allow(db)
        await it.send("a")
        assert it.contents == ["a"]
        await it.stop()

    import asyncio

    asyncio.run(scenario())


def test_a_settlement_that_cannot_be_stored_is_tried_again(db: sqlite3.Connection) -> None:
    async def scenario(it: Emulated) -> None:
        it = Emulated(QueueStore(db))

        def full_disk(batch: object) -> object:
            refuse(db, "DELETE ON leases")
            return acked(batch)  # type: ignore[arg-type]

        it.consume(full_disk, max_batch_timeout_s=0)  # type: ignore[arg-type]
        await it.send("a")
        await it.after(2 * SECOND)
        assert it.happened(BatchDone) == []
        assert len(it.happened(StoreFailed)) == 3
        allow(db)
        await it.after(SECOND)
        assert [done.acked for done in it.happened(BatchDone)] == [1]
        assert it.contents == ["a"], "an acked message is not delivered again"

    emulated(scenario)()


def test_a_delay_whose_end_cannot_be_stored_ends_a_second_later(db: sqlite3.Connection) -> None:
    async def scenario(it: Emulated) -> None:
        it = Emulated(QueueStore(db))
        it.consume(max_batch_timeout_s=0)
        it.broker.send("q", [message(delay_s=5)])
        refuse(db, "DELETE ON delayed")
        await it.after(5 * SECOND)
        assert len(it.happened(StoreFailed)) == 1
        allow(db)
        await it.after(SECOND)
        assert it.contents == ["m"]

    emulated(scenario)()


def test_a_file_that_is_no_database_is_not_held_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[sqlite3.Connection] = []

    class Watched(sqlite3.Connection):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)  # type: ignore[arg-type]
            opened.append(self)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Watched))
    (tmp_path / DATABASE_FILE).write_bytes(b"no database, " * 100)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        QueueStore.open(tmp_path)
    (connection,) = opened
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
