"""Comments that hide findings: ``# tsumugi: ignore[TSU101]``. Pure.

On a line of its own it is for the next line of code, otherwise for its own line.
"""

from __future__ import annotations

import io
import re
import tokenize
from typing import TYPE_CHECKING

from tsumugi_emulator.check.facts import Spot, Suppression

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Without it a file needs no second look.
MARK = "tsumugi: ignore"

_COMMENT = re.compile(r"(?:#|//)\s*tsumugi: ignore(?:\[([^\]]*)\])?")


def in_python(text: str) -> Iterator[Suppression]:
    """Those in comments, not those in strings."""
    if MARK not in text:
        return
    waiting: list[tuple[tuple[str, ...], Spot]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            line, column = token.start
            found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if found is not None:
                place = Spot(line, column + 1)
                if token.line[:column].strip():
                    yield Suppression(line, _codes(found), place)
                else:
                    waiting.append((_codes(found), place))
            elif token.type not in _BETWEEN:
                for codes, place in waiting:
                    yield Suppression(line, codes, place)
                waiting.clear()
    except (tokenize.TokenError, SyntaxError):
        return  # the file does not parse, which is said elsewhere


_BETWEEN = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
)


def in_configuration(text: str) -> Iterator[Suppression]:
    """Those at the end of a line of JSONC or TOML, and those that stand above one."""
    if MARK not in text:
        return
    waiting: list[tuple[tuple[str, ...], Spot]] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = _COMMENT.search(line)
        if found is not None and not line[: found.start()].strip():
            waiting.append((_codes(found), Spot(number, found.start() + 1)))
            continue
        for codes, place in waiting:
            yield Suppression(number, codes, place)
        waiting.clear()
        if found is not None:
            yield Suppression(number, _codes(found), Spot(number, found.start() + 1))


def _codes(found: re.Match[str]) -> tuple[str, ...]:
    listed = found[1] or ""
    return tuple(code.strip() for code in listed.split(",") if code.strip())
