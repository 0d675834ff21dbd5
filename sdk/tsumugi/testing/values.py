"""What a body becomes on its way through a queue. Pure; strict where production loses data.

The runtime turns Python into JavaScript, encodes it, and turns it back for the consumer. Where
that succeeds, the result here is the same; where it would silently store ``{}``, this raises.
"""

from __future__ import annotations

import array
import collections
import json
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, assert_never

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.queues import ContentType

#: From here on an int is a BigInt in JavaScript.
_FIRST_BIG_INT = 2**53 - 1
#: From here JavaScript writes a number with an exponent.
_FIRST_EXPONENT = 1e21


class JsDict(dict[str, Any]):
    """A JSON object as the runtime delivers it: a dict whose keys are also attributes.

    The methods of ``dict`` win: a key called ``items`` is only reachable as ``body["items"]``.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def delivered(body: object, content_type: ContentType = "json") -> tuple[Any, int]:
    """The body as a consumer receives it, and its size in bytes (for ``v8`` an estimate).

    Raises ``TypeError``, naming the place inside the body, for what the runtime refuses or
    would replace by something else.
    """
    match content_type:
        case "json":
            value = _converted(body, "body", _json_leaf)
            return value, _json_bytes(value)
        case "text":
            if not isinstance(body, str):
                raise TypeError(
                    f'Content Type "text" requires a value of type string, not {_kind(body)}'
                )
            return str(body), len(body.encode())
        case "bytes":
            if not isinstance(body, bytes | memoryview | array.array):
                raise TypeError(
                    'Content Type "bytes" requires a value of type ArrayBufferView (bytes or '
                    f"memoryview), not {_kind(body)}"
                )
            return _view(body), len(bytes(body))
        case "v8":
            value = _converted(body, "body", _v8_leaf)
            return value, len(repr(value))
        case _:
            assert_never(content_type)


def _converted(value: object, path: str, leaf: Callable[[object, str], Any]) -> Any:
    match value:
        case None | bool():
            return value
        case str():
            return str(value)
        case int() if abs(value) < _FIRST_BIG_INT:
            return int(value)
        case float() if value.is_integer() and abs(value) < _FIRST_BIG_INT:
            return int(value)  # JavaScript has one kind of number
        case dict():
            return JsDict(
                (_key(key, path), _converted(item, f"{path}[{key!r}]", leaf))
                for key, item in value.items()
            )
        case list() | range() | collections.deque():
            return [_converted(item, f"{path}[{i}]", leaf) for i, item in enumerate(value)]
        case tuple() | bytearray():
            other = "a list" if isinstance(value, tuple) else "bytes"
            raise TypeError(f"{path}: {type(value)} cannot be sent over RPC. Send {other}.")
        case _:
            return leaf(value, path)


def _json_leaf(value: object, path: str) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case int():
            raise TypeError(f"{path}: Do not know how to serialize a BigInt: {value}. Send a str.")
        case datetime():
            stamp = value.astimezone(UTC)
            return f"{stamp:%Y-%m-%dT%H:%M:%S}.{stamp.microsecond // 1000:03}Z"
        case bytes() | memoryview():
            raise TypeError(
                f'{path}: bytes would arrive as {{"0": ..., "1": ...}} in a JSON message. '
                'Send the whole body with contentType="bytes".'
            )
        case _ if hasattr(value, "model_dump"):
            raise TypeError(
                f"{path}: {_kind(value)} would arrive as {{}} in a JSON message. "
                'Send value.model_dump(mode="json").'
            )
        case _:
            raise TypeError(
                f"{path}: {_kind(value)} would arrive as {{}} in a JSON message. "
                "Send dicts, lists, strings, numbers, booleans and None."
            )


def _v8_leaf(value: object, path: str) -> Any:
    match value:
        case float() | int():
            return value
        case datetime():
            # A Date has milliseconds and no zone; the consumer sees a naive local datetime.
            return datetime.fromtimestamp(math.floor(value.timestamp() * 1000) / 1000)
        case bytes() | memoryview() | array.array():
            return _view(value)
        case set():
            return {_converted(item, f"{path}{{}}", _v8_leaf) for item in value}
        case _:
            raise TypeError(f"{path}: {_kind(value)} could not be cloned (DataCloneError).")


def _key(key: object, path: str) -> str:
    match key:
        case str():
            return str(key)
        case None:
            return "undefined"
        case bool():
            return "true" if key else "false"
        case int() | float():
            return str(int(key)) if key == int(key) else str(key)
        case _:
            raise TypeError(f"{path}: cannot use {key!r} as a key of a JavaScript object")


def _view(value: bytes | memoryview | array.array[Any]) -> memoryview:
    return memoryview(bytearray(bytes(value)))


def _json_bytes(value: object) -> int:
    text = json.dumps(_as_written(value), ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


def _as_written(value: object) -> object:
    """Whole numbers as int: JavaScript writes them in full, up to 21 digits."""
    match value:
        case float() if value.is_integer() and abs(value) < _FIRST_EXPONENT:
            return int(value)
        case dict():
            return {key: _as_written(item) for key, item in value.items()}
        case list():
            return [_as_written(item) for item in value]
        case _:
            return value


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
