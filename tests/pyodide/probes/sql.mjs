// What `storage.sql` answers: asked of the host objects and of the runtime itself.

const TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)";
const ROWS = "INSERT INTO t (v) VALUES ('a'), ('b'), ('c')";

export async function bindings(say, { sql }) {
  sql.exec("CREATE TABLE v (i INTEGER, t TEXT, r REAL, b BLOB, n)");
  const values = {
    one: 1, half: 1.5, minusZero: -0, nan: NaN, infinity: Infinity, large: 2 ** 53, bigint: 5n,
    text: "é", empty: "", nul: "a\0b", surrogate: "\uD83D", true: true, false: false, null: null,
    undefined, object: { a: 1 }, array: [1, null, 2], date: new Date(0), function: function f() {},
    error: new Error("m"), bytes: new Uint8Array([1, 2]), noBytes: new Uint8Array(),
    buffer: new Uint8Array([1, 2]).buffer, words: new Uint16Array([1, 2]),
    dataView: new DataView(new Uint8Array([1, 2, 3]).buffer, 1), symbol: Symbol("s"),
    regexp: /a/g, map: new Map(), url: new URL("https://example.com/"),
  };
  for (const [name, value] of Object.entries(values)) {
    await say(`bind ${name}`, () => {
      sql.exec("DELETE FROM v");
      sql.exec("INSERT INTO v VALUES (?1, ?1, ?1, ?1, ?1)", value);
      const types = "typeof(i), typeof(t), typeof(r), typeof(b), typeof(n)";
      return [...sql.exec(`SELECT *, ${types} FROM v`).raw()][0];
    });
    await say(`expression ${name}`, () => [...sql.exec("SELECT typeof(?)", value).raw()][0]);
  }
  await say("read", () =>
    sql.exec("SELECT 1 AS i, 1.0 AS r, 9007199254740993 AS l, x'0102' AS b, x'' AS e, NULL AS n, 't' AS t")
      .one());
  await say("booleans", () => sql.exec("SELECT 1 = 1 AS yes, TRUE AS also").one());
}

export async function cursors(say, { sql }) {
  sql.exec(TABLE);
  sql.exec(ROWS);
  const all = () => sql.exec("SELECT * FROM t ORDER BY id");
  await say("toArray", () => all().toArray());
  await say("iterate", () => [...all()]);
  await say("names", () => all().columnNames);
  await say("raw", () => [...all().raw()]);
  await say("raw toArray", () => all().raw().toArray());
  await say("raw next", () => all().raw().next());
  await say("next", () => {
    const cursor = sql.exec("SELECT id FROM t WHERE id < 2");
    return [cursor.next(), cursor.next(), cursor.next()];
  });
  await say("toArray twice", () => {
    const cursor = all();
    return [cursor.toArray().length, cursor.toArray().length, cursor.next()];
  });
  await say("raw after next", () => {
    const cursor = all();
    cursor.next();
    return cursor.raw().toArray();
  });
  await say("one", () => sql.exec("SELECT 1 AS a").one());
  await say("one of none", () => sql.exec("SELECT 1 AS a WHERE 0").one());
  await say("one of three", () => all().one());
  await say("one of three, then", () => {
    const cursor = all();
    try {
      cursor.one();
    } catch {
      return cursor.toArray().length;
    }
  });
  await say("read as it goes", () => {
    const cursor = all();
    const before = cursor.rowsRead;
    cursor.next();
    const between = cursor.rowsRead;
    cursor.toArray();
    return [before, between, cursor.rowsRead, cursor.rowsWritten];
  });
  await say("written", () => sql.exec("INSERT INTO t (v) VALUES ('d'), ('e')").rowsWritten);
  await say("names twice", () => sql.exec("SELECT 1 AS a, 2 AS a").one());
  await say("names twice raw", () => [...sql.exec("SELECT 1 AS a, 2 AS a").raw()]);
  await say("numeric names", () => sql.exec("SELECT 'x' AS b, 'y' AS \"1\"").one());
  await say("no rows", () => sql.exec("DELETE FROM t WHERE id > 3").toArray());
  await say("no columns", () => sql.exec("DELETE FROM t WHERE id > 3").columnNames);
  await say("returning", () => sql.exec("INSERT INTO t (v) VALUES ('z') RETURNING id, v").toArray());
  await say("a lock", () => {
    const cursor = all();
    cursor.next();
    try {
      sql.exec("DROP TABLE t");
    } finally {
      cursor.toArray();
    }
  });
  await say("a change in between", () => {
    const cursor = sql.exec("SELECT v FROM t ORDER BY id");
    sql.exec("UPDATE t SET v = 'new'");
    return cursor.toArray().map((row) => row.v);
  });
  await say("a change after the first", () => {
    const cursor = sql.exec("SELECT v FROM t ORDER BY id");
    cursor.next();
    sql.exec("UPDATE t SET v = 'newer'");
    return cursor.toArray().map((row) => row.v);
  });
  await say("no lock after the last row", () => {
    sql.exec("CREATE TABLE once (a); INSERT INTO once VALUES (1)");
    const cursor = sql.exec("SELECT a FROM once");
    cursor.next();
    return sql.exec("DROP TABLE once").toArray();
  });
  await say("no lock by one that gave up", () => {
    sql.exec("CREATE TABLE twice (a); INSERT INTO twice VALUES (1), (2), (3)");
    try {
      sql.exec("SELECT a FROM twice").one();
    } catch {
      return sql.exec("DROP TABLE twice").toArray();
    }
  });
  await say("new rows while reading", () => {
    sql.exec("CREATE TABLE grows (a INTEGER PRIMARY KEY); INSERT INTO grows VALUES (1)");
    const seen = [];
    for (const { a } of sql.exec("SELECT a FROM grows")) {
      seen.push(a);
      if (a < 4) sql.exec("INSERT INTO grows VALUES (?)", a + 1);
    }
    return seen;
  });
  await say("several statements", () =>
    sql.exec("INSERT INTO t (v) VALUES ('q'); SELECT count(*) AS n FROM t").one());
  await say("the last has values", () =>
    sql.exec("SELECT 1; SELECT ? AS a", "x").one());
  await say("size", () => sql.databaseSize > 0 && sql.databaseSize % 4096 === 0);
}

export async function refusals(say, { sql, storage }) {
  await storage.put("k", 1); // makes the runtime's own table
  sql.exec(TABLE);
  sql.exec(ROWS);
  sql.exec("CREATE TABLE c (v TEXT NOT NULL UNIQUE CHECK (v <> 'no'), t REFERENCES t(id))");
  sql.exec("INSERT INTO c VALUES ('there', 1)");
  for (const query of [
    "SELEC 1", "SELECT", "SELECT 'a", "SELECT zz FROM t", "SELECT * FROM nope", "INSERT", "", " ",
    "-- nothing", "SELECT 1;;", "SELECT 1; ", "SELECT 1; -- more", "SELECT ?", "SELECT ?1, ?1",
    "INSERT INTO t VALUES (1, 'b')", "INSERT INTO c VALUES ('there', 1)",
    "INSERT INTO c VALUES (NULL, 1)", "INSERT INTO c VALUES ('no', 1)",
    "INSERT INTO c VALUES ('x', 99)", "SELECT * FROM t LIMIT 1.5", "SELECT abs(-9223372036854775808)",
    "PRAGMA user_version", "PRAGMA table_info(t)", "PRAGMA foreign_keys", "ATTACH 'x' AS y", "VACUUM",
    "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "RELEASE a", "CREATE TEMP TABLE x (a)",
    "CREATE TABLE _cf_x (a)", "DROP TABLE _cf_KV", "SELECT * FROM _cf_KV", "SELECT sqlite_version()",
    "SELECT nope(1)", "SELECT 1, 2 UNION SELECT 1", "CREATE TABLE t (a)", "DROP TABLE nope",
    "SELECT \"text\"", "SELECT max(1, 2, 3)", "SELECT json('{')", "SELECT * FROM t WHERE v GLOB",
  ]) {
    await say(query, () => sql.exec(query).toArray());
  }
  await say("too many values", () => sql.exec("SELECT ?", 1, 2));
  await say("values too early", () => sql.exec("SELECT ?; SELECT ?", 1, 2));
  await say("no query", () => sql.exec());
  await say("a number", () => sql.exec(5));
  await say("null", () => sql.exec(null));
}
