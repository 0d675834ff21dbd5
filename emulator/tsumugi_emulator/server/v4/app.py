"""The ASGI application: routes behind the guard. Listens on nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from . import consumers, envelope, errors, messages, queues
from .guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from tsumugi_emulator.queues.control import QueueControl
    from tsumugi_emulator.tokens import Tokens


def build(control: QueueControl, tokens: Tokens, log: Callable[[str, str], None]) -> Guard:
    app = Starlette(
        # The busiest first: routes are tried in order.
        routes=[*messages.routes(control), *queues.routes(control), *consumers.routes(control)],
        exception_handlers={HTTPException: _unrouted},
    )
    app.router.redirect_slashes = False
    app.state.log = log
    return Guard(app, tokens)


async def _unrouted(request: Request, exc: Exception) -> Response:
    if isinstance(exc, HTTPException) and exc.status_code == 405:
        return envelope.failure(errors.method_not_allowed(request.method))
    return envelope.failure(errors.no_route(request.url.path))
