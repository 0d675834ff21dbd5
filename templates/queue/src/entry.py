"""Accept jobs over HTTP, work through them from a queue, report the ones that keep failing."""

from urllib.parse import urlsplit

from jobs import check_job, report_dead, work_through
from workers import Response, WorkerEntrypoint

USAGE = """\
POST /       one job:   {"text": "hello"}
POST /batch  many jobs: [{"text": "one"}, {"text": "two"}]

Add "fail_times": 2 to a job to see it fail twice, wait, and succeed;
"fail_times": 9 to see it end in the dead letter queue.
"""


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        route = f"{request.method} {urlsplit(request.url).path}"
        if route == "GET /":
            return Response(USAGE)
        if route not in ("POST /", "POST /batch"):
            return Response("Not found\n", status=404)

        try:
            body = await request.json()
            jobs = [check_job(job) for job in (body if route == "POST /batch" else [body])]
        except (TypeError, ValueError) as error:
            return Response.from_json({"error": str(error)}, status=400)
        if not 1 <= len(jobs) <= 100:
            return Response.from_json({"error": "send 1 to 100 jobs"}, status=400)

        # Await it: a send that nobody awaits may be lost when the handler returns.
        await self.env.JOBS.sendBatch([{"body": job} for job in jobs])
        return Response.from_json({"queued": len(jobs)}, status=202)

    # The runtime passes three arguments, the last two of them None: use self.env and self.ctx.
    async def queue(self, batch, env=None, ctx=None):
        if batch.queue.endswith("-dlq"):
            report_dead(batch)
        else:
            await work_through(batch)
