"""The columns of a query of the SQL API: their names and, where the query tells, their types.

Reads tokens only. What the query does not tell is judged by the values (``analytics``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tsumugi_emulator.storage.sql_text import Token

_TIMES = frozenset(
    {
        "now", "today", "todatetime", "tostartofinterval", "tostartofminute",
        "tostartoffiveminutes", "tostartoftenminutes", "tostartoffifteenminutes",
        "tostartofhour", "tostartofday", "tostartofweek", "tostartofmonth", "tostartofyear",
    }
)  # fmt: skip
_TEXTS = frozenset(
    {
        "bin", "concat", "extract", "format", "formatdatetime", "hex", "lower", "lowerutf8",
        "substring", "tostring", "trim", "upper", "upperutf8",
    }
)  # fmt: skip
_COUNTS = frozenset({"count", "countif", "uniq", "length", "position", "intdiv"})
_FRACTIONS = frozenset(
    {"avg", "avgif", "quantile", "quantileweighted", "quantileexactweighted", "tofloat64"}
)
_LISTS = frozenset({"topk", "topkweighted"})
#: Their value is of the type of their first argument.
_SAME = frozenset({"min", "max", "any", "argmin", "argmax", "first_value", "last_value"})
_BY_FUNCTION = {
    **dict.fromkeys(_TIMES, "DateTime"),
    **dict.fromkeys(_TEXTS, "String"),
    **dict.fromkeys(_COUNTS, "UInt64"),
    **dict.fromkeys(_FRACTIONS, "Float64"),
    **dict.fromkeys(_LISTS, "Array(String)"),
}
_BY_NAME = {"timestamp": "DateTime", "_sample_interval": "UInt32", "dataset": "String"}
_FIELD = re.compile(r"(?P<kind>blob|index|double)\d+\Z")
#: Words that an expression may go on after, or end with.
_OPERATORS = frozenset(
    {"AND", "OR", "NOT", "LIKE", "IN", "IS", "BETWEEN", "WHEN", "THEN", "ELSE", "CASE", "AS"}
)
_LAST_WORDS = frozenset({"END", "NULL", "TRUE", "FALSE"})


class Column(NamedTuple):
    name: str
    #: ClickHouse's type; None where only the values tell.
    kind: str | None
    #: Whether SQLite gives it this name too.
    is_named: bool
    #: Index of the token after it.
    end: int


def columns(sql: str, found: Sequence[Token]) -> list[Column]:
    """What the outermost SELECT of ``sql``, whose tokens are ``found``, answers."""
    return [_column(sql, found, start, end) for start, end in _items(found)]


def _items(found: Sequence[Token]) -> Iterator[tuple[int, int]]:
    start, depth = 1, 0
    for place, token in enumerate(found[1:], 1):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text.upper() == "FROM":
            break
        if depth == 0 and token.text == ",":
            yield start, place
            start = place + 1
        elif place == start and token.text.upper() == "DISTINCT":
            start += 1
    else:
        place = len(found)
    if start < place:
        yield start, place


def _column(sql: str, found: Sequence[Token], start: int, end: int) -> Column:
    item = found[start:end]
    if (expression := _before_alias(item)) is not None:
        return Column(item[-1].text.strip('"`'), _kind(expression), True, end)
    if len(item) == 1 or (len(item) == 3 and item[1].text == "."):
        return Column(item[-1].text.strip('"`'), _kind(item[-1:]), item[0].kind != "string", end)
    last = item[-1]
    return Column(sql[item[0].start : last.start + len(last.text)], _kind(item), False, end)


def _before_alias(item: Sequence[Token]) -> Sequence[Token] | None:
    """The expression without its alias; None if it has none."""
    if len(item) < 2 or item[-1].kind not in ("word", "quoted"):
        return None
    before = item[-2]
    if before.text.upper() == "AS":
        return item[:-2]
    if len(item) > 2 and item[-3].text.upper() == "INTERVAL":
        return None
    ends = before.text == ")" or before.kind in ("word", "quoted", "number", "string")
    is_name = item[-1].text.upper() not in _LAST_WORDS and before.text.upper() not in _OPERATORS
    return item[:-1] if ends and is_name else None


def _kind(item: Sequence[Token]) -> str | None:
    words = [token.text.lower().strip('"`') for token in item]
    if len(words) == 1:
        return kind_of_name(words[0])
    if len(words) > 3 and words[-3] == "interval" and words[-4] in ("+", "-"):
        return _kind(item[:-4])  # a time moved by seconds stays one
    if len(words) < 3 or words[1] != "(" or not _is_one_call(words):
        return None
    name = words[0]
    if name in _SAME:
        rest = item[2:-1]
        return _kind(rest[: _first_comma(rest)])
    return _BY_FUNCTION.get(name)


def kind_of_name(name: str) -> str | None:
    if match := _FIELD.match(name):
        return "Float64" if match["kind"] == "double" else "String"
    return _BY_NAME.get(name)


def _is_one_call(words: Sequence[str]) -> bool:
    """Whether the parenthesis after the name closes at the end, or after its parameters."""
    depth = 0
    for place, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if place > 0 and depth == 0 and place < len(words) - 1 and words[place + 1] != "(":
            return False
    return words[-1] == ")"


def _first_comma(item: Sequence[Token]) -> int:
    depth = 0
    for place, token in enumerate(item):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text == ",":
            return place
    return len(item)
