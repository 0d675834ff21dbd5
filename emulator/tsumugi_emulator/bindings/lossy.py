"""Which parts of a JSON message lose their content silently, for the warning that names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import json_text as js_json
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.values import JsObject, JsProxy, PyProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A message names at most this many lossy values.
MAX_PATHS = 5


def lossy_paths(value: Any, path: str) -> list[tuple[str, str]]:
    """(path, description) of each value that JSON turns into ``{}`` or an index-keyed object."""
    found: list[tuple[str, str]] = []
    for item in _walk(value, path):
        found.append(item)
        if len(found) == MAX_PATHS:
            break
    return found


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if type(value) is JsObject:
        for key, item in value._props.items():
            yield from _walk(item, f"{path}.{key}")
    elif type(value) is JsArray:
        for index, item in enumerate(value._items):
            yield from _walk(item, f"{path}[{index}]")
    elif js_json.loses(value):
        yield path, _describe(value)


def _describe(value: Any) -> str:
    if isinstance(value, PyProxy):
        return f"a Python {type(value._obj).__name__}"
    if isinstance(value, JsProxy):
        return f"a JavaScript {value._class_name()}"
    return f"a {type(value).__name__}"
