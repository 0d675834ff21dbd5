"""From a handler to an endpoint: scopes checked, refusals in the envelope. No handlers here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route

from tsumugi_emulator.queues.errors import QueueError

from . import envelope, errors
from .errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response

    type Handler = Callable[[Request], Awaitable[Response]]

BASE = "/client/v4/accounts/{account}/queues"
READ, WRITE = "queues:read", "queues:write"


def route(path: str, method: str, handler: Handler, *scopes: str) -> Route:
    """``scopes`` are those a token must have."""

    async def endpoint(request: Request) -> Response:
        try:
            missing = [scope for scope in scopes if scope not in request.state.scopes]
            if missing:
                raise errors.unauthorized(
                    f"the token lacks {' and '.join(missing)}", http_status=403
                )
            return await handler(request)
        except (ApiError, QueueError) as refused:
            return envelope.failure(refused)
        except ClientDisconnect:
            return envelope.failure(errors.invalid_body("the client disconnected"))
        except Exception as exc:
            request.app.state.log("error", f"The queues API failed: {type(exc).__name__}: {exc}")
            return envelope.failure(errors.internal(type(exc).__name__))

    return Route(BASE + path, endpoint, methods=[method])


def queue_id(request: Request) -> str:
    """The queue of the path, which may not exist."""
    value: str = request.path_params["queue_id"]
    if len(value) != 32 or not all(digit in "0123456789abcdef" for digit in value):
        raise errors.queue_id_malformed(value)
    return value
