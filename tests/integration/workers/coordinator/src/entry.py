"""Jobs whose performers keep a log of their own, and a world that can be made to fail.

POST /enqueue  [{"performer": "Work", "payload": {...}, "options": {...}}]  -> ids
POST /faults   {"send": "refuse" | "double", "settle": "lose" | "lose-answer", "begin": ...,
                "database": "refuse", "clock_ms": 5000}   until the next POST, or the process ends
POST /jobs     [id]  -> the jobs as their shard, or the read model, has them
"""

import asyncio
import json
import os
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from faults import FAULTS, Failing
from pydantic import BaseModel
from tsumugi import Binding, FixedBackoff, JobContext, Performer, Policy, Tsumugi, bearer_auth
from workers import Response, env


class Task(BaseModel):
    #: Attempts that fail.
    fail_times: int = 0
    #: How long each attempt takes, where it is not slower.
    takes_ms: int = 0
    #: Attempts that end the process.
    exit_times: int = 0


def note(event: str, ctx: JobContext) -> None:
    line = {"event": event, "job": ctx.job_id, "attempt": ctx.attempt, "pid": os.getpid()}
    path = Path(env.LOG_FILE)
    if not path.parent.is_dir():
        show_to_pyodide(str(path.parent))
    with path.open("a") as log:
        log.write(json.dumps(line) + "\n")


def show_to_pyodide(folder: str) -> None:
    """Mount a folder of the machine: a log there outlives every process, as under CPython."""
    import js
    import pyodide_js

    options = js.Object.fromEntries([["root", folder]])
    pyodide_js.FS.mkdirTree(folder)
    pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, options, folder)


class Work(Performer[Task]):
    max_attempts = 5
    backoff = FixedBackoff(50, jitter=False)
    timeout_ms = 3_000 * env.SLOWER

    async def perform(self, payload: Task, ctx: JobContext) -> dict:
        note("start", ctx)
        if ctx.attempt <= payload.exit_times:
            # Until its shard knows that the queue has it, an attempt costs nothing (ADR-0124).
            await asyncio.sleep(0.05 * env.SLOWER)
            os._exit(1)
        if payload.takes_ms:
            await asyncio.sleep(payload.takes_ms * env.SLOWER / 1_000)
        if ctx.attempt <= payload.fail_times:
            raise RuntimeError(f"told to fail attempt {ctx.attempt}")
        note("end", ctx)
        return {"attempt": ctx.attempt}


class Once(Work):
    guarantee = "at-most-once"


policy = Policy(reaper_grace_ms=500 * env.SLOWER, concurrency=50)
tsumugi = Tsumugi(
    performers=[Work, Once],
    bindings={"Work": Binding(policy=policy), "Once": Binding(policy=policy)},
    auth=bearer_auth(lambda env: env.TSUMUGI_TOKEN),
)


class TsumugiJobShard(tsumugi.JobShard):
    def __init__(self, ctx, env):
        super().__init__(ctx, Failing(env))


class Default(tsumugi.Entrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        match f"{request.method.value} {url.path}":
            case "GET /pid":
                return Response(str(os.getpid()))
            case "POST /faults":
                FAULTS.clear()
                FAULTS.update(await request.json())
                return Response("ok")
            case "POST /enqueue":
                return Response.from_json(await self.enqueue(await request.json()))
            case "POST /retry":
                return Response.from_json((await tsumugi.retry(self.env, query["id"])).outcome)
            case "POST /jobs":
                ids = await request.json()
                return Response.from_json(
                    await asyncio.gather(*(tsumugi.get(self.env, job_id) for job_id in ids))
                )
            case "GET /diagnostics":
                return Response.from_json(
                    {name: await tsumugi.diagnostics(self.env, name) for name in ("Work", "Once")}
                )
        return await super().fetch(request)

    async def enqueue(self, wanted):
        ids = []
        for one in wanted:
            payloads = [one.get("payload", {})] * one.get("count", 1)
            ids += await tsumugi.enqueue_many(
                self.env, one["performer"], payloads, **one.get("options", {})
            )
        return ids

    async def queue(self, batch, env=None, ctx=None):
        await tsumugi.consume(batch, Failing(self.env))


_time_ns = time.time_ns
time.time_ns = lambda: _time_ns() + 1_000_000 * FAULTS.get("clock_ms", 0)
