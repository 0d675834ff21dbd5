// What an R2 bucket answers: asked of the host objects and of the local service.

export async function r2Objects(say, { r2 }) {
  const shape = (object) => object && {
    class: object.constructor.name, key: object.key, size: object.size, etag: object.etag,
    httpEtag: object.httpEtag, version: typeof object.version, uploaded: object.uploaded instanceof Date,
    checksums: object.checksums.constructor.name, httpMetadata: object.httpMetadata,
    customMetadata: object.customMetadata, range: object.range,
    keys: Object.keys(object),
  };
  await say("class", () => r2.constructor.name);
  await say("put", async () => shape(await r2.put("a", "hello")));
  await say("put bytes", async () => shape(await r2.put("b", new Uint8Array([1, 2, 3]))));
  await say("put stream", async () => shape(await r2.put("s", new Response("stream").body)));
  await say("put blob", async () => shape(await r2.put("blob", new Blob(["blob"]))));
  await say("put null", async () => shape(await r2.put("null", null)));
  await say("put number", () => r2.put("n", 5));
  await say("put object", () => r2.put("o", { a: 1 }));
  await say("put nothing", () => r2.put("o"));
  await say("no key", () => r2.put());
  await say("put metadata", async () => shape(await r2.put("m", "text", {
    httpMetadata: { contentType: "text/plain", cacheControl: "no-store" }, customMetadata: { a: "b" },
  })));
  await say("put headers", async () => shape(await r2.put("h", "text", {
    httpMetadata: new Headers({ "content-type": "text/html" }),
  })));
  await say("head", async () => shape(await r2.head("m")));
  await say("head missing", () => r2.head("missing"));
  await say("get", async () => shape(await r2.get("m")));
  await say("get missing", () => r2.get("missing"));
  await say("text", async () => (await r2.get("a")).text());
  await say("json", async () => (await r2.get("a")).json());
  await say("arrayBuffer", async () => (await r2.get("b")).arrayBuffer());
  await say("bytes", async () => (await r2.get("b")).bytes());
  await say("blob", async () => (await (await r2.get("a")).blob()).text());
  await say("twice", async () => {
    const object = await r2.get("a");
    await object.text();
    return [object.bodyUsed, await object.text()];
  });
  await say("body", async () => new Response((await r2.get("a")).body).text());
  await say("range", async () => {
    const object = await r2.get("a", { range: { offset: 1, length: 2 } });
    return [object.range, object.size, await object.text()];
  });
  await say("suffix", async () => (await r2.get("a", { range: { suffix: 2 } })).text());
  await say("bad range", () => r2.get("a", { range: { offset: 99 } }));
  await say("etag matches", async () => {
    const { etag } = await r2.head("a");
    return shape(await r2.get("a", { onlyIf: { etagDoesNotMatch: etag } }));
  });
  await say("not put", async () => r2.put("a", "other", { onlyIf: { etagMatches: "nope" } }));
  await say("written headers", async () => {
    const headers = new Headers();
    (await r2.head("m")).writeHttpMetadata(headers);
    return [...headers];
  });
  const listed = ({ objects, ...rest }) => ({ objects: objects.map(({ key }) => key), ...rest });
  await say("list", async () => listed(await r2.list()));
  await say("list prefix", async () => listed(await r2.list({ prefix: "b" })));
  await say("list limit", async () => {
    const { cursor, ...rest } = await r2.list({ limit: 2 });
    return [listed(rest), typeof cursor];
  });
  await say("list delimiter", async () => {
    await r2.put("d/1", "x");
    return listed(await r2.list({ delimiter: "/", prefix: "d" }));
  });
  await say("listed class", async () => (await r2.list()).objects[0].constructor.name);
  await say("list metadata", async () => (await r2.list({ prefix: "m", include: ["customMetadata"] })).objects.map(shape));
  await say("delete", () => r2.delete("a"));
  await say("delete several", () => r2.delete(["b", "missing"]));
  await say("delete nothing", () => r2.delete());
  await say("gone", () => r2.get("a"));
}

export async function limits(say, { limit }) {
  await say("class", () => limit.constructor.name);
  for (const n of [1, 2, 3]) await say(`limit ${n}`, () => limit.limit({ key: "a" }));
  await say("another", () => limit.limit({ key: "b" }));
  await say("no key", () => limit.limit({}));
  await say("nothing", () => limit.limit());
  await say("number", () => limit.limit({ key: 5 }));
  await say("text", () => limit.limit("a"));
}
