"""ArrayBuffer, the typed arrays and DataView: bytes that JavaScript and Python share."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING, Any, ClassVar

from tsumugi_emulator.javascript.errors import range_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.values import JsBigInt, JsProxy, js_to_python

if TYPE_CHECKING:
    from collections.abc import Iterator


@js_class("ArrayBuffer")
class ArrayBuffer(JsProxy):
    """Raw bytes. ``to_bytes()``/``to_memoryview()`` are Pyodide's, the rest is JavaScript's."""

    __slots__ = ("_bytes",)

    def __init__(self, data: bytes | bytearray | int = b"") -> None:
        self._bytes = data if isinstance(data, bytearray) else bytearray(data)

    @property
    def byteLength(self) -> int:
        return len(self._bytes)

    @js_method
    def slice(self, start: int = 0, end: int | None = None) -> ArrayBuffer:
        return ArrayBuffer(self._bytes[start:end])

    def to_bytes(self) -> bytes:
        return bytes(self._bytes)

    def to_memoryview(self) -> memoryview:
        return memoryview(bytearray(self._bytes))

    def to_string(self, encoding: str | None = None) -> str:
        return self._bytes.decode(encoding or "utf-8")

    def to_file(self, file: Any) -> None:
        file.write(self.to_bytes())

    def _into_file(self, file: Any) -> None:
        file.write(self.to_bytes())

    def from_file(self, file: Any) -> None:
        data = file.read(len(self._bytes))
        self._bytes[: len(data)] = data

    def assign(self, source: Any) -> None:
        view = memoryview(source).cast("B")
        self._bytes[:] = view

    def assign_to(self, target: Any) -> None:
        memoryview(target).cast("B")[:] = self._bytes

    def __len__(self) -> int:
        return len(self._bytes)

    def _view(self) -> memoryview:
        return memoryview(self._bytes)


class TypedArray(JsProxy):
    """What the typed array classes share; ``_format`` is the ``struct`` code of an element."""

    __slots__ = ("_buffer", "_length", "_offset")

    _format: ClassVar[str] = "B"
    _size: ClassVar[int] = 1

    def __init__(self, buffer: ArrayBuffer, offset: int = 0, length: int | None = None) -> None:
        self._buffer = buffer
        self._offset = offset
        self._length = (len(buffer._bytes) - offset) // self._size if length is None else length

    @classmethod
    def _construct(cls, source: Any = 0, offset: int = 0, length: int | None = None) -> TypedArray:
        from tsumugi_emulator.javascript.arrays import iterate_js

        if isinstance(source, ArrayBuffer):
            if offset % cls._size:
                raise range_error(
                    f"start offset of {cls.__name__} should be a multiple of {cls._size}"
                )
            return cls(source, offset, length)
        if isinstance(source, int) and not isinstance(source, bool):
            if source < 0:
                raise range_error(f"Invalid typed array length: {source}")
            return cls(ArrayBuffer(source * cls._size))
        if source is None:
            return cls(ArrayBuffer())
        values = list(iterate_js(source))
        made = cls(ArrayBuffer(len(values) * cls._size))
        made._store(0, values)
        return made

    # -- Access ---------------------------------------------------------------------------------

    def _view(self) -> memoryview:
        start = self._offset
        return memoryview(self._buffer._bytes)[start : start + self._length * self._size]

    def _elements(self) -> memoryview:
        return self._view().cast(self._format) if self._format != "B" else self._view()

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

    # -- Python ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._length

    def __bool__(self) -> bool:
        return self._length > 0

    def __iter__(self) -> Iterator[Any]:
        return (js_to_python(self._read(value)) for value in self._elements().tolist())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop, step = key.indices(self._length)
            if step == 1:
                return type(self)(
                    self._buffer, self._offset + start * self._size, max(0, stop - start)
                )
            return type(self)(ArrayBuffer(bytearray(self._elements()[key].tobytes())))
        try:
            return js_to_python(self._read(self._elements()[key]))
        except IndexError:
            raise IndexError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._elements()[key] = self._coerce(value)

    def to_bytes(self) -> bytes:
        return bytes(self._view())

    def to_memoryview(self) -> memoryview:
        copy = memoryview(bytearray(self._view()))
        return copy.cast(self._format) if self._format != "B" else copy

    def to_string(self, encoding: str | None = None) -> str:
        return bytes(self._view()).decode(encoding or "utf-8")

    def to_file(self, file: Any) -> None:
        file.write(self.to_bytes())

    def assign(self, source: Any) -> None:
        self._view()[:] = memoryview(source).cast("B")

    def assign_to(self, target: Any) -> None:
        memoryview(target).cast("B")[:] = self._view()

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
        from tsumugi_emulator.javascript.arrays import iterate_js

        values = list(iterate_js(source))
        if offset < 0 or offset + len(values) > self._length:
            raise range_error("offset is out of bounds")
        self._store(offset, values)

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
        TYPED_ARRAYS[name] = js_class(name)(type(name, (TypedArray,), body))


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
class DataView(JsProxy):
    """A DataView: only its bytes matter to the boundary."""

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
    def buffer(self) -> ArrayBuffer:
        return self._buffer

    def _view(self) -> memoryview:
        return memoryview(self._buffer._bytes)[self._offset : self._offset + self._length]

    def to_bytes(self) -> bytes:
        return bytes(self._view())

    def to_memoryview(self) -> memoryview:
        return memoryview(bytearray(self._view()))


def bytes_of(value: Any) -> bytes | None:
    """The bytes of a BufferSource, else None."""
    if isinstance(value, ArrayBuffer | TypedArray | DataView):
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
