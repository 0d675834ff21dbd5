"""``env.EVENTS``: an Analytics Engine dataset. Points are kept locally; nothing is sampled.

Limits and texts are workerd's. ``writeDataPoint`` answers nothing and is not awaited, as deployed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.arguments import option, options_object
from tsumugi_emulator.bindings.queue_body import encode_text
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import bytes_of
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.strings import to_number, to_string
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.storage.analytics import FIELDS, DataPoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.storage.analytics import AnalyticsStore

OWNER = "AnalyticsEngine"
MAX_INDEXES = 1
MAX_INDEX_BYTES = 96
MAX_BLOBS_BYTES = 16 * 1024
_PREFIX = "writeDataPoint(): "


@js_class(OWNER, constructible=False)
class AnalyticsEngineDataset(JsProxy):
    """``constructor.name`` is the deployed class's, which the SDK knows as well."""

    __slots__ = ("_open", "_points")

    def __init__(self, open_: Callable[[], AnalyticsStore]) -> None:
        self._open = open_
        self._points: list[DataPoint] = []

    @js_method
    def writeDataPoint(self, event: Any = None, *_rest: Any) -> None:
        io_context.require()
        event = options_object(
            event,
            method="writeDataPoint",
            owner=OWNER,
            position=1,
            expected="AnalyticsEngineEvent",
        )
        if not self._points:
            # What one turn of the loop writes is one transaction.
            asyncio.get_running_loop().call_soon(self._flush)
        self._points.append(_point(event))

    def _flush(self) -> None:
        points, self._points = self._points, []
        self._open().write(points)


def _point(event: Any) -> DataPoint:
    indexes = _list(event, "indexes", _text)
    doubles = _list(event, "doubles", lambda value: float(to_number(value)))
    blobs = _list(event, "blobs", _text)
    _at_most(indexes, MAX_INDEXES, "indexes")
    _at_most(doubles, FIELDS, "doubles")
    _at_most(blobs, FIELDS, "blobs")
    if any(len(encode_text(index)) > MAX_INDEX_BYTES for index in indexes):
        raise type_error(f"{_PREFIX}Size of indexes[0] exceeds {MAX_INDEX_BYTES} bytes).")
    if sum(len(encode_text(blob)) for blob in blobs) > MAX_BLOBS_BYTES:
        raise type_error(f"{_PREFIX}Cumulative size of blobs exceeds {MAX_BLOBS_BYTES} bytes).")
    return DataPoint(indexes[0] if indexes else "", blobs, doubles)


def _list[T](event: Any, name: str, convert: Callable[[Any], T]) -> list[T]:
    value = option(event, name)
    if value is None or value is jsnull:
        return []
    if not isinstance(value, JsArray):
        raise type_error(
            f"Incorrect type for the '{name}' field on 'AnalyticsEngineEvent': the provided value "
            "is not of type 'Array'."
        )
    return [convert(item) for item in value._items]


def _text(value: Any) -> str:
    if value is None or value is jsnull:
        return ""
    data = bytes_of(value)
    return to_string(value) if data is None else data.decode("utf-8", "replace")


def _at_most(values: list[Any], limit: int, what: str) -> None:
    if len(values) > limit:
        raise type_error(f"{_PREFIX}Maximum of {limit} {what} supported.")
