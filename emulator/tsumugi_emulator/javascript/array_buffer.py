"""The bytes of JavaScript: what all buffers share, and ``ArrayBuffer``."""

from __future__ import annotations

from typing import Any, ClassVar

from tsumugi_emulator.javascript.errors import range_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.proxy_type import NotOffered
from tsumugi_emulator.javascript.values import JsProxy


class Buffer(JsProxy):
    """What ArrayBuffer, the typed arrays and DataView share: Pyodide's methods over bytes."""

    __slots__ = ()

    as_object_map = NotOffered()
    as_py_json = NotOffered()

    #: The element format Python's buffer protocol shows.
    _format: ClassVar[str] = "B"

    def _view(self) -> memoryview:
        raise NotImplementedError

    def __bool__(self) -> bool:
        return self._view().nbytes > 0

    def to_bytes(self) -> bytes:
        return bytes(self._view())

    def to_memoryview(self) -> memoryview:
        copy: Any = memoryview(bytearray(self._view()))
        elements: memoryview = copy.cast(self._format) if self._format != "B" else copy
        return elements

    def to_string(self, encoding: str | None = None) -> str:
        name = encoding or "utf8"
        try:
            return bytes(self._view()).decode(name)
        except UnicodeDecodeError:
            raise ValueError(f"Failed to decode Javascript TypedArray as {name}") from None

    def to_file(self, file: Any) -> None:
        file.write(self.to_bytes())

    def _into_file(self, file: Any) -> None:
        file.write(self.to_bytes())

    def from_file(self, file: Any) -> None:
        view = self._view()
        data = file.read(view.nbytes)
        view[: len(data)] = data

    def assign(self, source: Any) -> None:
        target, given = self._view(), memoryview(source).cast("B")
        if target.nbytes != given.nbytes:
            raise ValueError(
                f"cannot assign to TypedArray of length {given.nbytes} from buffer of length "
                f"{target.nbytes}"  # Pyodide's text has them the wrong way round
            )
        target[:] = given

    def assign_to(self, target: Any) -> None:
        taking, view = memoryview(target).cast("B"), self._view()
        if taking.readonly:
            raise BufferError("Object is not writable.")
        if taking.nbytes != view.nbytes:
            raise ValueError(
                f"cannot assign from TypedArray of length {view.nbytes} to buffer of length "
                f"{taking.nbytes}"
            )
        taking[:] = view


@js_class("ArrayBuffer")
class ArrayBuffer(Buffer):
    """Raw bytes."""

    __slots__ = ("_bytes",)

    def __init__(self, data: bytes | bytearray | int = b"") -> None:
        if isinstance(data, int) and data < 0:
            raise range_error("Invalid array buffer length")
        self._bytes = data if isinstance(data, bytearray) else bytearray(data)

    @property
    def byteLength(self) -> int:
        return len(self._bytes)

    @js_method
    def slice(self, start: int = 0, end: int | None = None) -> ArrayBuffer:
        return ArrayBuffer(self._bytes[start:end])

    def _view(self) -> memoryview:
        return memoryview(self._bytes)
