"""Counters that can be bumped and read, and alarms that say when they ran."""

import os
import time
from urllib.parse import parse_qs, urlsplit

from workers import DurableObject, Response, WorkerEntrypoint, env, fetch

VERSION = "v1"
MADE_AT_IMPORT = env.COUNTER.idFromName("a")
try:
    env.COUNTER.getByName("a")
except Exception as error:
    STUB_AT_IMPORT = str(error)


class Counter(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.ctx.storage.sql.exec(
            "CREATE TABLE IF NOT EXISTS log (n INTEGER PRIMARY KEY, pid INTEGER)"
        )

    async def bump(self):
        n = (await self.ctx.storage.get("n") or 0) + 1
        await self.ctx.storage.put("n", n)
        self.ctx.storage.sql.exec("INSERT INTO log VALUES (?, ?)", n, os.getpid())
        return [n, os.getpid(), VERSION]

    async def read(self):
        rows = self.ctx.storage.sql.exec("SELECT n FROM log ORDER BY n").toArray()
        return {"n": await self.ctx.storage.get("n"), "log": [row.n for row in rows]}

    async def slow(self, gate):
        print("slow call began")
        await fetch(gate)
        return VERSION


class Clocked(DurableObject):
    async def set(self, delay_ms):
        await self.ctx.storage.setAlarm(int(time.time() * 1000) + delay_ms)

    async def alarm(self, info):
        print(f"alarm of {self.ctx.id.name} {VERSION} retry {info.retryCount}")
        await self.ctx.storage.put("ran", await self.ctx.storage.get("ran") or 0)

    async def get(self):
        return await self.ctx.storage.getAlarm()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        name = query.get("name", "a")
        match url.path:
            case "/import":
                same = MADE_AT_IMPORT.equals(self.env.COUNTER.idFromName("a"))
                return Response.json([same, STUB_AT_IMPORT])
            case "/pid":
                return Response(str(os.getpid()))
            case "/bump":
                return Response.json(await self.env.COUNTER.getByName(name).bump())
            case "/read":
                return Response.json(await self.env.COUNTER.getByName(name).read())
            case "/slow":
                gate = query["gate"]
                return Response.json(await self.env.COUNTER.getByName(name).slow(gate))
            case "/alarm":
                for number in range(int(query.get("count", "1"))):
                    stub = self.env.CLOCKED.getByName(f"{name}{number}")
                    await stub.set(int(query["ms"]) + number)
                return Response("set")
            case "/alarm/get":
                return Response.json(await self.env.CLOCKED.getByName(name).get())
        return Response("no such path", status=404)
