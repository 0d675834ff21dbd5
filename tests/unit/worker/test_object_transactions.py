"""Transactions of ``ctx.storage`` (python-workers-verified 3.2), on real files."""

from __future__ import annotations

import asyncio
import textwrap
from typing import TYPE_CHECKING

import pytest
from object_harness import INSIDE, NOT_CLONABLE, objects_child, run_inside

if TYPE_CHECKING:
    from pathlib import Path


def test_a_transaction_is_raw_and_answers_what_its_callback_does(tmp_path: Path) -> None:
    code = """
        async def work(txn):
            await txn.put("n", 1)
            await txn.put("o", to_js({"a": 1}))
            one, obj, missing = await txn.get("n"), await txn.get("o"), await txn.get("m")
            return one, type(obj).__name__, obj.a, missing, type(await txn.list()).__name__
        return await st.transaction(work), await st.get("n")
    """
    assert run_inside(tmp_path, code) == ((1, "JsProxy", 1, None, "JsProxy"), 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{'a': 1}", NOT_CLONABLE),
        ("[1]", NOT_CLONABLE),
        ("b'x'", NOT_CLONABLE),
        ("__import__('datetime').datetime.now()", NOT_CLONABLE),
        ("None", "TypeError: put() called with undefined value."),
        ("'text'", None),
    ],
)
def test_a_transaction_takes_only_scalars(value: str, expected: str | None, tmp_path: Path) -> None:
    code = f"""
        async def work(txn):
            return await outcome(txn.put("k", {value}))
        return await st.transaction(work)
    """
    assert run_inside(tmp_path, code) == expected


def test_an_exception_in_a_transaction_undoes_everything(tmp_path: Path) -> None:
    code = """
        sql.exec("CREATE TABLE t (a)")
        async def work(txn):
            await txn.put("k", 1)
            await st.put("l", 2)
            sql.exec("INSERT INTO t VALUES (1)")
            sql.exec("CREATE TABLE u (a)")
            raise KeyError("txkey")
        try:
            await st.transaction(work)
        except JsException as error:
            name, message = error.name, str(error)
        tables = sql.exec("SELECT name FROM sqlite_schema WHERE name IN ('t', 'u')").toArray()
        rows = sql.exec("SELECT * FROM t").toArray()
        return [name, message.startswith("PythonError: Traceback"), "KeyError: 'txkey'" in message,
                await st.list(), [dict(t) for t in tables], rows]
    """
    assert run_inside(tmp_path, code) == ["PythonError", True, True, {}, [{"name": "t"}], []]


def test_a_transaction_can_be_rolled_back(tmp_path: Path) -> None:
    code = """
        async def work(txn):
            await txn.put("k", 1)
            txn.rollback()
            return await outcome(txn.put("l", 2))
        refused = await st.transaction(work)
        return [refused, await st.list()]
    """
    refused, records = run_inside(tmp_path, code)
    assert refused == "Error: Cannot put() on rolled back transaction"
    assert records == {}


def test_a_transactions_callback_must_take_the_transaction(tmp_path: Path) -> None:
    got = run_inside(tmp_path, "return await outcome(st.transaction(lambda: 1))")
    assert "takes 0 positional arguments but 1 was given" in got


def test_transaction_sync_raises_the_original_exception_and_undoes(tmp_path: Path) -> None:
    code = """
        def work():
            kv.put("k", 1)
            raise KeyError("x")
        try:
            st.transactionSync(work)
        except KeyError as error:
            caught = repr(error)
        kept = st.transactionSync(lambda: (kv.put("l", 2), st.transactionSync(lambda: (1, 2)))[1])
        return [caught, kv.get("k"), kv.get("l"), kept]
    """
    assert run_inside(tmp_path, code) == ["KeyError('x')", None, 2, (1, 2)]


def test_transaction_sync_does_not_wait_for_an_async_function(tmp_path: Path) -> None:
    code = """
        async def work():
            kv.put("k", 1)
            raise KeyError("late")
        promise = st.transactionSync(work)
        try:
            await promise
        except Exception as error:
            late = type(error).__name__
        return [late, kv.get("k")]
    """
    assert run_inside(tmp_path, code)[0] in ("KeyError", "JsException")
    assert run_inside(tmp_path, "return kv.get('k')") == 1


def test_a_transaction_of_a_task_is_durable_without_any_call(tmp_path: Path) -> None:
    code = """
        async def work(txn):
            await txn.put("k", 1)
            await asyncio.sleep(0.004)
        async def task():
            await st.transaction(work)
        self.task = asyncio.ensure_future(task())
    """
    program = INSIDE.replace("{code}", textwrap.indent(textwrap.dedent(code), " " * 12))
    with objects_child(program.replace("{sql}", "None"), tmp_path) as child:
        child.text()
        (live,) = child.objects._live.values()
        child.loop.run_until_complete(asyncio.wait(set(live.context.tasks)))
        child.loop.run_until_complete(asyncio.sleep(0))
        assert not live.file.db.in_transaction


@pytest.mark.parametrize("owner", ["txn", "st"])
def test_delete_all_is_refused_within_a_transaction(owner: str, tmp_path: Path) -> None:
    code = f"""
        async def work(txn):
            await st.put("k", 1)
            try:
                result = {owner}.deleteAll()
                await result
            except JsException as error:
                return error.message
        return [await st.transaction(work), await st.get("k")]
    """
    text = "Cannot call deleteAll() within a transaction"
    assert run_inside(tmp_path, code) == [text, 1]
