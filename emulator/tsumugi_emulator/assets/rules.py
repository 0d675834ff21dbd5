"""What ``_headers`` and ``_redirects`` share: URLs, patterns, what is captured, faults. Pure.

Facts: Cloudflare's parser of these files and its rules engine. ``*`` captures as ``:splat``, a
placeholder ``:name`` takes what has no slash, and no dot either in the host of an absolute URL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ada_url import URL

if TYPE_CHECKING:
    from collections.abc import Mapping

SPLAT = "*"
#: Names begin with a letter, so that no port is one.
PLACEHOLDER = re.compile(r":([A-Za-z]\w*)", re.ASCII)
_PARTS = re.compile(r"(\*|:[A-Za-z]\w*)", re.ASCII)
_ABSOLUTE = re.compile(r"https://+([^/]+)/?(.*)", re.DOTALL)
_PORT = re.compile(r".*:\d+", re.ASCII)


class Fault(NamedTuple):
    """A line that is not obeyed, and why."""

    line_number: int
    text: str
    message: str


class UnusableUrl(Exception):  # an outcome, told with its line
    """A token is no URL these files may hold."""


class Target(NamedTuple):
    """Where a request goes, as rules look at it."""

    #: With its port, if it names one.
    host: str
    #: Encoded, as a URL has it.
    path: str

    @property
    def hostname(self) -> str:
        name, colon, port = self.host.rpartition(":")
        return name if colon and port.isdecimal() else self.host


@dataclass(frozen=True, slots=True)
class Pattern:
    """A path, or an absolute URL, in which parts may be anything."""

    regex: re.Pattern[str]
    absolute: bool

    def match(self, target: Target) -> Mapping[str, str] | None:
        """What the parts are, by name, if it matches; a rule's ``https`` means any protocol."""
        text = f"https://{target.hostname}{target.path}" if self.absolute else target.path
        found = self.regex.fullmatch(text)
        return None if found is None else found.groupdict()


def is_dynamic(rule: str) -> bool:
    """Whether it has parts that may be anything."""
    return SPLAT in rule or PLACEHOLDER.search(rule) is not None


def pattern_of(rule: str) -> Pattern:
    """Compile a rule.

    Raises:
        UnusableUrl: two of its parts have the same name.
    """
    absolute = rule.startswith("https://")
    host_ends = rule.find("/", len("https://")) if absolute else 0
    text, at = "", 0
    for part in _PARTS.split(rule):
        if part == SPLAT:
            text += "(?P<splat>.*)"
        elif PLACEHOLDER.fullmatch(part):
            text += f"(?P<{part[1:]}>[^/.]+)" if at < host_ends else f"(?P<{part[1:]}>[^/]+)"
        else:
            text += re.escape(part)
        at += len(part)
    try:
        return Pattern(re.compile(text), absolute)
    except re.error:
        raise UnusableUrl(
            f"Two parts of {rule} have one name; * is named :splat. Give each a name of its own."
        ) from None


def filled(text: str, parts: Mapping[str, str]) -> str:
    """``text`` with its placeholders replaced; those without a part stay."""
    return PLACEHOLDER.sub(lambda found: parts.get(found[1], found[0]), text)


def has_host(url: str) -> bool:
    return _ABSOLUTE.match(url) is not None


def usable_url(
    token: str, *, relative: bool = False, ports: bool = False, whole: bool = False
) -> str:
    """The URL or path a token means, encoded. ``whole`` keeps its query and fragment.

    Raises:
        UnusableUrl: it is none, or is one that is not allowed here.
    """
    found = _ABSOLUTE.match(token)
    if found is not None:
        if relative:
            raise UnusableUrl(f"Only relative URLs are allowed. Skipping absolute URL {token}.")
        if not ports and _PORT.fullmatch(found[1]):
            raise UnusableUrl(f"Specifying ports is not supported. Skipping absolute URL {token}.")
        return f"https://{found[1]}{_path(found[2], whole=whole)}"
    if token.startswith("/") or relative:
        return _path(token, whole=whole)
    raise UnusableUrl(
        "URLs should either be relative (e.g. begin with a forward-slash), or use HTTPS (e.g. "
        'begin with "https://").'
    )


def _path(text: str, *, whole: bool) -> str:
    try:
        # A scheme of no meaning: only encoding and dot segments are wanted.
        url = URL("relative://" + (text if text.startswith("/") else f"/{text}"))
    except ValueError:
        raise UnusableUrl(f"Error parsing URL segment {text}. Skipping.") from None
    found: str = url.pathname
    return found + url.search + url.hash if whole else found
