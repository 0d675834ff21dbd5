"""What every stored binding has from the SDK's wrapper: its kinds, options, shapes of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from binding_harness import Bench


def test_the_sdk_wraps_every_binding(bench: Bench) -> None:
    body = """
from workers.rpc import _BindingWrapper
bindings = [env.DB, env.KV, env.R2, env.AE, env.LIMIT]
names = [binding._binding.constructor.name for binding in bindings]
return [all(isinstance(binding, _BindingWrapper) for binding in bindings), names]
"""
    names = ["D1Database", "KvNamespace", "R2Bucket", "AnalyticsEngine", "Ratelimit"]
    assert bench.run(body) == [True, names]


def test_what_they_hand_out_has_productions_class_names(bench: Bench) -> None:
    body = """
put = await env.R2.put("k", "v")
made = [env.DB.prepare("SELECT 1"), env.DB.withSession(), put, await env.R2.get("k"),
        put.checksums, await env.R2.createMultipartUpload("k")]
return [item._binding.constructor.name for item in made]
"""
    assert bench.run(body) == [
        "D1PreparedStatement", "D1DatabaseSession", "HeadResult", "GetResult", "Checksums",
        "R2MultipartUpload",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["KV", "R2", "DB"])
def test_a_binding_has_neither_items_nor_length(bench: Bench, name: str) -> None:
    body = f"""
found = []
for attempt in (list, len):
    try:
        attempt(env.{name})
    except TypeError as error:
        found.append(str(error))
return found
"""
    kind = {"KV": "KvNamespace", "R2": "R2Bucket", "DB": "D1Database"}[name]
    assert bench.run(body) == [
        f"'{kind}' object is not iterable",
        f"'{kind}' object has no len()",
    ]


def test_options_may_be_a_dict_keywords_or_none(bench: Bench) -> None:
    body = """
await env.KV.put("a", "1", {"metadata": {"m": 1}})
await env.KV.put("b", "2", None)
await env.R2.put("a", "1", {"customMetadata": {"m": "1"}})
await env.R2.put("b", "2", None)
query = env.DB.prepare("SELECT 1 AS a")
return [
    (await env.KV.getWithMetadata("a", None)).metadata,
    len((await env.KV.list(None))["keys"]),
    len((await env.KV.list({"prefix": "a", "limit": 5, "cursor": None}))["keys"]),
    (await env.R2.head("a")).customMetadata,
    len((await env.R2.list(None))["objects"]),
    len((await env.R2.list({"prefix": "a", "cursor": None}))["objects"]),
    await query.raw(None),
    await query.raw({"columnNames": True}),
]
"""
    assert bench.run(body) == [
        {"m": 1}, 2, 1, {"m": "1"}, 2, 1, [[1]], [["a"], [1]],
    ]  # fmt: skip


def test_a_session_runs_batches(bench: Bench) -> None:
    body = """
session = env.DB.withSession("first-primary")
await session.prepare("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)").run()
insert = session.prepare("INSERT INTO t VALUES (?, ?)")
results = await session.batch([insert.bind(1, "a"), insert.bind(2, "b")])
rows = await session.prepare("SELECT v FROM t ORDER BY id").all()
return [len(results), [row["v"] for row in rows["results"]]]
"""
    assert bench.run(body) == [2, ["a", "b"]]


def test_a_body_streams_into_a_response(bench: Bench) -> None:
    body = """
await env.R2.put("k", "stream me")
stored = await env.R2.get("k")
return await Response(stored.body, headers={"x-test": "ok"}).text()
"""
    assert bench.run(body) == "stream me"


def test_a_kept_stream_can_be_stored_again(bench: Bench) -> None:
    body = """
await env.R2.put("big", b"x" * (3 * 2**20))
await env.R2.put("copy", (await env.R2.get("big")).body)
await env.KV.put("copy", (await env.R2.get("big")).body)
return [(await env.R2.head("copy")).size, len(await env.KV.get("copy"))]
"""
    assert bench.run(body) == [3 * 2**20, 3 * 2**20]


def test_waiting_for_storage_is_no_hang(bench: Bench) -> None:
    body = """
import asyncio
lock = asyncio.Lock()
async def work(n):
    async with lock:
        await env.KV.put("k", str(n))
        return await env.KV.get("k")
return await asyncio.gather(*(work(n) for n in range(5)))
"""
    assert bench.run(body) == ["0", "1", "2", "3", "4"]


def test_a_timed_out_write_is_still_made(bench: Bench) -> None:
    body = """
try:
    async with asyncio.timeout(0):
        await env.KV.put("k", "v")
except TimeoutError:
    pass
await asyncio.sleep(0.01)
return await env.KV.get("k")
"""
    assert bench.run(body) == "v"
