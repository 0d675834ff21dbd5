"""The SQL API of Analytics Engine over local datasets: one route, to be mounted. No datasets here.

``POST`` with the query as body, or ``GET`` with ``?query=``; the answer has the service's shape.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from tsumugi_emulator.storage.analytics import query
from tsumugi_emulator.storage.analytics_sql import QueryError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from starlette.requests import Request

    from tsumugi_emulator.clock import Clock
    from tsumugi_emulator.storage.analytics import Answer


def analytics_sql(state: Path, clock: Clock) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint for ``.../analytics_engine/sql`` over the datasets in ``state``."""

    async def endpoint(request: Request) -> Response:
        text = request.query_params.get("query") or (await request.body()).decode(
            "utf-8", "replace"
        )
        try:
            answer = query(state, text, clock)
        except QueryError as error:
            return PlainTextResponse(f"Error: {error}\n", status_code=422)
        return rendered(answer)

    return endpoint


def rendered(answer: Answer) -> Response:
    names = [name for name, _ in answer.columns]
    if answer.format == "TabSeparated":
        lines = ["\t".join(_cell(value) for value in row) for row in answer.rows]
        text = "".join(f"{line}\n" for line in lines)
        return Response(text, media_type="text/tab-separated-values; charset=UTF-8")
    objects = [dict(zip(names, row, strict=True)) for row in answer.rows]
    if answer.format == "JSONEachRow":
        lines = [json.dumps(item, ensure_ascii=False) for item in objects]
        return Response("".join(f"{line}\n" for line in lines), media_type="application/x-ndjson")
    document = {
        "meta": [{"name": name, "type": kind} for name, kind in answer.columns],
        "data": objects,
        "rows": len(objects),
        "rows_before_limit_at_least": len(objects),
    }
    return Response(json.dumps(document, ensure_ascii=False), media_type="application/json")


def _cell(value: object) -> str:
    text = "\\N" if value is None else str(value)
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") if value else text
