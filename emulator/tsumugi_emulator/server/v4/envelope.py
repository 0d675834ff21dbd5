"""The envelope every answer comes in. Knows nothing of what is inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from starlette.responses import Response

if TYPE_CHECKING:
    from tsumugi_emulator.queues.errors import QueueError

    from .errors import ApiError


def success(result: Any, *, info: dict[str, int] | None = None) -> Response:
    body: dict[str, Any] = {"success": True, "errors": [], "messages": [], "result": result}
    if info is not None:
        body["result_info"] = info
    return _json(body, 200)


def failure(error: ApiError | QueueError) -> Response:
    described: dict[str, Any] = {"code": error.code, "message": error.message}
    if pointer := getattr(error, "pointer", None):
        described["source"] = {"pointer": pointer}
    body = {"success": False, "errors": [described], "messages": [], "result": None}
    response = _json(body, error.http_status)
    if error.http_status == 401:
        response.headers["www-authenticate"] = "Bearer"
    return response


def _json(body: Any, status: int) -> Response:
    return Response(orjson.dumps(body), status, media_type="application/json")
