"""``ctx.storage``: the asynchronous key-value interface of an object, its alarm, transactions.

Everything is done when the call returns, so awaiting it lets nothing else in, as production's
input gates do. Texts and rules: python-workers-verified 3.2. The records are in ``durable``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.bindings.callbacks import as_promised, awaited
from tsumugi_emulator.bindings.durable_object_state import function_argument
from tsumugi_emulator.bindings.object_kv import SyncKvStorage
from tsumugi_emulator.bindings.object_records import Records
from tsumugi_emulator.bindings.object_transaction import (
    DELETE_ALL_TEXT,
    DurableObjectTransaction,
    run_sync_section,
)
from tsumugi_emulator.bindings.object_without_sql import (
    NO_SYNC_TRANSACTION_TEXT,
    NoSqlStorage,
    NoSyncKvStorage,
)
from tsumugi_emulator.bindings.sql_storage import SqlStorage
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import js_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.promise import promise_of, resolved
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.rejecting import rejecting

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.durable.object_file import ObjectFile

NO_ALARM_TEXT = "Your Durable Object class must have an alarm() handler in order to call setAlarm()"
NOT_LOCAL_TEXT = (
    "{method}() is not supported locally: point-in-time recovery needs Cloudflare's backups. It "
    "works when deployed."
)


class StorageControl(Protocol):
    """What the storage needs of the object it belongs to."""

    #: Whether the class has an alarm handler, and whether it may use SQL.
    has_alarm: bool
    has_sql: bool

    def transact(self, work: Callable[[], Any]) -> PyodideFuture:
        """Run ``work`` while nothing else enters; its failure is the promise's only."""

    def now_ms(self) -> int: ...


@js_class("DurableObjectStorage", constructible=False)
class DurableObjectStorage(JsProxy):
    def __init__(self, file: ObjectFile, control: StorageControl) -> None:
        self._file = file
        self._control = control
        has_sql = control.has_sql
        self._records = Records(file, "DurableObjectStorage", has_sql=has_sql)
        self.sql = SqlStorage(file) if has_sql else NoSqlStorage()
        self.kv = SyncKvStorage(file) if has_sql else NoSyncKvStorage()

    # -- Records --------------------------------------------------------------------------------

    @js_method
    @rejecting
    def get(self, key: Any = None, options: Any = None, *_rest: Any) -> PyodideFuture:
        return _answer(self._records.get(key), options)

    @js_method
    @rejecting
    def put(self, key: Any = None, *values: Any) -> PyodideFuture:
        self._records.put(key, values)
        return resolved(None)

    @js_method
    @rejecting
    def delete(self, key: Any = None, options: Any = None, *_rest: Any) -> PyodideFuture:
        return _answer(self._records.delete(key), options)

    @js_method
    @rejecting
    def list(self, options: Any = None, *_rest: Any) -> PyodideFuture:
        return _answer(self._records.list(options), options)

    @js_method
    @rejecting
    def deleteAll(self, _options: Any = None, *_rest: Any) -> PyodideFuture:
        if self._file.in_savepoint:
            raise js_error("Error", DELETE_ALL_TEXT)
        self._file.delete_all(with_alarm=MODE.flag("delete_all_deletes_alarm"))
        return resolved(None)

    # -- Alarms ---------------------------------------------------------------------------------

    @js_method
    @rejecting
    def getAlarm(self, options: Any = None, *_rest: Any) -> PyodideFuture:
        due_ms = self._file.alarm_ms
        return _answer(jsnull if due_ms is None else due_ms, options)

    @js_method
    @rejecting
    def setAlarm(self, time: Any = None, _options: Any = None, *_rest: Any) -> PyodideFuture:
        due_ms = self._records.alarm_time_ms(time, now_ms=self._control.now_ms())
        if not self._control.has_alarm:
            raise type_error(NO_ALARM_TEXT)
        self._file.set_alarm(due_ms)
        return resolved(None)

    @js_method
    @rejecting
    def deleteAlarm(self, _options: Any = None, *_rest: Any) -> PyodideFuture:
        self._file.set_alarm(None)
        return resolved(None)

    # -- Transactions ---------------------------------------------------------------------------

    @js_method
    def transaction(self, callback: Any = None, *_rest: Any) -> PyodideFuture:
        function = function_argument(callback, "transaction", "DurableObjectStorage")
        file = self._file

        async def work() -> Any:
            transaction = DurableObjectTransaction(
                file, self._control.now_ms, has_sql=self._control.has_sql
            )
            try:
                result = await awaited(function, transaction)
            except BaseException:
                transaction._end(keep=False)
                raise
            transaction._end(keep=True)
            return result

        return self._control.transact(work)

    @js_method
    def transactionSync(self, callback: Any = None, *_rest: Any) -> Any:
        function = function_argument(callback, "transactionSync", "DurableObjectStorage")
        if not self._control.has_sql:
            raise js_error("Error", NO_SYNC_TRANSACTION_TEXT)
        result = run_sync_section(self._file, function)
        return promise_of(as_promised(result)) if asyncio.iscoroutine(result) else result

    @js_method
    def sync(self) -> PyodideFuture:
        """What was written is durable; other events may come in meanwhile."""
        self._file.commit()
        return _later(None)

    # -- Point-in-time recovery -----------------------------------------------------------------

    @js_method
    @rejecting
    def getCurrentBookmark(self) -> PyodideFuture:
        raise js_error("Error", NOT_LOCAL_TEXT.format(method="getCurrentBookmark"))

    @js_method
    @rejecting
    def getBookmarkForTime(self, _time: Any = None) -> PyodideFuture:
        raise js_error("Error", NOT_LOCAL_TEXT.format(method="getBookmarkForTime"))

    @js_method
    @rejecting
    def onNextSessionRestoreBookmark(self, _bookmark: Any = None) -> PyodideFuture:
        raise js_error("Error", NOT_LOCAL_TEXT.format(method="onNextSessionRestoreBookmark"))


def _answer(value: Any, options: Any) -> PyodideFuture:
    from tsumugi_emulator.javascript.values import js_to_python

    allows = isinstance(options, JsProxy) and member(options, "allowConcurrency")
    return _later(js_to_python(value)) if allows is True else resolved(js_to_python(value))


def _later(value: Any) -> PyodideFuture:
    """A promise whose answer arrives as input does: what waited before comes in before it."""
    event = io_context.require()
    future = PyodideFuture(loop=asyncio.get_running_loop())
    event.track(future)

    def deliver() -> None:
        if not future.done():
            future.set_result(value)

    resume = event.resumer()
    asyncio.get_running_loop().call_soon(resume, deliver)
    return future
