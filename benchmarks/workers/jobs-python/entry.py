"""Jobs that do nothing, and what the benchmark asks about them."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import parse_qs, urlsplit

from tsumugi import Binding, Job, Performer, Policy, Rate, Retention, Tsumugi
from workers import Response

#: Longer than any run.
WAIT_LIMIT_S = 120.0
POLL_S = 0.004


class Noop(Performer[dict]):
    async def perform(self, payload, ctx):
        return None


class AllAxes(Noop):
    """The same under a rate and with a key for each job, neither of which holds anything back."""


tsumugi = Tsumugi(
    performers=[Noop, AllAxes],
    bindings={
        "Noop": Binding(policy=Policy(concurrency=100)),
        "AllAxes": Binding(
            policy=Policy(
                concurrency=100,
                per_key_concurrency=1,
                rate=Rate(1_000_000, per_ms=1_000),
            )
        ),
    },
    # Runs are over when so many jobs are COMPLETED: none may be swept meanwhile.
    retention=Retention(sweep_after_ms=86_400_000),
)


class TsumugiJobShard(tsumugi.JobShard):
    pass


class Default(tsumugi.Entrypoint):
    async def fetch(self, request):
        parts = urlsplit(request.url)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        handler = getattr(self, f"do_{parts.path.strip('/') or 'ready'}")
        return Response.from_json(await handler(**asked))

    async def do_ready(self):
        return {}

    async def do_enqueue(self, name="Noop", count="1", keys="0"):
        """Make jobs with one call; with ``keys``, each has one of that many."""
        number, of_keys = int(count), int(keys)
        payloads = [{"n": n} for n in range(number)]
        if of_keys:
            payloads = [
                Job(payload, concurrency_key=f"k{n % of_keys}")
                for n, payload in enumerate(payloads)
            ]
        start = time.perf_counter()
        ids = await tsumugi.enqueue_many(self.env, name, payloads)
        return {"ms": 1000 * (time.perf_counter() - start), "count": len(set(ids))}

    async def do_completed(self, name="Noop", count="0"):
        """Answer once that many jobs are COMPLETED."""
        end = time.perf_counter() + WAIT_LIMIT_S
        while time.perf_counter() < end:
            states = await self.states(name)
            if states.get("COMPLETED", 0) >= int(count):
                return states
            await asyncio.sleep(POLL_S)
        return states

    async def do_states(self, name="Noop"):
        return await self.states(name)

    async def do_paused(self, name="Noop", paused="1"):
        await tsumugi.set_policy(self.env, name, paused=paused == "1")
        return {}

    async def do_one(self, name="Noop", count="1"):
        """The ``count``-th job: milliseconds from its creation to its end, as its shard saw it."""
        job_id = await tsumugi.enqueue(self.env, name, {"n": 0})
        await self.do_completed(name, count)
        job = await tsumugi.get(self.env, job_id)
        return {"ms": job["finished_at"] - job["created_at"]}

    async def do_projected(self, name="Noop"):
        """Answer once the read model knows everything; how many jobs it lacks if that fails."""
        end = time.perf_counter() + WAIT_LIMIT_S
        while True:
            (shard,) = (await tsumugi.diagnostics(self.env, name)).values()
            if not shard["outbox"] or time.perf_counter() > end:
                return {"lacks": shard["outbox"]}
            await asyncio.sleep(0.1)

    async def states(self, name):
        (answer,) = (await tsumugi.stats(self.env, name)).values()
        return answer["counts"]
