"""What the Worker's streams take, refuse and write: as Pyodide's do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.worker.output import MAX_HELD_BYTES, LineWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    type Written = Callable[[], bytes]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[int, Written]]:
    """A descriptor, and what was written to it since it was last asked."""
    with (tmp_path / "output").open("w+b", buffering=0) as file:
        asked = 0

        def written() -> bytes:
            nonlocal asked
            found = os.pread(file.fileno(), 2**20, asked)
            asked += len(found)
            return found

        yield file.fileno(), written


def test_text_that_cannot_be_encoded_is_refused_and_holds_nothing_back(
    opened: tuple[int, Written],
) -> None:
    descriptor, written = opened
    stream = LineWriter(descriptor, "[w] ", "surrogateescape")
    with pytest.raises(UnicodeEncodeError):
        stream.write("half \ud800 of a pair")
    stream.write("after é it\n")
    assert written() == "[w] after é it\n".encode()


def test_a_line_is_one_however_long_it_is_and_in_how_many_pieces_it_comes(
    opened: tuple[int, Written],
) -> None:
    descriptor, written = opened
    stream = LineWriter(descriptor, "[w] ", "strict")
    pieces = ["x" * (MAX_HELD_BYTES // 3)] * 5
    shown = b""
    for piece in [*pieces, "\nnext", "\n"]:
        stream.write(piece)
        shown += written()
    assert shown.decode() == f"[w] {''.join(pieces)}\n[w] next\n"


def test_a_line_that_has_begun_is_ended_when_nothing_more_may_come(
    opened: tuple[int, Written],
) -> None:
    descriptor, written = opened
    stream = LineWriter(descriptor, "[w] ", "strict")
    for text in ("held", "x" * (MAX_HELD_BYTES + 1)):
        stream.write(text)
        before = written()
        stream.flush_partial()
        assert before + written() == f"[w] {text}\n".encode()
    stream.flush_partial()
    assert written() == b""


def test_bytes_that_were_no_text_come_out_as_they_were(opened: tuple[int, Written]) -> None:
    descriptor, written = opened
    LineWriter(descriptor, "", "surrogateescape").write("\udcff\n")
    assert written() == b"\xff\n"


def test_errors_are_shown_whatever_they_hold(opened: tuple[int, Written]) -> None:
    descriptor, written = opened
    stream = LineWriter(descriptor, "", "backslashreplace")
    stream.write("half \ud800\n")
    assert (written(), stream.errors) == (b"half \\ud800\n", "backslashreplace")
