"""``FormData``: the fields and files of a form, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray, JsIterator, call_back
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.blob import Blob, File
from tsumugi_emulator.javascript.web.pairs import with_value

if TYPE_CHECKING:
    from collections.abc import Iterator

Entry = tuple[str, str | File]


@js_class("FormData")
class FormData(JsProxy):
    __slots__ = ("_entries_list",)

    def __init__(self, entries: list[Entry] | None = None) -> None:
        self._entries_list: list[Entry] = [] if entries is None else entries

    @classmethod
    def _construct(cls) -> FormData:
        return cls()

    def _iterate(self) -> Iterator[Any]:
        return (JsArray([name, value]) for name, value in self._entries_list)

    @js_method
    def append(self, name: Any = None, value: Any = None, filename: Any = None) -> None:
        key = to_string(name)
        self._entries_list.append((key, _value(key, value, filename)))

    @js_method
    def set(self, name: Any = None, value: Any = None, filename: Any = None) -> None:
        key = to_string(name)
        self._entries_list = with_value(self._entries_list, key, _value(key, value, filename))

    @js_method
    def delete(self, name: Any = None) -> None:
        key = to_string(name)
        self._entries_list = [pair for pair in self._entries_list if pair[0] != key]

    @js_method
    def get(self, name: Any = None) -> Any:
        key = to_string(name)
        return next((value for found, value in self._entries_list if found == key), jsnull)

    @js_method
    def getAll(self, name: Any = None) -> JsArray:
        key = to_string(name)
        return JsArray([value for found, value in self._entries_list if found == key])

    @js_method
    def has(self, name: Any = None) -> bool:
        key = to_string(name)
        return any(found == key for found, _ in self._entries_list)

    @js_method
    def keys(self) -> JsIterator:
        return JsIterator(name for name, _ in self._entries_list)

    @js_method
    def values(self) -> JsIterator:
        return JsIterator(value for _, value in self._entries_list)

    @js_method
    def entries(self) -> JsIterator:
        return JsIterator(self._iterate())

    @js_method
    def forEach(self, callback: Any = None, _this: Any = None) -> None:
        for name, value in list(self._entries_list):
            call_back(callback, value, name, self)


FormDataClass = FormData.constructor


def _value(key: str, value: Any, filename: Any) -> str | File:
    """A form entry: a blob becomes a file named after its field, anything else its text."""
    if not isinstance(value, Blob):
        return to_string(value)
    named = filename is not None and filename is not jsnull
    if isinstance(value, File) and not named:
        return value
    name = to_string(filename) if named else key
    return File(value._data, name, value._type)
