"""Take orders over HTTP; everything slow or fragile about them is a job."""

from urllib.parse import urlsplit

from jobs import ChargeCard, Order, tsumugi
from pydantic import ValidationError
from tsumugi import Entrypoint, JobShard
from workers import Request, Response

USAGE = """\
POST /orders  {"id": "A-1", "customer": "ada", "cents": 1990}

The same order twice is one job. The jobs are under /api, with the token in .dev.vars:
tsumugi jobs list
"""


class TsumugiJobShard(JobShard, app=tsumugi):
    """Keeps the jobs; exported so that wrangler.jsonc can name it."""


class Default(Entrypoint, app=tsumugi):
    async def fetch(self, request: Request) -> Response:
        route = f"{request.method} {urlsplit(request.url).path}"
        if route == "GET /":
            return Response(USAGE)
        if route == "POST /orders":
            return await self.take_order(request)
        return await super().fetch(request)  # /api, and 404

    async def take_order(self, request: Request) -> Response:
        try:
            order = Order.model_validate_json(await request.text())
        except ValidationError as error:
            return Response.from_json({"errors": error.errors(include_url=False)}, status=400)
        job_id = await tsumugi.enqueue(
            self.env,
            ChargeCard,
            order,
            unique_key=order.id,
            concurrency_key=order.customer,
        )
        return Response.from_json({"job": job_id}, status=202)
