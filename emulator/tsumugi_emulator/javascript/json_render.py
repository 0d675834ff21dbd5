"""Writing JSON where orjson writes other text than JavaScript, or none.

Works on what ``json_text`` prepared: dicts, lists, strings, numbers, booleans and fragments.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

from tsumugi_emulator.javascript.strings import MAX_EXACT, number_to_string

#: Fractions in between look the same in JavaScript and in orjson.
_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e15

_SURROGATE = re.compile("[\ud800-\udfff]")


def prepared_float(value: float) -> Any:
    """A double as orjson has to be given it to write what JavaScript writes."""
    if not math.isfinite(value):
        return None
    size = abs(value)
    if value.is_integer() and size <= MAX_EXACT:
        return int(value)
    if _PLAIN_FROM <= size < _PLAIN_TO:
        return value
    return orjson.Fragment(number_to_string(value).encode())


def render(prepared: Any, indent: str = "", margin: str = "\n") -> str:
    """The JSON text, indented when ``indent`` is not empty."""
    if isinstance(prepared, str):
        return _quoted(prepared)
    if not isinstance(prepared, (dict, list)):
        return orjson.dumps(prepared).decode()
    inner = margin + indent
    if isinstance(prepared, dict):
        colon = ": " if indent else ":"
        parts = [
            f"{_quoted(key)}{colon}{render(item, indent, inner)}" for key, item in prepared.items()
        ]
        opening, closing = "{}"
    else:
        parts = [render(item, indent, inner) for item in prepared]
        opening, closing = "[]"
    if not indent or not parts:
        return f"{opening}{','.join(parts)}{closing}"
    return f"{opening}{inner}{f',{inner}'.join(parts)}{margin}{closing}"


def _quoted(text: str) -> str:
    if _SURROGATE.search(text):
        # Pairs are one character, as in UTF-16; JavaScript escapes a surrogate that is alone.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    quoted = json.dumps(text, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
