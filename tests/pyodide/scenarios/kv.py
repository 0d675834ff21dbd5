"""KV: what can be put, what is got, metadata, expiry, listing, refusals."""

import datetime
import re
import time

import js
from pyodide.ffi import JsException, to_js

from scenarios.storage import VALUES

TIMES = re.compile(r"\d{9,}")


async def scenario_values(record, env, host):
    host.bind_stores()
    kv = env.KV
    record("type", type(kv))
    record("real name", kv._real_name)
    for label, value in VALUES.items():
        await record.settled(f"put {label}", lambda v=value, k=label: kv.put(k, v))
        await record.settled(f"get {label}", lambda k=label: kv.get(k))
    for label, make in {
        "to_js": lambda: to_js({"a": 1}), "to_js list": lambda: to_js([1]),
        "js.Date": lambda: js.Date.new(0), "stream": lambda: js.Response.new("s").body,
        "array buffer": lambda: js.Uint8Array.new([1, 2]).buffer,
        "js.Response": lambda: js.Response.new("r"), "symbol": lambda: host.make("symbol"),
    }.items():  # fmt: skip
        await record.settled(f"put {label}", lambda m=make: kv.put("k", m()))
        await record.settled(f"get after {label}", kv.get("k"))


async def scenario_reading(record, env, host):
    host.bind_stores()
    kv = env.KV
    await kv.put("json", '{"a": [1, null], "b": {"c": 1.0}}')
    await kv.put("text", "é")
    await kv.put("bytes", b"\xff\x00")
    for kind in ("text", "json", "arrayBuffer", "nope", "JSON", None, 5):
        await record.settled(f"type {kind}", lambda k=kind: kv.get("json", k))
        await record.settled(f"type= {kind}", lambda k=kind: kv.get("json", type=k))
    got = await kv.get("json", "json")
    record("attribute", [got.a, got["b"]["c"], type(got.b).__name__])
    stream = await kv.get("text", "stream")
    record("stream", [type(stream).__name__, stream.constructor.name])
    record("its text", await js.Response.new(stream).text())
    record("bytes as text", await kv.get("bytes"))
    record("bytes", await kv.get("bytes", "arrayBuffer"))
    for label, options in {
        "dict": {"type": "json"}, "cacheTtl": {"cacheTtl": 60}, "short cacheTtl": {"cacheTtl": 29},
        "empty": {}, "None type": {"type": None}, "snake case": {"cache_ttl": 1},
    }.items():  # fmt: skip
        await record.settled(f"options {label}", lambda o=options: kv.get("json", o))
    await record.settled("not json", kv.get("text", "json"))
    await record.settled("missing", kv.get("missing"))
    await record.settled("missing json", kv.get("missing", "json"))
    await record.settled("missing bytes", kv.get("missing", "arrayBuffer"))
    await record.settled("several", kv.get(["text", "missing", "json"]))
    await record.settled("several json", kv.get(["json"], "json"))
    await record.settled("several not json", kv.get(["text"], type="json"))
    await record.settled("several bytes", kv.get(["text"], "arrayBuffer"))
    await record.settled("none of several", kv.get([]))
    await record.settled("a tuple", lambda: kv.get(("text", "json")))
    await record.settled("a set", lambda: kv.get({"text"}))
    await record.settled("a generator", lambda: kv.get(key for key in ["text"]))
    await record.settled("101", kv.get([f"k{n}" for n in range(101)]))
    raw = kv._binding
    await record.settled("raw missing", raw.get("missing"))
    await record.settled("raw json", lambda: described(raw.get("json", "json"), host))


async def described(promise, host):
    return host.describe(await promise)


async def scenario_metadata_and_expiry(record, env, host):
    host.bind_stores()
    kv, now = env.KV, int(time.time())

    async def put(label, **options):
        try:
            record(f"put {label}", await kv.put(label, "v", **options))
        except JsException as error:
            record(f"put {label}", TIMES.sub("TIME", f"raises {error}"))
        except Exception as error:
            record(f"put {label}", f"{type(error).__name__}: {error}")

    await put("metadata", metadata={"a": [1, None, 1.0], "d": datetime.datetime(2020, 1, 2)})
    await put("text metadata", metadata="m")
    await put("None metadata", metadata=None)
    await put("tuple metadata", metadata=(1,))
    await put("object metadata", metadata=object())
    await put("long metadata", metadata="x" * 1025)
    for label, value in {
        "60": 60, "text": "60", "float": 61.9, "59": 59, "0": 0, "-1": -1, "nan": float("nan"),
        "huge": 2**40, "big": 2**60, "None": None, "abc": "abc", "true": True,
        "timedelta": datetime.timedelta(seconds=90),
    }.items():  # fmt: skip
        await put(f"ttl {label}", expirationTtl=value)
    for label, value in {
        "soon": now + 10, "later": now + 120, "past": 5, "datetime": datetime.datetime(2100, 1, 1),
        "None": None,
    }.items():  # fmt: skip
        await put(f"expiration {label}", expiration=value)
    await put("both", expiration=now + 500, expirationTtl=100)
    await put("snake case", expiration_ttl=60)
    await record.settled("options of a number", lambda: kv.put("k", "v", 5))
    await record.settled("options of a text", lambda: kv.put("k", "v", "x"))
    await record.settled("options dict", kv.put("k", "v", {"metadata": 1}))
    listed = await kv.list()
    for key in listed["keys"]:
        late = key.expiration - now > 30 if "expiration" in key else None
        record(f"listed {key.name}", [list(key), late, key.get("metadata")])
    for name in ("metadata", "text metadata", "None metadata", "missing"):
        await record.settled(f"with metadata {name}", kv.getWithMetadata(name))
    await record.settled("with metadata as bytes", kv.getWithMetadata("metadata", "arrayBuffer"))
    await record.settled("several with metadata", kv.getWithMetadata(["metadata", "missing"]))


async def scenario_keys_and_lists(record, env, host):
    host.bind_stores()
    kv = env.KV
    for name in ("b", "a/1", "a/2", "é", "5"):
        await kv.put(name, name)
    for label, call in {
        "get nothing": lambda: kv.get(), "put nothing": lambda: kv.put(),
        "put no value": lambda: kv.put("k"), "delete nothing": lambda: kv.delete(),
        "empty": lambda: kv.get(""), "dot": lambda: kv.put(".", "v"),
        "dots": lambda: kv.delete(".."), "number": lambda: kv.get(5), "None": lambda: kv.get(None),
        "long": lambda: kv.put("x" * 513, "v"), "long get": lambda: kv.get("é" * 257),
        "list": lambda: kv.list(), "prefix": lambda: kv.list(prefix="a/"),
        "limit": lambda: names(kv.list(limit=2)), "options": lambda: names(kv.list({"limit": 1})),
        "limit 0": lambda: names(kv.list(limit=0)), "limit -1": lambda: names(kv.list(limit=-1)),
        "limit 1001": lambda: kv.list(limit=1001), "limit text": lambda: names(kv.list(limit="1")),
        "prefix None": lambda: names(kv.list(prefix=None)),
        "nothing with it": lambda: kv.list(prefix="zz"), "a text": lambda: kv.list("a"),
        "cursor None": lambda: names(kv.list(cursor=None)), "pages": lambda: pages(kv),
        "delete": lambda: kv.delete("b"), "delete again": lambda: kv.delete("b"),
        "delete a list": lambda: kv.delete(["a/1"]), "gone": lambda: kv.get("b"),
    }.items():  # fmt: skip
        await record.settled(label, call)
    record.outcome("snake case", lambda: kv.get_with_metadata("b"))


async def names(listing):
    got = await listing
    return [[key.name for key in got["keys"]], got.list_complete, "cursor" in got]


async def pages(kv):
    first = await kv.list(limit=3)
    second = await kv.list(limit=3, cursor=first.cursor)
    return [[key.name for key in page["keys"]] for page in (first, second)]
