"""SQL as text: its tokens, its statements, its parameters, where an error is. Runs nothing.

SQLite tells Python what is wrong but not where; production's messages carry the offset.
"""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    #: The highest number of a parameter; None if they have no numbers.
    numbered: int | None
    #: First word in capitals: SELECT, INSERT, PRAGMA...
    verb: str

    def values(self, params: Sequence[Any]) -> Any:
        """The parameters as Python's SQLite takes them; None if there are too few or too many."""
        if self.numbered is None:
            return params
        if len(params) != self.numbered:
            return None
        return {str(number): value for number, value in enumerate(params, 1)}


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
        if token.text == ";" and sqlite3.complete_statement(sql[start : token.start + 1]):
            found.append(sql[start : token.start])
            start = token.start + 1
    found.append(sql[start:])
    return tuple(statement for text in found if (statement := _statement(text)) is not None)


@lru_cache(maxsize=512)
def holds_an_empty_statement(sql: str) -> bool:
    """Whether a semicolon ends nothing, or a comment follows the last one.

    The runtime takes either for one more statement, which is empty.
    """
    start = 0
    for token in tokens(sql):
        if token.text == ";" and sqlite3.complete_statement(sql[start : token.start + 1]):
            if next(tokens(sql[start : token.start]), None) is None:
                return True
            start = token.start + 1
    rest = sql[start:]
    return start > 0 and bool(rest.strip()) and next(tokens(rest), None) is None


def _statement(text: str) -> Statement | None:
    first = next((token for token in tokens(text)), None)
    if first is None or first.text == ";":
        return None
    return Statement(*_number_parameters(text), first.text.upper())


def _number_parameters(text: str) -> tuple[str, int | None]:
    """Every parameter as ``?1``, ``?2``... unless all of them are a plain ``?``.

    Python binds by position only where all are plain, and numbered ones by their number.
    """
    parameters = [token for token in tokens(text) if token.kind == "parameter"]
    if all(token.text == "?" for token in parameters):
        return text, None
    numbers: dict[str, int] = {}
    parts, end, highest = [], 0, 0
    for token in parameters:
        if token.text == "?":
            number = highest + 1
        elif token.text[0] == "?":
            number = int(token.text[1:])
        else:
            number = numbers.setdefault(token.text, highest + 1)
        highest = max(highest, number)
        parts += [text[end : token.start], f"?{number}"]
        end = token.start + len(token.text)
    return "".join([*parts, text[end:]]), highest


_NEAR = re.compile(r'near "(?P<token>.*)": syntax error\Z', re.DOTALL)
_UNRECOGNIZED = re.compile(r'unrecognized token: "(?P<token>.*)"\Z', re.DOTALL)
_NAMED = re.compile(
    r"(?:no such column: |ambiguous column name: |no such function: "
    r"|not authorized to use function: |wrong number of arguments to function "
    r"|misuse of aggregate(?: function)?: ?|misuse of aggregate function |table )"
    r"(?P<name>[^\s(]+)(?:\(\))?(?: already exists)?\Z"
)
#: ``SQLITE_LIMIT_VARIABLE_NUMBER`` in production.
MAX_PARAMETERS = 100


def error_offset(sql: str, message: str, compile_error: Callable[[str], str | None]) -> int | None:
    """Where in ``sql`` (in UTF-8 bytes) an error is, if SQLite reports a place for its kind.

    ``compile_error`` answers the message that compiling a text gives, or None.
    """
    if match := _NEAR.match(message):
        start = _syntax_error(sql, match["token"], message, compile_error)
    elif match := _UNRECOGNIZED.match(message):
        start = sql.find(match["token"])
    elif message == "too many SQL variables":
        parameters = [token.start for token in tokens(sql) if token.kind == "parameter"]
        start = parameters[MAX_PARAMETERS] if len(parameters) > MAX_PARAMETERS else -1
    elif message.startswith("variable number must be"):
        start = next((t.start for t in tokens(sql) if _number_too_high(t)), -1)
    elif match := _NAMED.match(message):
        start = _name(sql, match["name"])
    else:
        start = -1
    return None if start < 0 else len(sql[:start].encode("utf-8", "replace"))


def _syntax_error(
    sql: str, text: str, message: str, compile_error: Callable[[str], str | None]
) -> int:
    # The parser stops at the first token it cannot take, so the shortest text with this error
    # ends there.
    for token in tokens(sql):
        end = token.start + len(token.text)
        if token.text == text and compile_error(sql[:end]) == message:
            return token.start
    return -1


def _number_too_high(token: Token) -> bool:
    return token.text[0] == "?" and int(token.text[1:] or 1) > MAX_PARAMETERS


def _name(sql: str, name: str) -> int:
    """The first place where ``name``, which may be ``table.column``, stands."""
    parts = name.lower().split(".")
    found = list(tokens(sql))
    for index, token in enumerate(found):
        words = [t.text.strip('"`[]').lower() for t in found[index : index + 2 * len(parts) - 1]]
        if words[::2] == parts and token.kind in ("word", "quoted"):
            return token.start
    return -1
