"""``TextEncoder``, ``TextDecoder``, ``atob`` and ``btoa``."""

from __future__ import annotations

import base64
import binascii
import codecs
from dataclasses import dataclass
from typing import Any

from tsumugi_emulator.javascript.buffers import ArrayBuffer, TypedArray, Uint8Array, bytes_of
from tsumugi_emulator.javascript.errors import DOMException, range_error, type_error
from tsumugi_emulator.javascript.functions import JsFunction, js_class, js_method, js_property
from tsumugi_emulator.javascript.strings import to_string, truthy
from tsumugi_emulator.javascript.values import JsObject, JsProxy
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.unicode import utf8


@dataclass(frozen=True, slots=True)
class Label:
    """An encoding: its standard name, and Python's codec for it."""

    name: str
    codec: str


#: Labels people use; the rest of the standard's list is looked up among Python's codecs.
_LABELS = {
    "": Label("utf-8", "utf-8"),
    "ascii": Label("windows-1252", "cp1252"),
    "us-ascii": Label("windows-1252", "cp1252"),
    "latin1": Label("windows-1252", "cp1252"),
    "iso-8859-1": Label("windows-1252", "cp1252"),
    "utf-16": Label("utf-16le", "utf-16-le"),
    "utf-16le": Label("utf-16le", "utf-16-le"),
    "utf-16be": Label("utf-16be", "utf-16-be"),
    "unicode-1-1-utf-8": Label("utf-8", "utf-8"),
    "utf8": Label("utf-8", "utf-8"),
    "utf-8": Label("utf-8", "utf-8"),
}


def resolve_label(value: Any, *, keep_bom: bool) -> Label:
    """The encoding a label names.

    Raises:
        JsException: RangeError, when nothing has that name.
    """
    text = "" if value is None else to_string(value).strip().lower()
    label = _LABELS.get(text)
    if label is None:
        try:
            label = Label(text, codecs.lookup(text).name)
        except LookupError:
            raise range_error(f'"{text}" is not a valid encoding.') from None
    if label.codec == "utf-8" and not keep_bom:
        return Label(label.name, "utf-8-sig")
    return label


@js_class("TextEncoder")
class TextEncoder(JsProxy):
    __slots__ = ()

    @classmethod
    def _construct(cls) -> TextEncoder:
        return cls()

    @js_property
    def encoding(self) -> str:
        return "utf-8"

    @js_method
    def encode(self, text: Any = "") -> TypedArray:
        data = b"" if text is None else utf8(to_string(text))
        return Uint8Array(ArrayBuffer(bytearray(data)))

    @js_method
    def encodeInto(self, text: Any = None, target: Any = None) -> JsObject:
        view = target._view()
        read = written = 0
        for char in to_string(text):
            data = utf8(char)
            if written + len(data) > len(view):
                break
            view[written : written + len(data)] = data
            written += len(data)
            read += 2 if char > "\uffff" else 1
        return JsObject({"read": read, "written": written})


@js_class("TextDecoder")
class TextDecoder(JsProxy):
    __slots__ = ("_codec", "_fatal", "_keep_bom", "_label")

    def __init__(self, label: Label, *, fatal: bool, keep_bom: bool) -> None:
        self._label = label
        self._fatal = fatal
        self._keep_bom = keep_bom
        self._codec = self._fresh()

    @classmethod
    def _construct(cls, label: Any = None, options: Any = None) -> TextDecoder:
        keep_bom = truthy(member(options, "ignoreBOM"))
        resolved = resolve_label(label, keep_bom=keep_bom)
        return cls(resolved, fatal=truthy(member(options, "fatal")), keep_bom=keep_bom)

    def _fresh(self) -> codecs.IncrementalDecoder:
        errors = "strict" if self._fatal else "replace"
        return codecs.getincrementaldecoder(self._label.codec)(errors)

    @js_property
    def encoding(self) -> str:
        return self._label.name

    @js_property
    def fatal(self) -> bool:
        return self._fatal

    @js_property
    def ignoreBOM(self) -> bool:
        return self._keep_bom

    @js_method
    def decode(self, source: Any = None, options: Any = None) -> str:
        data = b"" if source is None else bytes_of(source)
        if data is None:
            raise type_error(
                "Failed to execute 'decode' on 'TextDecoder': parameter 1 is not of type "
                "'ArrayBuffer or ArrayBufferView'."
            )
        more = truthy(member(options, "stream"))
        try:
            text = self._codec.decode(data, not more)
        except UnicodeDecodeError:
            self._codec = self._fresh()
            raise type_error("Failed to decode input.") from None
        if not more:
            self._codec = self._fresh()
        return text


TextEncoderClass = TextEncoder.constructor
TextDecoderClass = TextDecoder.constructor


def _btoa(text: Any = None) -> str:
    try:
        return base64.b64encode(to_string(text).encode("latin-1")).decode()
    except UnicodeEncodeError:
        raise DOMException(
            "btoa() can only operate on characters in the Latin1 (ISO/IEC 8859-1) range.",
            "InvalidCharacterError",
        ) from None


def _atob(text: Any = None) -> str:
    compact = "".join(to_string(text).split())
    compact = compact.rstrip("=") if len(compact) % 4 == 0 else compact
    try:
        if len(compact) % 4 == 1:
            raise ValueError
        data = base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise DOMException(
            "atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', "
            "alphanumeric ASCII, and up to two terminal '=' signs when the input data length is "
            "divisible by 4 are allowed.)",
            "InvalidCharacterError",
        ) from None
    return data.decode("latin-1")


btoa = JsFunction(_btoa, "btoa", 1)
atob = JsFunction(_atob, "atob", 1)
