"""JavaScript values on their way to Node and back: plain data by copy, the rest by number.

The twin of ``pyodide_host/values.mjs``. Not here: what is done with them.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any, Protocol

from msgpack import ExtType

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import TYPED_ARRAYS, ArrayBuffer, DataView, TypedArray
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import DOMException, JsException, js_error
from tsumugi_emulator.javascript.maps import JsLiteralMap, JsMap, JsSet
from tsumugi_emulator.javascript.promise import JsPromise
from tsumugi_emulator.javascript.regexp import RegExp
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import (
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    JsSymbol,
    PyProxy,
    jsnull,
    normalize_number,
)
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.request import Request
from tsumugi_emulator.javascript.web.response import Response
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.pyodide_runtime import foreign
from tsumugi_emulator.pyodide_runtime.foreign import ForeignObject, Held, NodeFunction, NodeObject
from tsumugi_emulator.pyodide_runtime.graphs import (
    Reference,
    graph_of,
    is_container,
    restored_graph,
)
from tsumugi_emulator.pyodide_runtime.protocol import Value, pack, unpack

if TYPE_CHECKING:
    from tsumugi_emulator.pyodide_runtime.foreign import ForeignPort
    from tsumugi_emulator.pyodide_runtime.handles import Handles

#: States of a promise as it is given to Node.
PENDING, FULFILLED, REJECTED = range(3)


class PromisePort(Protocol):
    def give_promise(self, future: asyncio.Future[Any]) -> int:
        """A number under which Node is told how it ends."""

    def take_promise(self, number: int) -> asyncio.Future[Any]:
        """What ends as Node's promise does."""

    def give_stream(self, stream: ReadableStream) -> int: ...


class Values:
    def __init__(self, handles: Handles, promises: PromisePort, port: ForeignPort) -> None:
        self._handles = handles
        self._promises = promises
        self._port = port
        self._takers: dict[Value, Any] = {
            Value.MAP: self._map,
            Value.LITERAL_MAP: self._literal_map,
            Value.SET: lambda content: JsSet(self.take(item) for item in content),
            Value.HANDLE: handles.get,
            Value.FOREIGN: lambda content: self._foreign(*content),
            Value.ERROR: lambda content: self._error(*content),
            Value.PROMISE: promises.take_promise,
            Value.STREAM: lambda content: foreign.stream(content[0], content[1], port),
            Value.REQUEST: lambda content: self._received_request(*content),
            Value.RESPONSE: lambda content: self._received_response(*content),
            Value.GRAPH: lambda content: restored_graph(content, self.take),
            Value.REFERENCE: Reference,
        }

    # -- To Node --------------------------------------------------------------------------------

    def give(self, value: Any) -> Any:
        """What MessagePack writes for a JavaScript value."""
        try:
            return self._give(value)
        except RecursionError:  # a tree of it has no end
            if not is_container(value):
                raise
            return graph_of(value, self._give)

    def _give(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return value if value.isascii() else _text(value)
        if kind is int or kind is bool or kind is float or kind is bytes:  # a body's chunk
            return value
        if value is None:
            return ExtType(Value.UNDEFINED, pack(None))
        if isinstance(value, JsNull):
            return None
        if kind is JsObject:
            return {_text_key(key): self._give(item) for key, item in value._props.items()}
        if kind is JsArray:
            return [self._give(item) for item in value._items]
        return self._give_object(value)

    def _give_object(self, value: Any) -> Any:
        data = self._data(value)
        if data is not None:
            return data
        if isinstance(value, JsException):
            return self.give_error(value)
        if isinstance(value, asyncio.Future | JsPromise):
            return self._promise(value._future if isinstance(value, JsPromise) else value)
        if isinstance(value, ReadableStream):
            return _extension(Value.STREAM, [self._promises.give_stream(value)])
        if isinstance(value, Request):
            return _extension(Value.REQUEST, self._request(value))
        if isinstance(value, Response):
            return _extension(Value.RESPONSE, self._response(value))
        held = _held(value)
        if held is not None:
            return _extension(Value.FOREIGN, held.number)
        if isinstance(value, Headers):
            return [list(pair) for pair in value._pairs]
        if isinstance(value, PyProxy):
            return str(value._obj)
        return _extension(Value.HANDLE, self._handles.give(value))

    def _data(self, value: Any) -> ExtType | None:
        if isinstance(value, JsBigInt):
            return _extension(Value.BIGINT, int.__repr__(value))
        if isinstance(value, JsDate):
            return _extension(Value.DATE, None if math.isnan(value._ms) else value._ms)
        if isinstance(value, JsMap):
            pairs = [[self._give(k), self._give(v)] for k, v in value._data.values()]
            code = Value.LITERAL_MAP if isinstance(value, JsLiteralMap) else Value.MAP
            return _extension(code, pairs)
        if isinstance(value, JsSet):
            return _extension(Value.SET, [self._give(item) for item in value._data.values()])
        if isinstance(value, ArrayBuffer | TypedArray | DataView):
            return _extension(Value.BUFFER, [value._class_name(), bytes(value._view())])
        if isinstance(value, RegExp):
            return _extension(Value.REGEXP, [value._source, value.flags])
        if isinstance(value, JsSymbol):
            return _extension(Value.SYMBOL, value.description)
        if isinstance(value, JsObject):  # a namespace object
            return {key: self._give(item) for key, item in value._props.items()}
        if isinstance(value, JsArray):
            return [self._give(item) for item in value._items]
        return None

    def give_error(self, error: BaseException) -> ExtType:
        """What JavaScript throws for it."""
        if not isinstance(error, JsException):
            error = js_error("Error", f"{type(error).__name__}: {error}")
        held = error.__dict__.get("_held")
        if held is not None:
            return _extension(Value.FOREIGN, held.number)
        kind = "DOMException" if isinstance(error, DOMException) else "Error"
        known = vars(error)
        cause = known.get("cause")
        extra = {
            key: value
            for key, value in known.items()
            if key not in ("name", "message", "cause", "stack")
            and not key.startswith("_")
            and isinstance(value, str | int | float | bool)
        }
        packed_cause = self.give_error(cause) if isinstance(cause, JsException) else None
        message = _text(to_string(error.message))
        return _extension(Value.ERROR, [kind, error.name, message, packed_cause, extra])

    def _promise(self, future: asyncio.Future[Any]) -> ExtType:
        if future.done():
            ok, value = self.outcome(future)
            return _extension(Value.PROMISE, [0, FULFILLED if ok else REJECTED, value])
        return _extension(Value.PROMISE, [self._promises.give_promise(future), PENDING, None])

    def outcome(self, future: asyncio.Future[Any]) -> tuple[bool, Any]:
        """Whether it was fulfilled, and the value or error for Node."""
        if future.cancelled():
            return False, self.give_error(js_error("Error", "The operation was cancelled."))
        error = future.exception()
        if error is not None:
            return False, self.give_error(error)
        return True, self.give(future.result())

    def _request(self, value: Request) -> list[Any]:
        cf = None if value._cf is jsnull else self.give(value._cf)
        pairs = [list(pair) for pair in value._headers._pairs]
        head = [value._method, value._url, pairs, self._body(value._body)]
        return [*head, value._redirect, cf]

    def _response(self, value: Response) -> list[Any]:
        socket = value._web_socket
        more = {
            "url": value._url,
            "redirected": value._redirected,
            "webSocket": None if socket is None else self.give(socket),
        }
        pairs = [list(pair) for pair in value._headers._pairs]
        return [value._status, value._status_text, pairs, self._body(value._body), more]

    def _body(self, body: Any) -> Any:
        return body if body is None or isinstance(body, bytes) else self.give(body)

    # -- From Node ------------------------------------------------------------------------------

    def take(self, tree: Any) -> Any:
        """The JavaScript value of what MessagePack has read."""
        kind = type(tree)
        if kind is str or kind is int or kind is bool:
            return tree
        if kind is float:
            return normalize_number(tree)
        if tree is None:
            return jsnull
        if kind is dict:
            return JsObject(
                {
                    key if type(key) is str else self.take(key): self.take(item)
                    for key, item in tree.items()
                }
            )
        if kind is list:
            return JsArray([self.take(item) for item in tree])
        if kind is bytes:
            return tree
        return self._take_extension(Value(tree.code), unpack(tree.data))

    def _take_extension(self, code: Value, content: Any) -> Any:
        plain = _TAKE_PLAIN.get(code)
        return self._takers[code](content) if plain is None else plain(content)

    def _map(self, content: Any) -> JsMap:
        return JsMap((self.take(key), self.take(item)) for key, item in content)

    def _literal_map(self, content: Any) -> JsLiteralMap:
        made = JsLiteralMap()
        for key, item in content:
            made.set(self.take(key), self.take(item))
        return made

    def _foreign(self, number: int, kind: str, name: str, text: Any, json: Any) -> Any:
        held = Held(number, self._port)
        shown = self.take(text)
        if kind.startswith("python"):
            return foreign.python_object(held, kind, name, shown, json)
        if kind == "function":
            return NodeFunction(held, name, shown)
        return NodeObject(held, name, shown)

    def _error(
        self, kind: str, name: str, message: Any, cause: Any, extra: Any, number: Any
    ) -> JsException:
        text = self.take(message)
        if kind == "DOMException":
            return DOMException(text, name)
        found = None if cause is None else self.take(cause)
        error = JsException(name, text, cause=found)
        error.__dict__.update(extra)
        if number is not None:
            error.__dict__["_held"] = Held(number, self._port)
        return error

    def _received_request(
        self, method: str, url: str, pairs: Any, redirect: str, cf: Any, body: Any
    ) -> Request:
        made = Request._from_wire(method, url, _pairs(pairs), self._received_body(body))
        made._redirect = redirect
        made._headers._immutable = False
        if cf is not None:
            made._cf = self.take(cf)
        return made

    def _received_response(
        self, status: int, text: str, pairs: Any, body: Any, socket: Any
    ) -> Response:
        made = Response(self._received_body(body), Headers._from_pairs(_pairs(pairs)))
        made._status, made._status_text = status, text
        if socket is not None:
            made._web_socket = self.take(socket)
        return made

    def _received_body(self, body: Any) -> Any:
        return None if body is None else self.take(body)


def _extension(code: Value, content: Any) -> ExtType:
    return ExtType(int(code), pack(content))


def _text(value: str) -> Any:
    try:
        value.encode()
    except UnicodeEncodeError:
        return _extension(Value.TEXT, value.encode("utf-16-le", "surrogatepass"))
    return value


def _text_key(key: str) -> Any:
    return key if key.isascii() else _text(key)


def _held(value: Any) -> Held | None:
    """What keeps an object of Node's, if it is one."""
    if isinstance(value, NodeFunction | NodeObject):
        return value._held
    if isinstance(value, PyProxy) and isinstance(value._obj, ForeignObject):
        return value._obj._held
    return None


def _pairs(pairs: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in pairs]


def _buffer(content: Any) -> Any:
    name, data = content
    buffer = ArrayBuffer(bytearray(data))
    if name == "ArrayBuffer":
        return buffer
    return DataView(buffer) if name == "DataView" else TYPED_ARRAYS[name](buffer)


_TAKE_PLAIN: dict[Value, Any] = {
    Value.UNDEFINED: lambda _content: None,
    Value.BIGINT: lambda content: JsBigInt(int(content)),
    Value.DATE: lambda content: JsDate(math.nan if content is None else content),
    Value.BUFFER: _buffer,
    Value.TEXT: lambda content: content.decode("utf-16-le", "surrogatepass"),
    Value.REGEXP: lambda content: RegExp(*content),
    Value.SYMBOL: JsSymbol,
}

__all__ = ["JsProxy", "PromisePort", "Values"]
