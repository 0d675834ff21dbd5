"""R2 without JavaScript: bodies in chunks, readers beside writers, what is left behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.storage.bodies import ABANDONED_MS, CHUNK_BYTES
from tsumugi_emulator.storage.r2 import Description, R2Store
from tsumugi_emulator.storage.r2_rules import R2Error, Range
from tsumugi_emulator.storage.r2_uploads import Uploads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAIN = Description({}, {})
BIG = bytes(range(256)) * (CHUNK_BYTES // 256 * 2 + 3)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Iterator[R2Store]:
    opened = R2Store.open(tmp_path / "r2.sqlite", clock=clock)
    yield opened
    opened.close()


def content(store: R2Store, key: str, offset: int = 0, length: int | None = None) -> bytes:
    stored = store.head(key)
    assert stored is not None
    pieces = store.pieces(stored, offset=offset, length=stored.size if length is None else length)
    return b"".join(store.bodies.read(piece) or b"?" for piece in pieces)


def chunks(store: R2Store) -> int:
    count: int = store.db.execute("SELECT count(*) FROM chunks").fetchone()[0]
    return count


def test_a_big_body_is_in_chunks_and_read_in_any_range(store: R2Store) -> None:
    store.put("k", BIG, PLAIN)
    assert chunks(store) == 3
    assert content(store, "k") == BIG
    edge = CHUNK_BYTES - 2
    assert content(store, "k", edge, 5) == BIG[edge : edge + 5]


def test_a_replaced_body_is_removed(store: R2Store) -> None:
    store.put("k", BIG, PLAIN)
    store.put("k", b"small", PLAIN)
    assert chunks(store) == 1
    store.delete(["k", "never was"])
    assert chunks(store) == 0


def test_a_body_that_is_not_wanted_is_removed(store: R2Store) -> None:
    from tsumugi_emulator.storage.r2_rules import Condition, ETag

    refused = store.put("k", b"x", PLAIN, condition=Condition(etag_matches=[ETag("y")]))
    assert refused is None
    assert chunks(store) == 0


def test_a_wrong_checksum_keeps_nothing(store: R2Store) -> None:
    with pytest.raises(R2Error, match="SHA-256 checksum you specified did not match"):
        store.put("k", b"x", PLAIN, checksum=("sha256", bytes(32)))
    assert store.head("k") is None
    assert chunks(store) == 0


def test_a_reader_of_a_replaced_object_learns_that_it_is_gone(store: R2Store) -> None:
    store.put("k", BIG, PLAIN)
    stored = store.head("k")
    assert stored is not None
    pieces = store.pieces(stored, offset=0, length=stored.size)
    store.put("k", BIG, PLAIN)
    assert [store.bodies.read(piece) for piece in pieces] == [None] * 3


def test_small_writes_are_gathered_into_chunks(store: R2Store) -> None:
    writer = store.writer()
    for start in range(0, len(BIG), 1000):
        writer.write(BIG[start : start + 1000])
    store.put("k", writer.finish(), PLAIN)
    assert chunks(store) == 3
    assert content(store, "k") == BIG


def test_what_a_dead_writer_left_is_removed_after_a_day(
    store: R2Store, tmp_path: Path, clock: FakeClock
) -> None:
    store.put("kept", b"x", PLAIN)
    upload = Uploads(store).create("later", PLAIN)
    Uploads(store).put_part("later", upload, 1, b"part")
    store.writer().write(BIG)
    R2Store.open(tmp_path / "r2.sqlite", clock=clock).close()
    assert chunks(store) == 4
    asyncio.run(clock.advance(ABANDONED_MS + 1))
    R2Store.open(tmp_path / "r2.sqlite", clock=clock).close()
    assert chunks(store) == 2
    assert content(store, "kept") == b"x"


def test_parts_are_joined_without_being_copied(store: R2Store) -> None:
    uploads = Uploads(store)
    upload = uploads.create("k", PLAIN)
    part = BIG * 3
    etags = [uploads.put_part("k", upload, number, part) for number in (1, 2)]
    before = chunks(store)
    uploads.complete("k", upload, list(enumerate(etags, 1)))
    assert chunks(store) == before
    assert content(store, "k") == part * 2


def test_parts_that_are_not_used_are_removed(store: R2Store) -> None:
    uploads = Uploads(store)
    upload = uploads.create("k", PLAIN)
    uploads.put_part("k", upload, 1, b"unused")
    etag = uploads.put_part("k", upload, 2, b"used")
    uploads.complete("k", upload, [(2, etag)])
    assert chunks(store) == 1
    other = uploads.create("k", PLAIN)
    uploads.put_part("k", other, 1, b"x")
    uploads.abort("k", other)
    assert chunks(store) == 1


def test_two_connections_write_the_same_key(
    store: R2Store, tmp_path: Path, clock: FakeClock
) -> None:
    other = R2Store.open(tmp_path / "r2.sqlite", clock=clock)
    store.put("k", b"one", PLAIN)
    other.put("k", b"two", PLAIN)
    assert content(store, "k") == b"two"
    assert chunks(store) == 1
    other.close()


names = st.lists(st.text("ab/", min_size=1, max_size=5), unique=True)


@settings(max_examples=60, deadline=None)
@given(names, st.text("ab/", max_size=2), st.sampled_from(["", "/", "a"]), st.integers(1, 4))
def test_pages_of_a_list_are_what_one_big_page_is(
    keys: list[str], prefix: str, delimiter: str, limit: int
) -> None:
    import sqlite3

    store = R2Store(sqlite3.connect(":memory:", isolation_level=None), FakeClock())
    for key in keys:
        store.put(key, b"", PLAIN)
    objects: list[str] = []
    prefixes: list[str] = []
    cursor = None
    while True:
        page = store.list(prefix=prefix, delimiter=delimiter, limit=limit, cursor=cursor)
        assert len(page.objects) + len(page.prefixes) <= limit
        objects += [stored.key for stored in page.objects]
        prefixes += page.prefixes
        cursor = page.cursor
        if cursor is None:
            break
    rest = {key: key[len(prefix) :].find(delimiter) for key in keys if key.startswith(prefix)}
    grouped = {key: at for key, at in rest.items() if delimiter and at >= 0}
    groups = {key[: len(prefix) + at + len(delimiter)] for key, at in grouped.items()}
    assert objects == sorted(rest.keys() - grouped.keys(), key=str.encode)
    assert prefixes == sorted(groups, key=str.encode)
    store.close()


@given(st.integers(1, 100), st.integers(0, 120), st.integers(1, 120))
def test_a_range_is_inside_the_object(size: int, offset: int, length: int) -> None:
    try:
        start, count = Range(offset, length).resolve(size)
    except R2Error:
        assert offset >= size
    else:
        assert start == offset
        assert 0 < count <= length
        assert start + count <= size
