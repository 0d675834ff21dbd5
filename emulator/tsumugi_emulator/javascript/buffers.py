"""The typed arrays and DataView: elements over the bytes of an ArrayBuffer."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING, Any, ClassVar

from tsumugi_emulator.javascript.array_buffer import ArrayBuffer, Buffer
from tsumugi_emulator.javascript.errors import range_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_static
from tsumugi_emulator.javascript.iterators import JsIterator, iterate_js
from tsumugi_emulator.javascript.proxy_type import JsProxyType
from tsumugi_emulator.javascript.values import JsBigInt, JsProxy, js_to_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class TypedArray(Buffer):
    """What the typed array classes share; ``_format`` is the ``struct`` code of an element."""

    __slots__ = ("_buffer", "_length", "_offset")

    _size: ClassVar[int] = 1

    def __init__(self, buffer: ArrayBuffer, offset: int = 0, length: int | None = None) -> None:
        self._buffer = buffer
        self._offset = offset
        self._length = (len(buffer._bytes) - offset) // self._size if length is None else length

    @classmethod
    def _construct(cls, source: Any = 0, offset: int = 0, length: int | None = None) -> TypedArray:
        if isinstance(source, ArrayBuffer):
            if offset % cls._size:
                raise range_error(
                    f"start offset of {cls.constructor.name} should be a multiple of {cls._size}"
                )
            return cls(source, offset, length)
        if isinstance(source, int) and not isinstance(source, bool):
            if source < 0:
                raise range_error(f"Invalid typed array length: {source}")
            return cls(ArrayBuffer(source * cls._size))
        if source is None:
            return cls(ArrayBuffer())
        return cls._of(iterate_js(source))

    @classmethod
    def _of(cls, source: Iterable[Any]) -> TypedArray:
        values = list(source)
        made = cls(ArrayBuffer(len(values) * cls._size))
        made._store(0, values)
        return made

    # -- Access ---------------------------------------------------------------------------------

    def _elements(self) -> memoryview:
        view: Any = self._view()
        elements: memoryview = view.cast(self._format) if self._format != "B" else view
        return elements

    def _store(self, start: int, values: list[Any]) -> None:
        view = self._elements()
        for index, value in enumerate(values, start):
            view[index] = self._coerce(value)

    def _coerce(self, value: Any) -> Any:
        from tsumugi_emulator.javascript.strings import to_number

        number = to_number(value)
        if self._format in "fd":
            return float(number)
        if isinstance(number, float) and number != number:  # NaN
            number = 0
        bits = 8 * self._size
        wrapped = int(number) & ((1 << bits) - 1)
        signed = self._format in "bhiq"
        return wrapped - (1 << bits) if signed and wrapped >> (bits - 1) else wrapped

    def _read(self, value: Any) -> Any:
        return JsBigInt(value) if self._format in "qQ" else value

    def _get_element(self, index: int) -> Any:
        return self._read(self._elements()[index])

    # -- Python ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> JsIterator:
        return JsIterator(self._iterate())

    def __reversed__(self) -> Any:
        return reversed(list(self))

    def __contains__(self, value: Any) -> bool:
        return value in list(self)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            raise NotImplementedError("Slice subscripting isn't implemented for typed arrays")
        try:
            return js_to_python(self._read(self._elements()[key]))
        except IndexError:
            raise IndexError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            raise NotImplementedError("Slice assignment isn't implemented for typed arrays")
        if key < self._length:
            self._elements()[key] = self._coerce(value)

    def __delitem__(self, key: Any) -> None:
        raise TypeError("object doesn't support item deletion")

    def index(self, value: Any, *bounds: int) -> int:
        return list(self).index(value, *bounds)

    def count(self, value: Any) -> int:
        return list(self).count(value)

    def reverse(self) -> None:
        self._store(0, self._elements().tolist()[::-1])

    # -- JavaScript -----------------------------------------------------------------------------

    @property
    def length(self) -> int:
        return self._length

    @property
    def byteLength(self) -> int:
        return self._length * self._size

    @property
    def byteOffset(self) -> int:
        return self._offset

    @property
    def buffer(self) -> ArrayBuffer:
        return self._buffer

    @property
    def BYTES_PER_ELEMENT(self) -> int:
        return self._size

    @js_method
    def slice(self, start: int = 0, end: int | None = None) -> TypedArray:
        low, high, _ = slice(start, end).indices(self._length)
        data = self._view()[low * self._size : max(low, high) * self._size]
        return type(self)(ArrayBuffer(bytearray(data)))

    @js_method
    def subarray(self, start: int = 0, end: int | None = None) -> TypedArray:
        low, high, _ = slice(start, end).indices(self._length)
        return type(self)(self._buffer, self._offset + low * self._size, max(0, high - low))

    @js_method
    def set(self, source: Any, offset: int = 0) -> None:
        values = list(iterate_js(source))
        if offset < 0 or offset + len(values) > self._length:
            raise range_error("offset is out of bounds")
        self._store(offset, values)

    @js_method
    def values(self) -> JsIterator:
        return JsIterator(self._iterate())

    @js_method
    def fill(self, value: Any = 0) -> TypedArray:
        self._store(0, [value] * self._length)
        return self

    def _iterate(self) -> Iterator[Any]:
        return (self._read(value) for value in self._elements().tolist())

    def _to_string(self) -> str:
        from tsumugi_emulator.javascript.strings import to_string

        return ",".join(to_string(value) for value in self._iterate())

    def _entries(self) -> dict[str, Any]:
        return {str(index): value for index, value in enumerate(self._iterate())}

    def _property_names(self) -> list[str]:
        return []

    def _view(self) -> memoryview:
        start = self._offset
        return memoryview(self._buffer._bytes)[start : start + self._length * self._size]


#: JavaScript class -> struct format. Order matters: the first of a format is its default.
_KINDS = {
    "Uint8Array": "B",
    "Uint8ClampedArray": "B",
    "Int8Array": "b",
    "Uint16Array": "H",
    "Int16Array": "h",
    "Uint32Array": "I",
    "Int32Array": "i",
    "Float32Array": "f",
    "Float64Array": "d",
    "BigInt64Array": "q",
    "BigUint64Array": "Q",
}

TYPED_ARRAYS: dict[str, type[TypedArray]] = {}


def _define_kinds() -> None:
    for name, code in _KINDS.items():
        body = {"__slots__": (), "_format": code, "_size": array.array(code).itemsize}
        made: Any = JsProxyType(name, (TypedArray,), body)
        kind = TYPED_ARRAYS[name] = js_class(name)(made)
        js_static(kind, "of", lambda *values, kind=kind: kind._of(values))
        js_static(kind, "from_", lambda source, kind=kind: kind._of(iterate_js(source)))
        kind.constructor.BYTES_PER_ELEMENT = kind._size


_define_kinds()
Uint8Array = TYPED_ARRAYS["Uint8Array"]

_BY_FORMAT = {code: TYPED_ARRAYS[name] for name, code in reversed(list(_KINDS.items()))}
#: Formats of other C types with the same layout (array.array('l'), memoryview of 'c', '?').
_BY_FORMAT |= {"c": Uint8Array, "?": Uint8Array, "l": _BY_FORMAT["q"], "L": _BY_FORMAT["Q"]}


def typed_array_from_buffer(source: Any) -> TypedArray:
    """A copy of a Python buffer as the typed array of its element format."""
    if isinstance(source, bytes | bytearray):
        return Uint8Array(ArrayBuffer(bytearray(source)))
    view = memoryview(source)
    kind = _BY_FORMAT.get(view.format.lstrip("@=<"), Uint8Array)
    return kind(ArrayBuffer(bytearray(view.tobytes())))


@js_class("DataView")
class DataView(Buffer):
    """Typed access to the bytes of an ArrayBuffer, big-endian unless told otherwise."""

    __slots__ = ("_buffer", "_length", "_offset")

    def __init__(self, buffer: Any, offset: int = 0, length: int | None = None) -> None:
        if not isinstance(buffer, ArrayBuffer):
            raise type_error("First argument to DataView constructor must be an ArrayBuffer")
        self._buffer = buffer
        self._offset = offset
        self._length = len(buffer._bytes) - offset if length is None else length

    @property
    def byteLength(self) -> int:
        return self._length

    @property
    def byteOffset(self) -> int:
        return self._offset

    @property
    def buffer(self) -> ArrayBuffer:
        return self._buffer

    def _view(self) -> memoryview:
        return memoryview(self._buffer._bytes)[self._offset : self._offset + self._length]

    def _element(self, offset: Any, size: int) -> memoryview:
        if not 0 <= offset <= self._length - size:
            raise range_error("Offset is outside the bounds of the DataView")
        return self._view()[offset : offset + size]


def _define_data_view_access() -> None:
    def define(name: str, kind: type[TypedArray]) -> None:
        size = kind._size

        def get(self: DataView, offset: Any = 0, little_endian: Any = False) -> Any:
            data = bytes(self._element(offset, size))
            data = data if little_endian else data[::-1]
            return kind(ArrayBuffer(bytearray(data)))._get_element(0)

        def put(
            self: DataView, offset: Any = 0, value: Any = None, little_endian: Any = False
        ) -> None:
            data = bytes(kind._of([value])._view())
            self._element(offset, size)[:] = data if little_endian else data[::-1]

        get.__name__, put.__name__ = f"get{name}", f"set{name}"
        setattr(DataView, get.__name__, js_method(get))
        setattr(DataView, put.__name__, js_method(put))

    for name, kind in TYPED_ARRAYS.items():
        if name != "Uint8ClampedArray":
            define(name.removesuffix("Array"), kind)


_define_data_view_access()


def bytes_of(value: Any) -> bytes | None:
    """The bytes of a BufferSource, else None."""
    if isinstance(value, Buffer):
        return bytes(value._view())
    return None


def is_view(value: Any) -> bool:
    """Whether JavaScript's ``ArrayBuffer.isView`` holds."""
    return isinstance(value, TypedArray | DataView)


class BufferView(JsProxy):
    """``proxy.getBuffer()``: the bytes of a Python buffer as a typed array, until released."""

    __slots__ = ("data",)

    def __init__(self, source: Any) -> None:
        # The Web API that receives it copies: a copy here spares the caller's lifetime rules.
        self.data = typed_array_from_buffer(source)

    def release(self) -> None:
        return None


__all__ = [
    "TYPED_ARRAYS",
    "ArrayBuffer",
    "Buffer",
    "BufferView",
    "DataView",
    "TypedArray",
    "Uint8Array",
    "bytes_of",
    "is_view",
    "typed_array_from_buffer",
]
