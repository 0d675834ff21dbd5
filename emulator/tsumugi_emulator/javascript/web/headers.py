"""``Headers``: the header list of a request or response, with the Fetch standard's rules.

Not here: forbidden header names. Workers run on the server and may set them all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray, JsIterator, call_back, iterate_js
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsProxy, PyProxy, jsnull
from tsumugi_emulator.javascript.web.pairs import with_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_BAD_VALUE = re.compile(r"[\0\r\n]")
_WHITESPACE = "\t\n\r "

Pair = tuple[str, str]


@js_class("Headers")
class Headers(JsProxy):
    """Names are kept lower-case, in the order they were added."""

    __slots__ = ("_immutable", "_pairs")

    def __init__(self) -> None:
        self._pairs: list[Pair] = []
        #: Headers of a received request or response refuse changes.
        self._immutable = False

    @classmethod
    def _construct(cls, source: Any = None) -> Headers:
        made = cls()
        if source is not None and source is not jsnull:
            made._pairs.extend(_pairs_of(source))
        return made

    @classmethod
    def _from_pairs(cls, pairs: list[Pair], *, immutable: bool = False) -> Headers:
        """Take lower-case ``pairs`` as they are, without validation."""
        made = cls.__new__(cls)
        made._pairs = pairs
        made._immutable = immutable
        return made

    # -- Inside the emulator ------------------------------------------------------------------

    def _copy(self) -> Headers:
        return Headers._from_pairs(self._pairs.copy())

    def _value(self, name: str) -> str | None:
        """The combined value of a lower-case ``name``."""
        found = [value for key, value in self._pairs if key == name]
        return ", ".join(found) if found else None

    def _set_default(self, name: str, value: str) -> None:
        """Add lower-case ``name`` unless it is there."""
        for key, _ in self._pairs:
            if key == name:
                return
        self._pairs.append((name, value))

    def _sorted(self) -> list[Pair]:
        """What iteration sees: sorted, combined, each Set-Cookie on its own."""
        pairs = self._pairs
        if len(pairs) < 2:
            return pairs
        combined: dict[str, str] = {}
        cookies = []
        for name, value in pairs:
            if name == "set-cookie":
                cookies.append((name, value))
            elif name in combined:
                combined[name] = f"{combined[name]}, {value}"
            else:
                combined[name] = value
        return sorted([*combined.items(), *cookies], key=_name_of)

    def _iterate(self) -> Iterator[Any]:
        return (JsArray([name, value]) for name, value in self._sorted())

    def _check_mutable(self) -> None:
        if self._immutable:
            raise type_error("Can't modify immutable headers.")

    # -- JavaScript -----------------------------------------------------------------------------

    @js_method
    def append(self, name: Any = None, value: Any = None) -> None:
        self._check_mutable()
        self._pairs.append((check_name(name), check_value(value)))

    @js_method
    def set(self, name: Any = None, value: Any = None) -> None:
        self._check_mutable()
        self._pairs = with_value(self._pairs, check_name(name), check_value(value))

    @js_method
    def delete(self, name: Any = None) -> None:
        self._check_mutable()
        key = check_name(name)
        self._pairs = [pair for pair in self._pairs if pair[0] != key]

    @js_method
    def get(self, name: Any = None) -> Any:
        value = self._value(check_name(name))
        return jsnull if value is None else value

    @js_method
    def has(self, name: Any = None) -> bool:
        return self._value(check_name(name)) is not None

    @js_method
    def getSetCookie(self) -> JsArray:
        return JsArray([value for name, value in self._pairs if name == "set-cookie"])

    @js_method
    def getAll(self, name: Any = None) -> JsArray:
        if check_name(name) != "set-cookie":
            raise type_error('getAll() can only be used with the header name "Set-Cookie".')
        return JsArray([value for key, value in self._pairs if key == "set-cookie"])

    @js_method
    def keys(self) -> JsIterator:
        return JsIterator(name for name, _ in self._sorted())

    @js_method
    def values(self) -> JsIterator:
        return JsIterator(value for _, value in self._sorted())

    @js_method
    def entries(self) -> JsIterator:
        return JsIterator(self._iterate())

    @js_method
    def forEach(self, callback: Any = None, _this: Any = None) -> None:
        for name, value in list(self._sorted()):
            call_back(callback, value, name, self)


HeadersClass = Headers.constructor


def _name_of(pair: Pair) -> str:
    return pair[0]


def check_name(name: Any) -> str:
    """A header name as it is stored.

    Raises:
        JsException: TypeError, when it is not an HTTP token.
    """
    return _check_name(name if type(name) is str else to_string(name))


@lru_cache(maxsize=512)  # a Worker uses few names, and uses them in every response
def _check_name(text: str) -> str:
    if _NAME.match(text) is None:
        raise type_error("Invalid header name.")
    return text.lower()


def check_value(value: Any) -> str:
    text = value if type(value) is str else to_string(value)
    if not text.isprintable() and _BAD_VALUE.search(text) is not None:
        raise type_error("Invalid header value.")
    return text.strip(_WHITESPACE)


def headers_of(init: Any) -> Headers:
    """The header list an options object's ``headers`` describes, as a copy."""
    return init._copy() if type(init) is Headers else Headers._construct(init)


def _pairs_of(source: Any) -> Iterable[Pair]:
    if isinstance(source, Headers):
        return source._pairs
    if isinstance(source, PyProxy):
        return _python_pairs(source._unwrap())
    if not isinstance(source, JsProxy):
        raise type_error(
            "Failed to construct 'Headers': the provided value is not of type "
            "'Headers or sequence or record'."
        )
    if getattr(type(source), "_iterate", None) is None and not isinstance(source, JsArray):
        return [(check_name(k), check_value(v)) for k, v in source._entries().items()]
    return [_js_pair(pair) for pair in iterate_js(source)]


def _python_pairs(source: Any) -> list[Pair]:
    """Pairs of a Python iterable that crossed as a proxy (``dict.items()``, a list of tuples)."""
    if isinstance(source, dict):
        # A dict proxy iterates its keys in JavaScript; nobody means that.
        source = source.items()
    return [
        (check_name(pair[0]), check_value(pair[1]))
        if type(pair) is tuple and len(pair) == 2
        else _js_pair(pair)
        for pair in source
    ]


def _js_pair(pair: Any) -> Pair:
    target = pair._unwrap() if isinstance(pair, PyProxy) else pair
    items = list(target) if isinstance(target, list | tuple | JsArray) else []
    if len(items) != 2:
        raise type_error(
            "To initialize a Headers object from a sequence, each inner sequence must "
            "have exactly two elements."
        )
    return check_name(items[0]), check_value(items[1])
