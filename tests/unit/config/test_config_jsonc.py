from __future__ import annotations

import pytest
from tsumugi_emulator.config.jsonc import MAX_DEPTH, JsoncError, parse_jsonc


def value(text: str) -> object:
    return parse_jsonc(text).value


def fault(text: str) -> tuple[str, int, int]:
    with pytest.raises(JsoncError) as caught:
        parse_jsonc(text)
    return caught.value.message, caught.value.line, caught.value.column


@pytest.mark.parametrize("string", ["http://x", "a /* b */ c", "a,}", "[1,]", "// x", "/*", "*/"])
def test_what_looks_like_syntax_inside_a_string_is_kept(string: str) -> None:
    assert value(f'{{"k": "{string}", }} // {string}') == {"k": string}


def test_line_comments_end_at_the_line() -> None:
    assert value("[1, // one\n2, // two\r\n3 // three\r,4]") == [1, 2, 3, 4]


def test_block_comments_may_stand_between_any_two_tokens() -> None:
    assert value('/**/{/**/"a"/*:*/:/**/1/*,*/,/**/"b":[/**/2/**/]/**/}/**/') == {"a": 1, "b": [2]}


def test_a_comment_at_the_end_needs_no_line_break() -> None:
    assert value("{} // done") == {}


def test_one_trailing_comma_is_allowed() -> None:
    assert value('{"a": [1, 2,], "b": {},}') == {"a": [1, 2], "b": {}}


@pytest.mark.parametrize("text", ["[,]", "{,}", "[1,,2]", '{"a":1,,"b":2}', "[1 2]", '{"a" 1}'])
def test_commas_and_colons_cannot_be_left_out_or_doubled(text: str) -> None:
    fault(text)


def test_a_byte_order_mark_is_skipped_and_takes_no_column() -> None:
    assert parse_jsonc('\ufeff{"a": 1}').key_position(("a",)) == (1, 2)


def test_zero_false_null_and_empty_are_values() -> None:
    assert value('{"a": 0, "b": false, "c": null, "d": "", "e": [], "f": {}}') == {
        "a": 0, "b": False, "c": None, "d": "", "e": [], "f": {},
    }  # fmt: skip


def test_escapes_mean_their_characters() -> None:
    assert value(r'"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"') == '"\\/\b\f\n\r\tA\U0001f600'


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    assert value(r'"\ud83dx\ud83d\u0041\ude00"') == "\ufffdx\ufffdA\ufffd"


@pytest.mark.parametrize("text", ["0", "-0.5", "1e3", "12E-2", "1.25e+2", "123456789012345678"])
def test_numbers_are_read_as_json_reads_them(text: str) -> None:
    assert value(text) == (float(text) if any(c in text for c in ".eE") else int(text))


@pytest.mark.parametrize("text", ["01", "-", "1.", ".5", "1e", "+1", "0x10", "1e999", "9" * 5000])
def test_numbers_that_json_does_not_have_are_refused(text: str) -> None:
    fault(text)


def test_the_last_of_two_equal_keys_wins_and_both_are_told() -> None:
    document = parse_jsonc('{"a": {"old": 1},\n "a": {"new": 2}}')
    assert document.value == {"a": {"new": 2}}
    assert [path for path, _ in document.duplicates] == [("a",)]
    assert document.key_position(("a",)) == (2, 2)
    assert document.value_position(("a", "old")) == document.value_position(("a",))


def test_places_are_those_of_keys_and_values() -> None:
    document = parse_jsonc('{\r\n  "a": [1,\r\n    {"b": true}]\r\n}')
    assert document.key_position(("a",)) == (2, 3)
    assert document.value_position(("a",)) == (2, 8)
    assert document.value_position(("a", 1)) == (3, 5)
    assert document.value_position(("a", 1, "b")) == (3, 11)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "ValueExpected", (1, 1)),
        ("// only\n", "ValueExpected", (2, 1)),
        ('{\n  "a": 1\n  "b": 2\n}', "CommaExpected", (3, 3)),
        ('{\n  "a": tru\n}', "InvalidSymbol: tru", (2, 8)),
        ("{\n  name: 1\n}", "PropertyNameExpected", (2, 3)),
        ("{\n  'a': 1\n}", "PropertyNameExpected", (2, 3)),
        ("{\"a\": 'x'}", "InvalidSymbol", (1, 7)),
        ('{"a": "x\n"}', "UnexpectedEndOfString", (1, 7)),
        ('{"a": "\t"}', "InvalidCharacter", (1, 8)),
        ('{"a": "\\x"}', "InvalidEscapeCharacter", (1, 8)),
        ('{"a": "\\u12g4"}', "InvalidUnicode", (1, 8)),
        ('{"a": 1', "CloseBraceExpected", (1, 8)),
        ("[1", "CloseBracketExpected", (1, 3)),
        ("{} {}", "EndOfFileExpected", (1, 4)),
        ("{} /* ", "UnexpectedEndOfComment", (1, 4)),
        ("{ / }", "InvalidSymbol", (1, 3)),
        ("\u00a0{}", "ValueExpected", (1, 1)),
    ],
)
def test_a_fault_names_itself_and_its_place(
    text: str, message: str, place: tuple[int, int]
) -> None:
    found, line, column = fault(text)
    assert found.startswith(message)
    assert (line, column) == place


def test_nesting_is_bounded() -> None:
    assert value("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    message, _, column = fault("[" * 100_000)
    assert f"{MAX_DEPTH} levels" in message
    assert column == MAX_DEPTH + 1
