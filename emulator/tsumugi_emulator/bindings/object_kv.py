"""``storage.kv``: the synchronous key-value interface, over the same records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.object_arguments import (
    check_key,
    check_value,
    list_options,
    wrong_type,
)
from tsumugi_emulator.javascript.arrays import JsArray, JsIterator
from tsumugi_emulator.javascript.clone import deserialize
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.iterators import RuntimeIterator
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy

if TYPE_CHECKING:
    from tsumugi_emulator.durable.object_file import ObjectFile


@js_class("SyncKvStorage", constructible=False)
class SyncKvStorage(JsProxy):
    __slots__ = ("_file",)

    def __init__(self, file: ObjectFile) -> None:
        self._file = file

    @js_method
    def get(self, key: Any = None, *_rest: Any) -> Any:
        data = self._file.get(check_key(_key(key, "get")))
        return None if data is None else deserialize(data)

    @js_method
    def put(self, key: Any = None, value: Any = None, *_rest: Any) -> None:
        """Undefined is a value here, other than for the asynchronous interface."""
        name = check_key(_key(key, "put"))
        self._file.put(name, check_value(name, value))

    @js_method
    def delete(self, key: Any = None, *_rest: Any) -> bool:
        return self._file.delete(check_key(_key(key, "delete")))

    @js_method
    def list(self, options: Any = None, *_rest: Any) -> JsIterator:
        rows = self._file.list(**list_options(options, owner="SyncKvStorage"))
        return KvIterator(JsArray([key, deserialize(data)]) for key, data in rows)


@js_class("ListIterator", constructible=False)
class KvIterator(RuntimeIterator):
    __slots__ = ()


def _key(value: Any, method: str) -> str:
    if value is None:
        raise wrong_type(method, "SyncKvStorage", "string")
    return to_string(value)
