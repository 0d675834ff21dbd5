"""Read the text of .dev.vars and .env files. Pure; knows neither files nor their precedence.

The format is that of Node's dotenv package, which wrangler uses: ``KEY=value`` or ``KEY: value``,
``export`` in front, ``#`` comments, single, double or back quotes that may span lines, and ``\\n``
and ``\\r`` inside double quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_QUOTES = "'\"`"
_SPACE = " \t\f\v"
#: References inside references; a longer chain is a loop.
_MAX_EXPANSION_DEPTH = 16


class DotenvFile(NamedTuple):
    values: dict[str, str]
    #: Line numbers, from 1, of lines that are neither assignments, comments nor blank.
    ignored_lines: tuple[int, ...]


def parse_dotenv(text: str) -> DotenvFile:
    """Every assignment, the last of a repeated key winning. Never fails."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    values: dict[str, str] = {}
    ignored: list[int] = []
    offset, line = 0, 1
    while offset < len(text):
        end = _line_end(text, offset)
        assignment = _assignment(text, offset, end)
        if assignment is not None:
            key, value, end = assignment
            values[key] = value
        elif (content := text[offset:end].strip()) and not content.startswith("#"):
            ignored.append(line)
        line += text.count("\n", offset, end) + 1
        offset = end + 1
    return DotenvFile(values, tuple(ignored))


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _assignment(text: str, offset: int, end: int) -> tuple[str, str, int] | None:
    """Key, value and the end of the last line that belongs to them."""
    start = _skip_space(text, offset, end)
    if text.startswith("export", start):
        after = _skip_space(text, start + len("export"), end)
        if after > start + len("export") and after < end and _is_key_character(text[after]):
            start = after
    stop = start
    while stop < end and _is_key_character(text[stop]):
        stop += 1
    mark = _skip_space(text, stop, end)
    if stop == start or mark >= end:
        return None
    if text[mark] == "=":
        return text[start:stop], *_value(text, mark + 1, end)
    if text[stop] == ":" and (stop + 1 == end or text[stop + 1] in _SPACE):
        return text[start:stop], *_value(text, stop + 1, end)
    return None


def _value(text: str, offset: int, end: int) -> tuple[str, int]:
    start = _skip_space(text, offset, end)
    quote = text[start : start + 1]
    if start < end and quote in _QUOTES:
        closing = _closing_quote(text, start)
        if closing is not None:
            line_end = _line_end(text, closing)
            rest = text[closing + 1 : line_end].strip()
            if not rest or rest.startswith("#"):
                return _unquote(text[start + 1 : closing], quote), line_end
    # Node's dotenv ends an unquoted value at any "#", with or without space before it.
    bare = text[start:end].split("#", 1)[0].strip()
    if len(bare) > 1 and bare[0] in _QUOTES and bare[0] == bare[-1]:
        return _unquote(bare[1:-1], bare[0]), end
    return bare, end


def _closing_quote(text: str, start: int) -> int | None:
    quote, offset = text[start], start + 1
    while offset < len(text):
        if text[offset] == "\\" and text[offset + 1 : offset + 2] == quote:
            offset += 2
        elif text[offset] == quote:
            return offset
        else:
            offset += 1
    return None


def _unquote(value: str, quote: str) -> str:
    if quote == '"':
        return value.replace("\\n", "\n").replace("\\r", "\r")
    return value


def _skip_space(text: str, offset: int, end: int) -> int:
    while offset < end and text[offset] in _SPACE:
        offset += 1
    return offset


def _is_key_character(character: str) -> bool:
    return (character.isascii() and character.isalnum()) or character in "_.-"


def expand(values: Mapping[str, str], *, environ: Mapping[str, str]) -> dict[str, str]:
    """Replaces ``$NAME``, ``${NAME}`` and ``${NAME:-default}``, as wrangler does for .env files.

    A name stands for the variable of ``environ``, or else for a value defined earlier; an unknown
    one for nothing. ``\\$`` is a dollar sign.
    """
    done: dict[str, str] = {}
    for key, value in values.items():
        done[key] = _expanded(value, {**done, **environ}, depth=0)
    return done


def _expanded(value: str, known: Mapping[str, str], *, depth: int) -> str:
    pieces: list[str] = []
    offset = 0
    while (dollar := value.find("$", offset)) >= 0:
        if dollar > offset and value[dollar - 1] == "\\":
            pieces.append(value[offset : dollar - 1] + "$")
            offset = dollar + 1
            continue
        pieces.append(value[offset:dollar])
        expression, offset = _reference(value, dollar)
        if expression is None:
            pieces.append("$")
        else:
            pieces.append(_resolved(expression, known, depth=depth))
    pieces.append(value[offset:])
    return "".join(pieces)


def _reference(value: str, dollar: int) -> tuple[str | None, int]:
    """The expression after a dollar sign, if there is one, and where the text goes on."""
    if value.startswith("{", dollar + 1):
        closing = value.find("}", dollar)
        if closing > dollar + 2:
            return value[dollar + 2 : closing], closing + 1
        return None, dollar + 1
    stop = dollar + 1
    while stop < len(value) and value[: stop + 1][dollar + 1 :].isidentifier():
        stop += 1
    return (value[dollar + 1 : stop], stop) if stop > dollar + 1 else (None, dollar + 1)


def _resolved(expression: str, known: Mapping[str, str], *, depth: int) -> str:
    name, dash, default = expression.partition("-")
    if known.get(name.removesuffix(":")):
        return known[name.removesuffix(":")]
    if dash and depth < _MAX_EXPANSION_DEPTH:
        return _expanded(default, known, depth=depth + 1)
    return ""
