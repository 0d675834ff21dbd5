"""Frames between the host and Node: both sides number them alike, and bytes become frames."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tsumugi_emulator import pyodide_runtime
from tsumugi_emulator.pyodide_runtime import protocol

TWIN = Path(pyodide_runtime.__file__).parent.parent / "pyodide_host" / "protocol.mjs"


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("SAY", protocol.Say), ("HEAR", protocol.Hear), ("VALUE", protocol.Value)],
)
def test_both_sides_number_everything_alike(name: str, numbers: type) -> None:
    block = re.search(rf"export const {name} = {{(.*?)}};", TWIN.read_text(), re.DOTALL)
    assert block is not None
    found = {key: int(number) for key, number in re.findall(r"(\w+): (\d+),", block[1])}
    assert found == {member.name: member.value for member in numbers}  # type: ignore[attr-defined]


def test_frames_are_found_wherever_the_bytes_are_cut() -> None:
    frames = [[1, "text", [b"bytes"]], [2], [3, {"a": None}]]
    data = b"".join(map(protocol.encode, frames))
    for size in range(1, len(data)):
        decoder = protocol.Decoder()
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        assert [frame for piece in pieces for frame in decoder.feed(piece)] == frames


def test_a_length_no_frame_has_is_refused() -> None:
    with pytest.raises(protocol.FrameError, match="frame of 4294967295 bytes"):
        protocol.Decoder().feed(b"\xff\xff\xff\xff")
