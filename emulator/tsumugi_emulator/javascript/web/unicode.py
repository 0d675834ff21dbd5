"""JavaScript strings as UTF-8."""

from __future__ import annotations


def raw_utf8(text: str) -> bytes:
    """UTF-8 as the runtime writes it into storage: a lone surrogate keeps its three bytes.

    Whoever reads them as text gets U+FFFD for each.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return joined.encode("utf-8", "surrogatepass")


def utf8(text: str) -> bytes:
    """UTF-8 of a JavaScript string: a lone surrogate becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
