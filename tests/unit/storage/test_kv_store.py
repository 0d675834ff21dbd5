"""KV without JavaScript: order, pages, expiry, two connections."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.storage.kv import KvStore, successor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START_MS = 1_000_000


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START_MS)


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Iterator[KvStore]:
    opened = KvStore.open(tmp_path / "kv.sqlite", clock=clock)
    yield opened
    opened.close()


def put(store: KvStore, key: str, value: bytes = b"", *, expires_s: int | None = None) -> None:
    store.put(key.encode(), value, metadata=None, expires_s=expires_s)


def keys(store: KvStore, prefix: str = "", limit: int = 1000) -> list[str]:
    found, cursor = [], None
    while True:
        page = store.list(prefix=prefix.encode(), limit=limit, cursor=cursor)
        found += [entry.key.decode() for entry in page.entries]
        cursor = page.cursor
        if cursor is None:
            return found


def test_a_later_put_replaces_everything(store: KvStore) -> None:
    store.put(b"k", b"1", metadata='"m"', expires_s=2000)
    put(store, "k", b"2")
    assert store.get(b"k") == (b"2", None)
    assert store.list(prefix=b"", limit=1, cursor=None).entries == [(b"k", None, None)]


def test_keys_are_in_the_order_of_their_bytes(store: KvStore) -> None:
    names = ["a", "B", "é", "z", "a\x00", "\U0001f600", "\uffee"]
    for name in names:
        put(store, name)
    assert keys(store) == sorted(names, key=str.encode)
    assert keys(store, limit=2) == keys(store)


def test_expired_entries_are_never_seen(store: KvStore, clock: FakeClock) -> None:
    put(store, "k", expires_s=1060)
    asyncio.run(clock.advance(59_000))
    assert store.get(b"k") is not None
    asyncio.run(clock.advance(1_000))
    assert store.get(b"k") is None
    assert store.get_many([b"k"]) == {}
    assert keys(store) == []


def test_expired_entries_are_removed_in_time(store: KvStore, clock: FakeClock) -> None:
    for number in range(5):
        put(store, str(number), expires_s=1060)
    asyncio.run(clock.advance(100_000))
    put(store, "other")
    assert store._db.execute("SELECT count(*) FROM entries").fetchone() == (1,)


def test_a_page_that_ends_with_the_last_key_is_complete(store: KvStore) -> None:
    put(store, "a")
    put(store, "b")
    assert store.list(prefix=b"", limit=2, cursor=None).cursor is None


def test_a_cursor_that_is_none_starts_from_the_front(store: KvStore) -> None:
    put(store, "a")
    assert len(store.list(prefix=b"", limit=9, cursor="x!").entries) == 1


def test_another_connection_sees_every_put_at_once(
    store: KvStore, tmp_path: Path, clock: FakeClock
) -> None:
    other = KvStore.open(tmp_path / "kv.sqlite", clock=clock)
    put(store, "k", b"1")
    assert other.get(b"k") == (b"1", None)
    other.delete(b"k")
    assert store.get(b"k") is None
    other.close()


@given(st.binary(max_size=4), st.lists(st.binary(max_size=6)))
def test_the_successor_of_a_prefix_ends_its_keys(prefix: bytes, names: list[bytes]) -> None:
    end = successor(prefix)
    for name in names:
        inside = name >= prefix and (end is None or name < end)
        assert inside == name.startswith(prefix)
