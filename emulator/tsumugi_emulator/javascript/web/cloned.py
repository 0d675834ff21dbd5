"""Structured clones of objects that are seldom cloned. Knows no bytes.

Those are regular expressions and the few web objects that are plain data to the runtime: a request
or a response is if it has no body.
"""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.regexp import RegExp
from tsumugi_emulator.javascript.web.blob import Blob
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.request import Request
from tsumugi_emulator.javascript.web.response import Response


def taken_apart(value: Any) -> list[Any] | None:
    """What the clone of an object is made of again; None if it cannot be cloned."""
    kind = type(value)
    if kind is Headers:
        return ["Headers", value._pairs]
    if kind is Blob:
        return ["Blob", value._data, value._type]
    if kind is RegExp:
        return ["RegExp", value._source, value.flags]
    if kind is Request and value._body is None:
        return ["Request", value._method, value._url, value._headers._pairs]
    if kind is Response and value._body is None and value._web_socket is None:
        return ["Response", value._status, value._status_text, value._headers._pairs]
    return None


def put_together(kind: str, *parts: Any) -> Any:
    if kind == "Headers":
        return Headers._from_pairs(_pairs(parts[0]))
    if kind == "Blob":
        return Blob(*parts)
    if kind == "RegExp":
        return RegExp(*parts)
    if kind == "Request":
        method, url, pairs = parts
        return Request._from_wire(method, url, _pairs(pairs), None)
    status, text, pairs = parts
    made = Response(None, Headers._from_pairs(_pairs(pairs)))
    made._status, made._status_text = status, text
    return made


def _pairs(pairs: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in pairs]
