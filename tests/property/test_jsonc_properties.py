"""Any JSON value, however it is laid out and commented, reads back as itself."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given, strategies as st
from tsumugi_emulator.config.document import LineIndex
from tsumugi_emulator.config.jsonc import JsoncError, parse_jsonc

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["http://x", "/* no */", "a,}", ",]", "//", '\\"', "\r\n", "\ufeff"])
)
keys = st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
# What a comment may hold: anything but what ends it.
comment_text = st.text(
    alphabet=st.characters(exclude_characters="\r\n*", exclude_categories=["Cs"])
)
gaps = st.lists(
    st.sampled_from([" ", "\t", "\n", "\r\n", "\r", "/**/"])
    | comment_text.map(lambda text: f"/*{text}*/")
    | st.tuples(comment_text, st.sampled_from(["\n", "\r\n", "\r"])).map("//{0[0]}{0[1]}".format),
    max_size=3,
).map("".join)


class Printer:
    """Prints a value with drawn gaps, and remembers where each value began."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.text = ""
        self.offsets: dict[tuple[str | int, ...], int] = {}

    def gap(self) -> None:
        self.text += self.draw(gaps)

    def value(self, value: Any, path: tuple[str | int, ...] = ()) -> None:
        self.gap()
        self.offsets[path] = len(self.text)
        if isinstance(value, dict):
            self.items("{", "}", [(key, item, (*path, key)) for key, item in value.items()])
        elif isinstance(value, list):
            self.items("[", "]", [(None, item, (*path, i)) for i, item in enumerate(value)])
        else:
            self.text += json.dumps(value, ensure_ascii=self.draw(st.booleans()))
        self.gap()

    def items(self, opening: str, closing: str, items: list[Any]) -> None:
        self.text += opening
        for index, (key, item, path) in enumerate(items):
            if key is not None:
                self.gap()
                self.text += json.dumps(key)
                self.gap()
                self.text += ":"
            self.value(item, path)
            if index + 1 < len(items) or self.draw(st.booleans()):
                self.text += ","
        self.gap()
        self.text += closing


@given(values, st.data())
def test_a_printed_value_reads_back_with_its_places(value: Any, data: st.DataObject) -> None:
    printer = Printer(data.draw)
    printer.value(value)
    mark = data.draw(st.sampled_from(["", "\ufeff"]))
    document = parse_jsonc(mark + printer.text)
    assert document.value == value
    assert json.dumps(document.value) == json.dumps(value)
    for path, offset in printer.offsets.items():
        assert document.value_position(path) == LineIndex(printer.text).position(offset)


@given(st.text(), st.integers(min_value=0))
def test_positions_are_those_of_universal_line_breaks(text: str, seed: int) -> None:
    offset = seed % (len(text) + 1)
    if text[offset - 1 : offset + 1] == "\r\n" and offset > 0:
        offset += 1  # between CR and LF there is no place to point at
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line, column = LineIndex(text).position(offset)
    assert line == before.count("\n") + 1
    assert column == len(before) - (before.rfind("\n") + 1) + 1


@given(st.text() | st.text(alphabet='{}[]",:/*\\ \n\r0123-.eEtrufalsn'))
def test_arbitrary_text_is_a_value_or_a_located_error(text: str) -> None:
    fault: JsoncError | None = None
    try:
        document = parse_jsonc(text)
    except JsoncError as exc:
        fault = exc
    if fault is None:
        assert not isinstance(document.value, float) or math.isfinite(document.value)
        return
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert 1 <= fault.line <= len(lines)
    assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1
    assert fault.message


@given(values)
def test_whatever_json_reads_we_read_alike(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False)):
        assert parse_jsonc(text).value == json.loads(text)
