"""`storage.sql` of a Durable Object: bindings, results, the cursor, refusals."""

from scenarios.storage import VALUES, inside

TYPES = "typeof(i), typeof(t), typeof(r), typeof(b), typeof(n)"


async def scenario_bindings(record, env, host):
    async def bindings(record, box, storage):
        sql = storage.sql
        sql.exec("CREATE TABLE v (i INTEGER, t TEXT, r REAL, b BLOB, n)")

        def stored(value):
            sql.exec("DELETE FROM v")
            sql.exec("INSERT INTO v VALUES (?1, ?1, ?1, ?1, ?1)", value)
            return next(iter(sql.exec(f"SELECT *, {TYPES} FROM v").raw()))

        for label, value in VALUES.items():
            # The text of an object with an address says nothing; its type is told by `typeof`.
            addressed = label in ("object", "function", "lambda", "coroutine function", "module")
            query = "SELECT typeof(?) AS kind" + ("" if addressed else ", ?1 AS value")
            record.outcome(f"expression {label}", lambda v=value, q=query: sql.exec(q, v).one())
            if not addressed:
                record.outcome(f"columns {label}", lambda v=value: stored(v))
        record.outcome("keyword", lambda: sql.exec("SELECT ? AS x", a=1).one())
        record.outcome("a list for all", lambda: sql.exec("SELECT ?, ?", [1, 2]))
        record.outcome("too few", lambda: sql.exec("SELECT ?, ?", 1))
        record.outcome("too many", lambda: sql.exec("SELECT ?", 1, 2))
        record.outcome("numbered", lambda: sql.exec("SELECT ?2 AS b, ?1 AS a", 1, "x").one())
        record.outcome("binding", lambda: sql.exec("SELECT ? AS x", env.QUEUE).one())
        record.outcome("storage", lambda: sql.exec("SELECT ? AS x", storage).one())

    await inside(record, env, host, bindings)


async def scenario_results(record, env, host):
    async def results(record, box, storage):
        sql = storage.sql
        row = sql.exec(
            "SELECT 1 AS i, 1.0 AS whole, 1.5 AS r, 9007199254740993 AS large, "
            "-9007199254740991 AS safe, 1e20 AS big, 't' AS t, NULL AS n, x'0102' AS b, x'' AS e, "
            "1 = 1 AS yes, 9e999 AS inf"
        ).one()
        record("row", type(row))
        for key, value in row.items():
            record(f"column {key}", value)
        record("attribute", row.i)
        record.outcome("missing attribute", lambda: row.zz)
        record("item", row["t"])
        record("names twice", sql.exec("SELECT 1 AS a, 2 AS a").one())
        record("names twice, raw", list(sql.exec("SELECT 1 AS a, 2 AS a").raw()))
        record("numeric names", sql.exec("SELECT 'x' AS b, 'y' AS \"1\"").one())
        record("a name of dict", sql.exec("SELECT 1 AS items").one())
        record("strange names", sql.exec("SELECT 1 AS \"a b\", 2 AS 'é'").one())
        record("expression as a name", sql.exec("SELECT 1 + 1").one())

    await inside(record, env, host, results)


async def scenario_cursors(record, env, host):
    async def cursors(record, box, storage):
        sql = storage.sql
        sql.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        sql.exec("INSERT INTO t (v) VALUES ('a'), ('b'), ('c')")

        def every():
            return sql.exec("SELECT * FROM t ORDER BY id")

        rows = every()
        record("cursor", type(rows))
        record("real name", rows._real_name)
        record("bool", bool(rows))
        record("toArray", rows.toArray())
        record("toArray again", rows.toArray())
        record("bool of one that is over", bool(rows))
        record("iterate", [type(row).__name__ for row in every()])
        rows = every()
        record("iterate twice", [len(list(rows)), len(list(rows))])
        record("raw", list(every().raw()))
        record("type of raw", type(every().raw()))
        record("name of raw", every().raw()._real_name)
        record("raw toArray", every().raw().toArray())
        record("raw next", every().raw().next())
        record("names", every().columnNames)
        rows = sql.exec("SELECT id FROM t WHERE id = 1")
        record("next", [rows.next(), rows.next(), rows.next()])
        record("one", sql.exec("SELECT v FROM t WHERE id = 2").one())
        record.outcome("one of none", lambda: sql.exec("SELECT v FROM t WHERE id = 9").one())
        record.outcome("one of three", lambda: every().one())
        record.outcome("python next", lambda: next(every()))
        record.outcome("python next of iter", lambda: next(iter(every())))
        record.outcome("len", lambda: len(every()))
        record.outcome("index", lambda: every()[0])
        record.outcome("item", lambda: every()["columnNames"])
        record.outcome("fetchall", lambda: every().fetchall())
        await record.settled("await", lambda: every())
        rows = every()
        record("rowsRead", rows.rowsRead)
        rows.toArray()
        record("rowsRead, cached", rows.rowsRead)
        record("rowsRead, uncached", rows["rowsRead"])
        rows = every()
        rows.next()
        record("rowsRead after next", rows.rowsRead)
        record("rowsRead of one that is read", (lambda c: (c.toArray(), c.rowsRead)[1])(every()))
        record("rowsWritten", sql.exec("INSERT INTO t (v) VALUES ('d'), ('e')").rowsWritten)
        record("rowsWritten of a read", every().rowsWritten)
        record("returning", sql.exec("DELETE FROM t WHERE id > 3 RETURNING id").toArray())
        record("size", sql.databaseSize > 0 and sql.databaseSize % 4096 == 0)
        record("type of the size", type(sql.databaseSize))

    await inside(record, env, host, cursors)


async def scenario_open_cursors(record, env, host):
    async def open_cursors(record, box, storage):
        sql = storage.sql
        sql.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        sql.exec("INSERT INTO t (v) VALUES ('a'), ('b'), ('c')")
        rows = sql.exec("SELECT * FROM t")
        rows.next()
        record.outcome("drop", lambda: sql.exec("DROP TABLE t"))
        record("the rest", rows.toArray())
        rows = sql.exec("SELECT v FROM t ORDER BY id")
        sql.exec("UPDATE t SET v = 'new'")
        record("a change before the first", [row.v for row in rows])
        rows = sql.exec("SELECT v FROM t ORDER BY id")
        rows.next()
        sql.exec("UPDATE t SET v = 'newer'")
        record("a change after the first", [row.v for row in rows])
        seen = []
        for row in sql.exec("SELECT id FROM t"):
            seen.append(row.id)
            if row.id < 6:
                sql.exec("INSERT INTO t VALUES (?, 'x')", row.id + 100 if row.id < 100 else 0)
            if len(seen) > 10:
                break
        record("new rows while reading", seen)
        sql.exec("CREATE TABLE once (a)")
        sql.exec("INSERT INTO once VALUES (1)")
        rows = sql.exec("SELECT a FROM once")
        record("its only row", rows.next())
        record.outcome("drop after the last row", lambda: sql.exec("DROP TABLE once").toArray())
        sql.exec("CREATE TABLE twice (a)")
        sql.exec("INSERT INTO twice VALUES (1), (2), (3)")
        record.outcome("give up", lambda: sql.exec("SELECT a FROM twice").one())
        record.outcome("drop after that", lambda: sql.exec("DROP TABLE twice").toArray())

    await inside(record, env, host, open_cursors)


QUERIES = (
    "SELEC 1", "SELECT", "SELECT 'a", "SELECT zz FROM t", "SELECT * FROM nope", "INSERT", "", " ",
    "-- nothing", "SELECT 1;;", "SELECT 1; ", "SELECT 1; -- more", "SELECT ?", "SELECT ?1, ?1",
    "INSERT INTO t VALUES (1, 'b')", "INSERT INTO c VALUES ('there', 1)",
    "INSERT INTO c VALUES (NULL, 1)", "INSERT INTO c VALUES ('no', 1)",
    "INSERT INTO c VALUES ('x', 99)", "SELECT * FROM t LIMIT 1.5",
    "SELECT abs(-9223372036854775808)", "PRAGMA user_version", "PRAGMA table_info(t)",
    "PRAGMA foreign_keys", "PRAGMA nope", "ATTACH 'x' AS y", "VACUUM", "BEGIN", "COMMIT",
    "ROLLBACK", "SAVEPOINT a", "RELEASE a", "CREATE TEMP TABLE x (a)", "CREATE TABLE _cf_x (a)",
    "DROP TABLE _cf_KV", "SELECT * FROM _cf_KV", "SELECT sqlite_version()", "SELECT nope(1)",
    "SELECT 1, 2 UNION SELECT 1", "CREATE TABLE t (a)", "DROP TABLE nope", 'SELECT "text"',
    "SELECT max(1, 2, 3)", "SELECT json('{')", "SELECT * FROM t WHERE v GLOB",
    "SELECT json_extract('{\"a\": [1]}', '$.a[0]')",
)  # fmt: skip


async def scenario_refusals(record, env, host):
    async def refusals(record, box, storage):
        await storage.put("k", 1)
        sql = storage.sql
        sql.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        sql.exec("INSERT INTO t (v) VALUES ('a'), ('b'), ('c')")
        sql.exec("CREATE TABLE c (v TEXT NOT NULL UNIQUE CHECK (v <> 'no'), t REFERENCES t(id))")
        sql.exec("INSERT INTO c VALUES ('there', 1)")
        for query in QUERIES:
            record.outcome(query, lambda q=query: sql.exec(q).toArray())
        record.outcome("nothing", lambda: sql.exec())
        record.outcome("a number", lambda: sql.exec(5))
        record.outcome("None", lambda: sql.exec(None))
        record.outcome("bytes", lambda: sql.exec(b"SELECT 1"))
        record.outcome("a tuple of values", lambda: sql.exec("SELECT ?", (1,)))
        record.outcome("values too early", lambda: sql.exec("SELECT ?; SELECT ?", 1, 2))
        record.outcome(
            "several", lambda: sql.exec("INSERT INTO t VALUES (7, 'x'); SELECT ? AS a", 5).one()
        )
        record.outcome("still there", lambda: sql.exec("SELECT count(*) AS n FROM t").one())

    await inside(record, env, host, refusals)
