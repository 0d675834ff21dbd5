"""The measured Worker; ``workers/platform-javascript/entry.js`` is the same in JavaScript."""

from __future__ import annotations

import asyncio
import itertools
import time
from urllib.parse import parse_qs, urlsplit

from workers import DurableObject, Response, WorkerEntrypoint

BATCH = 100

#: Due times of the alarms that ran, in the order in which their handlers began.
ran = []
last_ran_ms = 0.0


class Measured(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.sql = ctx.storage.sql
        self.total = 0

    async def add(self, number):
        self.total += number
        return self.total

    async def prepare(self, count):
        """A table with ``count`` rows."""
        self.sql.exec("DROP TABLE IF EXISTS items")
        self.sql.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, size REAL)")
        await self.insert(count)

    async def insert(self, count):
        sql = self.sql
        for index in range(count):
            sql.exec("INSERT INTO items (name, size) VALUES (?, ?)", "item", index)

    async def select(self, count):
        sql = self.sql
        total = 0
        for index in range(1, count + 1):
            total += sql.exec("SELECT id, name, size FROM items WHERE id = ?", index).one()["id"]
        return total

    async def scan(self):
        total = 0
        for row in self.sql.exec("SELECT id, name, size FROM items"):
            total += row["id"]
        return total

    async def set_alarm(self, due_ms):
        await self.ctx.storage.put("due_ms", due_ms)
        await self.ctx.storage.setAlarm(due_ms)

    async def alarm(self):
        global last_ran_ms
        due_ms = await self.ctx.storage.get("due_ms")
        ran.append(due_ms)
        await self.ctx.storage.put("ran_ms", due_ms)
        last_ran_ms = time.time() * 1000


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        query = {name: int(values[0]) for name, values in parse_qs(url.query).items()}
        match url.path:
            case "/":
                return Response("Hello World!")
            case "/rpc":
                await self.call(query["count"])
            case "/prepare" | "/insert" | "/select" | "/scan":
                stub = self.env.OBJECTS.getByName("sql")
                await getattr(stub, url.path[1:])(*query.values())
            case "/d1-prepare":
                await self.env.DB.exec("DROP TABLE IF EXISTS items")
                await self.env.DB.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, name, size)")
            case "/d1":
                await self.write(query["count"])
            case "/d1-batch":
                await self.write_batches(query["count"])
            case "/objects":
                await self.set_alarms(query["first"], query["count"], query["due_ms"])
            case "/alarms":
                late = sum(after < before for before, after in itertools.pairwise(ran))
                return Response.from_json(
                    {"ran": len(ran), "last_ran_ms": last_ran_ms, "out_of_order": late}
                )
            case _:
                return Response("Not found", status=404)
        return Response("done")

    async def call(self, count):
        """``count`` calls of one object, one after the other."""
        stub = self.env.OBJECTS.getByName("rpc")
        for _ in range(count):
            await stub.add(1)

    async def write(self, count):
        for index in range(count):
            statement = self.env.DB.prepare("INSERT INTO items (name, size) VALUES (?, ?)")
            await statement.bind("item", index).run()

    async def write_batches(self, count):
        statement = self.env.DB.prepare("INSERT INTO items (name, size) VALUES (?, ?)")
        for first in range(0, count, BATCH):
            await self.env.DB.batch(
                [statement.bind("item", index) for index in range(first, first + BATCH)]
            )

    async def set_alarms(self, first, count, due_ms):
        """An alarm a millisecond, each of an object of its own."""
        for start in range(first, first + count, BATCH):
            await asyncio.gather(
                *(
                    self.env.OBJECTS.getByName(f"object-{index}").set_alarm(due_ms + index)
                    for index in range(start, start + BATCH)
                )
            )
