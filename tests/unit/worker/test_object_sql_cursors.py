"""Cursors and statements that are used again show nothing of what they were before (ADR-0241)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from object_harness import run_inside

if TYPE_CHECKING:
    from pathlib import Path

TABLES = """
sql.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
sql.exec("INSERT INTO t (v) VALUES ('a'), ('b'), ('c')")
"""


def returned(directory: Path, code: str) -> Any:
    import textwrap

    return run_inside(directory, TABLES + textwrap.dedent(code))


def test_a_cursor_that_is_kept_stays_what_it_is(tmp_path: Path) -> None:
    code = """
        two = sql.exec("INSERT INTO t (v) VALUES ('d'), ('e')")
        one = sql.exec("INSERT INTO t (v) VALUES ('f')")
        read = sql.exec("SELECT v FROM t WHERE id = 1")
        other = sql.exec("SELECT id FROM t WHERE id = 2")
        return [two.rowsWritten, one.rowsWritten, read.one(), other.one(), read.columnNames]
    """
    assert returned(tmp_path, code) == [2, 1, {"v": "a"}, {"id": 2}, ["v"]]


def test_what_the_sdk_keeps_on_a_cursor_is_not_seen_on_the_next(tmp_path: Path) -> None:
    code = """
        found = []
        for values in ("('d')", "('e'), ('f')", "('g'), ('h'), ('i')"):
            found.append(sql.exec("INSERT INTO t (v) VALUES " + values).rowsWritten)
        for query in ("SELECT id FROM t LIMIT 1", "SELECT v, id FROM t LIMIT 1"):
            found.append(sql.exec(query).columnNames)
        return found
    """
    assert returned(tmp_path, code) == [1, 2, 3, ["id"], ["v", "id"]]


def test_rows_written_are_counted_before_anything_else_is_written(tmp_path: Path) -> None:
    code = """
        insert, update = "INSERT INTO t (v) VALUES (?)", "UPDATE t SET v = ?"
        sql.exec(insert, "d")
        one = sql.exec(insert, "e")
        kv.put("key", "value")
        await st.put({"a": 1, "b": 2})
        sql.exec(update, "x")
        all_rows = sql.exec(update, "y")
        sql.exec(insert, "f")
        returning = sql.exec("DELETE FROM t WHERE id < 3 RETURNING id")
        sql.exec(insert, "g")
        return [one.rowsWritten, all_rows.rowsWritten, returning.rowsWritten]
    """
    assert returned(tmp_path, code) == [1, 5, 2]


def test_a_select_writes_nothing_whatever_ran_before(tmp_path: Path) -> None:
    code = """
        query = "SELECT v FROM t WHERE id = 1"
        sql.exec(query).one()
        sql.exec("INSERT INTO t (v) VALUES ('d')")
        return sql.exec(query).rowsWritten
    """
    assert returned(tmp_path, code) == 0


def test_rows_of_a_loop_that_is_left_lock_nothing(tmp_path: Path) -> None:
    code = """
        for _ in range(3):
            for row in sql.exec("SELECT * FROM t"):
                break
            next(iter(sql.exec("SELECT * FROM t")))
        sql.exec("DROP TABLE t")
        return "dropped"
    """
    assert returned(tmp_path, code) == "dropped"


def test_two_loops_over_one_statement_do_not_disturb_each_other(tmp_path: Path) -> None:
    code = """
        query = "SELECT v FROM t"
        sql.exec(query).toArray()
        return [a.v + b.v for a in sql.exec(query) for b in sql.exec(query)]
    """
    assert returned(tmp_path, code) == [a + b for a in "abc" for b in "abc"]


@pytest.mark.parametrize(
    "change",
    [
        'sql.exec("ALTER TABLE t ADD COLUMN w DEFAULT 7")',
        'st.transactionSync(lambda: bool(sql.exec("ALTER TABLE t ADD COLUMN w DEFAULT 7")))',
    ],
)
def test_new_columns_show_in_a_statement_that_ran_before(change: str, tmp_path: Path) -> None:
    code = f"""
        query = "SELECT * FROM t WHERE id = 1"
        before = dict(sql.exec(query).one())
        {change}
        return [before, dict(sql.exec(query).one())]
    """
    assert returned(tmp_path, code) == [{"id": 1, "v": "a"}, {"id": 1, "v": "a", "w": 7}]


def test_columns_that_are_undone_no_longer_show(tmp_path: Path) -> None:
    code = """
        query = "SELECT * FROM t WHERE id = 1"
        def change():
            sql.exec("ALTER TABLE t ADD COLUMN w DEFAULT 7")
            sql.exec(query).one()
            raise KeyError
        try:
            st.transactionSync(change)
        except KeyError:
            pass
        return [dict(sql.exec(query).one()), sql.exec(query).columnNames]
    """
    assert returned(tmp_path, code) == [{"id": 1, "v": "a"}, ["id", "v"]]


def test_a_query_with_a_common_table_expression_is_read_as_it_goes(tmp_path: Path) -> None:
    code = """
        rows = sql.exec("WITH x AS (SELECT v FROM t) SELECT v FROM x")
        first = rows.next()
        sql.exec("UPDATE t SET v = 'new' WHERE id = 3")
        return [first["value"], [row.v for row in rows]]
    """
    assert returned(tmp_path, code) == [{"v": "a"}, ["b", "new"]]


def test_writes_of_a_common_table_expression_are_kept_and_counted(tmp_path: Path) -> None:
    code = """
        query = "WITH x AS (SELECT 'd') INSERT INTO t (v) SELECT * FROM x"
        for _ in range(2):
            sql.exec(query)
        return sql.exec("SELECT count(*) AS n FROM t").one().n
    """
    assert returned(tmp_path, code) == 5
    assert run_inside(tmp_path, "return sql.exec('SELECT count(*) AS n FROM t').one().n") == 5


def test_a_text_that_is_no_utf8_is_read_with_the_rest(tmp_path: Path) -> None:
    code = """
        sql.exec("UPDATE t SET v = CAST(x'ff41' AS TEXT) WHERE id = 2")
        query = "SELECT v, id FROM t -- all"
        rows = sql.exec(query)
        return [
            sql.exec("SELECT v FROM t WHERE id = 2").one().v,
            [dict(row) for row in sql.exec(query)],
            [row.v for row in sql.exec(query).toArray()],
            [rows.next()["value"].id, rows.rowsRead, [row.v for row in rows]],
        ]
    """
    replaced = "\ufffdA"
    assert returned(tmp_path, code) == [
        replaced,
        [{"v": "a", "id": 1}, {"v": replaced, "id": 2}, {"v": "c", "id": 3}],
        ["a", replaced, "c"],
        [1, 2, [replaced, "c"]],
    ]


@pytest.mark.parametrize("place", [1, 2, 3])
def test_no_row_is_lost_or_given_twice_wherever_it_stands(place: int, tmp_path: Path) -> None:
    code = f"""
        sql.exec("UPDATE t SET v = CAST(x'ff' AS TEXT) WHERE id = {place}")
        found = []
        for start in range(4):
            rows = sql.exec("SELECT v, id FROM t")
            first = [rows.next()["value"].id for _ in range(start)]
            found.append(first + [row.id for row in rows])
            rows = sql.exec("SELECT v, id FROM t")
            first = [rows.next()["value"].id for _ in range(start)]
            found.append(first + [row.id for row in rows.toArray()])
        return found
    """
    assert returned(tmp_path, code) == [[1, 2, 3]] * 8


def test_what_failed_half_way_is_not_counted_for_the_next(tmp_path: Path) -> None:
    code = """
        try:
            sql.exec("INSERT OR FAIL INTO t VALUES (7, 'x'), (8, 'y'), (1, 'z')")
        except JsException:
            pass
        return [sql.exec("INSERT INTO t VALUES (9, 'n')").rowsWritten,
                sql.exec("SELECT count(*) AS n FROM t").one().n]
    """
    assert returned(tmp_path, code) == [1, 6]


@pytest.mark.parametrize(
    "call",
    [
        "concat('a', 1)", "octet_length('x')", "unixepoch('subsec')", "json('{a:1}')",
        "string_agg(v, ',') FROM t", "group_concat(v ORDER BY id DESC) FROM t",
    ],
)  # fmt: skip
def test_functions_of_productions_sqlite_are_there(call: str, tmp_path: Path) -> None:
    assert returned(tmp_path, f'return len(sql.exec("SELECT {call}").toArray())') == 1


def refusal_of(call: str, directory: Path) -> str:
    code = f"""
        try:
            sql.exec("SELECT {call}")
        except JsException as error:
            return error.message
    """
    text: str = returned(directory, code)
    return text


@pytest.mark.parametrize("call", ["median(1)", "geopoly_area(1)"])
def test_functions_production_does_not_know_are_unknown(call: str, tmp_path: Path) -> None:
    name = call.partition("(")[0]
    text = f"no such function: {name} at offset 7: SQLITE_ERROR"
    assert refusal_of(call, tmp_path) == text


@pytest.mark.parametrize(
    "call",
    ["if(1, 2, 3)", "unistr('x')", "power(2, 3)", "ceiling(1.5)", "log10(10)", "json_pretty('1')"],
)
def test_functions_production_does_not_allow_are_refused(call: str, tmp_path: Path) -> None:
    name = call.partition("(")[0]
    text = f"not authorized to use function: {name} at offset 7: SQLITE_ERROR"
    assert refusal_of(call, tmp_path) == text


def test_functions_cannot_be_listed(tmp_path: Path) -> None:
    code = """
        try:
            sql.exec("PRAGMA function_list")
        except JsException as error:
            return error.message
    """
    assert returned(tmp_path, code) == "not authorized: SQLITE_AUTH"
