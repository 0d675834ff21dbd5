"""From the SQL API's language to SQLite's: tokens in, text out. Runs nothing, opens nothing.

Times are seconds since the epoch on the way; what the answer's columns are is told.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.storage.analytics_columns import columns
from tsumugi_emulator.storage.sql_text import Token, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("JSON", "JSONEachRow", "TabSeparated")
UNITS_S = {
    "SECOND": 1,
    "MINUTE": 60,
    "HOUR": 3600,
    "DAY": 86_400,
    "WEEK": 7 * 86_400,
    "MONTH": 30 * 86_400,
    "QUARTER": 91 * 86_400,
    "YEAR": 365 * 86_400,
}
_TIME = re.compile(r"'\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d)?'\Z")
_COMPARISONS = frozenset({"=", "==", "!=", "<>", "<", ">", "<=", ">=", "BETWEEN", "AND"})
TABLE = "points"


class QueryError(Exception):
    """The query is not one that is answered here."""


class Translated(NamedTuple):
    sql: str
    #: What it reads; None for a query without FROM.
    dataset: str | None
    #: Types of columns, by name, where the query tells them.
    kinds: dict[str, str]
    format: str
    shows_tables: bool = False


def translate(sql: str) -> Translated:
    """What to run instead.

    Raises:
        QueryError: it is no SELECT, or reads more than one dataset.
    """
    sql = sql.strip().rstrip(";")
    found = list(tokens(sql))
    found, format_ = _take_format(found)
    words = [token.text.upper() for token in found]
    if words[:2] == ["SHOW", "TABLES"]:
        return Translated("", None, {}, format_, shows_tables=True)
    if not words or words[0] != "SELECT":
        raise QueryError("only SELECT and SHOW TABLES statements are supported")
    for word in ("JOIN", "UNION", "INTO"):
        if word in words:
            raise QueryError(f"{word} is not supported")
    dataset = _dataset(found)
    selected = columns(sql, found)
    # SQLite would name them by the text it is given, which is not what was asked.
    names = {column.end: column.name for column in selected if not column.is_named}
    kinds = {column.name: column.kind for column in selected if column.kind is not None}
    return Translated(_rewrite(found, dataset, names), dataset, kinds, format_)


def _take_format(found: list[Token]) -> tuple[list[Token], str]:
    if len(found) < 2 or found[-2].text.upper() != "FORMAT":
        return found, "JSON"
    name = found[-1].text
    if name not in FORMATS:
        raise QueryError(f"unsupported FORMAT {name}; use one of {', '.join(FORMATS)}")
    return found[:-2], name


def _dataset(found: Sequence[Token]) -> str | None:
    names = {
        after.text.strip('"`')
        for token, after in itertools.pairwise(found)
        if token.text.upper() == "FROM" and after.text != "("
    }
    if len(names) > 1:
        raise QueryError(f"a query reads one dataset, not {', '.join(sorted(names))}")
    return next(iter(names), None)


def _rewrite(found: Sequence[Token], dataset: str | None, names: dict[int, str]) -> str:
    """``names`` are of the columns that end before a place."""
    parts: list[str] = []
    place = 0
    while place < len(found):
        text, place = _next(found, place, dataset)
        parts.append(text)
        if place in names:
            quoted = names[place].replace('"', '""')
            parts.append(f'AS "{quoted}"')
    return " ".join(part for part in parts if part)


def _next(found: Sequence[Token], place: int, dataset: str | None) -> tuple[str, int]:
    """The text for what stands at ``place``, and where to go on."""
    token = found[place]
    word = token.text.upper()
    before = found[place - 1].text.upper() if place else ""
    if word == "INTERVAL":
        return _interval(found, place)
    if dataset is not None and before == "FROM" and token.text.strip('"`') == dataset:
        return TABLE, place + 1
    if word == "/":
        return "* 1.0 /", place + 1  # the quotient of integers is not an integer
    if token.text == ")" and place + 1 < len(found) and found[place + 1].text == "(":
        return ",", place + 2  # quantile(0.5)(x): the parameters are arguments here
    if word == "LIMIT" and _text(found, place + 1).upper() == "ALL":
        return "", place + 2
    if token.kind == "string" and _TIME.match(token.text) and _is_compared(found, place):
        return f"toDateTime({token.text})", place + 1
    return token.text, place + 1


def _text(found: Sequence[Token], place: int) -> str:
    return found[place].text if 0 <= place < len(found) else ""


def _interval(found: Sequence[Token], place: int) -> tuple[str, int]:
    number, unit = _text(found, place + 1).strip("'"), _text(found, place + 2).upper()
    if not number.isdigit() or unit.rstrip("S") not in UNITS_S:
        raise QueryError(f"cannot understand INTERVAL {number} {unit}")
    return str(int(number) * UNITS_S[unit.rstrip("S")]), place + 3


def _is_compared(found: Sequence[Token], place: int) -> bool:
    """Whether the literal is compared with the time of the points."""
    if _text(found, place - 1).upper() not in _COMPARISONS:
        after = _text(found, place + 1) in _COMPARISONS
        return after and _text(found, place + 2).lower() == "timestamp"
    if _text(found, place - 1).upper() == "AND":  # the end of a BETWEEN
        return _text(found, place - 3).upper() == "BETWEEN" and _is_compared(found, place - 2)
    return _text(found, place - 2).lower() == "timestamp"
