"""The W3C ``traceparent`` header. Checks its form; starts and records no trace."""

from __future__ import annotations

import re
from typing import Final

#: https://www.w3.org/TR/trace-context/#traceparent-header
_FORM: Final = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})-[0-9a-f]{2}"
    r"(?P<more>-.*)?",
    re.ASCII,
)
LONGEST: Final = 512


def is_traceparent(text: str) -> bool:
    """Whether a receiver may go on with it. Later versions may append to what version 00 has."""
    form = _FORM.fullmatch(text) if len(text) <= LONGEST else None
    if form is None or form["version"] == "ff":
        return False
    if form["version"] == "00" and form["more"] is not None:
        return False
    return form["trace"].strip("0") != "" and form["parent"].strip("0") != ""
