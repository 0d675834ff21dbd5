"""``encodeURIComponent`` and its siblings."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.strings import to_string

_COMPONENT_SAFE = "!'()*-._~"
_RESERVED = ";/?:@&=+$,#"
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")


def _encoded(value: Any, safe: str) -> str:
    text = to_string(value)
    try:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16")
        return quote(text, safe=safe)
    except UnicodeError:
        raise js_error("URIError", "URI malformed") from None


def _decoded(value: Any, kept: str) -> str:
    text = to_string(value)
    if "%" in _ESCAPES.sub("", text):
        raise js_error("URIError", "URI malformed")

    def decode(found: re.Match[str]) -> str:
        decoded = unquote_to_bytes(found[0]).decode()
        return "".join(f"%{ord(char):02X}" if char in kept else char for char in decoded)

    try:
        return _ESCAPES.sub(decode, text)
    except UnicodeDecodeError:
        raise js_error("URIError", "URI malformed") from None


def encode_uri_component(value: Any = None) -> str:
    return _encoded(value, _COMPONENT_SAFE)


def encode_uri(value: Any = None) -> str:
    return _encoded(value, _COMPONENT_SAFE + _RESERVED)


def decode_uri_component(value: Any = None) -> str:
    return _decoded(value, "")


def decode_uri(value: Any = None) -> str:
    return _decoded(value, _RESERVED)
