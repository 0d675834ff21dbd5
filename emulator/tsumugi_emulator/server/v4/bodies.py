"""Read a request's JSON and its fields, whatever a client sent. Pure but for reading the body.

Each reader answers a value of the right type in the right range or raises ApiError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from . import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from .errors import ApiError

#: Larger than the largest legal batch (256 KB, escaped by a wasteful encoder) or list of leases.
MAX_BODY_BYTES = 4_000_000


async def read_object(request: Request, *, may_be_empty: bool = False) -> dict[str, Any]:
    """The request's body, which must be a JSON object."""
    data = await _read(request)
    if not data.strip() and may_be_empty:
        return {}
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as exc:
        raise errors.malformed_json(str(exc)) from None
    if not isinstance(value, dict):
        raise errors.invalid_body("must be an object")
    return value


async def _read(request: Request) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        raise errors.body_too_large(MAX_BODY_BYTES)
    chunks = []
    size_bytes = 0
    async for chunk in request.stream():
        size_bytes += len(chunk)
        if size_bytes > MAX_BODY_BYTES:
            raise errors.body_too_large(MAX_BODY_BYTES)
        chunks.append(chunk)
    return b"".join(chunks)


def whole(value: Any, lowest: int, highest: int) -> int | None:
    """``value`` as a whole number in the range; clients may write 5 as 5.0. None if it is not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not lowest <= value <= highest or value != int(value):
        return None
    return int(value)


def whole_or(
    value: Any, lowest: int, highest: int, refuse: Callable[[str], ApiError], name: str
) -> int:
    number = whole(value, lowest, highest)
    if number is None:
        raise refuse(f"{name} {shown(value)} must be a whole number from {lowest} to {highest}")
    return number


def optional_object(body: dict[str, Any], key: str) -> dict[str, Any]:
    value = body.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise errors.invalid_body("must be an object", pointer=f"/{key}")
    return value


def optional_text(body: dict[str, Any], key: str) -> str | None:
    value = body.get(key)
    if value is not None and not isinstance(value, str):
        raise errors.invalid_body("must be a string", pointer=f"/{key}")
    return value


def optional_list(body: dict[str, Any], key: str, *, limit: int) -> list[Any]:
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise errors.invalid_body("must be an array", pointer=f"/{key}")
    if len(value) > limit:
        raise errors.too_many(key, len(value), limit)
    return value


def shown(value: Any) -> str:
    """A client's value in an error message, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
