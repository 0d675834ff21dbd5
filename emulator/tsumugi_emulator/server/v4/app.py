"""The ASGI application: routes behind the guard. Listens on nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from . import consumers, envelope, errors, messages, queues
from .guard import Guard

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from tsumugi_emulator.queues.control import QueueControl
    from tsumugi_emulator.tokens import Tokens


#: The SQL API of Analytics Engine, whose answers have their own shape.
ANALYTICS_PATH = "/client/v4/accounts/{account}/analytics_engine/sql"


def build(
    control: QueueControl,
    tokens: Tokens,
    log: Callable[[str, str], None],
    *,
    analytics: Callable[[Request], Awaitable[Response]] | None = None,
) -> Guard:
    """``analytics`` answers SQL over the local datasets."""
    # The busiest first: routes are tried in order.
    routes = [*messages.routes(control), *queues.routes(control), *consumers.routes(control)]
    if analytics is not None:
        routes.append(Route(ANALYTICS_PATH, analytics, methods=["GET", "POST"]))
    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _unrouted},
    )
    app.router.redirect_slashes = False
    app.state.log = log
    return Guard(app, tokens)


async def _unrouted(request: Request, exc: Exception) -> Response:
    if isinstance(exc, HTTPException) and exc.status_code == 405:
        return envelope.failure(errors.method_not_allowed(request.method))
    return envelope.failure(errors.no_route(request.url.path))
