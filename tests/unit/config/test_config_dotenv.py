from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from tsumugi_emulator.config.dotenv import expand, parse_dotenv


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A=1", {"A": "1"}),
        ("A = 1 ", {"A": "1"}),
        ("export A=1", {"A": "1"}),
        ("export=1", {"export": "1"}),
        ("A: 1", {"A": "1"}),
        ("A=", {"A": ""}),
        ("A=''", {"A": ""}),
        ("A=b c", {"A": "b c"}),
        ("A=b # c", {"A": "b"}),
        ("A=b#c", {"A": "b"}),
        ("A='b # c' # d", {"A": "b # c"}),
        ('A="b\\nc\\rd\\te"', {"A": "b\nc\rd\\te"}),
        ("A='b\\nc'", {"A": "b\\nc"}),
        ('A=`it\'s "x"`', {"A": 'it\'s "x"'}),
        ("A='b\nc'\nD=1", {"A": "b\nc", "D": "1"}),
        ("A='b\nD=1", {"A": "'b", "D": "1"}),
        ("A=b=c==", {"A": "b=c=="}),
        ('A="x" y', {"A": '"x" y'}),
        ("A=1\nA=2", {"A": "2"}),
        ("A.b-c_1=2", {"A.b-c_1": "2"}),
        ("\ufeffA=1\r\nB=2\rC=3", {"A": "1", "B": "2", "C": "3"}),
        ("# A=1\n\n  # x\n", {}),
        ('A={"json": [1]}', {"A": '{"json": [1]}'}),
        ("A=https://user:p@x/y?z=1", {"A": "https://user:p@x/y?z=1"}),
    ],
)
def test_assignments_are_read_as_node_dotenv_reads_them(text: str, values: dict[str, str]) -> None:
    file = parse_dotenv(text)
    assert file.values == values
    assert file.ignored_lines == ()


def test_lines_that_assign_nothing_are_ignored_and_told() -> None:
    file = parse_dotenv("A='1\n2'\nnonsense\nB=1\n=x\nC:x\n")
    assert file.values == {"A": "1\n2", "B": "1"}
    assert file.ignored_lines == (3, 5, 6)


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ("$A", "1"),
        ("${A}", "1"),
        ("x${A}y$A", "x1y1"),
        ("$MISSING", ""),
        ("${MISSING:-other}", "other"),
        ("${MISSING-$A}", "1"),
        ("${EMPTY:-other}", "other"),
        ("\\$A", "$A"),
        ("cost: $5", "cost: $5"),
        ("${", "${"),
        ("$", "$"),
        ("$LATER", ""),
    ],
)
def test_references_are_expanded(value: str, expanded: str) -> None:
    values = expand({"A": "1", "EMPTY": "", "X": value, "LATER": "2"}, environ={})
    assert values["X"] == expanded


def test_the_process_environment_is_referred_to_first() -> None:
    assert expand({"A": "file", "B": "$A"}, environ={"A": "process"})["B"] == "process"


@given(st.text(alphabet="AB =:'\"`#\\\n\r$\t{}-é"))
def test_any_text_is_read_without_failing(text: str) -> None:
    file = parse_dotenv(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    assert all(1 <= line <= lines for line in file.ignored_lines)
    expand(file.values, environ={})


@given(st.text(alphabet=st.characters(exclude_characters="'\r", exclude_categories=["Cs"])))
def test_single_quotes_keep_a_value_as_it_is(value: str) -> None:
    if value.endswith("\\"):
        value += "."  # a backslash would take the closing quote
    assert parse_dotenv(f"KEY='{value}'\nNEXT=1").values == {"KEY": value, "NEXT": "1"}
