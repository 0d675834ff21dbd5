"""Message bodies: from a JavaScript value to bytes and back, one content type at a time.

Texts and quirks: python-workers-verified 2.2, workerd's queue serialisation.
"""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript import json_text as js_json
from tsumugi_emulator.javascript.buffers import ArrayBuffer, Uint8Array, bytes_of, is_view
from tsumugi_emulator.javascript.clone import deserialize, serialize
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import is_function
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsBigInt, JsSymbol, PyProxy

CONTENT_TYPES = frozenset({"text", "bytes", "json", "v8"})

#: ``JSON.stringify`` of a function is undefined, and this text is what then travels.
UNDEFINED_JSON = b"undefined"


def encode_body(body: Any, content_type: str) -> bytes:
    """The bytes of a body.

    Raises:
        JsException: the value does not fit the content type, with workerd's text.
    """
    if content_type == "json":
        if type(body) is PyProxy and callable(body._obj):
            return UNDEFINED_JSON
        encoded = js_json.encode(body)
        return UNDEFINED_JSON if encoded is None else encoded
    if content_type == "text":
        if not isinstance(body, str):
            raise _wrong_type("text", "string", body)
        return encode_text(body)
    if content_type == "bytes":
        if not is_view(body):
            raise _wrong_type("bytes", "ArrayBufferView", body)
        return bytes_of(body) or b""
    return serialize(body)


def decode_body(data: bytes, content_type: str) -> Any:
    """The JavaScript value a consumer sees."""
    if content_type == "json":
        return js_json.parse(data)
    if content_type == "text":
        return data.decode("utf-8", "replace")
    if content_type == "bytes":
        return Uint8Array(ArrayBuffer(bytearray(data)))
    return deserialize(data)


def encode_text(text: str) -> bytes:
    """UTF-8, lone surrogates replaced by U+FFFD as JavaScript's encoder does."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def content_type_of(value: Any, default: str, *, fold_case: bool) -> str:
    """The content type an option names.

    ``send`` folds case and ``sendBatch`` does not: a quirk of the runtime (queues reference 2.3).

    Raises:
        JsException: TypeError for a type that does not exist.
    """
    if value is None:
        return default
    text = to_string(value)
    name = text.lower() if fold_case else text
    if name not in CONTENT_TYPES:
        raise type_error(f"Unsupported queue message content type: {text}")
    return name


def _wrong_type(content_type: str, expected: str, body: Any) -> Exception:
    return type_error(
        f'Content Type "{content_type}" requires a value of type {expected}, but received: '
        f"{_typeof(body)}"
    )


def _typeof(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, JsBigInt):
        return "bigint"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, JsSymbol):
        return "symbol"
    if is_function(value):
        return "function"
    return "undefined" if value is None else "object"
