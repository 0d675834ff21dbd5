"""Jobs coordinated in one Worker and performed in another, over a service binding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dev_session import eventually
from vendored import vendor_if_needed

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev_session import Dev, Project

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

HERE = """
from tsumugi import Tsumugi, remote
from workers import Response

Charge = remote("BILLING", "Charge", guarantee="at-most-once")
tsumugi = Tsumugi(performers=[Charge])

class TsumugiJobShard(tsumugi.JobShard): ...

class Default(tsumugi.Entrypoint):
    async def fetch(self, request):
        if request.method == "POST":
            return Response.json(await tsumugi.enqueue(self.env, Charge, await request.json()))
        job_id = request.url.partition("?")[2].replace("%23", "#")
        return Response.json(await tsumugi.get(self.env, job_id))
"""

THERE = """
import asyncio
from typing import Any
from pydantic import BaseModel
from tsumugi import JobContext, Performer, Tsumugi

class Payment(BaseModel):
    amount: int
    takes_s: float = 0

class Charge(Performer[Payment]):
    async def perform(self, payload: Payment, ctx: JobContext) -> Any:
        await ctx.log("asked")
        await ctx.heartbeat(0.25)
        await asyncio.sleep(payload.takes_s)
        if payload.amount < 0:
            raise ValueError("nothing to charge")
        return {"charged": payload.amount, "by": self.env.NAME}

tsumugi = Tsumugi(performers=[Charge])

class Default(tsumugi.Entrypoint): ...
"""


def test_a_job_is_performed_by_another_worker(project: MakeProject, dev: RunDev) -> None:
    here = project(
        entry=HERE,
        at="here",
        name="here",
        queues={
            "producers": [{"binding": "TSUMUGI_QUEUE", "queue": "jobs"}],
            "consumers": [{"queue": "jobs", "max_batch_timeout": 0}],
        },
        durable_objects={"bindings": [{"name": "TSUMUGI_SHARD", "class_name": "TsumugiJobShard"}]},
        migrations=[{"tag": "v1", "new_sqlite_classes": ["TsumugiJobShard"]}],
        services=[{"binding": "BILLING", "service": "there"}],
    )
    there = project(entry=THERE, at="there", name="there", vars={"NAME": "billing"})
    for each in (here, there):
        vendor_if_needed(each)
    session = dev(here, "-c", "wrangler.json", "-c", str(there.directory / "wrangler.json")).ready()

    def ended(payload: Any) -> dict[str, Any]:
        job_id = session.post("/", json=payload).json()
        path = f"/?{job_id.replace('#', '%23')}"
        return eventually(  # type: ignore[no-any-return]
            lambda: (job := session.get(path).json())["finished_at"] and job, "the job ends"
        )

    done = ended({"amount": 5})
    assert (done["state"], done["result"]) == ("COMPLETED", {"charged": 5, "by": "billing"})
    assert done["progress"] == 0.25
    assert [line["text"] for line in done["logs"]] == ["asked"]
    wrong = ended({"amount": "much"})
    assert (wrong["state"], wrong["error"]["type"]) == ("FAILED", "tsumugi.PayloadError")
    assert "Charge takes Payment" in wrong["error"]["message"]
