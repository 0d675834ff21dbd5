"""What a KV namespace accepts: keys, values, options, and the texts of its refusals. No I/O.

The runtime's own checks reject with TypeError; the service's answer "KV <METHOD> failed: ...".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tsumugi_emulator.bindings.arguments import int32, option
from tsumugi_emulator.bindings.queue_body import encode_text
from tsumugi_emulator.javascript import json_text as js_json
from tsumugi_emulator.javascript.buffers import bytes_of
from tsumugi_emulator.javascript.errors import JsException, js_error, type_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy, JsSymbol, PyProxy, jsnull
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.javascript.web.unicode import raw_utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tsumugi_emulator.javascript.arrays import JsArray
    from tsumugi_emulator.storage.kv import Entry

MAX_KEY_BYTES = 512
MAX_VALUE_BYTES = 25 * 1024 * 1024
MAX_METADATA_BYTES = 1024
MAX_KEYS_LISTED = 1000
MAX_KEYS_READ = 100
MIN_TTL_S = 60
MIN_CACHE_TTL_S = 30

#: An argument that was not given at all: undefined that is given is a value.
MISSING: Any = object()

VALUE_TEXT = (
    "KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values."
)


def wrong_type(method: str, position: int, expected: str) -> JsException:
    return type_error(
        f"Failed to execute '{method}' on 'KvNamespace': parameter {position} is not of type "
        f"'{expected}'."
    )


def refused(operation: str, status: int, message: str) -> JsException:
    """The service's answer."""
    return js_error("Error", f"KV {operation} failed: {status} {message}")


def unknown_type() -> JsException:
    return type_error(
        'Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".'
    )


# -- Keys -----------------------------------------------------------------------------------------


def key_name(key: Any, *, method: str, expected: str = "string") -> str:
    if key is MISSING:
        raise wrong_type(method, 1, expected)
    name = to_string(key)
    if not name:
        raise type_error("Key name cannot be empty.")
    if name in (".", ".."):
        raise type_error(f'"{name}" is not allowed as a key name.')
    return name


def key_names(keys: JsArray) -> list[str]:
    return list(dict.fromkeys(to_string(key) for key in keys._items))


def key_bytes(name: str, operation: str) -> bytes:
    key = encode_text(name)
    if len(key) > MAX_KEY_BYTES:
        raise refused(
            operation,
            414,
            f"UTF-8 encoded length of {len(key)} exceeds key length limit of {MAX_KEY_BYTES}.",
        )
    return key


# -- Reading --------------------------------------------------------------------------------------


def reading(options: Any) -> tuple[str, int | None]:
    """The type and the cacheTtl asked for; a string is the type alone."""
    if options is None or options is jsnull:
        return "text", None
    if not isinstance(options, JsProxy | PyProxy):
        return to_string(options), None
    kind = option(options, "type")
    ttl = option(options, "cacheTtl")
    return "text" if kind is None else to_string(kind), None if ttl is None else int32(ttl)


def check_cache_ttl(cache_ttl_s: int | None, operation: str) -> None:
    if cache_ttl_s is not None and cache_ttl_s < MIN_CACHE_TTL_S:
        text = f"Invalid cache_ttl of {cache_ttl_s}. Cache TTL must be at least {MIN_CACHE_TTL_S}."
        raise refused(operation, 400, text)


def bulk_converter(kind: str, names: list[str]) -> Callable[[bytes], Any]:
    if kind not in ("text", "json"):
        raise refused("GET_BULK", 400, f'"{kind}" is not a valid type. Use "json" or "text"')
    if not names:
        raise refused("GET_BULK", 400, "You must request a minimum of 1 key")
    if len(names) > MAX_KEYS_READ:
        text = f"You can request a maximum of {MAX_KEYS_READ} keys"
        raise refused("GET_BULK", 400, text)
    if "" in names:
        raise refused("GET_BULK", 400, "Key names must not be empty")
    for name in names:
        if name in (".", ".."):
            text = f'Illegal key name "{name}". Please use a different name.'
            raise refused("GET_BULK", 400, text)
    return _bulk_json if kind == "json" else lambda value: value.decode("utf-8", "replace")


def _bulk_json(value: bytes) -> Any:
    try:
        return js_json.parse(value.decode("utf-8", "replace"))
    except JsException:
        text = "At least one of the requested keys corresponds to a non-json value"
        raise refused("GET_BULK", 400, text) from None


def check_bulk_size(entries: Iterable[Entry]) -> None:
    if sum(len(entry.value) for entry in entries) > MAX_VALUE_BYTES:
        raise refused("GET_BULK", 413, "Total size of request exceeds the limit of 25MB")


# -- Writing --------------------------------------------------------------------------------------


def content(value: Any) -> bytes | ReadableStream:
    """The bytes of a value; numbers, booleans and null are stored as their text."""
    if isinstance(value, ReadableStream):
        return value
    data = bytes_of(value)
    if data is not None:
        return data
    if isinstance(value, JsSymbol):
        raise type_error("Cannot convert a Symbol value to a string")
    if isinstance(value, JsProxy | PyProxy | JsFunction):
        raise type_error(VALUE_TEXT)
    return raw_utf8(to_string(value))


def metadata(value: Any) -> str | None:
    if value is None:
        return None
    text = js_json.stringify(value)
    if text is None:  # a function
        raise refused("PUT", 500, "Internal Server Error")
    return None if text == "null" else text


def check_sizes(value: bytes, metadata_text: str | None) -> None:
    if len(value) > MAX_VALUE_BYTES:
        text = f"Value length of {len(value)} exceeds limit of {MAX_VALUE_BYTES}."
        raise refused("PUT", 413, text)
    size = len(metadata_text.encode()) if metadata_text is not None else 0
    if size > MAX_METADATA_BYTES:
        text = f"Metadata length of {size} exceeds limit of {MAX_METADATA_BYTES}."
        raise refused("PUT", 413, text)


class Expiry(NamedTuple):
    """When an entry ends, as asked for."""

    ttl_s: int | None
    at: int | None

    @classmethod
    def read(cls, options: Any) -> Expiry:
        ttl, at = option(options, "expirationTtl"), option(options, "expiration")
        return cls(None if ttl is None else int32(ttl), None if at is None else int32(at))

    def at_s(self, *, now_s: int) -> int | None:
        """Seconds since the epoch; a ttl wins over a time."""
        if self.ttl_s is not None:
            start = f"Invalid expiration_ttl of {self.ttl_s}. "
            if self.ttl_s <= 0:
                raise refused("PUT", 400, f"{start}Please specify integer greater than 0.")
            if self.ttl_s < MIN_TTL_S:
                text = f"{start}Expiration TTL must be at least {MIN_TTL_S}."
                raise refused("PUT", 400, text)
            return now_s + self.ttl_s
        if self.at is not None:
            self._check_time(self.at, now_s)
        return self.at

    def _check_time(self, at: int, now_s: int) -> None:
        start = f"Invalid expiration of {at}. "
        if at <= now_s:
            text = (
                "Please specify integer greater than the current number of seconds since the UNIX "
                "epoch."
            )
            raise refused("PUT", 400, start + text)
        if at < now_s + MIN_TTL_S:
            text = f"Expiration times must be at least {MIN_TTL_S} seconds in the future."
            raise refused("PUT", 400, start + text)


class Listing(NamedTuple):
    prefix: str
    limit: int
    cursor: str | None

    @classmethod
    def read(cls, options: Any) -> Listing:
        prefix, cursor, limit = (option(options, name) for name in ("prefix", "cursor", "limit"))
        return cls(
            "" if prefix is None or prefix is jsnull else to_string(prefix),
            0 if limit is None else int32(limit),
            None if cursor is None or cursor is jsnull else to_string(cursor),
        )

    def checked_limit(self) -> int:
        if self.limit > MAX_KEYS_LISTED:
            text = (
                f"Invalid key_count_limit of {self.limit}. Please specify an integer less than "
                f"{MAX_KEYS_LISTED}."
            )
            raise refused("GET", 400, text)
        return self.limit if self.limit > 0 else MAX_KEYS_LISTED
