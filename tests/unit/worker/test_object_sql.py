"""``storage.sql`` row by row (python-workers-verified 3.3), through the real SDK, on real files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from object_harness import run_inside

if TYPE_CHECKING:
    from pathlib import Path

#: One untyped row of several kinds, and three rows to read.
TABLES = """
sql.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
sql.exec("INSERT INTO t (v) VALUES ('a'), ('b'), ('c')")
"""


def returned(directory: Path, code: str, *, tables: str = TABLES) -> Any:
    import textwrap

    return run_inside(directory, tables + textwrap.dedent(code))


REFUSED = """
def refused(*args):
    try:
        sql.exec(*args)
    except JsException as error:
        return f"{error.name}: {error.message}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""


# -- Bindings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "column", "stored"),
    [
        ("1", "INTEGER", ("integer", 1)),
        ("1", "TEXT", ("text", "1.0")),
        ("2", "TEXT", ("text", "2.0")),
        ("1", "REAL", ("real", 1)),
        ("1", "", ("real", 1)),
        ("True", "INTEGER", ("text", "true")),
        ("False", "", ("text", "false")),
        ("None", "INTEGER", ("null", None)),
        ("float('nan')", "REAL", ("null", None)),
        ("float('inf')", "REAL", ("real", "inf")),
        ("{'a': 1}", "", ("text", "[object Object]")),
        ("[1, None, 2]", "", ("text", "1,,2")),
        ("date(2020, 1, 1)", "", ("text", "2020-01-01")),
        ("Decimal('1.5')", "", ("text", "1.5")),
        ("timedelta(seconds=1)", "", ("text", "0:00:01")),
        ("Exception('m')", "", ("text", "Error: m")),
        ("-0.0", "TEXT", ("text", "0.0")),
        ("'text'", "INTEGER", ("text", "text")),
    ],
)
def test_a_value_is_stored_as(
    value: str, column: str, stored: tuple[str, Any], tmp_path: Path
) -> None:
    code = f"""
        from datetime import date, timedelta
        from decimal import Decimal
        sql.exec("CREATE TABLE u (x {column})")
        sql.exec("INSERT INTO u VALUES (?)", {value})
        row = sql.exec("SELECT typeof(x) AS kind, x FROM u").one()
        return (row.kind, "inf" if row.x == float("inf") else row.x)
    """
    assert returned(tmp_path, code) == stored


def test_a_datetime_is_stored_as_javascripts_text(tmp_path: Path) -> None:
    code = """
        from datetime import datetime
        return sql.exec("SELECT ? AS d", datetime(1970, 1, 1)).one().d
    """
    assert returned(tmp_path, code).startswith("Thu Jan 01 1970 00:00:00 GMT+0000")


def test_bytes_are_a_blob_and_come_back_as_a_memoryview(tmp_path: Path) -> None:
    code = """
        row = sql.exec("SELECT typeof(?) AS kind, ? AS b", b"ab", b"ab").one()
        return [row.kind, type(row.b).__name__, bytes(row.b)]
    """
    assert returned(tmp_path, code) == ["blob", "memoryview", b"ab"]


def test_large_integers_are_refused_and_read_as_doubles(tmp_path: Path) -> None:
    code = """
        big = sql.exec("SELECT 9007199254740993 AS n").one().n
        return [refused("SELECT ?", 2**53 - 1), type(big).__name__, big == float(2**53)]
    """
    assert returned(tmp_path, code, tables=REFUSED) == [
        "TypeError: Cannot convert a BigInt value to a number",
        "float",
        True,
    ]


# -- The cursor ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[dict(r) for r in rows.toArray()]", [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]),
        ("[r.v for r in rows]", ["a", "b"]),
        ("(rows.toArray(), rows.toArray())[1]", []),
        ("([r for r in rows], [r for r in rows])[1]", []),
        (
            "[rows.next(), rows.next(), rows.next()][0]",
            {"done": False, "value": {"id": 1, "v": "a"}},
        ),
        ("[rows.next(), rows.next(), rows.next()][2]", {"done": True}),
        ("list(rows.raw())", [[1, "a"], [2, "b"]]),
        ("rows.raw().toArray()", [[1, "a"], [2, "b"]]),
        ("rows.columnNames", ["id", "v"]),
        ("rows.rowsRead", 1),
        ("(rows.rowsRead, rows.toArray(), rows.rowsRead)[2]", 1),
        ("(rows.toArray(), rows.rowsRead)[1]", 3),
        ("(rows.rowsRead, [r.id for r in rows])[1]", [1, 2]),
        ("rows.rowsWritten", 0),
        ("bool(rows)", True),
    ],
)
def test_a_cursor_gives_each_row_once(expression: str, expected: Any, tmp_path: Path) -> None:
    code = f"""
        rows = sql.exec("SELECT * FROM t WHERE id < 3 ORDER BY id")
        return {expression}
    """
    assert returned(tmp_path, code) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "SELECT * FROM t WHERE id = 9",
            "Error: Expected exactly one result from SQL query, but got no results.",
        ),
        (
            "SELECT * FROM t",
            "Error: Expected exactly one result from SQL query, but got multiple results.",
        ),
    ],
)
def test_one_wants_exactly_one_row(query: str, expected: str, tmp_path: Path) -> None:
    code = f"""
        try:
            sql.exec("{query}").one()
        except JsException as error:
            return str(error)
    """
    assert returned(tmp_path, code) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("next(rows)", "'_BindingWrapper' object is not an iterator"),
        ("len(rows)", "'Cursor' object has no len()"),
    ],
)
def test_what_python_cannot_do_with_a_cursor(
    expression: str, expected: str, tmp_path: Path
) -> None:
    code = f"""
        rows = sql.exec("SELECT * FROM t")
        try:
            {expression}
        except TypeError as error:
            return str(error)
    """
    assert returned(tmp_path, code) == expected


def test_of_columns_with_one_name_an_object_keeps_the_last(tmp_path: Path) -> None:
    code = """
        query = "SELECT 1 AS a, 2 AS a"
        return [dict(sql.exec(query).one()), list(sql.exec(query).raw())]
    """
    assert returned(tmp_path, code) == [{"a": 2}, [[1, 2]]]


def test_rows_written_counts_rows_and_their_indexes(tmp_path: Path) -> None:
    code = """
        plain = sql.exec("INSERT INTO t (v) VALUES ('x'), ('y')").rowsWritten
        sql.exec("CREATE INDEX i ON t (v)")
        return [plain, sql.exec("INSERT INTO t (v) VALUES ('z')").rowsWritten]
    """
    assert returned(tmp_path, code) == [2, 2]


def test_an_open_cursor_locks_its_table(tmp_path: Path) -> None:
    code = """
        rows = sql.exec("SELECT * FROM t")
        rows.next()
        locked = refused("DROP TABLE t")
        rows.toArray()
        return [locked, refused("DROP TABLE t")]
    """
    locked, after = returned(tmp_path, code, tables=TABLES + REFUSED)
    assert locked == "Error: database table is locked: SQLITE_LOCKED"
    assert after is None


def test_an_open_cursor_sees_updates_of_rows_it_has_not_fetched(tmp_path: Path) -> None:
    code = """
        rows = sql.exec("SELECT v FROM t ORDER BY id")
        sql.exec("UPDATE t SET v = 'new'")
        return [row.v for row in rows]
    """
    assert returned(tmp_path, code) == ["a", "new", "new"]


# -- Statements ------------------------------------------------------------------------------------

BEGIN_TEXT = "Error: To execute a transaction, please use the state.storage.transaction()"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('"SELECT ?"', "Error: Wrong number of parameter bindings for SQL query."),
        ('"SELECT ?", 1, 2', "Error: Wrong number of parameter bindings for SQL query."),
        ('"SELECT ?, ?", [1, 2]', "Error: Wrong number of parameter bindings for SQL query."),
        ('"SELEC 1"', 'Error: near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
        ('"SELECT * FROM nope"', "Error: no such table: nope: SQLITE_ERROR"),
        ('"SELECT zz FROM t"', "Error: no such column: zz at offset 7: SQLITE_ERROR"),
        (
            '"INSERT INTO t VALUES (1, 2)"',
            "Error: UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT (extended: "
            "SQLITE_CONSTRAINT_PRIMARYKEY)",
        ),
        ('"PRAGMA user_version"', "Error: not authorized: SQLITE_AUTH"),
        ("\"ATTACH 'x' AS y\"", "Error: not authorized: SQLITE_AUTH"),
        ('"VACUUM"', "Error: cannot VACUUM from within a transaction: SQLITE_ERROR"),
        ('""', "Error: SQL code did not contain a statement."),
        ('"-- nothing"', "Error: SQL code did not contain a statement."),
        (
            '"SELECT ?; SELECT ?", 1, 2',
            "Error: When executing multiple SQL statements in a single call, only the last "
            "statement can have parameters.",
        ),
        ('"SELECT * FROM t LIMIT 1.5"', "Error: datatype mismatch: SQLITE_MISMATCH"),
        ('"SELECT ?", (1,)', "TypeError: <class 'tuple'> cannot be sent over RPC."),
    ],
)
def test_a_refusal_has_productions_text(arguments: str, expected: str, tmp_path: Path) -> None:
    got = returned(tmp_path, f"return refused({arguments})", tables=TABLES + REFUSED)
    assert got == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('"SELECT ?1 || ?1 AS v", "a"', "aa"),
        ('"SELECT ?2 || ?1 AS v", "a", "b"', "ba"),
        ('"SELECT $x || ?1 || @y AS v", "a", "b"', "aab"),
    ],
)
def test_a_parameter_with_a_number_may_stand_in_several_places(
    arguments: str, expected: str, tmp_path: Path
) -> None:
    got = returned(tmp_path, f'return sql.exec({arguments}).one()["v"]', tables=TABLES)
    assert got == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('"SELECT ?2", 1', "Error: Wrong number of parameter bindings for SQL query."),
        ('"SELECT ?1, ?1", 1, 1', "Error: Wrong number of parameter bindings for SQL query."),
        ('"SELECT zz, ?2", 1', "Error: no such column: zz at offset 7: SQLITE_ERROR"),
    ],
)
def test_numbered_parameters_are_counted_by_the_highest(
    arguments: str, expected: str, tmp_path: Path
) -> None:
    got = returned(tmp_path, f"return refused({arguments})", tables=TABLES + REFUSED)
    assert got == expected


@pytest.mark.parametrize("statement", ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "RELEASE a"])
def test_transactions_by_statement_are_refused(statement: str, tmp_path: Path) -> None:
    got = returned(tmp_path, f"return refused('{statement}')", tables=REFUSED)
    assert got.startswith(BEGIN_TEXT)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM _cf_KV",
        "DROP TABLE _cf_METADATA",
        "CREATE TABLE _cf_x (a)",
        "CREATE TEMP TABLE x (a)",
    ],
)
def test_what_belongs_to_the_platform_is_not_authorized(statement: str, tmp_path: Path) -> None:
    got = returned(tmp_path, f"return refused('{statement}')", tables=REFUSED)
    assert got.endswith("SQLITE_AUTH")


def test_functions_that_tell_about_the_engine_are_not_authorized(tmp_path: Path) -> None:
    got = returned(tmp_path, "return refused('SELECT sqlite_version()')", tables=REFUSED)
    assert got.startswith("Error: not authorized to use function: sqlite_version")


def test_several_statements_run_and_the_last_one_answers(tmp_path: Path) -> None:
    code = """
        rows = sql.exec(\"\"\"
            INSERT INTO t (v) VALUES ('d');
            CREATE TRIGGER tr AFTER INSERT ON t BEGIN
                UPDATE t SET v = 'triggered; really' WHERE id = new.id;
            END;
            INSERT INTO t (v) VALUES ('e');
            SELECT v FROM t WHERE id > ?;
        \"\"\", 3)
        return [row.v for row in rows]
    """
    assert returned(tmp_path, code) == ["d", "triggered; really"]


def test_keyword_arguments_become_a_bound_object(tmp_path: Path) -> None:
    assert returned(tmp_path, "return sql.exec('SELECT ? AS x', a=1).one().x") == "[object Object]"


def test_the_size_of_the_database_is_whole_pages(tmp_path: Path) -> None:
    size = returned(tmp_path, "return sql.databaseSize")
    assert size > 0
    assert size % 4096 == 0


def test_foreign_keys_hold(tmp_path: Path) -> None:
    code = """
        sql.exec("CREATE TABLE child (t INTEGER REFERENCES t(id))")
        return refused("INSERT INTO child VALUES (99)")
    """
    got = returned(tmp_path, code, tables=TABLES + REFUSED)
    assert got.startswith("Error: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT")


def test_rows_of_a_write_may_be_left_unread(tmp_path: Path) -> None:
    code = """
        self.kept = sql.exec("INSERT INTO t (v) VALUES ('x'), ('y') RETURNING id")
        await st.sync()
        return [self.kept.rowsRead, self.kept.next(), [row.id for row in self.kept]]
    """
    assert returned(tmp_path, code) == [1, {"done": False, "value": {"id": 4}}, [5]]
    assert run_inside(tmp_path, "return sql.exec('SELECT count(*) AS n FROM t').one().n") == 5


def test_foreign_keys_cannot_be_switched_off(tmp_path: Path) -> None:
    code = """
        sql.exec("PRAGMA foreign_keys = OFF")
        sql.exec("PRAGMA foreign_keys(0)")
        sql.exec("CREATE TABLE child (t INTEGER REFERENCES t(id))")
        await st.sync()
        return refused("INSERT INTO child VALUES (99)")
    """
    got = returned(tmp_path, code, tables=TABLES + REFUSED)
    assert got.startswith("Error: FOREIGN KEY constraint failed")


def test_a_foreign_key_that_fails_at_the_commit_resets_the_object(tmp_path: Path) -> None:
    code = """
        sql.exec("CREATE TABLE child (t INTEGER REFERENCES t(id))")
        await st.sync()
        sql.exec("PRAGMA defer_foreign_keys = ON")
        sql.exec("INSERT INTO child VALUES (99)")
        return "told"
    """
    got = returned(tmp_path, code)
    assert "FOREIGN KEY constraint failed" in got
    assert run_inside(tmp_path, "return sql.exec('SELECT count(*) AS n FROM child').one().n") == 0
