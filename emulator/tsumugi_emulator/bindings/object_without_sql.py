"""What ``storage.sql`` and ``storage.kv`` are in classes that ``new_classes`` created: refusals.

Deployed, the storage of such a class is no SQLite database. The refusal comes with the first use,
not with the property, as production's does.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.values import JsProxy

_TEXT = (
    "This Durable Object is not backed by SQLite storage, so the {api} API is not available. "
    "{what} can be enabled on a new Durable Object class by using the `new_sqlite_classes` instead "
    "of `new_classes` under `[[migrations]]` in your wrangler.toml, but an already-deployed class "
    "cannot be converted to SQLite (except by deleting the existing data)."
)
NO_SQL_TEXT = _TEXT.format(api="SQL", what="SQL")
NO_KV_TEXT = _TEXT.format(api="synchronous KV", what="SQLite")
NO_SYNC_TRANSACTION_TEXT = "Durable Object is not backed by SQL."


def _refuse(text: str) -> NoReturn:
    raise js_error("Error", text)


@js_class("SqlStorage", constructible=False)
class NoSqlStorage(JsProxy):
    __slots__ = ()

    @js_method
    def exec(self, *_args: Any) -> Any:
        _refuse(NO_SQL_TEXT)

    @js_property
    def databaseSize(self) -> Any:
        _refuse(NO_SQL_TEXT)


@js_class("SyncKvStorage", constructible=False)
class NoSyncKvStorage(JsProxy):
    __slots__ = ()

    @js_method
    def get(self, *_args: Any) -> Any:
        _refuse(NO_KV_TEXT)

    @js_method
    def put(self, *_args: Any) -> Any:
        _refuse(NO_KV_TEXT)

    @js_method
    def delete(self, *_args: Any) -> Any:
        _refuse(NO_KV_TEXT)

    @js_method
    def list(self, *_args: Any) -> Any:
        _refuse(NO_KV_TEXT)
