"""RPC values as bytes, for calls between processes. Sends nothing itself.

What ``rpc_values.transfer`` lets through is a structured clone plus what only RPC knows:
functions, streams, requests, responses, services and stubs of objects. These stay where they are;
the bytes hold their name, or their number in a table, which the port (a link) keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgpack

from tsumugi_emulator.bindings.durable_object_stub import ReceivedStub, Stub
from tsumugi_emulator.bindings.rpc_values import RpcStub
from tsumugi_emulator.bindings.service import ServiceBinding, ServiceTarget
from tsumugi_emulator.javascript.clone import FIRST_SPECIAL, deserialize, serialize
from tsumugi_emulator.javascript.values import jsnull
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.request import Request
from tsumugi_emulator.javascript.web.response import Response
from tsumugi_emulator.javascript.web.streams import ReadableStream

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.web.websocket import WebSocket

_STUB, _STREAM, _REQUEST, _RESPONSE, _OBJECT, _SERVICE = range(FIRST_SPECIAL, FIRST_SPECIAL + 6)

#: A longer body travels as a stream, so that no frame is large.
INLINE_BODY_BYTES = 64 * 1024


class WirePort(Protocol):
    """Keeps what the bytes only name. Numbers are given out by the side that has the thing."""

    def export_stub(self, stub: RpcStub) -> int: ...

    def stub(self, number: int) -> RpcStub: ...

    def send_body(self, body: bytes | ReadableStream) -> int:
        """Start sending; the number is of the stream."""

    def body(self, number: int) -> ReadableStream: ...

    def send_socket(self, socket: WebSocket) -> int:
        """The other side gets this socket's connection."""

    def socket(self, number: int) -> WebSocket: ...

    def name_object(self, stub: Stub) -> tuple[Any, ...]: ...

    def object_stub(self, name: tuple[Any, ...]) -> ReceivedStub: ...

    def service(self, target: ServiceTarget) -> ServiceBinding: ...


class Wire:
    """Both directions of one port."""

    __slots__ = ("_port",)

    def __init__(self, port: WirePort) -> None:
        self._port = port

    def pack(self, value: Any) -> bytes:
        """Bytes of a transferred value; its streams start to be sent."""
        return serialize(value, self._special)

    def unpack(self, data: bytes) -> Any:
        return deserialize(data, self._restore)

    # -- Packing ----------------------------------------------------------------------------------

    def _special(self, value: Any) -> tuple[int, bytes] | None:
        if isinstance(value, RpcStub):
            return _STUB, _encode(self._port.export_stub(value))
        if isinstance(value, ReadableStream):
            return _STREAM, _encode([self._port.send_body(value), value._expected_length])
        if isinstance(value, Request):
            return _REQUEST, self._request(value)
        if isinstance(value, Response):
            return _RESPONSE, self._response(value)
        if isinstance(value, Stub):
            return _OBJECT, _encode(self._port.name_object(value))
        if isinstance(value, ServiceBinding):
            return _SERVICE, _encode(list(value._target()))
        return None

    def _request(self, value: Request) -> bytes:
        cf = None if value._cf is jsnull else self.pack(value._cf)
        head = [value._method, value._url, value._headers._pairs, value._redirect, cf]
        return _encode([*head, self._body(value._body)])

    def _response(self, value: Response) -> bytes:
        head = [value._status, value._status_text, value._headers._pairs, value._is_encoded]
        socket = None
        if value._web_socket is not None:
            socket = self._port.send_socket(value._web_socket)
        return _encode([*head, self._body(value._body), socket])

    def _body(self, body: bytes | ReadableStream | None) -> Any:
        """None, the bytes, or a stream's number and length."""
        if body is None or (isinstance(body, bytes) and len(body) <= INLINE_BODY_BYTES):
            return body
        length = len(body) if isinstance(body, bytes) else body._expected_length
        return [self._port.send_body(body), length]

    # -- Unpacking --------------------------------------------------------------------------------

    def _restore(self, code: int, data: bytes) -> Any:
        content = _decode(data)
        if code == _STUB:
            return self._port.stub(content)
        if code == _STREAM:
            return self._restored_body(content)
        if code == _REQUEST:
            return self._restored_request(*content)
        if code == _RESPONSE:
            return self._restored_response(*content)
        if code == _SERVICE:
            return self._port.service(ServiceTarget(*content))
        return self._port.object_stub(content)

    def _restored_body(self, body: Any) -> Any:
        if body is None or isinstance(body, bytes):
            return body
        number, length = body
        stream = self._port.body(number)
        stream._expected_length = length
        return stream

    def _restored_request(
        self, method: str, url: str, pairs: Any, redirect: str, cf: bytes | None, body: Any
    ) -> Request:
        content = self._restored_body(body)
        made = Request._from_wire(method, url, _pairs(pairs), content)
        made._redirect = redirect
        if cf is not None:
            made._cf = self.unpack(cf)
        return made

    def _restored_response(
        self, status: int, text: str, pairs: Any, encoded: bool, body: Any, socket: int | None
    ) -> Response:
        made = Response(self._restored_body(body), Headers._from_pairs(_pairs(pairs)))
        made._status, made._status_text, made._is_encoded = status, text, encoded
        if socket is not None:
            made._web_socket = self._port.socket(socket)
        return made


def _pairs(pairs: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in pairs]


def _encode(value: Any) -> bytes:
    packed: bytes = msgpack.packb(value, unicode_errors="surrogatepass")
    return packed


def _decode(data: bytes) -> Any:
    return msgpack.unpackb(data, use_list=False, unicode_errors="surrogatepass")
