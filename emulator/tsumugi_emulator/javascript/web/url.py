"""``URL``: the WHATWG parser (``ada_url``) behind JavaScript's interface."""

from __future__ import annotations

from typing import Any

from ada_url import URL as AdaURL

from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property, js_static
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.search_params import URLSearchParams


def parse(url: str, base: str | None = None) -> AdaURL | None:
    """The parsed URL, or None when it is not one."""
    try:
        return AdaURL(url, base)
    except ValueError:
        return None


@js_class("URL")
class URL(JsProxy):
    __slots__ = ("_ada", "_params")

    def __init__(self, ada: AdaURL) -> None:
        self._ada = ada
        self._params: URLSearchParams | None = None

    @classmethod
    def _construct(cls, url: Any = None, base: Any = None) -> URL:
        parsed = parse(to_string(url), None if base is None else to_string(base))
        if parsed is None:
            raise type_error("Invalid URL string.")
        return cls(parsed)

    @js_property
    def origin(self) -> str:
        origin: str = self._ada.origin
        return origin

    @js_property
    def searchParams(self) -> URLSearchParams:
        if self._params is None:
            self._params = URLSearchParams._from_query(self._ada.search, on_change=self._set_query)
        return self._params

    def _set_query(self, query: str) -> None:
        self._ada.search = query

    @js_method
    def toString(self) -> str:
        return self._to_string()

    @js_method
    def toJSON(self) -> str:
        return self._to_string()

    def _to_string(self) -> str:
        href: str = self._ada.href
        return href


URLClass = URL.constructor


def _define_parts() -> None:
    parts = ("protocol", "username", "password", "host", "hostname", "port", "pathname", "hash")
    for name in (*parts, "href", "search"):

        def read(self: URL, name: str = name) -> Any:
            return getattr(self._ada, name)

        def write(self: URL, value: Any, name: str = name) -> None:
            try:
                setattr(self._ada, name, to_string(value))
            except ValueError:
                if name == "href":
                    raise type_error("Invalid URL string.") from None
            if name in ("href", "search") and self._params is not None:
                self._params._reload(self._ada.search)

        read.__name__ = name
        setattr(URL, name, js_property(read, write))


_define_parts()


def _parse_static(url: Any = None, base: Any = None) -> Any:
    parsed = parse(to_string(url), None if base is None else to_string(base))
    return jsnull if parsed is None else URL(parsed)


def _can_parse(url: Any = None, base: Any = None) -> bool:
    return parse(to_string(url), None if base is None else to_string(base)) is not None


js_static(URL, "canParse", _can_parse)
js_static(URL, "parse", _parse_static)
