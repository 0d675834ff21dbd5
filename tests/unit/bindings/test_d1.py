"""D1 over the boundary: the rows "D1" of the verified reference, and what `bind` lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from binding_harness import Bench

TABLE = "await env.DB.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT)')\n"


def ask(bench: Bench, expression: str) -> Any:
    return bench.run(f"{TABLE}return {expression}")


def error(bench: Bench, expression: str) -> str:
    text: str = bench.run(f"{TABLE}return await error_of({expression})")
    return text


def refusal(bench: Bench, expression: str) -> str:
    """The same of a query that needs no table."""
    text: str = bench.run(f"return await error_of({expression})")
    return text


def test_results_have_rows_and_meta(bench: Bench) -> None:
    result = bench.run(
        TABLE
        + """
await env.DB.prepare("INSERT INTO t (a, b) VALUES (?, ?)").bind(1, "x").run()
r = await env.DB.prepare("SELECT * FROM t").all()
return [r.success, r.results[0].b, r["results"], sorted(r.meta), type(r).__name__]
"""
    )
    meta = "changed_db changes duration last_row_id rows_read rows_written served_by size_after"
    assert result == [True, "x", [{"id": 1, "a": 1, "b": "x"}], meta.split(), "JsDict"]


def test_meta_tells_what_an_insert_did(bench: Bench) -> None:
    meta = ask(
        bench, 'dict((await env.DB.prepare("INSERT INTO t (a) VALUES (1), (2)").run()).meta)'
    )
    assert meta.pop("size_after") > 0
    assert isinstance(meta.pop("duration"), int)
    assert meta == {
        "served_by": "tsumugi.db",
        "changes": 2,
        "last_row_id": 2,
        "changed_db": True,
        "rows_read": 0,
        "rows_written": 2,
    }


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("True", ["real", 1]),
        ("3", ["real", 3]),
        ("1.5", ["real", 1.5]),
        ("float('nan')", ["null", None]),
        ("float('inf')", ["null", None]),
        ("None", ["null", None]),
        ("'x'", ["text", "x"]),
        ("b'ab'", ["blob", [97, 98]]),
        ("[1, 2]", ["blob", [1, 2]]),
        ("[]", ["blob", []]),
        ("array.array('d', [1.0, 2.5])", ["blob", [1, 2]]),
    ],
)
def test_bound_values_are_stored_as_d1_does(bench: Bench, value: str, stored: list[Any]) -> None:
    query = "SELECT typeof(?1) AS t, ?1 AS v"
    result = ask(bench, f'await env.DB.prepare("{query}").bind({value}).raw()')
    assert result == [stored]


def test_a_number_in_a_text_column_has_a_fraction(bench: Bench) -> None:
    insert = 'await env.DB.prepare("INSERT INTO t (b) VALUES (?), (?)").bind(1, True).run()'
    result = bench.run(f'{TABLE}{insert}\nreturn await env.DB.prepare("SELECT b FROM t").raw()')
    assert result == [["1.0"], ["1.0"]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2**53 - 1", "Type 'bigint' not supported for value '9007199254740991'"),
        ("decimal.Decimal('1.5')", "Type 'object' not supported for value '1.5'"),
        ("datetime.date(2026, 1, 2)", "Type 'object' not supported for value '2026-01-02'"),
        ("{}", "Type 'object' not supported for value '[object Object]'"),
        ("[1, 'a']", "Type 'object' not supported for value '1,a'"),
        ("[300]", "Type 'object' not supported for value '300'"),
    ],
)
def test_bind_refuses_what_d1_cannot_hold_at_once(bench: Bench, value: str, text: str) -> None:
    body = f"""
statement = env.DB.prepare("SELECT ?")
try:
    statement.bind({value})
except JsException as error:
    return [error.name, error.message, error.cause.message]
"""
    assert bench.run(body) == ["Error", f"D1_TYPE_ERROR: {text}", text]


def test_bind_refuses_functions(bench: Bench) -> None:
    body = """
try:
    env.DB.prepare("SELECT ?").bind(lambda: 1)
except JsException as error:
    return error.message
"""
    assert bench.run(body).startswith("D1_TYPE_ERROR: Type 'function' not supported for value")


def test_bind_makes_another_statement(bench: Bench) -> None:
    body = """
statement = env.DB.prepare("SELECT ? AS v")
one = statement.bind(1)
two = statement.bind(2)
return [await one.first("v"), await two.first("v")]
"""
    assert bench.run(body) == [1, 2]


def test_first_answers_a_row_a_column_or_nothing(bench: Bench) -> None:
    body = """
one = env.DB.prepare("SELECT 1 AS a, 2 AS b")
none = env.DB.prepare("SELECT 1 AS a WHERE 0")
return [await one.first(), await one.first("b"), await none.first(), await none.first("a")]
"""
    assert bench.run(body) == [{"a": 1, "b": 2}, 2, None, None]


@pytest.mark.parametrize(("column", "name"), [('"zz"', "zz"), ("None", "null")])
def test_first_of_a_missing_column(bench: Bench, column: str, name: str) -> None:
    text = error(bench, f'env.DB.prepare("SELECT 1 AS a").first({column})')
    assert text == f"Error: D1_COLUMN_NOTFOUND: Column not found ({name})"


def test_raw_has_column_names_when_asked(bench: Bench) -> None:
    body = """
statement = env.DB.prepare("SELECT 1 AS a, NULL AS b")
return [await statement.raw(), await statement.raw(columnNames=True)]
"""
    assert bench.run(body) == [[[1, None]], [["a", "b"], [1, None]]]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELEC 1", 'near "SELEC": syntax error at offset 0: SQLITE_ERROR'),
        ("SELECT * FROM nope", "no such table: nope: SQLITE_ERROR"),
        ("SELECT 1, t.zz FROM t", "no such column: t.zz at offset 10: SQLITE_ERROR"),
        ("SELECT nofn(1)", "no such function: nofn at offset 7: SQLITE_ERROR"),
        ("INSERT INTO", "incomplete input: SQLITE_ERROR"),
        ("", "No SQL statements detected."),
        ("-- hi", "SQL code did not contain a statement."),
        ("ATTACH ':memory:' AS x", "not authorized: SQLITE_AUTH"),
        ("PRAGMA journal_mode", "not authorized: SQLITE_AUTH"),
        ("CREATE TEMP TABLE x (a)", "not authorized: SQLITE_AUTH"),
        ("CREATE TABLE _cf_x (a)", "not authorized: SQLITE_AUTH"),
        ("VACUUM", "cannot VACUUM from within a transaction: SQLITE_ERROR"),
        ("SELECT ?", "Wrong number of parameter bindings for SQL query."),
        ("SELECT ?200", "variable number must be between ?1 and ?100 at offset 7: SQLITE_ERROR"),
        (
            "SELECT sqlite_version()",
            "not authorized to use function: sqlite_version at offset 7: SQLITE_ERROR",
        ),
    ],
)
def test_what_sqlite_refuses_shows_at_await(bench: Bench, sql: str, message: str) -> None:
    body = f"""
{TABLE}
pending = env.DB.prepare({sql!r}).run()
try:
    await pending
except JsException as error:
    return [error.message, error.cause.message]
"""
    assert bench.run(body) == [f"D1_ERROR: {message}", message]


@pytest.mark.parametrize("sql", ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT x", "RELEASE x"])
def test_sql_transactions_are_refused(bench: Bench, sql: str) -> None:
    text = error(bench, f'env.DB.prepare("{sql}").run()')
    assert text.startswith("Error: D1_ERROR: To execute a transaction, please use the state.")


def test_a_broken_constraint_names_its_extended_code(bench: Bench) -> None:
    sql = "INSERT INTO t (id) VALUES (1), (1)"
    assert error(bench, f'env.DB.prepare("{sql}").run()') == (
        "Error: D1_ERROR: UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT "
        "(extended: SQLITE_CONSTRAINT_PRIMARYKEY)"
    )


def test_a_hundred_parameters_are_the_limit(bench: Bench) -> None:
    body = """
def statement(count):
    return env.DB.prepare("SELECT " + ",".join("?" * count)).bind(*[1] * count)
return [(await statement(100).raw())[0].count(1), await error_of(statement(101).raw())]
"""
    assert bench.run(body) == [
        100,
        "Error: D1_ERROR: too many SQL variables at offset 207: SQLITE_ERROR",
    ]


def test_exec_runs_lines_and_counts_them(bench: Bench) -> None:
    body = """
sql = "CREATE TABLE w (a)\\nINSERT INTO w VALUES (1); INSERT INTO w VALUES (2)"
result = await env.DB.exec(sql)
rows = await env.DB.prepare("SELECT count(*) AS c FROM w").first("c")
return [result["count"], type(result.duration).__name__, rows]
"""
    assert bench.run(body) == [2, "int", 2]


def test_exec_names_the_line_that_failed_and_undoes_the_others(bench: Bench) -> None:
    body = f"""
{TABLE}
text = await error_of(env.DB.exec("INSERT INTO t (a) VALUES (1)\\nINSERT INTO w"))
return [text, await env.DB.prepare("SELECT count(*) AS c FROM t").first("c")]
"""
    assert bench.run(body) == [
        "Error: D1_EXEC_ERROR: Error in line 2: INSERT INTO w: incomplete input: SQLITE_ERROR",
        0,
    ]


def test_a_batch_answers_in_order(bench: Bench) -> None:
    body = f"""
{TABLE}
results = await env.DB.batch([
    env.DB.prepare("INSERT INTO t (a) VALUES (?)").bind(20),
    env.DB.prepare("SELECT a FROM t"),
])
return [r.results for r in results]
"""
    assert bench.run(body) == [[], [{"a": 20}]]


def test_a_batch_is_all_or_nothing(bench: Bench) -> None:
    body = f"""
{TABLE}
text = await error_of(env.DB.batch([
    env.DB.prepare("INSERT INTO t (a) VALUES (1)"),
    env.DB.prepare("INSERT INTO nope VALUES (1)"),
]))
return [text, await env.DB.prepare("SELECT count(*) AS c FROM t").first("c")]
"""
    assert bench.run(body) == ["Error: D1_ERROR: no such table: nope: SQLITE_ERROR", 0]


def test_a_batch_wants_a_list(bench: Bench) -> None:
    body = """
try:
    await env.DB.batch((env.DB.prepare("SELECT 1"),))
except TypeError as error:
    tuple_error = str(error)
generator = (env.DB.prepare("SELECT 1") for _ in range(1))
return [tuple_error, await error_of(env.DB.batch([]))]
"""
    assert bench.run(body) == [
        "<class 'tuple'> cannot be sent over RPC.",
        "Error: D1_ERROR: No SQL statements detected.",
    ]


def test_a_session_remembers_its_bookmark(bench: Bench) -> None:
    body = """
session = env.DB.withSession()
before = session.getBookmark()
await session.prepare("SELECT 1").run()
after = session.getBookmark()
later = env.DB.withSession(after)
return [before, len(after), later.getBookmark() == after, hasattr(session, "exec")]
"""
    assert bench.run(body) == [None, 59, True, False]


def test_dump_is_for_alpha_databases_only(bench: Bench) -> None:
    assert error(bench, "env.DB.dump()") == "Error: D1_DUMP_ERROR: Status + 404"


def test_integers_come_back_through_doubles(bench: Bench) -> None:
    sql = "SELECT 9007199254740993 AS a, 1.0 AS b, 9e999 AS c"
    assert ask(bench, f'await env.DB.prepare("{sql}").first()') == {
        "a": 9007199254740992.0,
        "b": 1,
        "c": None,
    }


def test_prepare_is_allowed_at_import_and_run_is_not(bench: Bench) -> None:
    from tsumugi_emulator.javascript.errors import JsException

    database = bench.env["DB"]
    statement = database.prepare("SELECT 1").bind()
    with pytest.raises(JsException, match="Disallowed operation called within global scope"):
        statement.run()


def test_other_tasks_run_while_a_query_is_awaited(bench: Bench) -> None:
    body = """
seen = []
async def other():
    seen.append("other")
task = asyncio.create_task(other())
pending = env.DB.prepare("SELECT 1").run()
await pending
return seen
"""
    assert bench.run(body) == ["other"]


def test_undefined_cannot_be_bound() -> None:
    from tsumugi_emulator.bindings.d1_values import bound
    from tsumugi_emulator.javascript.crossing import python_to_js

    with pytest.raises(TypeError, match="Type 'undefined' not supported for value 'undefined'"):
        bound(python_to_js(None))


@pytest.mark.parametrize(
    "sql", [";SELECT 1 AS a", "SELECT 2;;SELECT 1 AS a", "/* first */; SELECT 1 AS a"]
)
def test_an_empty_statement_before_the_last_is_passed_over(bench: Bench, sql: str) -> None:
    assert bench.run(f"return await env.DB.prepare({sql!r}).first('a')") == 1


@pytest.mark.parametrize("sql", ["SELECT 1;;", "SELECT 1; -- done", "SELECT 1; /* done */ ;"])
def test_an_empty_last_statement_is_refused(bench: Bench, sql: str) -> None:
    text = "SQL code did not contain a statement."
    assert refusal(bench, f"env.DB.prepare({sql!r}).all()") == f"Error: D1_ERROR: {text}"
    assert refusal(bench, f"env.DB.exec({sql!r})") == (
        f"Error: D1_EXEC_ERROR: Error in line 1: {sql}: {text}"
    )


def test_only_the_last_of_several_statements_may_have_parameters(bench: Bench) -> None:
    assert (
        bench.run("return await env.DB.prepare('SELECT 1; SELECT ? AS a').bind(7).first('a')") == 7
    )
    assert refusal(bench, "env.DB.prepare('SELECT ?; SELECT ?').bind(1).all()") == (
        "Error: D1_ERROR: When executing multiple SQL statements in a single call, only the last "
        "statement can have parameters."
    )


def test_a_statement_that_is_too_long_is_told_from_a_value_that_is(bench: Bench) -> None:
    long = "'SELECT ' + repr('x' * 100_000)"
    assert refusal(bench, f"env.DB.prepare({long}).all()") == (
        "Error: D1_ERROR: statement too long: SQLITE_TOOBIG"
    )
    assert refusal(bench, "env.DB.prepare('SELECT ?').bind('x' * 2_200_001).all()") == (
        "Error: D1_ERROR: string or blob too big: SQLITE_TOOBIG"
    )


def test_column_names_of_raw_are_asked_for_with_anything_true(bench: Bench) -> None:
    assert bench.run("return await env.DB.prepare('SELECT 1 AS a').raw(columnNames=1)") == [
        ["a"],
        [1],
    ]
    assert bench.run("return await env.DB.prepare('SELECT 1 AS a').raw(columnNames=0)") == [[1]]
