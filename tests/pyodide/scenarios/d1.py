"""D1: binding values, results and their shape, errors."""

from pyodide.ffi import JsException

from scenarios.storage import VALUES

TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"
TYPES = "typeof(i), typeof(t), typeof(r), typeof(b), typeof(n)"
# What the stand-in for the service cannot know, and the emulator estimates.
FIGURES = ("served_by", "duration", "size_after", "rows_read", "rows_written")


def shape(result):
    """A result with the types of the figures that are not compared."""
    meta = {
        key: type(value).__name__ if key in FIGURES else value for key, value in result.meta.items()
    }
    kinds = [type(result).__name__, type(result.meta).__name__, type(result.results).__name__]
    return [kinds, list(result), result.success, meta, result.results]


async def scenario_values(record, env, host):
    host.bind_stores()
    db = env.DB
    await db.exec("CREATE TABLE v (i INTEGER, t TEXT, r REAL, b BLOB, n)")

    async def stored(value):
        await db.exec("DELETE FROM v")
        await db.prepare("INSERT INTO v VALUES (?1, ?1, ?1, ?1, ?1)").bind(value).run()
        return (await db.prepare(f"SELECT *, {TYPES} FROM v").raw())[0]

    for label, value in VALUES.items():
        addressed = label in ("object", "function", "lambda", "coroutine function")
        try:
            record(f"bind {label}", await stored(value))
        except JsException as error:
            text = f"{error.name} {str(error).partition(' at 0x')[0]}"
            record(f"bind {label}", text.partition("<function")[0] if addressed else text)
        except Exception as error:
            record(f"bind {label}", f"{type(error).__name__}: {error}")
    row = await db.prepare(
        "SELECT 1 AS i, 1.0 AS whole, 1.5 AS r, 9007199254740993 AS large, x'0102' AS b, "
        "x'' AS e, NULL AS n, 't' AS t, 9e999 AS inf"
    ).first()
    record("row", type(row))
    for key, value in row.items():
        record(f"column {key}", value)
    record("attribute", row.i)
    record.outcome("missing attribute", lambda: row.zz)


async def scenario_results(record, env, host):
    host.bind_stores()
    db = env.DB
    record("type", type(db))
    record("real name", db._real_name)
    executed = await db.exec(TABLE)
    record("exec", [list(executed), executed.count, type(executed.duration).__name__])

    async def run(label, sql, *values):
        statement = db.prepare(sql)
        record(label, shape(await (statement.bind(*values) if values else statement).run()))

    await run("insert", "INSERT INTO t (v) VALUES ('a'), ('b')")
    await run("insert again", "INSERT INTO t (v) VALUES (?)", "c")
    await run("update", "UPDATE t SET v = v")
    await run("update none", "UPDATE t SET v = v WHERE id > 100")
    await run("select", "SELECT * FROM t")
    await run("select none", "SELECT * FROM t WHERE id > 100")
    await run("create", "CREATE TABLE u (a)")
    await run("create if not exists", "CREATE TABLE IF NOT EXISTS u (a)")
    await run("returning", "DELETE FROM t WHERE id = 3 RETURNING v")
    await run("replace", "INSERT OR REPLACE INTO t VALUES (1, 'z')")
    await run("several in one", "INSERT INTO t (v) VALUES ('m'); SELECT count(*) AS n FROM t")
    statement = db.prepare("SELECT * FROM t")
    record("statement", type(statement))
    record("name of a statement", statement._real_name)
    record("all", shape(await statement.all()))
    result = await statement.all()
    record("attributes", [result.results[0].v, result["results"][0]["v"], result.meta.changes])
    record("first", await statement.first())
    record("first column", await statement.first("v"))
    await record.settled("first missing column", statement.first("zz"))
    await record.settled("first None", statement.first(None))
    await record.settled("first number", statement.first(5))
    record("first of none", await db.prepare("SELECT * FROM t WHERE 0").first())
    record("first column of none", await db.prepare("SELECT * FROM t WHERE 0").first("v"))
    record("raw", await statement.raw())
    record("raw with names", await statement.raw(columnNames=True))
    record("raw with options", await statement.raw({"columnNames": True}))
    record("raw snake case", await statement.raw(column_names=True))
    record("bind twice", await db.prepare("SELECT ? AS a").bind(1).bind(2).first())
    record("numbered", await db.prepare("SELECT ?2 AS b, ?1 AS a").bind(1, "x").first())
    record("named", await db.prepare("SELECT :a AS a, @b AS b").bind(1, 2).first())
    record("names twice", await db.prepare("SELECT 1 AS a, 2 AS a").first())
    record("numeric names", await db.prepare("SELECT 'x' AS b, 'y' AS \"1\"").first())
    await record.settled("keyword", lambda: db.prepare("SELECT ? AS a").bind(a=1).first())
    await record.settled("a tuple of values", lambda: db.prepare("SELECT ?").bind((1,)).run())
    await record.settled("a list of values", lambda: db.prepare("SELECT ?").bind(["a"]).run())


async def scenario_batches_and_sessions(record, env, host):
    host.bind_stores()
    db = env.DB
    await db.exec(TABLE)
    insert = db.prepare("INSERT INTO t (v) VALUES (?)")
    results = await db.batch([insert.bind("a"), insert.bind("b"), db.prepare("SELECT * FROM t")])
    record("batch", [type(results).__name__, *map(shape, results)])
    bad = [insert.bind("lost"), db.prepare("SELECT nope")]
    await record.settled("batch that fails", db.batch(bad))
    record("undone", await db.prepare("SELECT count(*) AS n FROM t").first("n"))
    await record.settled("batch of nothing", db.batch([]))
    await record.settled("batch of a tuple", lambda: db.batch((insert.bind("x"),)))
    await record.settled("batch of a generator", lambda: db.batch(s for s in [insert.bind("x")]))
    await record.settled("batch of a dict", lambda: db.batch({"a": 1}))
    await record.settled("batch of None", lambda: db.batch(None))
    await record.settled("batch without", lambda: db.batch())
    await record.settled("exec", count(db.exec("INSERT INTO t (v) VALUES ('e')\nSELECT 1")))
    await record.settled("exec two on a line", count(db.exec("SELECT 1; SELECT 2;")))
    await record.settled("exec with empty lines", count(db.exec("SELECT 1;\n\nSELECT 2;")))
    await record.settled("exec of a bad line", db.exec("INSERT INTO t VALUES (60, 'x')\nSELEC 1"))
    await record.settled("exec of an unfinished line", db.exec("INSERT INTO t VALUES\n(61, 'x')"))
    await record.settled("exec of nothing", db.exec(""))
    await record.settled("exec without", lambda: db.exec())
    await record.settled("exec of a number", lambda: db.exec(5))
    await record.settled("nothing of it", db.prepare("SELECT count(*) AS n FROM t").first("n"))
    session = db.withSession()
    record("session", [type(session).__name__, session._real_name])
    record("bookmark", session.getBookmark())
    record("type of a row", type(await session.prepare("SELECT 1 AS a").first()).__name__)
    record("bookmark after", type(session.getBookmark()).__name__)
    record("bookmark given", db.withSession("0-1").getBookmark())
    record("first-primary", db.withSession("first-primary").getBookmark())
    record.outcome("session of a number", lambda: db.withSession(5))
    await record.settled("dump", lambda: db.dump())


async def scenario_refusals(record, env, host):
    host.bind_stores()
    db = env.DB
    await db.exec(TABLE)
    await db.exec("INSERT INTO t (v) VALUES ('a')")
    await db.exec("CREATE TABLE c (v TEXT NOT NULL UNIQUE CHECK (v <> 'no'), t REFERENCES t(id))")
    await db.exec("INSERT INTO c VALUES ('there', 1)")
    for query in (
        "SELEC 1", "SELECT", "SELECT 'a", "SELECT zz FROM t", "SELECT * FROM nope", "", " ",
        "-- nothing", "SELECT 1;;", "SELECT 1; -- more", "SELECT ?",
        "INSERT INTO t VALUES (1, 'b')", "INSERT INTO c VALUES ('there', 1)",
        "INSERT INTO c VALUES (NULL, 1)", "INSERT INTO c VALUES ('no', 1)",
        "INSERT INTO c VALUES ('x', 99)", "SELECT * FROM t LIMIT 1.5", "PRAGMA user_version",
        "PRAGMA table_info(t)", "ATTACH 'x' AS y", "BEGIN", "COMMIT", "SAVEPOINT a",
        "CREATE TEMP TABLE x (a)", "CREATE TABLE _cf_x (a)", "SELECT sqlite_version()",
        "SELECT nope(1)", "CREATE TABLE t (a)",
    ):  # fmt: skip
        await record.settled(query, lambda q=query: rows(db.prepare(q)))
    await record.settled("too few", lambda: db.prepare("SELECT ?, ?").bind(1).run())
    await record.settled("too many", lambda: db.prepare("SELECT ?").bind(1, 2).run())
    many = ", ".join("?" * 101)
    await record.settled("101 values", lambda: db.prepare(f"SELECT {many}").bind(*[1] * 101).run())
    record.outcome("prepare does not run", lambda: type(db.prepare("SELEC 1")))
    try:
        await db.prepare("SELEC 1").run()
    except JsException as error:
        record("name", error.name)
        record("message", error.message)
        record("cause", str(error.cause))
        record("type of the cause", type(error.cause).__name__)
    try:
        db.prepare("SELECT ?").bind({})
    except JsException as error:
        record("cause of a type", str(error.cause))


async def count(promise):
    return (await promise).count


async def rows(statement):
    return (await statement.run()).results
