"""From the SQL API's language to SQLite's: tokens in, text out. Runs nothing, opens nothing.

Times are seconds since the epoch on the way; which columns of the answer are times is told.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.storage.sql_text import Token, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("JSON", "JSONEachRow", "TabSeparated")
#: Functions whose value is a time.
TIME_FUNCTIONS = frozenset(
    {
        "now", "today", "todatetime", "tostartofinterval", "tostartofminute", "tostartofhour",
        "tostartofday", "tostartofweek", "tostartofmonth", "tostartofyear",
        "tostartoffiveminutes", "tostartoffifteenminutes",
    }
)  # fmt: skip
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
_KEEPS_TIME = frozenset({"min", "max", "any", "argmin", "argmax"})
TABLE = "points"


class QueryError(Exception):
    """The query is not one that is answered here."""


class Translated(NamedTuple):
    sql: str
    #: What it reads; None for a query without FROM.
    dataset: str | None
    #: Names of columns that are times.
    times: frozenset[str]
    format: str
    shows_tables: bool = False


def translate(sql: str) -> Translated:
    """What to run instead.

    Raises:
        QueryError: it is no SELECT, or reads more than one dataset.
    """
    found = list(tokens(sql.strip().rstrip(";")))
    found, format_ = _take_format(found)
    words = [token.text.upper() for token in found]
    if words[:2] == ["SHOW", "TABLES"]:
        return Translated("", None, frozenset(), format_, shows_tables=True)
    if not words or words[0] != "SELECT":
        raise QueryError("only SELECT and SHOW TABLES statements are supported")
    for word in ("JOIN", "UNION", "INTO"):
        if word in words:
            raise QueryError(f"{word} is not supported")
    dataset = _dataset(found)
    times = frozenset(_time_columns(found))
    return Translated(_rewrite(found, dataset), dataset, times, format_)


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


def _rewrite(found: Sequence[Token], dataset: str | None) -> str:
    parts: list[str] = []
    place = 0
    while place < len(found):
        text, place = _next(found, place, dataset)
        parts.append(text)
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


# -- Which columns are times ----------------------------------------------------------------------


def _time_columns(found: Sequence[Token]) -> list[str]:
    """Names of the outermost SELECT's columns whose expression is a time."""
    names = []
    for item in _select_items(found):
        alias = None
        if len(item) > 2 and item[-2].text.upper() == "AS":
            item, alias = item[:-2], item[-1].text.strip('"`')
        if _is_time(item):
            names.append(alias or "".join(token.text for token in item))
    return names


def _select_items(found: Sequence[Token]) -> list[list[Token]]:
    items: list[list[Token]] = [[]]
    depth = 0
    for token in found[1:]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text.upper() == "FROM":
            break
        if depth == 0 and token.text == ",":
            items.append([])
        elif token.text.upper() != "DISTINCT":
            items[-1].append(token)
    return items


def _is_time(item: Sequence[Token]) -> bool:
    words = [token.text.lower() for token in item]
    if words == ["timestamp"]:
        return True
    if len(words) < 2 or words[1] != "(" or words[-1] != ")":
        # now() - INTERVAL: a time moved by seconds stays one
        return len(words) > 1 and words[-3:-2] == ["interval"] and _is_time(item[:-4])
    if words[0] in TIME_FUNCTIONS:
        return True
    return words[0] in _KEEPS_TIME and _is_time(item[2:-1])
