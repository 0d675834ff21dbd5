"""``console`` (rows o1-o3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import js
import pytest
from pyodide.ffi import to_js
from tsumugi_emulator.javascript.web import console

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def lines() -> Iterator[list[tuple[str, str]]]:
    seen: list[tuple[str, str]] = []
    before = console.SINK[0]
    console.SINK[0] = lambda level, text: seen.append((level, text))
    yield seen
    console.SINK[0] = before


@pytest.mark.parametrize("level", ["log", "info", "debug", "warn", "error"])
def test_every_level_reaches_the_sink(lines: list[tuple[str, str]], level: str) -> None:
    getattr(js.console, level)("a", 1, None)
    assert lines == [(level, "a 1 undefined")]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1, "b-c": "it's"}, "{ a: 1, 'b-c': \"it's\" }"),
        ([1, "two", None, True], "[ 1, 'two', undefined, true ]"),
        ({}, "{}"),
        ([], "[]"),
        ({"a": {"b": {"c": {"d": 1}}}}, "{ a: { b: { c: [Object] } } }"),
        (b"ab", "Uint8Array(2) [ 97, 98 ]"),
        ({1, 2}, "Set(2) { 1, 2 }"),
        (2**60, f"{2**60}n"),
    ],
)
def test_converted_values_print_as_in_node(
    lines: list[tuple[str, str]], value: object, text: str
) -> None:
    js.console.log(to_js(value))
    assert lines == [("log", text)]


def test_long_values_take_a_line_for_each_part(lines: list[tuple[str, str]]) -> None:
    js.console.log(to_js({"a": "x" * 40, "b": "y" * 40}))
    assert lines[0][1] == f"{{\n  a: '{'x' * 40}',\n  b: '{'y' * 40}'\n}}"


def test_an_array_that_holds_itself_ends(lines: list[tuple[str, str]]) -> None:
    array = to_js([1])
    array.append(array)
    js.console.log(array)
    assert lines == [("log", "[ 1, [Circular *1] ]")]


def test_python_values_print_their_repr(lines: list[tuple[str, str]]) -> None:
    js.console.log({"a": (1, None)}, [b"x"])
    assert lines == [("log", "{'a': (1, None)} [b'x']")]


def test_host_objects_print_their_kind(lines: list[tuple[str, str]]) -> None:
    js.console.log(js.Headers.new({"a": "1"}.items()), js.Date.new(0), js.JSON.parse)
    js.console.log(js.Map.new(to_js([["k", 1]])), js.Error.new("broken"))
    assert lines[0][1] == "Headers { 'a' => '1' } 1970-01-01T00:00:00.000Z [Function: parse]"
    assert lines[1][1].startswith("Map(1) { 'k' => 1 } Error: broken")


def test_directives_take_their_arguments(lines: list[tuple[str, str]]) -> None:
    js.console.log("%s is %d (%i) %j%% %o", "x", 1.5, 2.9, to_js({"a": 1}), to_js([1]), "rest")
    js.console.log("100%", "done")
    assert [text for _, text in lines] == ['x is 1.5 (2) {"a":1}% [ 1 ] rest', "100% done"]


def test_counts_groups_and_asserts(lines: list[tuple[str, str]]) -> None:
    js.console.count("c")
    js.console.count("c")
    js.console.countReset("c")
    js.console.group("G")
    js.console.log("in\nside")
    js.console.groupEnd()
    getattr(js.console, "assert")(False, "wrong")
    assert [text for _, text in lines] == [
        "c: 1",
        "c: 2",
        "G",
        "  in\n  side",
        "Assertion failed: wrong",
    ]


def test_a_table_has_a_row_for_each_element(lines: list[tuple[str, str]]) -> None:
    js.console.table(to_js([{"a": 1}, {"a": "x"}]))
    assert lines[0][1] == (
        "┌─────────┬─────┐\n"
        "│ (index) │ a   │\n"
        "├─────────┼─────┤\n"
        "│ 0       │ 1   │\n"
        "│ 1       │ 'x' │\n"
        "└─────────┴─────┘"
    )


def test_a_timer_prints_its_milliseconds(lines: list[tuple[str, str]]) -> None:
    js.console.time("t")
    js.console.timeEnd("t")
    js.console.timeEnd("t")
    assert lines[0][1].startswith("t: ")
    assert lines[1] == ("warn", "Warning: No such label 't' for console.timeLog()")
