"""What an R2 bucket accepts: options, ranges, conditions, checksums, values. No I/O.

Texts: workerd's and the service's, asked of the runtime (ADR-0063).
"""

from __future__ import annotations

import math
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.arguments import option, options_object
from tsumugi_emulator.bindings.queue_body import encode_text
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import bytes_of
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import JsException, js_error, range_error, type_error
from tsumugi_emulator.javascript.strings import to_number, to_string
from tsumugi_emulator.javascript.values import (
    MAX_SAFE_INTEGER,
    JsObject,
    JsProxy,
    PyProxy,
    jsnull,
)
from tsumugi_emulator.javascript.web.blob import Blob
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.storage.r2 import ALGORITHMS, Description
from tsumugi_emulator.storage.r2_rules import (
    MAX_CUSTOM_METADATA_BYTES,
    Condition,
    ETag,
    R2Error,
    Range,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OWNER = "R2Bucket"
MISSING: Any = object()
VALUE_TYPES = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob"
#: Dates are nanoseconds in 63 bits... of half the range.
_MAX_DATE_MS = 6_911_000_000_000
#: Field of R2HTTPMetadata -> header.
HTTP_FIELDS = {
    "contentType": "content-type",
    "contentLanguage": "content-language",
    "contentDisposition": "content-disposition",
    "contentEncoding": "content-encoding",
    "cacheControl": "cache-control",
    "cacheExpiry": "expires",
}
_RANGE_HEADER = re.compile(r"bytes=(\d*)-(\d*)\Z")
_ETAG = re.compile(r'\s*(?P<weak>W/)?"(?P<value>[^"]*)"\s*,?')


def options_of(options: Any, method: str, position: int, expected: str) -> Any:
    return options_object(options, method=method, owner=OWNER, position=position, expected=expected)


def key_name(key: Any, method: str, expected: str = "string") -> str:
    if key is MISSING:
        raise wrong_type(method, 1, expected)
    return to_string(key).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def wrong_type(method: str, position: int, expected: str, owner: str = OWNER) -> JsException:
    return type_error(
        f"Failed to execute '{method}' on '{owner}': parameter {position} is not of type "
        f"'{expected}'."
    )


def _wrong_field(field: str, owner: str, expected: str) -> JsException:
    return type_error(
        f"Incorrect type for the '{field}' field on '{owner}': the provided value is not of type "
        f"'{expected}'."
    )


# -- Values ---------------------------------------------------------------------------------------


def content(value: Any, method: str, owner: str = OWNER) -> bytes | ReadableStream:
    """What an object will hold; null is an empty object."""
    if value is jsnull:
        return b""
    if isinstance(value, str):
        return encode_text(value)
    if isinstance(value, Blob):
        return value._data
    data = bytes_of(value)
    if data is not None:
        return data
    if isinstance(value, ReadableStream):
        return _with_length(value)
    raise wrong_type(method, 2, VALUE_TYPES, owner)


def _with_length(stream: ReadableStream) -> ReadableStream:
    # What the host made is a body, whose length its headers say.
    of_host = stream._source is None or stream._waits_on_io
    if stream._expected_length is None and not of_host:
        raise type_error(
            "Provided readable stream must have a known length (request/response body or readable "
            "half of FixedLengthStream)"
        )
    return stream


# -- Descriptions ---------------------------------------------------------------------------------


def description(options: Any, owner: str) -> Description:
    storage_class = option(options, "storageClass")
    return Description(
        _http_metadata(option(options, "httpMetadata"), owner),
        _custom_metadata(option(options, "customMetadata"), owner),
        "Standard" if storage_class is None else to_string(storage_class),
    )


def _http_metadata(value: Any, owner: str) -> dict[str, str | int]:
    if value is None or value is jsnull:
        return {}
    if isinstance(value, Headers):
        read: Callable[[str], Any] = lambda field: value._value(HTTP_FIELDS[field])  # noqa: E731
    elif isinstance(value, JsProxy | PyProxy):
        read = lambda field: option(value, field)  # noqa: E731
    else:
        raise _wrong_field("httpMetadata", owner, "HttpMetadata or Headers")
    found: dict[str, str | int] = {}
    for field in HTTP_FIELDS:
        item = read(field)
        if item is None or item is jsnull:
            continue
        found[field] = _date_ms(item, field, owner) if field == "cacheExpiry" else to_string(item)
    return found


def _custom_metadata(value: Any, owner: str) -> dict[str, str]:
    if value is None or value is jsnull:
        return {}
    if not isinstance(value, JsProxy):
        raise _wrong_field("customMetadata", owner, "object")
    return {name: to_string(item) for name, item in value._entries().items()}


def check_description(given: Description) -> None:
    """The service's limit; names count as well as values."""
    size = sum(len(encode_text(part)) for item in given.custom.items() for part in item)
    if size > MAX_CUSTOM_METADATA_BYTES:
        raise R2Error(10012)


def _date_ms(value: Any, field: str, owner: str) -> int:
    if isinstance(value, str):
        return _http_date_ms(value) or 0
    if not isinstance(value, JsDate):
        raise _wrong_field(field, owner, "date")
    if not value._ms <= _MAX_DATE_MS:
        raise type_error("This API doesn't support dates after 2189.")
    return int(value._ms)


def _http_date_ms(text: str) -> int | None:
    try:
        return int(parsedate_to_datetime(text).timestamp() * 1000)
    except (TypeError, ValueError):
        return None


# -- Ranges ---------------------------------------------------------------------------------------


def byte_range(options: Any) -> Range | Headers | None:
    value = option(options, "range")
    if value is None or value is jsnull:
        return None
    if isinstance(value, Headers):
        return value
    if not isinstance(value, JsProxy | PyProxy):
        raise _wrong_field("range", "GetOptions", "Range or Headers")
    found = Range(*(_count(option(value, name), name) for name in Range._fields))
    if found.suffix is not None and (found.offset is not None or found.length is not None):
        other = "offset" if found.offset is not None else "length"
        raise type_error(f"Suffix is incompatible with {other}.")
    return found


_COUNTS = {"offset": "Starting offset", "length": "Length", "suffix": "Suffix"}


def _count(value: Any, name: str) -> int | None:
    if value is None:
        return None
    number = to_number(value)
    if not number >= 0:
        raise range_error(
            f"Invalid range. {_COUNTS[name]} ({to_string(number)}) must be greater than or equal "
            "to 0."
        )
    if number == math.inf:
        return MAX_SAFE_INTEGER
    if not number.is_integer():
        raise range_error(
            f"Invalid range. {_COUNTS[name]} ({to_string(number)}) must be an integer, not "
            "floating point."
        )
    return int(number)


def header_range(headers: Headers, size: int) -> tuple[int, int]:
    """What a Range header asks for; the whole object if it cannot be met or understood."""
    match = _RANGE_HEADER.match(headers._value("range") or "")
    if match is None or not (match[1] or match[2]):
        return 0, size
    if not match[1]:
        asked = Range(suffix=int(match[2]))
    else:
        length = int(match[2]) - int(match[1]) + 1 if match[2] else None
        asked = Range(offset=int(match[1]), length=length)
    try:
        return asked.resolve(size)
    except R2Error:
        return 0, size


# -- Conditions -----------------------------------------------------------------------------------


def condition(options: Any, owner: str) -> Condition | None:
    value = option(options, "onlyIf")
    if value is None or value is jsnull:
        return None
    if isinstance(value, Headers):
        return _header_condition(value)
    if not isinstance(value, JsProxy | PyProxy):
        raise _wrong_field("onlyIf", owner, "Conditional or Headers")
    before, after = option(value, "uploadedBefore"), option(value, "uploadedAfter")
    return Condition(
        _etag(option(value, "etagMatches"), "etagMatches"),
        _etag(option(value, "etagDoesNotMatch"), "etagDoesNotMatch"),
        None if before is None else _date_ms(before, "uploadedBefore", "Conditional"),
        None if after is None else _date_ms(after, "uploadedAfter", "Conditional"),
        option(value, "secondsGranularity") is True,
    )


def _etag(value: Any, field: str) -> list[ETag] | None:
    if value is None or value is jsnull:
        return None
    if isinstance(value, JsArray | JsObject):
        raise _wrong_field(field, "Conditional", "string")
    text = to_string(value)
    if text.startswith('"') and text.endswith('"'):
        raise type_error(f"Conditional ETag should not be wrapped in quotes ({text}).")
    return [ETag(text)]


def _header_condition(headers: Headers) -> Condition:
    before, after = headers._value("if-unmodified-since"), headers._value("if-modified-since")
    return Condition(
        _etags(headers, "if-match"),
        _etags(headers, "if-none-match"),
        None if before is None else _http_date_ms(before),
        None if after is None else _http_date_ms(after),
        whole_seconds=True,
    )


def _etags(headers: Headers, name: str) -> list[ETag] | None:
    header = headers._value(name)
    if header is None:
        return None
    if header.strip() == "*":
        return [ETag("*")]
    found = [ETag(match["value"], match["weak"] is not None) for match in _ETAG.finditer(header)]
    if not found:
        unclosed = header.strip().startswith('"')
        text = "Unclosed double quote for Etag" if unclosed else f"Invalid ETag in {name} header"
        raise js_error("Error", text)
    return found


# -- Checksums ------------------------------------------------------------------------------------

_HASH_BYTES = {"md5": 16, "sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64}


def checksum(options: Any) -> tuple[str, bytes] | None:
    given = [
        (name, value)
        for name in ALGORITHMS
        if (value := option(options, name)) is not None and value is not jsnull
    ]
    if len(given) > 1:
        raise type_error("You cannot specify multiple hashing algorithms.")
    return (given[0][0], _digest(*given[0])) if given else None


def _digest(name: str, value: Any) -> bytes:
    label, size = ALGORITHMS[name], _HASH_BYTES[name]
    data = bytes_of(value)
    if data is not None:
        if len(data) != size:
            raise type_error(f"{label} is {size} bytes, not {len(data)}")
        return data
    text = to_string(value)
    if len(text) != 2 * size:
        raise type_error(f"{label} is {2 * size} hex characters, not {len(text)}")
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise type_error(f"Provided {label} wasn't a valid hex string") from None
