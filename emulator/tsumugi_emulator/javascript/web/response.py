"""``Response``: what a handler returns and what ``fetch`` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import range_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property, js_static
from tsumugi_emulator.javascript.strings import to_int32, to_string
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.body import Body, extract
from tsumugi_emulator.javascript.web.headers import Headers, headers_of
from tsumugi_emulator.javascript.web.members import member

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.web.body import Content

STATUS_RANGE_TEXT = (
    "Responses may only be constructed with status codes in the range 200 to 599, inclusive."
)
NULL_BODY_STATUSES = frozenset({101, 204, 205, 304})
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})


@js_class("Response")
class Response(Body):
    __slots__ = (
        "_cf",
        "_is_encoded",
        "_redirected",
        "_status",
        "_status_text",
        "_type",
        "_url",
        "_web_socket",
    )

    def __init__(self, body: Content, headers: Headers) -> None:
        self._body = body
        self._body_used = False
        self._headers = headers
        self._status = 200
        self._status_text = ""
        self._url = ""
        self._redirected = False
        self._type = "default"
        self._web_socket: Any = None
        #: Whether its body is encoded already, as its headers say (``encodeBody: "manual"``).
        self._is_encoded = False
        self._cf: Any = None
        self._context = io_context.current()

    @classmethod
    def _construct(cls, body: Any = None, init: Any = None) -> Response:
        content, content_type = extract(body)
        if content is not None:
            io_context.require()
        if init is None or init is jsnull:
            pairs = [] if content_type is None else [("content-type", content_type)]
            return cls(content, Headers._from_pairs(pairs))
        made = cls(content, headers_of(member(init, "headers")))
        made._apply(init)
        if content_type is not None:
            made._headers._set_default("content-type", content_type)
        return made

    def _apply(self, init: Any) -> None:
        web_socket = member(init, "webSocket")
        if web_socket is not None and web_socket is not jsnull:
            self._web_socket = web_socket
        status = member(init, "status")
        if status is not None or self._web_socket is not None:
            code = 200 if status is None else status
            self._status = _check_status(code, web_socket=self._web_socket)
            if self._body == b"" and self._status in NULL_BODY_STATUSES:
                self._body = None  # the runtime forgives an empty one
            elif self._body is not None and self._status in NULL_BODY_STATUSES:
                raise type_error(
                    "Response with null body status (101, 204, 205, or 304) cannot have a body."
                )
        status_text = member(init, "statusText")
        if status_text is not None:
            self._status_text = _check_status_text(to_string(status_text))
        cf = member(init, "cf")
        if cf is not None:
            self._cf = cf
        encode_body = member(init, "encodeBody")
        if isinstance(init, Response):
            self._is_encoded = init._is_encoded
        elif encode_body is not None:
            self._is_encoded = _check_encode_body(to_string(encode_body))

    # -- JavaScript -----------------------------------------------------------------------------

    @js_property
    def status(self) -> int:
        return self._status

    @js_property
    def statusText(self) -> str:
        return self._status_text

    @js_property
    def ok(self) -> bool:
        return 200 <= self._status < 300

    @js_property
    def url(self) -> str:
        return self._url

    @js_property
    def redirected(self) -> bool:
        return self._redirected

    @js_property
    def type(self) -> str:
        return self._type

    @js_property
    def headers(self) -> Headers:
        return self._headers

    @js_property
    def webSocket(self) -> Any:
        return jsnull if self._web_socket is None else self._web_socket

    @js_property
    def cf(self) -> Any:
        return self._cf

    @js_method
    def clone(self) -> Response:
        if self._web_socket is not None:
            raise type_error("Cannot clone a response to a WebSocket handshake.")
        made = Response(self._clone_body(), self._headers._copy())
        made._status, made._status_text = self._status, self._status_text
        made._url, made._redirected, made._type = self._url, self._redirected, self._type
        made._cf, made._is_encoded = self._cf, self._is_encoded
        return made


ResponseClass = Response.constructor


def _check_encode_body(text: str) -> bool:
    if text not in ("manual", "automatic"):
        raise type_error(f"encodeBody: unexpected value: {text}")
    return text == "manual"


def _check_status_text(text: str) -> str:
    if any(char < " " for char in text):
        raise type_error("Invalid statusText")
    return text


def _check_status(value: Any, *, web_socket: Any) -> int:
    status = to_int32(value)
    if web_socket is None:
        if not 200 <= status <= 599:
            raise range_error(STATUS_RANGE_TEXT)
    elif status != 101:
        raise range_error("Responses with a WebSocket must have status code 101.")
    return status


def _json(data: Any = None, init: Any = None) -> Response:
    from tsumugi_emulator.javascript.json_text import encode

    encoded = encode(data)
    if encoded is None:
        raise type_error("Value is not JSON serializable")
    io_context.require()
    made = Response(encoded, headers_of(member(init, "headers")))
    if isinstance(init, JsProxy):
        made._apply(init)
    made._headers._set_default("content-type", "application/json")
    return made


def _redirect(url: Any = None, status: Any = 302) -> Response:
    from tsumugi_emulator.javascript.web.url import parse

    code = 302 if status is None else to_int32(status)
    if code not in REDIRECT_STATUSES:
        raise range_error(
            f"{code} is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308."
        )
    text = to_string(url)
    parsed = parse(text)
    if parsed is None:
        raise type_error(f"Unable to parse URL: {text}")
    made = Response(None, Headers._from_pairs([("location", parsed.href)], immutable=True))
    made._status = code
    return made


def _error() -> Response:
    made = Response(None, Headers._from_pairs([], immutable=True))
    made._status = 0
    made._type = "error"
    return made


js_static(Response, "json", _json)
js_static(Response, "redirect", _redirect)
js_static(Response, "error", _error)
