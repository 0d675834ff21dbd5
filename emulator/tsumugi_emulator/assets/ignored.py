"""``.assetsignore``: which files of the directory are no assets. Pure; the syntax is gitignore's.

As wrangler reads it, so letters match in either case.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

IGNORE_FILE = ".assetsignore"
#: Never assets: they configure how assets are served.
ALWAYS = (f"/{IGNORE_FILE}", "/_headers", "/_redirects")


_TOKEN = re.compile(
    r"""(?P<deep> (?<![^/])\*\*/ )       # any number of directories, also none
    | (?P<inside> (?<=/)\*\*$ )         # all that is in one
    | (?P<some> \*+ )
    | (?P<one> \? )
    | \[ (?P<set> [^]/]* ) (?P<end> ]? )
    | \\? (?P<character> . )""",
    re.VERBOSE | re.DOTALL,
)


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    ignores: bool
    only_directories: bool


class IgnoreRules:
    def __init__(self, text: str) -> None:
        lines = [*ALWAYS, *text.splitlines()]
        self._rules = [_rule(line) for line in lines if line.strip() and not line.startswith("#")]

    def ignores(self, path: str) -> bool:
        """Whether the file ``path``, which starts with a slash, is left out."""
        return any(self._ignores_entry(parent) for parent in _parents(path)) or (
            self._ignores_entry(path, is_directory=False)
        )

    def _ignores_entry(self, path: str, *, is_directory: bool = True) -> bool:
        """What is in a directory that is left out cannot be taken in again."""
        ignored = False
        for rule in self._rules:
            if (is_directory or not rule.only_directories) and rule.pattern.fullmatch(path):
                ignored = rule.ignores
        return ignored


def _parents(path: str) -> Iterator[str]:
    """From the outermost."""
    end = path.find("/", 1)
    while end != -1:
        yield path[:end]
        end = path.find("/", end + 1)


def _rule(line: str) -> _Rule:
    line = re.sub(r"(?<!\\)\s+$", "", line)
    ignores = not line.startswith("!")
    text = line.removeprefix("!")
    only_directories = text.endswith("/")
    text = text.rstrip("/")
    start = "/" if "/" in text else "(?:/|/.*/)"
    regex = start + "".join(map(_regex, _TOKEN.finditer(text.lstrip("/"))))
    return _Rule(re.compile(regex, re.DOTALL | re.IGNORECASE), ignores, only_directories)


def _regex(token: re.Match[str]) -> str:
    if token["set"] is not None:
        return _set(token["set"]) if token["end"] else "(?!)"
    special = {"deep": "(?:.*/)?", "inside": ".+", "some": "[^/]*", "one": "[^/]"}
    kind = token.lastgroup or ""
    return special.get(kind) or re.escape(token["character"])


def _set(text: str) -> str:
    """Of ``[...]``, which wrangler never inverts; one that runs backwards matches nothing."""
    inside = re.sub(r"([\[&~|^])", r"\\\1", text)
    try:
        re.compile(f"[{inside}]")
    except re.error:
        return "(?!)"
    return f"[{inside}]"
