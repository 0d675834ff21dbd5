"""``_redirects``: paths that lead elsewhere, or are answered by another asset (status 200). Pure.

Facts: Cloudflare's parser of the file and its rules engine. Rules without variable parts that stand
before all others are looked up; the rest are tried in order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ada_url import URL

from tsumugi_emulator.assets.rules import (
    Fault,
    Pattern,
    UnusableUrl,
    filled,
    has_host,
    is_dynamic,
    pattern_of,
    usable_url,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsumugi_emulator.assets.rules import Target

REDIRECTS_FILE = "_redirects"
MAX_STATIC_RULES = 2000
MAX_DYNAMIC_RULES = 100
#: Without the comment that may end it.
MAX_LINE_LENGTH = 1000
#: 200 answers with another asset under the address that was asked for.
PROXY = 200
STATUSES = {str(status): status for status in (PROXY, 301, 302, 303, 307, 308)}
_INDEX = re.compile(r".*/index(.html)?", re.DOTALL)
_LOOP_TEXT = (
    "Infinite loop detected in this rule and has been ignored. This will cause a redirect to strip "
    "`.html` or `/index` and end up triggering this rule again. Please fix or remove this rule to "
    "silence this warning."
)


class RedirectRule(NamedTuple):
    source: str
    to: str
    status: int
    line_number: int


class Redirected(NamedTuple):
    to: str
    status: int

    def path(self, url: str) -> str:
        """The path that is looked up instead of that of ``url``."""
        found: str = URL(self.to, url).pathname
        return found

    def location(self, url: str) -> str:
        """Where a request for ``url`` is sent; its query goes along unless the rule has one."""
        there, here = URL(self.to, url), URL(url)
        search: str = there.search or here.search
        if there.origin == here.origin:
            return f"{there.pathname}{search}{there.hash}"
        bare = there.href.removesuffix(there.hash).removesuffix(there.search)
        return f"{bare}{search}{there.hash}"


@dataclass(frozen=True, slots=True)
class RedirectRules:
    static: Mapping[str, RedirectRule] = field(default_factory=dict)
    dynamic: Sequence[tuple[Pattern, RedirectRule]] = ()
    faults: Sequence[Fault] = ()

    def find(self, target: Target) -> Redirected | None:
        """The rule for a request, filled in."""
        found = self.static.get(target.path)
        if found is not None:
            return Redirected(found.to, found.status)
        for pattern, rule in self.dynamic:
            parts = pattern.match(target)
            if parts is not None:
                to = filled(rule.to, parts).strip()
                return Redirected(to if "://" in to else re.sub("/+", "/", to), rule.status)
        return None


def parse_redirects(text: str, *, html_handling: str) -> RedirectRules:
    parser = _Parser(html_handling)
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        try:
            parser.line(number, content, remaining=len(lines) - number + 1)
        except _Skip as skipped:
            parser.faults.append(Fault(number, skipped.line, skipped.message))
            if skipped.rest:
                break
        except UnusableUrl as refusal:
            parser.faults.append(Fault(number, content, str(refusal)))
    return RedirectRules(parser.static, parser.dynamic, parser.faults)


class _Skip(Exception):
    """A line, or with it the rest of the file, is not obeyed."""

    def __init__(self, message: str, line: str = "", *, rest: bool = False) -> None:
        super().__init__(message)
        self.message, self.line, self.rest = message, line, rest


class _Parser:
    def __init__(self, html_handling: str) -> None:
        self._html_handling = html_handling
        self.static: dict[str, RedirectRule] = {}
        self.dynamic: list[tuple[Pattern, RedirectRule]] = []
        self.faults: list[Fault] = []
        self._seen: set[str] = set()
        self._static_count = 0
        self._dynamic_count = 0

    def line(self, number: int, line: str, *, remaining: int) -> None:
        tokens = _tokens(number, line)
        source = usable_url(tokens[0], relative=True)
        is_static = not self._dynamic_count and not is_dynamic(source)
        self._count(is_static, remaining)
        to = usable_url(tokens[1], ports=True, whole=True)
        text = tokens[2] if len(tokens) > 2 else "302"
        if text not in STATUSES:
            raise _Skip(
                f"Valid status codes are 200, 301, 302 (default), 303, 307, or 308. Got {text}.",
                line,
            )
        rule = RedirectRule(source, to, STATUSES[text], number)
        self._check(rule, line)
        if is_static:
            self.static[source] = rule
        else:
            self.dynamic.append((pattern_of(source), rule))

    def _count(self, is_static: bool, remaining: int) -> None:
        if is_static:
            self._static_count += 1
            if self._static_count > MAX_STATIC_RULES:
                raise _Skip(
                    f"Maximum number of static rules supported is {MAX_STATIC_RULES}. "
                    "Skipping line."
                )
            return
        self._dynamic_count += 1
        if self._dynamic_count > MAX_DYNAMIC_RULES:
            raise _Skip(
                f"Maximum number of dynamic rules supported is {MAX_DYNAMIC_RULES}. Skipping "
                f"remaining {remaining} lines of file.",
                rest=True,
            )

    def _check(self, rule: RedirectRule, line: str) -> None:
        if self._comes_back(rule):
            raise _Skip(_LOOP_TEXT, line)
        if rule.source in self._seen:
            raise _Skip(f"Ignoring duplicate rule for path {rule.source}.", line)
        self._seen.add(rule.source)
        if rule.status == PROXY and has_host(rule.to):
            raise _Skip(
                f"Proxy (200) redirects can only point to relative paths. Got {rule.to}", line
            )

    def _comes_back(self, rule: RedirectRule) -> bool:
        """Whether the address it leads to is one that html_handling leads back to it."""
        if has_host(rule.to) or not _INDEX.fullmatch(rule.to):
            return False
        if rule.source.endswith("/*"):
            return True
        return rule.source.endswith("/") and self._html_handling != "none"


def _tokens(number: int, line: str) -> list[str]:
    tokens = line.split()
    for index, token in enumerate(tokens):
        if index >= 2 and token.startswith("#"):
            tokens = tokens[:index]
            break
    if len(" ".join(tokens)) > MAX_LINE_LENGTH:
        limit = f"it exceeds the maximum allowed length of {MAX_LINE_LENGTH}."
        raise _Skip(f"Ignoring line {number} as {limit}")
    if len(tokens) not in (2, 3):
        message = f"Expected exactly 2 or 3 whitespace-separated tokens. Got {len(tokens)}."
        raise _Skip(message, line)
    return tokens
