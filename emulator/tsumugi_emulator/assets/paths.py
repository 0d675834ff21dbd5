"""Paths of requests: decoding, the one spelling an asset is served at, patterns. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What JavaScript's encodeURIComponent leaves alone.
_UNRESERVED = "-_.!~*'()"
_MALFORMED = re.compile(r"%(?![0-9A-Fa-f]{2})")


def decode(path: str) -> str:
    """Each part decoded, as far as it is UTF-8; slashes that follow each other become one."""
    return re.sub("/+", "/", "/".join(_decode_part(part) for part in path.split("/")))


def encode(path: str) -> str:
    """The spelling that ``decode`` undoes."""
    return "/".join(quote(part, safe=_UNRESERVED, errors="replace") for part in path.split("/"))


def _decode_part(part: str) -> str:
    if _MALFORMED.search(part):
        return part
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        return part


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches the whole path; ``*`` is anything, also nothing."""
    return any(
        re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), path, re.DOTALL)
        for pattern in patterns
    )
