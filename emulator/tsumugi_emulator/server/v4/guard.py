"""Who may use the API: this machine's own clients, with a token. In front of every route.

A web page must not get through, whatever name it makes resolve to this machine: the Host header has
to name the loopback, and no other origin is answered. Tokens are compared in constant time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import envelope, errors
from .errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tsumugi_emulator.tokens import Tokens

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Guard:
    def __init__(self, app: Callable[..., Awaitable[None]], tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        try:
            check_origin(headers)
            scopes = self._scopes(headers)
        except ApiError as refused:
            await envelope.failure(refused)(scope, receive, send)
            return
        scope.setdefault("state", {})["scopes"] = scopes
        path = scope["path"]
        if path.endswith("/"):
            scope = {**scope, "path": path.rstrip("/")}
        await self._app(scope, receive, send)

    def _scopes(self, headers: Mapping[bytes, str]) -> frozenset[str]:
        kind, _, token = headers.get(b"authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise errors.unauthorized(
                "send a token as `Authorization: Bearer <token>`; "
                "`tsumugi tokens create` makes one",
                http_status=401,
            )
        scopes = self._tokens.scopes_of(token.strip())
        if scopes is None:
            raise errors.unauthorized(
                "the token is not known here; `tsumugi tokens create` makes one", http_status=403
            )
        return scopes


def check_origin(headers: Mapping[bytes, str]) -> None:
    host = headers.get(b"host", "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if name.lower() not in LOOPBACK_NAMES:
        raise errors.unauthorized(f'the host "{host[:100]}" is not this machine', http_status=403)
    origin = headers.get(b"origin")
    if origin is not None and origin.lower() != f"http://{host.lower()}":
        raise errors.unauthorized("requests from web pages are not answered", http_status=403)
    if headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin"):
        raise errors.unauthorized("requests from web pages are not answered", http_status=403)
