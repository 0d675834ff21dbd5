"""Explicit transactions: the object ``transaction()`` passes on, and ``transactionSync``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.object_records import Records
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.promise import resolved
from tsumugi_emulator.javascript.values import JsProxy, js_to_python, jsnull
from tsumugi_emulator.javascript.web.rejecting import rejecting

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.durable.object_file import ObjectFile
    from tsumugi_emulator.javascript.futures import PyodideFuture

DELETE_ALL_TEXT = "Cannot call deleteAll() within a transaction"
ROLLED_BACK_TEXT = "Cannot {method}() on rolled back transaction"
ENDED_TEXT = "Cannot call {method}() on transaction that has already committed: did you move `txn` outside of the closure?"  # noqa: E501


@js_class("DurableObjectTransaction", constructible=False)
class DurableObjectTransaction(JsProxy):
    """Raw in production: what it is given and gives back is not converted."""

    __slots__ = ("_file", "_now_ms", "_records", "_savepoint", "_state")

    def __init__(self, file: ObjectFile, now_ms: Callable[[], int], *, has_sql: bool) -> None:
        self._file = file
        self._now_ms = now_ms
        self._records = Records(file, "DurableObjectTransaction", has_sql=has_sql)
        self._savepoint = file.open_savepoint()
        self._state = "open"

    def _end(self, *, keep: bool) -> None:
        if self._state == "open":
            if keep:
                self._file.keep_savepoint(self._savepoint)
            else:
                self._file.undo_savepoint(self._savepoint)
        self._state = "ended"

    def _check(self, method: str) -> Records:
        if self._state == "rolled back":
            raise js_error("Error", ROLLED_BACK_TEXT.format(method=method))
        if self._state == "ended":
            raise js_error("Error", ENDED_TEXT.format(method=method))
        return self._records

    @js_method
    @rejecting
    def get(self, key: Any = None, *_rest: Any) -> PyodideFuture:
        return resolved(js_to_python(self._check("get").get(key)))

    @js_method
    @rejecting
    def put(self, key: Any = None, *values: Any) -> PyodideFuture:
        self._check("put").put(key, values)
        return resolved(None)

    @js_method
    @rejecting
    def delete(self, key: Any = None, *_rest: Any) -> PyodideFuture:
        return resolved(self._check("delete").delete(key))

    @js_method
    @rejecting
    def list(self, options: Any = None, *_rest: Any) -> PyodideFuture:
        return resolved(self._check("list").list(options))

    @js_method
    def deleteAll(self, *_rest: Any) -> None:
        raise js_error("Error", DELETE_ALL_TEXT)

    @js_method
    @rejecting
    def getAlarm(self, *_rest: Any) -> PyodideFuture:
        self._check("getAlarm")
        due_ms = self._file.alarm_ms
        return resolved(jsnull if due_ms is None else due_ms)

    @js_method
    @rejecting
    def setAlarm(self, time: Any = None, *_rest: Any) -> PyodideFuture:
        records = self._check("setAlarm")
        self._file.set_alarm(records.alarm_time_ms(time, now_ms=self._now_ms()))
        return resolved(None)

    @js_method
    @rejecting
    def deleteAlarm(self, *_rest: Any) -> PyodideFuture:
        self._check("deleteAlarm")
        self._file.set_alarm(None)
        return resolved(None)

    @js_method
    def rollback(self) -> None:
        if self._state == "rolled back":
            return
        self._check("rollback")
        self._file.undo_savepoint(self._savepoint)
        self._state = "rolled back"


def run_sync_section(file: ObjectFile, function: Callable[..., Any]) -> Any:
    """Call ``function`` in a transaction; an exception undoes it and goes on as it is."""
    savepoint = file.open_savepoint()
    try:
        result = function()
    except BaseException:
        file.undo_savepoint(savepoint)
        raise
    file.keep_savepoint(savepoint)
    return result
