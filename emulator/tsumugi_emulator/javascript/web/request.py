"""``Request``: incoming and outgoing requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.body import Body, extract
from tsumugi_emulator.javascript.web.headers import Headers, headers_of
from tsumugi_emulator.javascript.web.members import member

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.web.abort import AbortSignal
    from tsumugi_emulator.javascript.web.body import Content

#: The standard upper-cases these only: ``patch`` stays as it is.
_NORMALISED = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"})

USED_TEXT = "Cannot reconstruct a Request with a used body."

_REDIRECTS = ("follow", "manual")


@js_class("Request")
class Request(Body):
    __slots__ = (
        "_cf",
        "_method",
        "_redirect",
        "_signal",
        "_url",
    )

    def __init__(self, method: str, url: str, headers: Headers) -> None:
        self._method = method
        self._url = url
        self._headers = headers
        self._body: Content = None
        self._body_used = False
        self._cf: Any = jsnull
        self._redirect = "follow"
        self._signal: AbortSignal | None = None
        self._context = io_context.current()

    @classmethod
    def _from_wire(
        cls,
        method: str,
        url: str,
        headers: list[tuple[str, str]],
        body: Content,
        cf: Any = None,
    ) -> Request:
        """A request as it came in; ``headers`` are lower-case and valid."""
        made = cls(method, url, Headers._from_pairs(headers, immutable=True))
        made._body = body
        made._redirect = "manual"
        if cf is not None:
            made._cf = cf
        return made

    @classmethod
    def _construct(cls, source: Any = None, init: Any = None) -> Request:
        if isinstance(source, Request):
            made = source._successor(init)
        else:
            made = cls("GET", parse_request_url(source), Headers())
        if isinstance(init, JsProxy):
            made._apply(init)
        return made

    def _successor(self, init: Any) -> Request:
        """A new request with this one's content: the body moves over, unless replaced."""
        made = Request(self._method, self._url, self._headers._copy())
        made._cf, made._redirect, made._signal = self._cf, self._redirect, self._signal
        replaced = isinstance(init, JsProxy) and init._get("body") not in (None, jsnull)
        if self._body is not None and not replaced:
            if self._is_used():
                raise type_error(USED_TEXT)
            made._body = self._body if isinstance(self._body, bytes) else self._clone_body()
            self._body_used = True
        return made

    def _apply(self, init: JsProxy) -> None:
        method = member(init, "method")
        if method is not None:
            self._method = normalise_method(method)
        headers = member(init, "headers")
        if headers is not None:
            self._headers = headers_of(headers)
        redirect = member(init, "redirect")
        if redirect is not None:
            self._redirect = _check_redirect(redirect)
        signal = member(init, "signal")
        if signal is not None and signal is not jsnull:
            self._signal = signal
        cf = member(init, "cf")
        if cf is not None:
            self._cf = cf
        self._apply_body(member(init, "body"))

    def _apply_body(self, value: Any) -> None:
        body, content_type = extract(value)
        if body is None:
            return
        if self._method in ("GET", "HEAD"):
            raise type_error("Request with a GET or HEAD method cannot have a body.")
        self._body = body
        if content_type is not None:
            self._headers._set_default("content-type", content_type)

    # -- JavaScript -----------------------------------------------------------------------------

    @js_property
    def method(self) -> str:
        return self._method

    @js_property
    def url(self) -> str:
        return self._url

    @js_property
    def headers(self) -> Headers:
        return self._headers

    @js_property
    def cf(self) -> Any:
        return self._cf

    @js_property
    def redirect(self) -> str:
        return self._redirect

    @js_property
    def signal(self) -> Any:
        if self._signal is None:
            from tsumugi_emulator.javascript.web.abort import AbortSignal

            self._signal = AbortSignal()
        return self._signal

    @js_property
    def fetcher(self) -> Any:
        return jsnull

    @js_property
    def integrity(self) -> str:
        return ""

    @js_property
    def keepalive(self) -> bool:
        return False

    @js_property
    def cache(self) -> Any:
        return None

    @js_method
    def clone(self) -> Request:
        made = Request(self._method, self._url, self._headers._copy())
        made._cf, made._redirect, made._signal = self._cf, self._redirect, self._signal
        made._body = self._clone_body()
        return made


RequestClass = Request.constructor


def normalise_method(value: Any) -> str:
    method = to_string(value)
    upper = method.upper()
    return upper if upper in _NORMALISED else method


def parse_request_url(value: Any) -> str:
    """The absolute URL of a request.

    Raises:
        JsException: TypeError, when it does not parse or is relative.
    """
    from tsumugi_emulator.javascript.web.url import parse

    text = to_string(value)
    parsed = parse(text)
    if parsed is None:
        raise type_error(f"Invalid URL: {text}")
    href: str = parsed.href
    return href


def _check_redirect(value: Any) -> str:
    text = to_string(value)
    if text.lower() not in _REDIRECTS:
        raise type_error(
            'Invalid redirect value, must be one of "follow" or "manual" ("error" won\'t be '
            'implemented since it does not make sense at the edge; use "manual" and check the '
            "response status code)."
        )
    return text.lower()


__all__ = ["Request", "RequestClass", "normalise_method", "parse_request_url"]
