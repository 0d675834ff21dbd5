"""Static assets in front of the Worker: an ASGI application around another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.assets.site import AssetRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tsumugi_emulator.assets.site import Site


class AssetsFront:
    def __init__(
        self, site: Callable[[], Site | None], app: Callable[..., Awaitable[None]]
    ) -> None:
        """``site`` may change with each reload."""
        self._site = site
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        site = self._site() if scope["type"] == "http" else None
        answer = None if site is None else site.before_worker(_request(scope))
        if answer is None:
            await self._app(scope, receive, send)
            return
        headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
        body = answer.body or b""
        if answer.body is not None:
            headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _request(scope: dict[str, Any]) -> AssetRequest:
    from ada_url import URL

    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
    origin = f"{scope['scheme']}://{headers.get('host', 'localhost')}"
    path = URL(f"http://localhost{raw.decode('latin-1')}").pathname
    query = scope["query_string"].decode("latin-1")
    return AssetRequest(scope["method"], path, query, headers, origin)
