"""JavaScript strings as UTF-8."""

from __future__ import annotations


def utf8(text: str) -> bytes:
    """UTF-8 of a JavaScript string: a lone surrogate becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
