"""ECMAScript's own objects: arrays, JSON, RegExp, URI encoding. Texts are V8's."""

from __future__ import annotations

from typing import Any

import js
import pytest
from pyodide.ffi import JsException, to_js


def array(*items: Any) -> Any:
    return js.Array.of(*items)


def test_arrays_sort_as_text_with_undefined_last() -> None:
    assert list(array(10, 9, 1, None, "b").sort()) == [1, 10, 9, "b", None]
    assert list(array(10, 9, 1).sort(lambda a, b: a - b)) == [1, 9, 10]


def test_arrays_splice_slice_and_flatten() -> None:
    changed = array(1, 2, 3, 4)
    assert list(changed.splice(1, 2, "x")) == [2, 3]
    assert list(changed) == [1, "x", 4]
    assert list(array(1, 2, 3, 4).slice(-2)) == [3, 4]
    assert list(to_js([1, [2, [3]]]).flat(js.Infinity)) == [1, 2, 3]


def test_arrays_reduce_from_the_first_element() -> None:
    assert array(1, 2, 3).reduce(lambda total, value, *_: total + value) == 6
    with pytest.raises(JsException, match="Reduce of empty array with no initial value"):
        js.Array.new().reduce(lambda *_: 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expected property name or '}' in JSON at position 1 (line 1 column 2)"),
        ('{"a"', "Expected ':' after property name in JSON at position 4 (line 1 column 5)"),
        ('{"a":', "Unexpected end of JSON input"),
        ('{"a":1', "Expected ',' or '}' after property value in JSON at position 6"),
        ('{"a":1,', "Expected double-quoted property name in JSON at position 7"),
        ("[1", "Expected ',' or ']' after array element in JSON at position 2"),
        ("[1,", "Unexpected end of JSON input"),
        ("tru", "Unexpected end of JSON input"),
        ('"abc', "Unterminated string in JSON at position 4"),
        ('"a\\x"', "Bad escaped character in JSON at position 3"),
        ('"a\nb"', "Bad control character in string literal in JSON at position 2"),
        ("1 2", "Unexpected non-whitespace character after JSON at position 2"),
        ("[1,]", "Unexpected token ']', \"[1,]\" is not valid JSON"),
        ("-", "No number after minus sign in JSON at position 1"),
        ("01", "Unexpected number in JSON at position 1"),
        ("1.", "Unterminated fractional number in JSON at position 2"),
        ("1e", "Exponent part is missing a number in JSON at position 2"),
        ("  ", "Unexpected end of JSON input"),
        ("undefined", '"undefined" is not valid JSON'),
        ('"\\u12"', "Bad Unicode escape in JSON at position 5"),
        ("+1", "Unexpected token '+', \"+1\" is not valid JSON"),
        ("x" * 60, "Unexpected token 'x', \"xxxxxxxxxx\"... is not valid JSON"),
        ('{"abcdefghijklmnopqrstuvwxyz":tru, "a":1}', '..."vwxyz":tru, "a":1}" is not valid JSON'),
        (
            '{"abcdefghijklmnopqrstuvwxyz":tru, "abcdefghijklmnopqrstuvwxyz":1}',
            'Unexpected token \',\', ..."vwxyz":tru, "abcdefg"... is not valid JSON',
        ),
        ('{\n"a": 1,\n}', "Expected double-quoted property name in JSON at position 10 (line 3"),
    ],
)
def test_json_faults_are_told_in_v8_s_words(text: str, message: str) -> None:
    with pytest.raises(JsException) as failure:
        js.JSON.parse(text)
    assert failure.value.name == "SyntaxError"
    assert message in failure.value.message


def test_a_cycle_names_the_way_back() -> None:
    outer = js.Object.new()
    outer.a = js.Object.new()
    outer.a.b = array(outer)
    with pytest.raises(JsException) as failure:
        js.JSON.stringify(outer)
    assert failure.value.message == (
        "Converting circular structure to JSON\n"
        "    --> starting at object with constructor 'Object'\n"
        "    |     property 'a' -> object with constructor 'Object'\n"
        "    |     property 'b' -> object with constructor 'Array'\n"
        "    --- index 0 closes the circle"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-7"),
        (0.00001, "0.00001"),
        (-0.0, "0"),
        (2.0**53, "9007199254740992"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (float("nan"), "null"),
        ("\ud83d\ude00", '"\U0001f600"'),
        ("\ud83d", '"\\ud83d"'),
    ],
)
def test_json_writes_numbers_and_surrogates_as_javascript_does(value: Any, text: str) -> None:
    assert js.JSON.stringify(value) == text
    assert js.JSON.stringify(array(value)) == f"[{text}]"


def test_json_indents_replaces_and_revives() -> None:
    value = to_js({"a": [1e21, 0], "b": {}, "c": []})
    assert js.JSON.stringify(value, None, 2) == (
        '{\n  "a": [\n    1e+21,\n    0\n  ],\n  "b": {},\n  "c": []\n}'
    )
    assert js.JSON.stringify(to_js({"a": 1, "b": 2}), array("a")) == '{"a":1}'
    doubled = js.JSON.parse("[1,2]", lambda _key, value: value * 2 if value in (1, 2) else value)
    assert list(doubled) == [2, 4]


@pytest.mark.parametrize(
    ("source", "flags", "text", "found"),
    [
        (r"(?<y>\d+)-(b)?", "", "x12-", ["12-", "12", None]),
        (r"^b$", "m", "a\nb\nc", ["b"]),
        (r"a$", "", "a\n", None),
        (r"[^]b", "", "\nb", ["\nb"]),
        (r"[$[]", "", "[", ["["]),
        (r"(?<q>['\"]).*\k<q>", "", "'it'", ["'it'", "'"]),
        (r"\u{1F600}", "u", "\U0001f600", ["\U0001f600"]),
        (r"A", "i", "a", ["a"]),
    ],
)
def test_a_regular_expression_finds_what_javascripts_does(
    source: str, flags: str, text: str, found: Any
) -> None:
    result = js.RegExp.new(source, flags).exec(text)
    assert (list(result) if result else None) == found


def test_a_global_regular_expression_remembers_where_it_was() -> None:
    expression = js.RegExp.new("a/b", "g")
    assert str(expression) == r"/a\/b/g"
    assert expression.test("a/b a/b")
    assert expression.lastIndex == 3
    assert js.RegExp.new(r"(?<y>\d+)").exec("x12").groups.y == "12"


def test_regular_expressions_that_do_not_parse() -> None:
    with pytest.raises(JsException, match="Invalid flags supplied to RegExp constructor 'zz'"):
        js.RegExp.new("a", "zz")
    with pytest.raises(JsException, match=r"Invalid regular expression: /\(/: Unterminated group"):
        js.RegExp.new("(")


def test_uris_are_encoded_and_decoded_and_bad_ones_refused() -> None:
    assert js.encodeURIComponent("a b/é") == "a%20b%2F%C3%A9"
    assert js.encodeURI("a b/é?") == "a%20b/%C3%A9?"
    assert js.decodeURIComponent("%20%2F") == " /"
    assert js.decodeURI("%20%2F") == " %2F"
    for bad in (lambda: js.encodeURIComponent("\ud83d"), lambda: js.decodeURIComponent("%zz")):
        with pytest.raises(JsException, match="URIError: URI malformed"):
            bad()


def test_a_data_view_reads_big_endian_unless_told_otherwise() -> None:
    view = js.DataView.new(js.Uint8Array.of(1, 2, 3, 4).buffer)
    assert view.getUint16(0) == 0x0102
    assert view.getUint16(0, True) == 0x0201
    view.setInt32(0, -2)
    assert view.getInt32(0) == -2
    with pytest.raises(JsException, match="Offset is outside the bounds of the DataView"):
        view.getUint16(3)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0**53, "9007199254740992"),
        (2.0**63, "9223372036854776000"),
        (-(2.0**64), "-18446744073709552000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
    ],
)
def test_numbers_beyond_the_exact_integers_are_written_with_zeros(value: float, text: str) -> None:
    assert js.String(value) == text
    assert js.JSON.stringify(js.Array.of(value)) == f"[{text}]"


def test_maps_and_sets_take_the_two_zeros_for_one() -> None:
    assert str(js.Array.from_(js.Set.new([-0.0]))[0]) == "0"
    numbers = js.Map.new()
    numbers.set(-0.0, "zero")
    assert numbers.get(0) == "zero"
    assert str(next(iter(numbers.keys()))) == "0"


def test_a_map_whose_keys_are_one_in_python_is_not_converted() -> None:
    keys = js.Map.new()
    keys.set(1, "number")
    keys.set(True, "boolean")
    with pytest.raises(JsException, match="since it contains both 1 and true as keys"):
        keys.to_py()


def test_only_the_indices_of_arrays_come_first_among_the_keys() -> None:
    names = ["b", "4294967295", "4294967294", "1", "9" * 5000]
    made = js.Object.fromEntries(to_js([[name, 0] for name in names]))
    assert list(js.Object.keys(made)) == ["1", "4294967294", "b", "4294967295", "9" * 5000]


def test_reflect_sets_and_deletes() -> None:
    target = js.Object.new()
    assert js.Reflect.set(target, "b", 1) is True
    assert js.Reflect.set(target, 1, 2) is True
    assert list(js.Object.keys(target)) == ["1", "b"]
    assert js.Reflect.deleteProperty(target, "b") is True
    assert list(js.Object.keys(target)) == ["1"]
    items = array(1)
    assert js.Reflect.set(items, 2, 3) is True
    assert list(items) == [1, None, 3]
    frozen = js.Object.freeze(js.Object.fromEntries(to_js([["a", 1]])))
    assert js.Reflect.set(frozen, "a", 2) is False
    assert js.Reflect.deleteProperty(frozen, "a") is False
    assert frozen.a == 1
