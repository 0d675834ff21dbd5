// What a D1 database answers: asked of the host objects and of the local service.

const TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)";

export async function d1Values(say, { db }) {
  await db.exec("CREATE TABLE v (i INTEGER, t TEXT, r REAL, b BLOB, n)");
  const values = {
    one: 1, half: 1.5, minusZero: -0, nan: NaN, infinity: Infinity, bigint: 5n,
    text: "é", empty: "", surrogate: "\uD83D", true: true, false: false, null: null, undefined,
    object: { a: 1 }, array: [1, 2, 255], badArray: [1, 256], mixedArray: [1, "a"], emptyArray: [],
    date: new Date(0), function: function f() {}, error: new Error("m"),
    bytes: new Uint8Array([1, 2]), buffer: new Uint8Array([1, 2]).buffer,
    words: new Uint16Array([1, 258]), floats: new Float64Array([1.5]),
    dataView: new DataView(new Uint8Array([1, 2]).buffer), symbol: Symbol("s"), map: new Map(),
    set: new Set([1]), regexp: /a/g,
  };
  for (const [name, value] of Object.entries(values)) {
    await say(`bind ${name}`, async () => {
      await db.exec("DELETE FROM v");
      await db.prepare("INSERT INTO v VALUES (?1, ?1, ?1, ?1, ?1)").bind(value).run();
      const types = "typeof(i), typeof(t), typeof(r), typeof(b), typeof(n)";
      return (await db.prepare(`SELECT *, ${types} FROM v`).raw())[0];
    });
  }
  await say("read", () =>
    db.prepare("SELECT 1 AS i, 1.0 AS w, 1.5 AS r, 9007199254740993 AS l, x'0102' AS b, NULL AS n, 't' AS t")
      .first());
  await say("infinite", () => db.prepare("SELECT 9e999 AS inf").first());
  await say("names twice", () => db.prepare("SELECT 1 AS a, 2 AS a").first());
  await say("names twice, all", () => db.prepare("SELECT 1 AS a, 2 AS a").all().then((r) => r.results));
  await say("names twice, raw", () => db.prepare("SELECT 1 AS a, 2 AS a").raw());
  await say("numeric names", () => db.prepare("SELECT 'x' AS b, 'y' AS \"1\"").first());
}

const shape = ({ success, meta, results, ...rest }) => {
  const { duration, served_by, size_after, rows_read, rows_written, timings, ...figures } = meta;
  return { success, figures, results, rest: Object.keys(rest), meta: Object.keys(meta) };
};

export async function d1Results(say, { db }) {
  await db.exec(TABLE);
  const run = (sql, ...values) => {
    const statement = db.prepare(sql);
    return (values.length > 0 ? statement.bind(...values) : statement).run().then(shape);
  };
  await say("classes", () => [db.constructor.name, db.prepare("SELECT 1").constructor.name]);
  await say("insert", () => run("INSERT INTO t (v) VALUES ('a'), ('b')"));
  await say("insert again", () => run("INSERT INTO t (v) VALUES (?)", "c"));
  await say("update", () => run("UPDATE t SET v = v"));
  await say("update none", () => run("UPDATE t SET v = v WHERE id > 100"));
  await say("select", () => run("SELECT * FROM t"));
  await say("select none", () => run("SELECT * FROM t WHERE id > 100"));
  await say("create", () => run("CREATE TABLE u (a)"));
  await say("create if not exists", () => run("CREATE TABLE IF NOT EXISTS u (a)"));
  await say("returning", () => run("DELETE FROM t WHERE id = 3 RETURNING v"));
  await say("replace", () => run("INSERT OR REPLACE INTO t VALUES (1, 'z')"));
  await say("all", () => db.prepare("SELECT * FROM t").all().then(shape));
  await say("first", () => db.prepare("SELECT * FROM t").first());
  await say("first column", () => db.prepare("SELECT * FROM t").first("v"));
  await say("first of none", () => db.prepare("SELECT * FROM t WHERE 0").first());
  await say("first column of none", () => db.prepare("SELECT * FROM t WHERE 0").first("v"));
  await say("first missing column", () => db.prepare("SELECT * FROM t").first("zz"));
  await say("first null column", () => db.prepare("SELECT * FROM t").first(null));
  await say("first number column", () => db.prepare("SELECT * FROM t").first(5));
  await say("raw", () => db.prepare("SELECT * FROM t").raw());
  await say("raw with names", () => db.prepare("SELECT * FROM t").raw({ columnNames: true }));
  await say("raw of none with names", () => db.prepare("SELECT * FROM t WHERE 0").raw({ columnNames: true }));
  await say("raw null", () => db.prepare("SELECT 1").raw(null));
  await say("several in one", () => run("INSERT INTO t (v) VALUES ('m'); SELECT count(*) AS n FROM t"));
  await say("bind twice", () => db.prepare("SELECT ? AS a").bind(1).bind(2).first());
  await say("bound once", async () => {
    const statement = db.prepare("SELECT ? AS a");
    statement.bind(1);
    return statement.first();
  });
  await say("numbered", () => db.prepare("SELECT ?2 AS b, ?1 AS a").bind(1, "x").first());
  await say("named", () => db.prepare("SELECT :a AS a, @b AS b").bind(1, 2).first());
  await say("batch", async () => (await db.batch([
    db.prepare("INSERT INTO t (v) VALUES (?)").bind("q"),
    db.prepare("SELECT v FROM t WHERE v = 'q'"),
  ])).map(shape));
  await say("exec", async () => {
    const { count, duration, ...rest } = await db.exec("INSERT INTO t (v) VALUES ('e')\nSELECT 1");
    return [count, typeof duration, rest];
  });
  await say("exec two on a line", async () => (await db.exec("SELECT 1; SELECT 2;")).count);
  await say("exec with empty lines", async () => (await db.exec("SELECT 1;\n\nSELECT 2;")).count);
  await say("session", () => db.withSession().constructor.name);
  await say("bookmark", () => db.withSession().getBookmark());
  await say("bookmark given", () => db.withSession("0-1").getBookmark());
  await say("bookmark after", async () => {
    const session = db.withSession("first-primary");
    await session.prepare("SELECT 1").run();
    return typeof session.getBookmark();
  });
  await say("session of a number", () => db.withSession(5));
}

export async function d1Refusals(say, { db }) {
  await db.exec(TABLE);
  await db.exec("INSERT INTO t (v) VALUES ('a')");
  await db.exec("CREATE TABLE c (v TEXT NOT NULL UNIQUE CHECK (v <> 'no'), t REFERENCES t(id))");
  await db.exec("INSERT INTO c VALUES ('there', 1)");
  for (const query of [
    "SELEC 1", "SELECT", "SELECT 'a", "SELECT zz FROM t", "SELECT * FROM nope", "", " ",
    "-- nothing", "SELECT 1;;", "SELECT 1; -- more", "SELECT ?", "INSERT INTO t VALUES (1, 'b')",
    "INSERT INTO c VALUES ('there', 1)", "INSERT INTO c VALUES (NULL, 1)",
    "INSERT INTO c VALUES ('no', 1)", "INSERT INTO c VALUES ('x', 99)",
    "SELECT * FROM t LIMIT 1.5", "PRAGMA user_version", "PRAGMA table_info(t)", "ATTACH 'x' AS y",
    "VACUUM", "BEGIN", "COMMIT", "SAVEPOINT a", "CREATE TEMP TABLE x (a)",
    "CREATE TABLE _cf_x (a)", "SELECT sqlite_version()", "SELECT nope(1)", "CREATE TABLE t (a)",
  ]) {
    await say(query, () => db.prepare(query).run().then(({ results }) => results));
  }
  const cause = async (action) => {
    try {
      return await action();
    } catch (error) {
      return [error.name, error.message, String(error.cause), error.cause?.cause];
    }
  };
  await say("cause", () => cause(() => db.prepare("SELEC 1").run()));
  await say("cause of a type", () => cause(() => db.prepare("SELECT ?").bind({})));
  await say("prepare does not run", () => db.prepare("SELEC 1").constructor.name);
  await say("too few", () => db.prepare("SELECT ?, ?").bind(1).run());
  await say("too many", () => db.prepare("SELECT ?").bind(1, 2).run());
  await say("101 values", () => db.prepare(`SELECT ${Array(101).fill("?")}`).bind(...Array(101).fill(1)).run());
  await say("batch of nothing", () => db.batch([]));
  await say("batch undefined", () => db.batch());
  await say("batch null", () => db.batch(null));
  await say("batch of an object", () => db.batch({}));
  await say("batch that fails", () => db.batch([
    db.prepare("INSERT INTO t VALUES (50, 'lost')"), db.prepare("SELECT nope"),
  ]));
  await say("undone", () => db.prepare("SELECT count(*) AS n FROM t WHERE id = 50").first("n"));
  await say("exec of a bad line", () => db.exec("INSERT INTO t VALUES (60, 'x')\nSELEC 1"));
  await say("exec of an unfinished line", () => db.exec("INSERT INTO t VALUES\n(61, 'x')"));
  await say("exec of nothing", () => db.exec(""));
  await say("exec without a query", () => db.exec());
  await say("exec of a number", () => db.exec(5));
  await say("dump", () => db.dump());
}
