"""Answer every request with a greeting."""

from urllib.parse import parse_qs, urlsplit

from greeting import greet
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        query = parse_qs(urlsplit(request.url).query)
        name = query.get("name", ["World"])[0]
        return Response(greet(self.env.GREETING, name))
