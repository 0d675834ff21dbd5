// What a KV namespace answers: asked of the host objects and of the local service.

export async function kvValues(say, { kv }) {
  const values = {
    text: "é", empty: "", surrogate: "\uD83D", one: 1, half: 1.5, minusZero: -0, nan: NaN,
    bigint: 5n, true: true, null: null, undefined, object: { a: 1 }, array: [1], date: new Date(0),
    bytes: new Uint8Array([1, 2]), words: new Uint16Array([1, 258]),
    buffer: new Uint8Array([1, 2]).buffer, stream: new Response("s").body, blob: new Blob(["b"]),
    response: new Response("r"), symbol: Symbol("s"), function: function f() {}, error: new Error("m"),
    text2: new String("s"), params: new URLSearchParams("a=b"), regexp: /a/g,
  };
  for (const [name, value] of Object.entries(values)) {
    await say(`put ${name}`, () => kv.put(name, value));
    await say(`get ${name}`, () => kv.get(name));
  }
  await kv.put("json", '{"a":[1,null]}');
  for (const type of ["text", "json", "arrayBuffer", "stream", "nope", "TEXT", null, 5]) {
    await say(`type ${type}`, async () => {
      const got = await kv.get("json", type);
      return type === "stream" ? [got.constructor.name, await new Response(got).text()] : got;
    });
  }
  for (const options of [
    { type: "json" }, { type: "arrayBuffer" }, { cacheTtl: 60 }, { cacheTtl: 29 }, {}, null,
    { type: null }, { cacheTtl: "60" }, { cacheTtl: NaN },
  ]) {
    await say(`options ${JSON.stringify(options)}`, () => kv.get("json", options));
  }
  await say("not json", () => kv.get("text", "json"));
  await say("missing", () => kv.get("missing"));
  await say("missing json", () => kv.get("missing", "json"));
  await say("classes", async () => [kv.constructor.name, kv.get("x").constructor.name]);
}

export async function kvMetadata(say, { kv }) {
  const now = Math.trunc(Date.now() / 1000);
  const relative = (row) => (row.expiration === undefined ? row : { ...row, expiration: row.expiration - now > 30 });
  for (const [name, options] of Object.entries({
    metadata: { metadata: { a: [1, null] } }, textMetadata: { metadata: "m" },
    nullMetadata: { metadata: null }, emptyMetadata: { metadata: {} },
    ttl: { expirationTtl: 60 }, ttlText: { expirationTtl: "60" }, shortTtl: { expirationTtl: 59 },
    zeroTtl: { expirationTtl: 0 }, negativeTtl: { expirationTtl: -1 }, nanTtl: { expirationTtl: NaN },
    hugeTtl: { expirationTtl: 2 ** 40 }, at: { expiration: now + 120 }, soon: { expiration: now + 10 },
    both: { expiration: now + 500, expirationTtl: 100 }, snake: { expiration_ttl: 60 },
  })) {
    await say(`put ${name}`, async () => {
      try {
        return await kv.put(name, "v", options);
      } catch (error) {
        throw Object.assign(error, { message: error.message.replaceAll(/\d{9,}/g, "TIME") });
      }
    });
  }
  await say("past", async () => {
    try {
      await kv.put("past", "v", { expiration: 5 });
    } catch (error) {
      return error.message;
    }
  });
  await say("options of a number", () => kv.put("k", "v", 5));
  await say("options of a text", () => kv.put("k", "v", "x"));
  await say("long metadata", () => kv.put("k", "v", { metadata: "x".repeat(1025) }));
  await say("list", async () => (await kv.list()).keys.map(relative));
  for (const name of ["metadata", "nullMetadata", "missing"]) {
    await say(`with metadata ${name}`, () => kv.getWithMetadata(name));
    await say(`with metadata ${name} json`, () => kv.getWithMetadata(name, { type: "text" }));
  }
}

export async function kvKeys(say, { kv }) {
  for (const name of ["b", "a/1", "a/2", "é", "5"]) await kv.put(name, name);
  await say("no key", () => kv.get());
  await say("no key to put", () => kv.put());
  await say("no value", () => kv.put("k"));
  await say("no key to delete", () => kv.delete());
  await say("empty key", () => kv.get(""));
  await say("dot", () => kv.put(".", "v"));
  await say("dots", () => kv.delete(".."));
  await say("number", () => kv.get(5));
  await say("null", () => kv.get(null));
  await say("undefined", () => kv.get(undefined));
  await say("long", () => kv.put("x".repeat(513), "v"));
  await say("long get", () => kv.get("é".repeat(257)));
  await say("list", () => kv.list());
  for (const options of [
    { prefix: "a/" }, { limit: 2 }, { limit: 0 }, { limit: -1 }, { limit: 1001 }, { limit: "1" },
    { prefix: "zz" }, { prefix: null }, null,
  ]) {
    await say(`list ${JSON.stringify(options)}`, async () => {
      const { cursor, ...rest } = await kv.list(options);
      return [rest, typeof cursor];
    });
  }
  await say("pages", async () => {
    const first = await kv.list({ limit: 3 });
    const second = await kv.list({ limit: 3, cursor: first.cursor });
    return [first.keys.map(({ name }) => name), second.keys.map(({ name }) => name), second.list_complete];
  });
  await say("list of a text", () => kv.list("a"));
  await say("bulk", () => kv.get(["b", "missing", "b", "a/1"]));
  await say("bulk of none", () => kv.get([]));
  await say("bulk empty key", () => kv.get(["", "b"]));
  await kv.put("json", "[1]");
  await say("bulk json", () => kv.get(["json"], "json"));
  await say("bulk not json", () => kv.get(["b"], "json"));
  await say("bulk bytes", () => kv.get(["b"], "arrayBuffer"));
  await say("bulk of 101", () => kv.get(Array.from({ length: 101 }, (_, i) => `k${i}`)));
  await say("bulk with metadata", () => kv.getWithMetadata(["b", "missing"]));
  await say("delete", () => kv.delete("b"));
  await say("delete again", () => kv.delete("b"));
  await say("gone", () => kv.get("b"));
}
