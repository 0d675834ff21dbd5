"""``.assetsignore``: which files of the directory are no assets. Pure; the syntax is gitignore's.

Of that syntax: comments, ``!``, ``*``, ``?``, ``**``, leading and trailing slashes. No ``[...]``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

IGNORE_FILE = ".assetsignore"
#: Never assets: they configure how assets are served.
ALWAYS = (f"/{IGNORE_FILE}", "/_headers", "/_redirects")


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    ignores: bool


class IgnoreRules:
    def __init__(self, text: str) -> None:
        lines = [*ALWAYS, *(line.rstrip() for line in text.splitlines())]
        self._rules = [_rule(line) for line in lines if line and not line.startswith("#")]

    def ignores(self, path: str) -> bool:
        """Whether the file ``path``, which starts with a slash, is left out."""
        ignored = False
        for rule in self._rules:
            if rule.pattern.fullmatch(path):
                ignored = rule.ignores
        return ignored


def _rule(line: str) -> _Rule:
    ignores = not line.startswith("!")
    text = line.removeprefix("!")
    only_directory = text.endswith("/")
    text = text.rstrip("/")
    start = "/" if "/" in text else "(?:/|/.*/)"
    # What names a directory takes all that is in it.
    end = "/.*" if only_directory else "(?:/.*)?"
    return _Rule(re.compile(start + _regex(text.lstrip("/")) + end, re.DOTALL), ignores)


def _regex(glob: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(special.get(part, re.escape(part)) for part in parts)
