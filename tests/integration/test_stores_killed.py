"""kill -9 in the middle of bursts: what was awaited before an answer is in every store after."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import httpx
import pytest
from dev_session import Dev, Project, eventually, needs_process_ids

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.long, needs_process_ids]

ENTRY = """
import asyncio, os

from workers import DurableObject, Response, WorkerEntrypoint

class Log(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS log (n INTEGER PRIMARY KEY)")

    async def alarm(self):
        pass

    async def write(self, n):
        self.ctx.storage.sql.exec("INSERT INTO log VALUES (?)", n)
        await self.ctx.storage.put(f"n{n:06}", n)
        await self.ctx.storage.setAlarm(4_000_000_000_000 + n)

    async def read(self):
        rows = self.ctx.storage.sql.exec("SELECT n FROM log").toArray()
        return [[row["n"] for row in rows], list((await self.ctx.storage.list()).values()),
                await self.ctx.storage.getAlarm()]

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        _, action, name, n = request.url.split("?")[0].rsplit("/", 3)
        env, log = self.env, self.env.LOG.getByName(name)
        if action == "write":
            n = int(n)
            await env.KV.put(f"{name}/{n}", str(n))
            await env.DB.prepare("INSERT INTO log VALUES (?, ?)").bind(name, n).run()
            await env.R2.put(f"{name}/{n}", str(n))
            await log.write(n)
            return Response(str(os.getpid()))
        if action == "create":
            await env.DB.exec("CREATE TABLE log (name TEXT, n INTEGER, PRIMARY KEY (name, n))")
            return Response("created")
        rows = await env.DB.prepare("SELECT n FROM log WHERE name = ?").bind(name).all()
        stored, kept, alarm = await log.read()
        return Response.json({
            "d1": [row["n"] for row in rows["results"]], "sql": stored, "records": kept,
            "alarm": alarm - 4_000_000_000_000,
            "kv": await self.numbers(env.KV, name), "r2": await self.r2_numbers(name),
        })

    async def numbers(self, kv, name):
        found, cursor = [], None
        while True:
            options = {"prefix": f"{name}/"} | ({"cursor": cursor} if cursor else {})
            page = await kv.list(options)
            found += [int(key["name"].rpartition("/")[2]) for key in page["keys"]]
            if page["list_complete"]:
                return found
            cursor = page["cursor"]

    async def r2_numbers(self, name):
        found, cursor = [], None
        while True:
            options = {"prefix": f"{name}/"} | ({"cursor": cursor} if cursor else {})
            page = await self.env.R2.list(options)
            found += [int(entry.key.rpartition("/")[2]) for entry in page.objects]
            if not page.truncated:
                return found
            cursor = page.cursor
"""
CONFIG = {
    "name": "stores",
    "kv_namespaces": [{"binding": "KV", "id": "kv"}],
    "d1_databases": [{"binding": "DB", "database_name": "db", "database_id": "db"}],
    "r2_buckets": [{"binding": "R2", "bucket_name": "bucket"}],
    "durable_objects": {"bindings": [{"name": "LOG", "class_name": "Log"}]},
    "migrations": [{"tag": "v1", "new_sqlite_classes": ["Log"]}],
}
STORES = ("d1", "sql", "records", "kv", "r2")


class Burst:
    """Each thread writes to an object of its own and logs what was acknowledged."""

    def __init__(self, url: str, first: int) -> None:
        self._stop = threading.Event()
        self.pid = 0
        self.acknowledged: dict[str, list[int]] = {name: [] for name in ("a", "b", "c")}
        self._threads = [
            threading.Thread(target=self._run, args=(url, name, first), daemon=True)
            for name in self.acknowledged
        ]
        for thread in self._threads:
            thread.start()

    @property
    def count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def _run(self, url: str, name: str, n: int) -> None:
        with httpx.Client(base_url=url, timeout=20, trust_env=False) as client:
            while not self._stop.is_set():
                n += 1
                try:
                    answer = client.get(f"/write/{name}/{n}")
                    answer.raise_for_status()
                except httpx.HTTPError:
                    continue
                self.pid = int(answer.text)
                self.acknowledged[name].append(n)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)


def check(session: Dev, log: dict[str, list[int]]) -> None:
    for name, numbers in log.items():
        found = session.get(f"/read/{name}/0").json()
        for store in STORES:
            missing = set(numbers) - set(found[store])
            assert not missing, f"{store} of {name} lost {sorted(missing)}"
        assert sorted(found["sql"]) == found["records"], "one turn writes all or nothing"
        assert found["alarm"] == max(found["sql"])


def test_what_was_awaited_is_in_every_store_after_kill_9(
    project: Callable[..., Project], dev: Callable[..., Dev]
) -> None:
    made = project(entry=ENTRY, **CONFIG)
    log: dict[str, list[int]] = {name: [] for name in ("a", "b", "c")}
    for restart in range(3):
        session = dev(made).ready()
        if restart == 0:
            session.get("/create/x/0").raise_for_status()
        burst = Burst(session.url, restart * 100_000)
        for kills in range(1, 4):
            target = burst.count + 40
            eventually(lambda b=burst, t=target: b.count >= t, "writes are answered", within_s=30)
            os.kill(burst.pid, signal.SIGKILL)
            session.wait_for("starting it again", times=kills, within_s=30)
        target = burst.count + 40
        eventually(lambda b=burst, t=target: b.count >= t, "writes are answered", within_s=30)
        session.kill()  # the supervisor and all, in the middle of it
        burst.stop()
        for name, numbers in burst.acknowledged.items():
            log[name] += numbers
    check(dev(made).ready(), log)
