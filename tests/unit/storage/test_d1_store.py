"""D1 without JavaScript: two connections at once, atomicity, figures, places of errors."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given, strategies as st
from tsumugi_emulator.storage.d1 import D1Error, D1Store, Query, Result
from tsumugi_emulator.storage.engine import open_database
from tsumugi_emulator.storage.sql_text import statements

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "d1" / "data.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[D1Store]:
    opened = D1Store.open(path)
    opened.run([Query("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT)")])
    yield opened
    opened.close()


def run(store: D1Store, sql: str, *params: float | str) -> Result:
    return store.run([Query(sql, params)])[0]


def test_a_second_connection_sees_what_the_first_wrote(store: D1Store, path: Path) -> None:
    run(store, "INSERT INTO t (a) VALUES (1)")
    other = D1Store.open(path)
    run(other, "INSERT INTO t (a) VALUES (2)")
    assert run(store, "SELECT a FROM t ORDER BY a").rows == [(1,), (2,)]
    other.close()


def test_a_column_another_connection_added_shows(store: D1Store, path: Path) -> None:
    run(store, "INSERT INTO t (a) VALUES (1)")
    queries = ("SELECT * FROM t", "SELECT * FROM t WHERE 0")
    assert [run(store, query).columns for query in queries] == [["id", "a", "b"]] * 2
    other = D1Store.open(path)
    run(other, "ALTER TABLE t ADD COLUMN c")
    other.close()
    assert [run(store, query).columns for query in queries] == [["id", "a", "b", "c"]] * 2


def test_results_without_rows_have_their_columns(store: D1Store) -> None:
    for found, rows in ((2, []), (1, [(1,)]), (2, [])):
        result = run(store, "SELECT ? AS x WHERE ?1 = 1", found)
        assert (result.columns, result.rows) == (["x"], rows)


def test_concurrent_batches_lose_no_update(store: D1Store, path: Path) -> None:
    run(store, "INSERT INTO t (id, a) VALUES (1, 0)")

    def count_up() -> None:
        own = D1Store.open(path)
        for _ in range(50):
            own.run([Query("UPDATE t SET a = a + 1"), Query("SELECT a FROM t")])
        own.close()

    threads = [threading.Thread(target=count_up) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert run(store, "SELECT a FROM t").rows == [(100,)]


def test_a_batch_that_fails_changes_nothing_and_tells_which_query(store: D1Store) -> None:
    good, bad = Query("INSERT INTO t (a) VALUES (1)"), Query("INSERT INTO t (id) VALUES ('x')")
    with pytest.raises(D1Error, match="datatype mismatch") as caught:
        store.run([good, bad, good])
    assert caught.value.index == 1
    assert run(store, "SELECT count(*) FROM t").rows == [(0,)]


def test_a_deferred_constraint_fails_at_the_end(store: D1Store) -> None:
    run(store, "CREATE TABLE c (t REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED)")
    orphan = Query("INSERT INTO c VALUES (5)")
    with pytest.raises(D1Error, match="FOREIGN KEY constraint failed"):
        store.run([orphan, Query("SELECT 1")])
    fine = [orphan, Query("INSERT INTO t (id) VALUES (5)")]
    assert len(store.run(fine)) == 2


def test_foreign_keys_cannot_be_switched_off(store: D1Store) -> None:
    run(store, "PRAGMA foreign_keys = OFF")
    assert run(store, "PRAGMA foreign_keys").rows == [(1,)]


def test_a_refused_statement_is_refused_again(store: D1Store) -> None:
    for _ in range(2):
        with pytest.raises(D1Error, match="please use the state"):
            run(store, "BEGIN IMMEDIATE")
    store.run([Query("SELECT 1"), Query("SELECT 2")])
    with pytest.raises(D1Error, match="please use the state"):
        run(store, "BEGIN IMMEDIATE")


def test_full_text_search_and_r_trees_are_there(store: D1Store) -> None:
    run(store, "CREATE VIRTUAL TABLE f USING fts5(x)")
    run(store, "INSERT INTO f VALUES ('hello world')")
    assert run(store, "SELECT x FROM f WHERE f MATCH 'world'").rows == [("hello world",)]
    run(store, "CREATE VIRTUAL TABLE r USING rtree(id, low, high)")
    run(store, "INSERT INTO r VALUES (1, 0, 5), (2, 10, 15)")
    assert run(store, "SELECT id FROM r WHERE low >= 1").rows == [(2,)]
    with pytest.raises(D1Error, match="not authorized"):
        run(store, "CREATE VIRTUAL TABLE g USING geopoly(a)")


@pytest.mark.parametrize(
    "pragma",
    [
        "foreign_keys",
        "foreign_keys=ON",
        "foreign_keys=0",
        "recursive_triggers=Yes",
        "page_size",
        "data_version",
        "optimize",
        "optimize(0x10002)",
        "quick_check",
        "table_list",
        "table_list(_cf_KV)",
        "table_info(1)",
    ],
)
def test_pragmas_that_are_allowed(pragma: str, store: D1Store) -> None:
    run(store, f"PRAGMA {pragma}")


@pytest.mark.parametrize(
    "pragma",
    [
        "foreign_keys=2",
        "foreign_keys=-1",
        "foreign_keys=x",
        "foreign_keys=t",
        "page_size=8192",
        "data_version=1",
        "optimize(x)",
        "optimize('1x')",
        "quick_check(_cf_KV)",
        "table_info",
        "table_info(_CF_x)",
        "journal_mode",
        "user_version",
    ],
)
def test_pragmas_that_are_refused(pragma: str, store: D1Store) -> None:
    with pytest.raises(D1Error, match="not authorized: SQLITE_AUTH"):
        run(store, f"PRAGMA {pragma}")


def test_several_statements_answer_for_the_last(store: D1Store) -> None:
    result = run(store, "INSERT INTO t (a) VALUES (1); INSERT INTO t (a) VALUES (2)")
    assert (result.changes, result.last_row_id) == (2, 2)
    assert run(store, "SELECT 1; SELECT ? AS x", 5).rows == [(5,)]


def test_named_parameters_are_bound_by_their_order(store: D1Store) -> None:
    result = run(store, "SELECT :b AS x, ? AS y, @a AS z, :b AS w", 1, 2, 3)
    assert result.rows == [(1, 2, 3, 1)]
    with pytest.raises(D1Error, match="Wrong number of parameter bindings"):
        run(store, "SELECT ?1", 1, 2)


def test_text_that_is_no_utf8_is_still_read(store: D1Store) -> None:
    assert run(store, "SELECT CAST(x'ff41' AS TEXT) AS x").rows == [("\ufffdA",)]


def test_indexes_count_as_rows_written(store: D1Store) -> None:
    insert = "INSERT INTO t (a) VALUES (1), (2)"
    assert run(store, insert).rows_written == 2
    run(store, "CREATE INDEX by_a ON t (a)")
    assert run(store, insert).rows_written == 4
    result = run(store, "UPDATE t SET b = 'x'")
    assert (result.rows_read, result.rows_written, result.changed_db) == (4, 4, True)
    assert not run(store, "UPDATE t SET b = 'x' WHERE 0").changed_db
    assert run(store, "DROP TABLE t").changed_db
    assert not run(store, "DROP TABLE IF EXISTS t").changed_db


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 'é', FROM t", 'near "FROM": syntax error at offset 13'),
        ("SELECT 1 FROM FROM", 'near "FROM": syntax error at offset 14'),
        ("SELECT 'zz' AS a, zz", "no such column: zz at offset 18"),
        ("SELECT abs()", "wrong number of arguments to function abs\\(\\) at offset 7"),
        ("SELECT id FROM t a, t b", "ambiguous column name: id at offset 7"),
        ("CREATE TABLE t (a)", "table t already exists at offset 13"),
        ("SELECT #", 'unrecognized token: "#" at offset 7'),
    ],
)
def test_errors_tell_their_place_in_bytes(store: D1Store, sql: str, message: str) -> None:
    with pytest.raises(D1Error, match=f"^{message}: SQLITE_ERROR$"):
        run(store, sql)


def test_values_have_the_length_of_production(store: D1Store) -> None:
    # Measured with D1 of wrangler 4.86.
    longest = 2_200_000
    assert run(store, "SELECT length(?1)", "x" * longest).rows == [(longest,)]
    for sql, length in (("SELECT length(?1)", longest + 1), ("SELECT json_array(?1)", longest)):
        with pytest.raises(D1Error) as refused:
            run(store, sql, "x" * length)
        assert refused.value.message == "string or blob too big: SQLITE_TOOBIG"


@pytest.mark.usefixtures("store")
def test_a_locked_database_is_told_as_busy(path: Path) -> None:
    hasty = D1Store(open_database(path))
    other = apsw.Connection(str(path))  # two libraries must not open one file in one process
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(D1Error, match="database is locked: SQLITE_BUSY"):
        run(hasty, "INSERT INTO t (a) VALUES (1)")
    other.execute("ROLLBACK")
    for connection in (other, hasty):
        connection.close()


@given(st.lists(st.sampled_from(["SELECT ';'", "SELECT 1 -- ;", "SELECT /* ; */ 2", 'SELECT ";"'])))
def test_statements_are_split_at_their_own_semicolons_only(parts: list[str]) -> None:
    found = statements(";\n".join(parts).replace("-- ;;", "-- ;\n;"))
    assert [part.text.strip() for part in found] == parts


@given(st.text(max_size=60))
def test_any_text_is_either_run_or_refused(text: str) -> None:
    store = D1Store(apsw.Connection(":memory:"))
    with contextlib.closing(store), contextlib.suppress(D1Error):
        store.run([Query(text)])
