"""Structured clone: which values cross by copy, and the bytes they become.

The bytes are the emulator's own (msgpack with extension types), read only by :func:`deserialize`;
production's V8 format is private too. Shared references inside one value become copies, unless it
contains itself: such a value takes a way of its own (``clone_graph``).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgpack

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import TYPED_ARRAYS, ArrayBuffer, DataView, TypedArray
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import ERROR_NAMES, JsException, clone_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import (
    JsBigInt,
    JsNull,
    JsObject,
    JsProxy,
    JsSymbol,
    PyProxy,
    jsnull,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    #: What a value that cannot be cloned becomes for a caller that knows it: a code and content.
    type PackSpecial = Callable[[Any], tuple[int, bytes] | None]
    type UnpackSpecial = Callable[[int, bytes], Any]

_UNDEFINED, _BIGINT, _DATE, _MAP, _SET, _BUFFER, _ERROR, _GRAPH, _REFERENCE, _WEB = range(1, 11)
#: Codes from here on are the callers' own.
FIRST_SPECIAL = 64


def _encode(value: Any) -> bytes:
    try:
        packed: bytes = msgpack.packb(value)
    except UnicodeEncodeError:
        # JavaScript's strings may hold halves of characters; two that meet are a character.
        packed = msgpack.packb(_joined(value), unicode_errors="surrogatepass")
    return packed


def _joined(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if kind is dict:
        return {_joined(key): _joined(item) for key, item in value.items()}
    return [_joined(item) for item in value] if kind is list else value


def _decode(data: bytes) -> Any:
    return msgpack.unpackb(data, strict_map_key=False, unicode_errors="surrogatepass")


def structured_clone(value: Any) -> Any:
    return deserialize(serialize(value))


def serialize(value: Any, special: PackSpecial | None = None) -> bytes:
    """Bytes of a structured clone; ``special`` is asked about what is no part of one.

    Raises:
        JsException: DataCloneError naming what cannot be cloned.
    """
    try:
        return _encode(_pack(value, special))
    except (RecursionError, ValueError):  # msgpack's word for too deep
        return _encode(_pack_graph(value, special))


def _pack_graph(value: Any, special: PackSpecial | None) -> msgpack.ExtType:
    from tsumugi_emulator.javascript import clone_graph

    def reference(item: Any) -> msgpack.ExtType:
        assert isinstance(item, clone_graph.Reference)
        return _ext(_REFERENCE, item.number)

    nodes = clone_graph.flatten(value, lambda leaf: _pack(leaf, special))
    packed: bytes = msgpack.packb(nodes, default=reference, unicode_errors="surrogatepass")
    return msgpack.ExtType(_GRAPH, packed)


def _unpack_graph(data: bytes, special: UnpackSpecial | None) -> Any:
    from tsumugi_emulator.javascript import clone_graph

    def extension(code: int, content: bytes) -> Any:
        if code == _REFERENCE:
            return clone_graph.Reference(_decode(content))
        return msgpack.ExtType(code, content)

    nodes = msgpack.unpackb(
        data, ext_hook=extension, strict_map_key=False, unicode_errors="surrogatepass"
    )
    return clone_graph.restore(nodes, lambda leaf: _unpack(leaf, special))


def deserialize(data: bytes, special: UnpackSpecial | None = None) -> Any:
    return _unpack(_decode(data), special)


def _ext(code: int, content: Any) -> msgpack.ExtType:
    return msgpack.ExtType(code, _encode(content))


def _pack(value: Any, special: PackSpecial | None) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is bool or kind is float:
        return value
    if value is None:
        return msgpack.ExtType(_UNDEFINED, b"")
    if isinstance(value, JsNull):
        return None
    if kind is JsBigInt:
        return msgpack.ExtType(_BIGINT, int.__repr__(value).encode())
    if isinstance(value, JsObject):
        return {key: _pack(item, special) for key, item in value._props.items()}
    if isinstance(value, JsArray):
        return [_pack(item, special) for item in value._items]
    return _pack_object(value, special)


def _pack_object(value: Any, special: PackSpecial | None) -> Any:
    if isinstance(value, JsDate):
        return _ext(_DATE, value._ms)
    if isinstance(value, JsMap) and type(value) is JsMap:
        pairs = value._data.values()
        return _ext(_MAP, [[_pack(k, special), _pack(v, special)] for k, v in pairs])
    if isinstance(value, JsSet):
        return _ext(_SET, [_pack(item, special) for item in value._data.values()])
    if isinstance(value, ArrayBuffer | TypedArray | DataView):
        return _ext(_BUFFER, [value._class_name(), bytes(value._view())])
    if isinstance(value, JsException):
        name = value.name if value.name in ERROR_NAMES else "Error"
        return _ext(_ERROR, [name, to_string(value.message)])
    if special is not None and (found := special(value)) is not None:
        return msgpack.ExtType(*found)
    if isinstance(value, JsProxy) and (parts := _web_parts(value)) is not None:
        return _ext(_WEB, parts)
    raise clone_error(_refusal(value))


def _web_parts(value: JsProxy) -> list[Any] | None:
    from tsumugi_emulator.javascript.web.cloned import taken_apart

    return taken_apart(value)


def _unpack_web(data: bytes) -> Any:
    from tsumugi_emulator.javascript.web.cloned import put_together

    return put_together(*_decode(data))


def _refusal(value: Any) -> str:
    if isinstance(value, PyProxy):
        if callable(value._obj):
            return "function() {\n        } could not be cloned."
        return "[object Object] could not be cloned."
    if asyncio.isfuture(value):
        return _REFUSED["Promise"]
    if isinstance(value, JsFunction):
        return f"{value._to_string()} could not be cloned."
    if isinstance(value, JsSymbol):
        return f"{value!r} could not be cloned."
    if isinstance(value, JsProxy):
        name = value._class_name()
        return _REFUSED.get(name) or (
            f'Could not serialize object of type "{name}". '
            "This type does not support serialization."
        )
    return f"{to_string(value)} could not be cloned."


_OF_STREAMS = "ReadableStream can only be serialized for RPC."
_OF_STUBS = "ServiceStub cannot be serialized in this context."
#: Refusals of their own, by the name of the class.
_REFUSED = {
    "Promise": "#<Promise> could not be cloned.",
    "LiteralMap": "[object Map] could not be cloned.",  # a Proxy
    "Response": _OF_STREAMS,
    "Request": _OF_STREAMS,
    "ReadableStream": _OF_STREAMS,
    "DurableObject": _OF_STUBS,
    "Fetcher": _OF_STUBS,
}


def _unpack(value: Any, special: UnpackSpecial | None) -> Any:
    if value is None:
        return jsnull
    if isinstance(value, dict):
        return JsObject({key: _unpack(item, special) for key, item in value.items()})
    if isinstance(value, list):
        return JsArray([_unpack(item, special) for item in value])
    if isinstance(value, msgpack.ExtType):
        return _unpack_ext(value.code, value.data, special)
    return value


def _unpack_ext(code: int, data: bytes, special: UnpackSpecial | None) -> Any:
    if code == _MAP:
        return JsMap((_unpack(k, special), _unpack(v, special)) for k, v in _decode(data))
    if code == _SET:
        return JsSet(_unpack(item, special) for item in _decode(data))
    if code == _GRAPH:
        return _unpack_graph(data, special)
    if code >= FIRST_SPECIAL and special is not None:
        return special(code, data)
    return _UNPACKERS[code](data)


def _unpack_buffer(data: bytes) -> Any:
    name, content = _decode(data)
    buffer = ArrayBuffer(bytearray(content))
    if name == "ArrayBuffer":
        return buffer
    return DataView(buffer) if name == "DataView" else TYPED_ARRAYS[name](buffer)


_UNPACKERS: dict[int, Any] = {
    _UNDEFINED: lambda _data: None,
    _BIGINT: lambda data: JsBigInt(int(data)),
    _DATE: lambda data: JsDate(_decode(data)),
    _BUFFER: _unpack_buffer,
    _ERROR: lambda data: JsException(*_decode(data)),
    _WEB: _unpack_web,
}
