"""``_headers``: which headers answers from assets get and lose, by path. Pure.

Facts: Cloudflare's parser of the file. Paths stand on lines of their own, headers below them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsumugi_emulator.assets.rules import (
    SPLAT,
    Fault,
    UnusableUrl,
    filled,
    pattern_of,
    usable_url,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.assets.rules import Pattern, Target

HEADERS_FILE = "_headers"
MAX_RULES = 100
MAX_LINE_LENGTH = 2000
UNSET = "! "
_PATH_LINE = re.compile(r"\S+://|/")


@dataclass(slots=True)
class HeaderRule:
    path: str
    pattern: Pattern
    #: By lower-case name; values given twice are one value.
    set: dict[str, str] = field(default_factory=dict)
    unset: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class HeaderRules:
    rules: Sequence[HeaderRule] = ()
    faults: Sequence[Fault] = ()

    def applied(self, headers: list[tuple[str, str]], target: Target) -> list[tuple[str, str]]:
        """The headers of an answer after every rule that matches, in order.

        A rule replaces what the answer had, and joins what rules before it have set.
        """
        found = {name: [value] for name, value in headers}
        ours: set[str] = set()
        for rule in self.rules:
            parts = rule.pattern.match(target)
            if parts is None:
                continue
            for name in rule.unset:
                found.pop(name.lower(), None)
            for name, value in rule.set.items():
                values = found.get(name, []) if name in ours else []
                found[name] = [*values, filled(value, parts)]
                ours.add(name)
        return [pair for name, values in found.items() for pair in _pairs(name, values)]


def _pairs(name: str, values: list[str]) -> list[tuple[str, str]]:
    """As a response shows them: joined, except cookies, which cannot be."""
    if name == "set-cookie":
        return [(name, value) for value in values]
    return [(name, ", ".join(values))]


def parse_headers(text: str) -> HeaderRules:
    parser = _Parser()
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        if len(content) > MAX_LINE_LENGTH:
            limit = f"it exceeds the maximum allowed length of {MAX_LINE_LENGTH}."
            parser.fault(number, "", f"Ignoring line {number} as {limit}")
        elif not _PATH_LINE.match(content):
            parser.header(number, content)
        elif len(parser.rules) < MAX_RULES:
            parser.path(number, content)
        else:
            parser.fault(
                number,
                "",
                f"Maximum number of rules supported is {MAX_RULES}. Skipping remaining "
                f"{len(lines) - number + 1} lines of file.",
            )
            break
    parser.end_rule()
    return HeaderRules(parser.rules, parser.faults)


class _Parser:
    def __init__(self) -> None:
        self.rules: list[HeaderRule] = []
        self.faults: list[Fault] = []
        self._rule: HeaderRule | None = None
        #: Where the open rule's path stands.
        self._place = (0, "")

    def fault(self, number: int, text: str, message: str) -> None:
        self.faults.append(Fault(number, text, message))

    def end_rule(self) -> None:
        rule, self._rule = self._rule, None
        if rule is None:
            return
        if rule.set or rule.unset:
            self.rules.append(rule)
        else:
            self.fault(*self._place, "No headers specified")

    def path(self, number: int, line: str) -> None:
        self.end_rule()
        try:
            path = usable_url(line)
            _check_splats(path)
            self._rule = HeaderRule(path, pattern_of(path))
        except UnusableUrl as refusal:
            self.fault(number, line, str(refusal))
        self._place = number, line

    def header(self, number: int, line: str) -> None:
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            self._without_value(number, line)
        elif " " in name:
            self.fault(number, line, "Header name cannot include spaces")
        elif not name:
            self.fault(number, line, "No header name specified")
        elif not value:
            self.fault(number, line, "No header value specified")
        elif self._rule is None:
            message = f"Path should come before header ({name.lower()}: {value})"
            self.fault(number, line, message)
        else:
            before = self._rule.set.get(name.lower())
            self._rule.set[name.lower()] = f"{before}, {value}" if before else value

    def _without_value(self, number: int, line: str) -> None:
        if self._rule is None:
            message = "Expected a path beginning with at least one forward-slash"
            self.fault(number, line, message)
        elif line.startswith(UNSET):
            self._rule.unset.append(line.removeprefix(UNSET))
        else:
            message = "Expected a colon-separated header pair (e.g. name: value)"
            self.fault(number, line, message)


def _check_splats(path: str) -> None:
    if path.count(SPLAT) > 1:
        raise UnusableUrl(
            "Multiple wildcards (*) are not supported in a single rule. Use a single wildcard or "
            "create separate rules."
        )
    if SPLAT in path and ":splat" in path:
        raise UnusableUrl(
            "Cannot combine wildcard (*) with :splat placeholder. The wildcard already captures "
            "as :splat."
        )
