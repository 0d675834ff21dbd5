"""R2 and rate limits: objects, their bodies and metadata, listings; counting."""

import js
from pyodide.ffi import to_js
from workers import Blob, Response

FIELDS = (
    "key", "size", "etag", "httpEtag", "httpMetadata", "customMetadata", "range", "storageClass",
)  # fmt: skip


def fields(got):
    if got is None:
        return None
    shown = {name: getattr(got, name) for name in FIELDS}
    return [type(got).__name__, got._real_name, shown, type(got.uploaded).__name__,
            type(got.version).__name__, type(got.checksums).__name__]  # fmt: skip


async def scenario_objects(record, env, host):
    host.bind_stores()
    r2 = env.R2
    record("type", type(r2))

    async def put(label, *args, **options):
        async def stored():
            return fields(await r2.put(*args, **options))

        await record.settled(f"put {label}", stored)

    await put("text", "a", "hello")
    await put("bytes", "b", b"\x01\x02\x03")
    await put("memoryview", "mv", memoryview(b"abc"))
    await put("None", "none", None)
    await put("stream", "s", js.Response.new("stream").body)
    await put("js blob", "jb", js.Blob.new(to_js(["blob"])))
    await put("Blob", "pb", Blob(["blob"]))
    for label, value in {
        "int": 5, "True": True, "dict": {"a": 1}, "list": [1], "tuple": (1,), "object": object(),
        "bytearray": bytearray(b"x"), "Response": Response("r"),
    }.items():  # fmt: skip
        await put(label, "bad", value)
    await put("nothing", "bad")
    await put("metadata", "m", "text", httpMetadata={"contentType": "text/plain"},
              customMetadata={"a": "b"})  # fmt: skip
    await put("headers", "h", "text",
              httpMetadata=js.Headers.new(to_js([["content-type", "text/html"]])))  # fmt: skip
    await put("snake case", "sc", "text", http_metadata={"contentType": "x"})
    await record.settled("no key", lambda: r2.put())

    for label, call in {
        "head": lambda: r2.head("m"), "head missing": lambda: r2.head("missing"),
        "get": lambda: r2.get("m"), "get missing": lambda: r2.get("missing"),
    }.items():  # fmt: skip
        got = await call()
        record(label, fields(got))
    got = await r2.get("a")
    record("item", [got["key"], got["size"]])
    record("bodyUsed", got.bodyUsed)
    record("body", [type(got.body).__name__, got.body.constructor.name])
    await record.settled("text", got.text())
    await record.settled("again", lambda: got.text())
    for method in ("text", "json", "arrayBuffer", "bytes"):
        await record.settled(f"{method} of bytes", lambda m=method: read(r2, "b", m))
    await r2.put("j", '{"a": [1, null]}')
    await record.settled("json", lambda: read(r2, "j", "json"))
    await record.settled("blob", lambda: read(r2, "a", "blob"))
    record("by its body", await js.Response.new((await r2.get("a")).body).text())


async def read(r2, key, method):
    return await getattr(await r2.get(key), method)()


async def scenario_ranges_conditions_and_lists(record, env, host):
    host.bind_stores()
    r2 = env.R2
    for key in ("a", "b", "d/1", "d/2", "e"):
        await r2.put(key, f"content of {key}", customMetadata={"k": key})
    got = await r2.get("a", range={"offset": 1, "length": 2})
    record("range", [got.range, got.size, await got.text()])
    got = await r2.get("a", {"range": {"suffix": 2}})
    record("suffix", await got.text())
    await record.settled("bad range", lambda: r2.get("a", range={"offset": 99}))
    etag = (await r2.head("a")).etag
    got = await r2.get("a", onlyIf={"etagDoesNotMatch": etag})
    record("not changed", [got._real_name, hasattr(got, "text")])
    record("not put", await r2.put("a", "other", onlyIf={"etagMatches": "nope"}))
    listed = await r2.list()
    record("list", [type(listed).__name__, list(listed), listed.truncated])
    record("listed", [type(item).__name__ for item in listed["objects"]])
    record("keys", [item.key for item in listed["objects"]])
    record("no metadata", host.describe(listed["objects"][0].customMetadata))
    listed = await r2.list(prefix="d/", include=["customMetadata"])
    record("prefix", [host.describe(item.customMetadata) for item in listed["objects"]])
    page = await r2.list(limit=2)
    record("limit", [[item.key for item in page["objects"]], page.truncated, type(page.cursor)])
    page = await r2.list(limit=2, cursor=page.cursor)
    record("next page", [item.key for item in page["objects"]])
    listed = await r2.list(delimiter="/")
    record("delimiter", [[i.key for i in listed["objects"]], listed.delimitedPrefixes])
    await record.settled("delete", r2.delete("a"))
    await record.settled("delete several", r2.delete(["b", "missing"]))
    await record.settled("delete a tuple", lambda: r2.delete(("e",)))
    await record.settled("delete nothing", lambda: r2.delete())
    await record.settled("gone", r2.get("a"))


async def scenario_rate_limits(record, env, host):
    host.bind_stores()
    limit = env.LIMIT
    record("type", type(limit))
    record("real name", limit._real_name)
    for number in range(3):
        await record.settled(f"call {number}", limit.limit(key="a"))
    await record.settled("options", limit.limit({"key": "b"}))
    await record.settled("no key", lambda: limit.limit({}))
    await record.settled("nothing", lambda: limit.limit())
    await record.settled("a number", lambda: limit.limit(key=5))
    await record.settled("a text", lambda: limit.limit("a"))
    await record.settled("None", lambda: limit.limit(key=None))
