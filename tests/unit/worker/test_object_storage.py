"""``ctx.storage`` row by row (python-workers-verified 3.2), through the real SDK, on real files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from object_harness import NOT_CLONABLE, START_MS, objects_child, run_inside

if TYPE_CHECKING:
    from pathlib import Path


VALUES = [
    ("1", "1"),
    ("1.0", "1"),
    ("'text'", "'text'"),
    ("True", "True"),
    ("None", "None"),
    ("[1, [2]]", "[1, [2]]"),
    ("{'a': {'b': 1}}", "{'a': {'b': 1}}"),
    ("{1, 2}", "{1, 2}"),
    ("2**60", "1152921504606846976"),
    ("bytes(await st.get('k')) if False else b'ab'", None),
]


@pytest.mark.parametrize(("value", "expected"), VALUES[:-1])
def test_a_value_comes_back_as_the_sdk_converts_it(
    value: str, expected: str, tmp_path: Path
) -> None:
    code = f"await st.put('k', {value})\nreturn repr(await st.get('k'))"
    assert run_inside(tmp_path, code) == expected


def test_bytes_come_back_as_a_memoryview_and_dates_as_naive_datetimes(tmp_path: Path) -> None:
    code = """
        from datetime import datetime
        await st.put({"b": b"ab", "d": datetime(2020, 1, 2, 3, 4, 5)})
        b, d = await st.get("b"), await st.get("d")
        return [type(b).__name__, bytes(b), repr(d)]
    """
    assert run_inside(tmp_path, code) == [
        "memoryview",
        b"ab",
        "datetime.datetime(2020, 1, 2, 3, 4, 5)",
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("st.get('missing')", None),
        ("st.put('k', 1, allowUnconfirmed=True)", None),
        ("st.put({'a': 1, 'b': 2})", None),
        ("st.delete('a')", True),
        ("st.delete('missing')", False),
        ("st.delete(['a', 'b', 'missing'])", 2),
        ("st.get(['b', 'missing', 'a'])", {"a": 1, "b": 2}),
        ("st.list()", {"": 0, "5": 5, "a": 1, "b": 2, "null": 9}),
        ("st.list(prefix='a')", {"a": 1}),
        ("st.list(start='a', end='b')", {"a": 1}),
        ("st.list(startAfter='a')", {"b": 2, "null": 9}),
        ("st.list(start_after='a', limit=1)", {"": 0}),
        ("st.list(reverse=True, limit=2)", {"null": 9, "b": 2}),
        ("st.list({'prefix': 'b'})", {"b": 2}),
        ("st.list(start=None)", {"null": 9}),
    ],
)
def test_a_call_answers(call: str, expected: Any, tmp_path: Path) -> None:
    code = f"""
        await st.put("b", 2); await st.put("a", 1); await st.put(5, 5); await st.put("", 0)
        await st.put(None, 9)
        return await {call}
    """
    got = run_inside(tmp_path, code)
    assert got == expected
    if isinstance(expected, dict):
        assert list(got) == list(expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("st.put('k')", "TypeError: put() called with undefined value."),
        ("st.put('k', object())", NOT_CLONABLE),
        ("st.list(limit=0)", "TypeError: List limit must be positive."),
        ("st.list(limit='x')", "TypeError: List limit must be positive."),
        (
            "st.list(limit=2**40)",
            "TypeError: Value out of range. Must be between -2147483648 and 2147483647 "
            "(inclusive).",
        ),
        (
            "st.list(start='a', startAfter='b')",
            "TypeError: list() cannot be called with both start and startAfter values.",
        ),
        (
            "st.put('k' * 2049, 1)",
            "RangeError: Keys cannot be larger than 2048 bytes. A key of size 2049 was provided.",
        ),
        ("st.get([str(n) for n in range(129)])", "RangeError: Maximum number of keys is 128."),
        (
            "st.put({str(n): n for n in range(129)})",
            "RangeError: Maximum number of pairs is 128.",
        ),
        ("st.setAlarm(-1)", "TypeError: setAlarm() cannot be called with an alarm time <= 0"),
        ("st.setAlarm(1e300)", "TypeError: This API doesn't support dates after 2189."),
        ("st.setAlarm(-9.3e12)", "TypeError: This API doesn't support dates before 1687."),
        (
            "st.setAlarm(float('nan'))",
            "TypeError: The value cannot be converted because it is not a valid Date.",
        ),
        *(
            (
                f"st.setAlarm({value})",
                "TypeError: Failed to execute 'setAlarm' on 'DurableObjectStorage': parameter 1 is "
                "not of type 'date'.",
            )
            for value in ("'x'", "None", "True", "2**60")
        ),
    ],
)
def test_a_refusal_has_productions_text(call: str, expected: str, tmp_path: Path) -> None:
    assert run_inside(tmp_path, f"return await outcome({call})") == expected


def test_keys_that_are_no_unicode_are_stored_as_the_runtime_stores_them(tmp_path: Path) -> None:
    code = """
        lone = chr(0xD800)
        await st.put(lone, 1); await st.put("?", 2)
        return [await st.list(), await st.get(lone), await st.list(prefix=lone),
                await st.list(start=lone, limit=1), await st.delete(lone), await st.list(end=lone)]
    """
    stored = {"\ufffd\ufffd\ufffd": 1}
    both = {"?": 2, **stored}
    assert run_inside(tmp_path, code) == [both, 1, stored, stored, True, {"?": 2}]


def test_a_value_of_more_than_2_mib_is_refused(tmp_path: Path) -> None:
    got = run_inside(tmp_path, "return await outcome(st.put('k', 'x' * (2 * 1024 * 1024)))")
    assert got.startswith("RangeError: Values cannot be larger than 2097152 bytes.")


def test_a_value_of_a_class_without_sqlite_has_128_kib(tmp_path: Path) -> None:
    code = """
        async def put(txn):
            await txn.put("k", "x" * (129 * 1024))
        return [await outcome(st.put("k", "x" * 128 * 1024)),
                await outcome(st.put("k", "x" * 129 * 1024)), await outcome(st.transaction(put))]
    """
    kept, refused, within = run_inside(tmp_path, code, has_sql=False)
    assert kept is None
    assert refused.startswith("RangeError: Values cannot be larger than 131072 bytes.")
    assert "Values cannot be larger than 131072 bytes." in within


def test_a_tuple_is_refused_at_the_call(tmp_path: Path) -> None:
    code = """
        try:
            st.get(("a", "b"))
        except TypeError as error:
            return str(error)
    """
    assert run_inside(tmp_path, code) == "<class 'tuple'> cannot be sent over RPC."


def test_a_put_nobody_awaits_is_kept(tmp_path: Path) -> None:
    assert run_inside(tmp_path, "asyncio.ensure_future(st.put('k', 1))\nst.kv.put('s', 2)") is None
    assert run_inside(tmp_path, "return [await st.get('k'), await st.get('s')]") == [1, 2]


def test_the_synchronous_interface_works_on_the_same_records(tmp_path: Path) -> None:
    code = """
        kv.put("a", 1); kv.put("b", {"x": [1]})
        await st.put("c", 3)
        return [kv.get("a"), kv.get("missing"), kv.delete("a"), kv.delete("a"),
                [item for item in kv.list()], [item for item in kv.list(prefix="c")]]
    """
    assert run_inside(tmp_path, code) == [
        1,
        None,
        True,
        False,
        [["b", {"x": [1]}], ["c", 3]],
        [["c", 3]],
    ]


@pytest.mark.parametrize(
    ("flags", "alarm_ms"),
    [(frozenset(), START_MS + 1000), (frozenset({"delete_all_deletes_alarm"}), None)],
)
def test_delete_all_drops_tables_and_the_alarm_if_the_flag_says_so(
    flags: frozenset[str], alarm_ms: int | None, tmp_path: Path
) -> None:
    code = f"""
        await st.put("k", 1)
        sql.exec("CREATE TABLE a (id INTEGER PRIMARY KEY)")
        sql.exec("CREATE TABLE b (a INTEGER REFERENCES a(id))")
        sql.exec("INSERT INTO a VALUES (1)"); sql.exec("INSERT INTO b VALUES (1)")
        await st.setAlarm({START_MS + 1000})
        await st.deleteAll()
        tables = sql.exec("SELECT name FROM sqlite_schema WHERE name IN ('a', 'b')")
        return [await st.list(), tables.toArray(), await st.getAlarm()]
    """
    assert run_inside(tmp_path, code, flags=flags) == [{}, [], alarm_ms]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"{START_MS + 5}", START_MS + 5),
        (f"{START_MS + 5}.9", START_MS + 5),
        (f"datetime.fromtimestamp({(START_MS + 5000) / 1000})", START_MS + 5000),
        (f"datetime.fromtimestamp({(START_MS + 5000) / 1000}, UTC)", START_MS + 5000),
        (f"js.Date.new({START_MS + 7})", START_MS + 7),
        ("1_700_000_000", START_MS),  # seconds: long ago, so now
    ],
)
def test_an_alarm_is_set_to(value: str, expected: int, tmp_path: Path) -> None:
    code = f"""
        import js
        from datetime import UTC, datetime
        before = await st.getAlarm()
        await st.setAlarm({value})
        return [before, await st.getAlarm()]
    """
    assert run_inside(tmp_path, code) == [None, expected]


def test_a_deleted_alarm_is_gone(tmp_path: Path) -> None:
    code = f"""
        await st.setAlarm({START_MS + 5})
        await st.deleteAlarm()
        return await st.getAlarm()
    """
    assert run_inside(tmp_path, code) is None


def test_a_class_without_a_handler_cannot_set_an_alarm(tmp_path: Path) -> None:
    program = """
class Plain(DurableObject):
    async def run(self):
        return await outcome(self.ctx.storage.setAlarm(1_800_000_000_000))

async def main(env):
    return await env.PLAIN.getByName("a").run()
"""
    with objects_child(program, tmp_path) as child:
        assert "must have an alarm() handler in order to call setAlarm()" in child.text()


@pytest.mark.parametrize(
    "method", ["getCurrentBookmark()", "getBookmarkForTime(1)", "onNextSessionRestoreBookmark('b')"]
)
def test_point_in_time_recovery_says_that_it_is_not_local(method: str, tmp_path: Path) -> None:
    got = run_inside(tmp_path, f"return await outcome(st.{method})")
    assert "is not supported locally" in got


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            "st.sql.exec('SELECT 1')",
            "not backed by SQLite storage, so the SQL API is not available",
        ),
        ("st.sql.databaseSize", "so the SQL API is not available"),
        ("st.kv.get('k')", "so the synchronous KV API is not available"),
        ("st.kv.put('k', 1)", "so the synchronous KV API is not available"),
        ("st.kv.delete('k')", "so the synchronous KV API is not available"),
        ("st.kv.list()", "so the synchronous KV API is not available"),
        ("st.transactionSync(lambda: 1)", "Error: Durable Object is not backed by SQL."),
    ],
)
def test_a_class_without_sqlite_has_only_asynchronous_storage(
    call: str, text: str, tmp_path: Path
) -> None:
    code = f"""
        sql, kv = st.sql, st.kv
        await st.put("k", 1)
        try:
            {call}
        except JsException as error:
            return [await st.get("k"), str(error)]
    """
    value, found = run_inside(tmp_path, code, has_sql=False)
    assert value == 1
    assert text in found


def test_what_was_written_is_there_for_the_next_process(tmp_path: Path) -> None:
    run_inside(tmp_path, "await st.put('k', 1)\nsql.exec('CREATE TABLE t AS SELECT 5 AS five')")
    code = "return [await st.get('k'), sql.exec('SELECT five FROM t').one().five]"
    assert run_inside(tmp_path, code) == [1, 5]
