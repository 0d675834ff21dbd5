"""``URLSearchParams`` and the ``application/x-www-form-urlencoded`` format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, unquote_to_bytes

from tsumugi_emulator.javascript.arrays import JsArray, JsIterator, call_back, iterate_js
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy, PyProxy, jsnull
from tsumugi_emulator.javascript.web.pairs import with_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Pair = tuple[str, str]


def parse_query(text: str) -> list[Pair]:
    """Pairs of an urlencoded string, without its leading ``?``."""
    pairs = []
    for part in text.split("&"):
        if part:
            name, _, value = part.partition("=")
            pairs.append((_decode(name), _decode(value)))
    return pairs


def serialize_query(pairs: list[Pair]) -> str:
    return "&".join(f"{_encode(name)}={_encode(value)}" for name, value in pairs)


def _decode(text: str) -> str:
    if "+" not in text and "%" not in text:
        return text
    return unquote_to_bytes(text.replace("+", " ")).decode("utf-8", "replace")


def _encode(text: str) -> str:
    # Python leaves ~ alone and escapes *; the URL standard does the opposite.
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")


@js_class("URLSearchParams")
class URLSearchParams(JsProxy):
    __slots__ = ("_on_change", "_pairs")

    def __init__(self, pairs: list[Pair], on_change: Callable[[str], None] | None = None) -> None:
        self._pairs = pairs
        self._on_change = on_change

    @classmethod
    def _construct(cls, source: Any = None) -> URLSearchParams:
        if source is None or source is jsnull:
            return cls([])
        if isinstance(source, PyProxy):
            return cls(_python_pairs(source._unwrap()))
        if isinstance(source, JsProxy):
            if getattr(type(source), "_iterate", None) is None and not isinstance(source, JsArray):
                entries = source._entries().items()
                return cls([(to_string(key), to_string(value)) for key, value in entries])
            return cls([_pair(pair) for pair in iterate_js(source)])
        return cls(parse_query(to_string(source).removeprefix("?")))

    @classmethod
    def _from_query(cls, query: str, on_change: Callable[[str], None]) -> URLSearchParams:
        return cls(parse_query(query.removeprefix("?")), on_change)

    def _reload(self, query: str) -> None:
        self._pairs = parse_query(query.removeprefix("?"))

    def _changed(self) -> None:
        if self._on_change is not None:
            self._on_change(self._to_string())

    def _to_string(self) -> str:
        return serialize_query(self._pairs)

    def _iterate(self) -> Iterator[Any]:
        return (JsArray([name, value]) for name, value in self._pairs)

    # -- JavaScript ------------------------------------------------------------------------------

    @js_property
    def size(self) -> int:
        return len(self._pairs)

    @js_method
    def append(self, name: Any = None, value: Any = None) -> None:
        self._pairs.append((to_string(name), to_string(value)))
        self._changed()

    @js_method
    def delete(self, name: Any = None, value: Any = None) -> None:
        self._pairs = [pair for pair in self._pairs if not _matches(pair, name, value)]
        self._changed()

    @js_method
    def get(self, name: Any = None) -> Any:
        key = to_string(name)
        return next((value for found, value in self._pairs if found == key), jsnull)

    @js_method
    def getAll(self, name: Any = None) -> JsArray:
        key = to_string(name)
        return JsArray([value for found, value in self._pairs if found == key])

    @js_method
    def has(self, name: Any = None, value: Any = None) -> bool:
        return any(_matches(pair, name, value) for pair in self._pairs)

    @js_method
    def set(self, name: Any = None, value: Any = None) -> None:
        self._pairs = with_value(self._pairs, to_string(name), to_string(value))
        self._changed()

    @js_method
    def sort(self) -> None:
        self._pairs.sort(key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))
        self._changed()

    @js_method
    def keys(self) -> JsIterator:
        return JsIterator(name for name, _ in self._pairs)

    @js_method
    def values(self) -> JsIterator:
        return JsIterator(value for _, value in self._pairs)

    @js_method
    def entries(self) -> JsIterator:
        return JsIterator(self._iterate())

    @js_method
    def forEach(self, callback: Any = None, _this: Any = None) -> None:
        for name, value in list(self._pairs):
            call_back(callback, value, name, self)

    @js_method
    def toString(self) -> str:
        return self._to_string()


URLSearchParamsClass = URLSearchParams.constructor


def _matches(pair: Pair, name: Any, value: Any) -> bool:
    return pair[0] == to_string(name) and (value is None or pair[1] == to_string(value))


def _python_pairs(source: Any) -> list[Pair]:
    if isinstance(source, dict):
        source = source.items()
    if isinstance(source, list | tuple) or hasattr(source, "__iter__"):
        return [_pair(pair) for pair in source]
    return parse_query(str(source))


def _pair(pair: Any) -> Pair:
    target = pair._unwrap() if isinstance(pair, PyProxy) else pair
    items = list(target) if isinstance(target, list | tuple | JsArray) else []
    if len(items) != 2:
        raise type_error("Each query pair must be an iterable [name, value] tuple.")
    return to_string(items[0]), to_string(items[1])
