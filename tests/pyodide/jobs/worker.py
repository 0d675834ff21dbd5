"""A Worker as its user writes it, with performers for every way a job can go."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import unquote, urlsplit

from tsumugi import Binding, FixedBackoff, Job, JobShard, Performer, Policy, Tsumugi, bearer_auth
from tsumugi.jobs.shard.limits import within
from workers import Response

try:
    from pydantic import BaseModel
except ImportError:  # not to be had for this Pyodide: payloads are plain JSON
    HAS_MODELS = False
else:
    HAS_MODELS = True

#: Every attempt that was begun, told by the performers themselves.
BEGUN = []


def begun(ctx):
    BEGUN.append([ctx.job_id, ctx.attempt])
    return ctx.attempt


if HAS_MODELS:

    class Numbers(BaseModel):
        a: int
        b: int

    class Add(Performer[Numbers]):
        async def perform(self, payload, ctx):
            begun(ctx)
            return payload.a + payload.b
else:

    class Add(Performer):
        async def perform(self, payload, ctx):
            begun(ctx)
            return payload["a"] + payload["b"]


class Charge(Performer):
    guarantee = "at-most-once"
    requires = ("concurrency_key",)

    async def perform(self, payload, ctx):
        begun(ctx)
        await ctx.log(f"charging {payload['cents']}")
        await ctx.heartbeat(0.5)
        return {"key": ctx.idempotency_key}


class Flaky(Performer):
    max_attempts = 3
    backoff = FixedBackoff(delay_ms=20_000, jitter=False)

    async def perform(self, payload, ctx):
        if begun(ctx) <= payload["failures"]:
            raise RuntimeError(f"attempt {ctx.attempt} fails")
        return "at last"


class Measure(Performer):
    def perform(self, payload, ctx):
        begun(ctx)
        return len(payload["text"])


tsumugi = Tsumugi(
    performers=[Add, Charge, Flaky, Measure],
    bindings={"Charge": Binding(policy=Policy(per_key_concurrency=1))},
    # The API is made of models.
    auth=bearer_auth(lambda env: env.TSUMUGI_TOKEN) if HAS_MODELS else None,
)


class TsumugiJobShard(JobShard, app=tsumugi): ...


class Default(tsumugi.Entrypoint):
    async def fetch(self, request):
        place = urlsplit(request.url).path
        if place.startswith("/api/"):
            return await super().fetch(request)
        if place.startswith("/job/"):
            job_id = unquote(place.removeprefix("/job/"))
            return Response.from_json(await tsumugi.get(self.env, job_id))
        performer, wanted = json.loads(await request.text())
        if place == "/enqueue":
            return Response.from_json([await tsumugi.enqueue(self.env, performer, wanted)])
        jobs = [
            Job(each["payload"], **each["options"]) if "options" in each else each
            for each in wanted
        ]
        return Response.from_json(await tsumugi.enqueue_many(self.env, performer, jobs))


async def attempts():
    """What was performed, since it was last asked."""
    taken, BEGUN[:] = json.dumps(BEGUN), []
    return taken


async def too_slow():
    """What becomes of a call that takes longer than a shard waits."""
    try:
        async with within(0.02):
            await asyncio.sleep(2)
    except TimeoutError:
        return '"ended"'
    return '"waited for"'
