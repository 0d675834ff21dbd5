"""Arguments of the key-value methods: keys, pairs, list options, and production's limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.arguments import int32, options_object
from tsumugi_emulator.durable.limits import (
    MAX_KEY_BYTES,
    MAX_KEYS,
    MAX_VALUE_BYTES,
    MAX_VALUE_BYTES_WITHOUT_SQL,
    VALUE_ALLOWANCE_BYTES,
)
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.clone import serialize
from tsumugi_emulator.javascript.errors import JsException, range_error, type_error
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsObject, JsProxy, PyProxy
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.unicode import raw_utf8

if TYPE_CHECKING:
    from collections.abc import Sized

UNDEFINED_TEXT = "put() called with undefined value."


def is_key_list(value: Any) -> bool:
    return isinstance(value, JsArray) or (
        isinstance(value, PyProxy) and isinstance(value._obj, list | tuple)
    )


def keys_of(value: Any) -> list[str]:
    items = value._items if isinstance(value, JsArray) else value._unwrap()
    return [to_string(item) for item in items]


def wrong_type(method: str, owner: str, expected: str) -> JsException:
    return type_error(
        f"Failed to execute '{method}' on '{owner}': parameter 1 is not of type '{expected}'."
    )


def pairs_of(key: Any, values: tuple[Any, ...], *, owner: str) -> list[tuple[str, Any]]:
    """What ``put(key, value, options)`` or ``put(entries, options)`` stores.

    Raises:
        JsException: TypeError, when there is no value.
    """
    if type(key) is JsObject and (not values or _are_options(values)):
        return [(name, value) for name, value in key._props.items() if value is not None]
    if key is None:
        raise wrong_type("put", owner, "string or object")
    if not values or values[0] is None:
        raise type_error(UNDEFINED_TEXT)
    return [(to_string(key), values[0])]


def _are_options(values: tuple[Any, ...]) -> bool:
    return len(values) == 1 and (values[0] is None or isinstance(values[0], JsObject))


def check_count(items: Sized, what: str) -> None:
    if len(items) > MAX_KEYS:
        raise range_error(f"Maximum number of {what} is {MAX_KEYS}.")


def check_key(key: str) -> str:
    if key.isascii():
        size = len(key)
    else:
        raw = raw_utf8(key)
        size, key = len(raw), raw.decode("utf-8", "replace")
    if size > MAX_KEY_BYTES:
        raise range_error(
            f"Keys cannot be larger than {MAX_KEY_BYTES} bytes. A key of size {size} was provided."
        )
    return key


def _as_stored(text: str) -> str:
    """A key as it reads once it is in the database: lone surrogates are no UTF-8."""
    return raw_utf8(text).decode("utf-8", "replace")


def check_value(key: str, value: Any, *, has_sql: bool = True) -> bytes:
    """The bytes of a value.

    Raises:
        JsException: it cannot be cloned, or is too large: in a row of SQLite, with its key.
    """
    data = serialize(value)
    if has_sql:
        limit, size = MAX_VALUE_BYTES, len(data) + len(key)
    else:
        limit, size = MAX_VALUE_BYTES_WITHOUT_SQL, len(data) - VALUE_ALLOWANCE_BYTES
    if size > limit:
        raise range_error(
            f"Values cannot be larger than {limit} bytes. A value of size {len(data)} was provided."
        )
    return data


def list_options(options: Any, *, owner: str) -> dict[str, Any]:
    """Keyword arguments of ``ObjectFile.list``.

    Raises:
        JsException: TypeError for what is no options, or options that contradict each other.
    """
    options = options_object(
        options, method="list", owner=owner, position=1, expected="ListOptions"
    )
    if not isinstance(options, JsProxy):
        return {}
    start, after = member(options, "start"), member(options, "startAfter")
    if start is not None and after is not None:
        raise type_error("list() cannot be called with both start and startAfter values.")
    end, prefix = member(options, "end"), member(options, "prefix")
    limit = member(options, "limit")
    if limit is not None:
        limit = int32(limit)
        if limit <= 0:
            raise type_error("List limit must be positive.")
    first = after if start is None else start
    return {
        "start": None if first is None else _as_stored(to_string(first)),
        "after": after is not None,
        "end": None if end is None else _as_stored(to_string(end)),
        "prefix": "" if prefix is None else _as_stored(to_string(prefix)),
        "reverse": member(options, "reverse") is True,
        "limit": limit,
    }
