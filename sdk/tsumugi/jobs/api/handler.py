"""From the runtime's request to an answer and back. Which endpoint does what is ``routes``'s."""

from __future__ import annotations

import inspect
import logging
import time
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.api.values import (
    Answer,
    ApiRequest,
    Call,
    Refused,
    method_of,
    query_of,
    segments_of,
)
from tsumugi.jobs.stubs import MissingBinding, ShardError
from tsumugi.jobs.wire import dumps

if TYPE_CHECKING:
    from tsumugi.jobs.api.services import Services

_log = logging.getLogger("tsumugi.jobs.api")

PREFIX: Final = "api"
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


async def handle(request: Any, env: Any, services: Services) -> Any:
    """Answer a request under ``/api``; None for any other, which is not ours.

    ``request`` is a ``workers.Request``, the answer a ``workers.Response``. Without ``auth``
    everything under ``/api`` is a 404.
    """
    if segments_of(request.url)[0] != PREFIX:
        return None
    answered = await answer(request, env, services, now_ms=time.time_ns() // 1_000_000)
    from workers import Response

    headers = {"content-type": "application/json", "cache-control": "no-store", **answered.headers}
    return Response(dumps(answered.body), status=answered.status, headers=headers)


async def answer(request: Any, env: Any, services: Services, *, now_ms: int) -> Answer:
    """The same as a value. Never raises for what a caller can do."""
    if services.auth is None:
        _log.info("there is no API without auth: give Tsumugi(auth=...), such as bearer_auth")
        return Answer(status=404, body={"error": "not found"})
    if not await _is_allowed(services.auth, request, env):
        return _unauthorized(services.auth, env)
    # Only now: its models need pydantic, which is slow to load.
    from tsumugi.jobs.api.routes import ROUTES
    from tsumugi.jobs.api.routing import find_route

    try:
        asked = await _read(request)
        route, given = find_route(ROUTES, asked.method, asked.segments)
        arguments = route.arguments(asked, given)
        call = Call(request=asked, env=env, services=services, now_ms=now_ms)
        return await route.endpoint(call, *arguments)
    except Refused as refused:
        return refused.answer()
    except MissingBinding as error:
        return Refused(503, str(error), missing=[error.name]).answer()
    except ShardError as error:
        # It may be about to move or to start again; what was asked may have been done.
        _log.warning("%s", error, exc_info=True)
        return Refused(503, f"{error}. Ask again", shard=error.shard).answer()


async def _read(request: Any) -> ApiRequest:
    method = method_of(request)
    return ApiRequest(
        # The platform leaves out the body of what answers HEAD.
        method="GET" if method == "HEAD" else method,
        segments=segments_of(request.url),
        query=query_of(request.url),
        traceparent=request.headers.get("traceparent"),
        body=await request.text() if method in _WITH_BODY else "",
    )


async def _is_allowed(auth: Any, request: Any, env: Any) -> bool:
    try:
        allowed = auth(request, env)
        if inspect.isawaitable(allowed):
            allowed = await allowed
    except Exception:
        _log.exception("auth failed, so the request is refused")
        return False
    # Not whatever counts as true: a function that forgets to decide must let nobody in.
    return allowed is True


def _unauthorized(auth: Any, env: Any) -> Answer:
    explain = getattr(auth, "explain", None)
    error = explain(env) if explain is not None else "unauthorized"
    challenge = getattr(auth, "challenge", "Bearer")
    return Answer(status=401, body={"error": error}, headers={"www-authenticate": challenge})
