"""SQL as text: its tokens and its statements. Runs nothing."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
      |(?P<string>'(?:[^']|'')*')
      |(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
      |(?P<parameter>\?\d*|[:@$][A-Za-z_]\w*)
      |(?P<number>\d[\w.]*|\.\d[\w.]*)
      |(?P<word>[^\W\d][\w$]*)
      |(?P<symbol>\|\||<<|>>|<=|>=|<>|!=|==|->>|->|.)""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int


class Statement(NamedTuple):
    text: str
    #: First word in capitals: SELECT, INSERT, PRAGMA...
    verb: str


def tokens(sql: str) -> Iterator[Token]:
    """Everything but white space and comments."""
    for match in _TOKEN.finditer(sql):
        if match.lastgroup != "space":
            yield Token(match.lastgroup or "symbol", match[0], match.start())


@lru_cache(maxsize=512)  # a Worker uses few statements, and uses them in every request
def statements(sql: str) -> tuple[Statement, ...]:
    """The statements in ``sql``, without their semicolons; those that are empty are left out."""
    found = []
    start = 0
    for token in tokens(sql):
        if token.text == ";" and _is_complete(sql[start : token.start + 1]):
            found.append(sql[start : token.start])
            start = token.start + 1
    found.append(sql[start:])
    return tuple(statement for text in found if (statement := _statement(text)) is not None)


def _is_complete(text: str) -> bool:
    return sqlite3.complete_statement(text.replace("\0", " "))


@lru_cache(maxsize=512)
def ends_with_an_empty_statement(sql: str) -> bool:
    """Whether the last semicolon ends nothing, or a comment follows it.

    The runtime takes either for one more statement, and runs the last one last.
    """
    start, is_empty = 0, False
    for token in tokens(sql):
        if token.text == ";" and _is_complete(sql[start : token.start + 1]):
            is_empty = next(tokens(sql[start : token.start]), None) is None
            start = token.start + 1
    rest = sql[start:]
    if not rest.strip():
        return is_empty
    return start > 0 and next(tokens(rest), None) is None


def _statement(text: str) -> Statement | None:
    first = next((token for token in tokens(text)), None)
    if first is None or first.text == ";":
        return None
    return Statement(text, first.text.upper())


#: ``SQLITE_LIMIT_VARIABLE_NUMBER`` in production.
MAX_PARAMETERS = 100
#: ``SQLITE_LIMIT_SQL_LENGTH`` there.
MAX_SQL_BYTES = 100_000
_MAX_UTF8_BYTES = 4
#: What SQLite says then. apsw, which looks itself, says what it says of values.
TOO_LONG = "statement too long: SQLITE_TOOBIG"


def is_too_long(sql: str) -> bool:
    return (
        len(sql) * _MAX_UTF8_BYTES > MAX_SQL_BYTES
        and len(sql.encode("utf-8", "surrogatepass")) > MAX_SQL_BYTES
    )
