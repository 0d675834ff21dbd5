// What a Durable Object's storage answers: asked of the host objects and of the runtime itself.

class Point {
  constructor() {
    this.x = 1;
  }
}

export async function records(say, { storage }) {
  await say("get nothing", () => storage.get());
  await say("put nothing", () => storage.put());
  await say("put a key alone", () => storage.put("k"));
  await say("put undefined", () => storage.put("k", undefined));
  await say("delete nothing", () => storage.delete());
  await say("put null", () => storage.put("null", null));
  await say("get null", () => storage.get("null"));
  await say("put pairs", () => storage.put({ b: 1, a: undefined, c: [1] }));
  await say("put a number key", () => storage.put(5, 5));
  await say("put an empty key", () => storage.put("", 0));
  await say("put a null key", () => storage.put(null, 9));
  await say("missing", () => storage.get("missing"));
  await say("several", () => storage.get(["c", "missing", "b", "b"]));
  await say("several of numbers", () => storage.get([5]));
  await say("no keys", () => storage.get([]));
  await say("list", () => storage.list());
  for (const options of [
    { prefix: "b" }, { start: "b" }, { startAfter: "b" }, { end: "c" }, { reverse: true },
    { limit: 1 }, { limit: 0 }, { limit: "1" }, { limit: 1.9 }, { start: null }, { prefix: null },
    { start: "a", startAfter: "a" }, null, { end: "a", start: "b" }, { reverse: "no" },
  ]) {
    await say(`list ${JSON.stringify(options)}`, () => storage.list(options));
  }
  await say("list of a text", () => storage.list("b"));
  await say("delete", () => storage.delete("b"));
  await say("delete again", () => storage.delete("b"));
  await say("delete several", () => storage.delete(["c", "b", "null"]));
  await say("options are no value", () => storage.put({ z: 1 }, { allowUnconfirmed: true }));
  await say("deleteAll", () => storage.deleteAll());
  await say("empty", () => storage.list());
}

export async function clones(say, { storage, ctx, env, stub }) {
  const values = {
    undefinedInside: { a: undefined, b: [null, undefined] },
    numbers: [1, 1.5, -0, NaN, Infinity, 2 ** 53, 5n, -(2n ** 64n)],
    texts: ["", "é", "\uD83D", "a\0b"],
    date: new Date(0),
    invalidDate: new Date(NaN),
    map: new Map([["a", 1], [2, new Set([1, "a"])]]),
    bytes: new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
    words: new Uint16Array([1, 65535]),
    buffer: new Uint8Array([1, 2]).buffer,
    dataView: new DataView(new ArrayBuffer(3), 1),
    regexp: /a/g,
    error: new RangeError("r"),
    namedError: Object.assign(new Error("c"), { name: "Custom", code: 7 }),
    instance: new Point(),
    boxed: [new String("s"), new Number(1), new Boolean(false)],
    function: function f() {},
    class: Point,
    symbol: Symbol("s"),
    promise: Promise.resolve(1),
    weakMap: new WeakMap(),
    id: ctx.id,
    context: ctx,
    storage,
    namespace: env.BOX,
    stub,
    response: new Response("a"),
    stream: new Response("a").body,
    url: new URL("https://example.com/"),
    formData: new FormData(),
  };
  const circular = { a: 1 };
  circular.self = circular;
  values.circular = circular;
  const shared = [1];
  values.shared = { one: shared, two: shared };
  for (const [name, value] of Object.entries(values)) {
    await say(name, async () => {
      await storage.put("k", value);
      return storage.get("k");
    });
    await say(`${name} inside`, async () => {
      storage.kv.put("k", { a: [value] });
      return storage.kv.get("k");
    });
  }
  await storage.put("k", values.shared);
  const kept = await storage.get("k");
  await say("still shared", () => kept.one === kept.two);
}

export async function synchronous(say, { storage: { kv } }) {
  await say("get nothing", () => kv.get());
  await say("put nothing", () => kv.put());
  await say("put", () => kv.put("a", { x: 1 }));
  await say("put null", () => kv.put("b", null));
  await say("get", () => kv.get("a"));
  await say("get null", () => kv.get("b"));
  await say("missing", () => kv.get("missing"));
  await say("list", () => [...kv.list()]);
  await say("list by prefix", () => [...kv.list({ prefix: "b" })]);
  await say("list backwards", () => [...kv.list({ reverse: true, limit: 1 })]);
  await say("kind of list", () => kv.list().constructor.name);
  await say("next", () => kv.list().next());
  await say("delete", () => kv.delete("a"));
  await say("delete again", () => kv.delete("a"));
  await say("put undefined", () => kv.put("u", undefined));
  await say("what undefined left", () => kv.get("u"));
}

export async function transactions(say, { storage, sql }) {
  sql.exec("CREATE TABLE t (a)");
  await say("no function", () => storage.transaction(5));
  await say("no sync function", () => storage.transactionSync());
  await say("result", () => storage.transaction(async (txn) => {
    await txn.put("a", 1);
    await storage.put("b", 2);
    return [txn.constructor.name, await txn.get("a"), await txn.get("b"), await txn.list()];
  }));
  await say("thrown", () => storage.transaction(async (txn) => {
    await txn.put("c", 1);
    sql.exec("INSERT INTO t VALUES (1)");
    sql.exec("CREATE TABLE u (a)");
    throw new RangeError("no");
  }));
  await say("after it", () => storage.list());
  await say("rows after it", () => sql.exec("SELECT * FROM t").toArray());
  await say("rolled back", () => storage.transaction(async (txn) => {
    await txn.put("d", 1);
    txn.rollback();
    await say("put after rollback", () => txn.put("e", 1));
    txn.rollback();
  }));
  let kept;
  await storage.transaction(async (txn) => { kept = txn; });
  await say("put after the end", () => kept.put("e", 1));
  await say("rollback after the end", () => kept.rollback());
  await say("nothing of it", () => storage.list());
  await say("alarm of a transaction", () => storage.transaction(async (txn) => {
    const due = Date.now() + 100_000;
    await txn.setAlarm(due);
    const set = (await txn.getAlarm()) === due;
    await txn.deleteAlarm();
    return [set, await txn.getAlarm()];
  }));
  await say("delete in one", () => storage.transaction(async (txn) => [
    await txn.delete("a"), await txn.delete("a"), await txn.delete(["b", "z"]),
  ]));
  await say("sync result", () => storage.transactionSync(() => {
    storage.kv.put("s", 1);
    return storage.transactionSync(() => ({ inner: storage.kv.get("s") }));
  }));
  await say("sync thrown", () => storage.transactionSync(() => {
    storage.kv.put("s", 2);
    throw new SyntaxError("no");
  }));
  await say("sync undone", () => storage.kv.get("s"));
  await say("sync with a promise", () => storage.transactionSync(async () => {
    storage.kv.put("s", 3);
    return 5;
  }));
  await say("sync with a promise is kept", () => storage.kv.get("s"));
  await say("arguments", () => storage.transactionSync((...args) => args.length));
}

export async function alarms(say, { storage }) {
  await say("none", () => storage.getAlarm());
  for (const [label, value] of Object.entries({
    text: "x", null: null, nothing: undefined, true: true, bigint: 5n, nan: NaN, zero: 0,
    negative: -1, object: {}, invalid: new Date(NaN), infinity: Infinity,
  })) {
    await say(`set ${label}`, () => storage.setAlarm(value));
  }
  const due = Date.now() + 100_000;
  const set = async (value) => {
    await storage.setAlarm(value);
    return (await storage.getAlarm()) - due;
  };
  await say("set to a number", () => set(due));
  await say("set to a fraction", () => set(due + 5.9));
  await say("set to a date", () => set(new Date(due + 7)));
  await say("set to the past", async () => {
    await storage.setAlarm(1_700_000_000);
    return Math.abs((await storage.getAlarm()) - Date.now()) < 1000;
  });
  await say("delete", () => storage.deleteAlarm());
  await say("gone", () => storage.getAlarm());
  await say("delete again", () => storage.deleteAlarm());
}

export async function shapes(say, { storage, sql, ctx, stub, env }) {
  const cursor = sql.exec("SELECT 1 AS a");
  for (const [name, value] of Object.entries({
    storage, sql, kv: storage.kv, ctx, id: ctx.id, stub, stubId: stub.id, namespace: env.BOX,
    service: env.SERVICE, cursor, raw: cursor.raw(), method: stub.anything,
  })) {
    await say(`class of ${name}`, () => value.constructor.name);
    await say(`tag of ${name}`, () => Object.prototype.toString.call(value));
    await say(`type of ${name}`, () => typeof value);
  }
  await say("stub then", () => stub.then);
  await say("in a stub", () => ["x" in stub, "then" in stub, Symbol.iterator in stub]);
  await say("name", () => [stub.name, ctx.id.name, stub.id.name]);
  await say("id of a string", () => env.BOX.idFromString(ctx.id.toString()).equals(ctx.id));
  await say("id as text", () => String(ctx.id) === ctx.id.toString());
  await say("id without a name", () => env.BOX.newUniqueId().name);
  await say("id by a number", () => env.BOX.idFromName(5).name);
  await say("equals nothing", () => ctx.id.equals());
  await say("equals a text", () => ctx.id.equals("a"));
  await say("a bad id", () => env.BOX.idFromString("abc"));
  await say("an id of nobody", () => env.BOX.idFromString("0".repeat(64)));
  await say("no name", () => env.BOX.idFromName());
  await say("no name to get", () => env.BOX.getByName());
  await say("get by text", () => env.BOX.get("a"));
  await say("get nothing", () => env.BOX.get());
  await say("jurisdiction", () => env.BOX.jurisdiction("eu"));
  await say("unique with jurisdiction", () => env.BOX.newUniqueId({ jurisdiction: "eu" }));
  await say("hint", () => env.BOX.get(ctx.id, { locationHint: "weur" }).constructor.name);
  await say("bad hint", () => env.BOX.get(ctx.id, { locationHint: 5 }).constructor.name);
  await say("options of a text", () => env.BOX.get(ctx.id, "x").constructor.name);
}
