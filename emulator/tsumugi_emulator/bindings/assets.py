"""``env.ASSETS``: the Worker's own static files. Which file a path means is not known here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.assets.site import AssetRequest
from tsumugi_emulator.bindings.service import outgoing_request
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.promise import rejected, resolved
from tsumugi_emulator.javascript.values import JsProxy
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.response import Response

if TYPE_CHECKING:
    from tsumugi_emulator.assets.site import AssetAnswer, Site
    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.javascript.web.request import Request


@js_class("Fetcher", constructible=False)
class AssetsBinding(JsProxy):
    __slots__ = ("_site",)

    def __init__(self, site: Site) -> None:
        self._site = site

    @js_method
    def fetch(self, source: Any = None, init: Any = None) -> PyodideFuture:
        io_context.require()
        try:
            request = outgoing_request(source, init)
        except JsException as error:
            return rejected(error)
        return resolved(response_of(self._site.fetch(asset_request(request))))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("then", "js_object"):
            raise AttributeError(name)
        raise type_error(f'The RPC receiver does not implement the method "{name}".')


def asset_request(request: Request) -> AssetRequest:
    headers = dict(request._headers._pairs)
    return AssetRequest.of_url(request._method, request._url, headers)


def response_of(answer: AssetAnswer) -> Response:
    made = Response(answer.body, Headers._from_pairs(list(answer.headers), immutable=True))
    made._status = answer.status
    return made
