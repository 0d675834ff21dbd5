from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.durable.alarm_index import INDEX_FILE, AlarmIndex, DueAlarm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def index(tmp_path: Path) -> Iterator[AlarmIndex]:
    opened = AlarmIndex.open(tmp_path)
    yield opened
    opened.close()


def test_due_alarms_come_in_order_and_not_too_many(index: AlarmIndex) -> None:
    for due_ms in (5, 3, 9, 1, 7):
        index.announce("n", f"id{due_ms}", due_ms)
    found = index.due(["n"], now_ms=7, limit=3)
    assert [alarm.due_ms for alarm in found] == [1, 3, 5]
    assert index.next_due_ms(["n"], after_ms=0) == 1
    assert index.next_due_ms(["n"], after_ms=7) == 9
    assert index.next_due_ms(["n"], after_ms=9) is None


def test_other_namespaces_are_left_alone(index: AlarmIndex) -> None:
    index.announce("n", "a", 1)
    assert index.due(["other"], now_ms=9, limit=9) == []
    assert index.next_due_ms(["other"], after_ms=0) is None


def test_announcing_never_makes_a_row_later(index: AlarmIndex) -> None:
    index.announce("n", "a", 5)
    index.announce("n", "a", 9)
    assert index.next_due_ms(["n"], after_ms=0) == 5
    index.announce("n", "a", 2)
    assert index.next_due_ms(["n"], after_ms=0) == 2


def test_postponing_changes_only_a_row_that_is_as_it_was_read(index: AlarmIndex) -> None:
    index.put("n", "a", 5, scheduled_ms=5, retry_count=0)
    (read,) = index.due(["n"], now_ms=5, limit=1)
    index.postpone(read, due_ms=2_005, retry_count=1)
    assert index.due(["n"], now_ms=9_999, limit=1) == [DueAlarm("n", "a", 2_005, 5, 1)]
    index.postpone(read, due_ms=1, retry_count=9)
    assert index.due(["n"], now_ms=9_999, limit=1) == [DueAlarm("n", "a", 2_005, 5, 1)]


def test_two_processes_may_have_it_open(index: AlarmIndex, tmp_path: Path) -> None:
    other = AlarmIndex.open(tmp_path)
    other.announce("n", "a", 5)
    index.announce("n", "b", 6)
    assert [alarm.object_id for alarm in other.due(["n"], now_ms=9, limit=9)] == ["a", "b"]
    other.remove([("n", "a")])
    assert index.next_due_ms(["n"], after_ms=0) == 6
    other.close()


def test_there_is_no_index_before_the_first_alarm(tmp_path: Path) -> None:
    assert AlarmIndex.open_existing(tmp_path / "never") is None


def test_reading_costs_what_is_read_not_what_is_there(index: AlarmIndex) -> None:
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    def cost() -> int:
        nonlocal steps
        steps = 0
        index.due(["n", "m"], now_ms=2**60, limit=10)
        index.next_due_ms(["n", "m"], after_ms=20)
        return steps

    index._db.set_progress_handler(count, 1)
    for number in range(50):
        index.announce("n", str(number), number)
    few = cost()
    for number in range(50, 2000):
        index.announce("n", str(number), number)
    assert cost() < 2 * few


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / INDEX_FILE).write_bytes(b"no database" * 1000)
    with pytest.raises(sqlite3.Error, match=rf"{INDEX_FILE}: file is not a database"):
        AlarmIndex.open_existing(tmp_path)
