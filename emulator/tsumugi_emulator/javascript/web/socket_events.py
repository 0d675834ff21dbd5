"""The events of WebSockets: ``MessageEvent``, ``CloseEvent``, ``ErrorEvent``."""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.functions import js_class, js_property
from tsumugi_emulator.javascript.strings import to_int32, to_string, truthy
from tsumugi_emulator.javascript.values import jsnull
from tsumugi_emulator.javascript.web.events import Event
from tsumugi_emulator.javascript.web.members import member


@js_class("MessageEvent")
class MessageEvent(Event):
    __slots__ = ("_data",)

    def __init__(self, data: Any, type_: str = "message") -> None:
        super().__init__(type_)
        self._data = data

    @classmethod
    def _construct(cls, type_: Any = None, init: Any = None) -> MessageEvent:
        return cls(member(init, "data"), to_string(type_))

    @js_property
    def data(self) -> Any:
        return self._data


@js_class("CloseEvent")
class CloseEvent(Event):
    __slots__ = ("_clean", "_code", "_reason")

    def __init__(self, code: int, reason: str, *, clean: bool, type_: str = "close") -> None:
        super().__init__(type_)
        self._code = code
        self._reason = reason
        self._clean = clean

    @classmethod
    def _construct(cls, type_: Any = None, init: Any = None) -> CloseEvent:
        code, reason = member(init, "code"), member(init, "reason")
        return cls(
            0 if code is None else to_int32(code),
            "" if reason is None else to_string(reason),
            clean=truthy(member(init, "wasClean")),
            type_=to_string(type_),
        )

    @js_property
    def code(self) -> int:
        return self._code

    @js_property
    def reason(self) -> str:
        return self._reason

    @js_property
    def wasClean(self) -> bool:
        return self._clean


@js_class("ErrorEvent")
class ErrorEvent(Event):
    __slots__ = ("_error", "_message")

    def __init__(self, message: str, error: Any, *, type_: str = "error") -> None:
        super().__init__(type_)
        self._message = message
        self._error = error

    @classmethod
    def _construct(cls, type_: Any = None, init: Any = None) -> ErrorEvent:
        message, error = member(init, "message"), member(init, "error")
        return cls(
            "" if message is None else to_string(message),
            jsnull if error is None else error,
            type_=to_string(type_),
        )

    @js_property
    def message(self) -> str:
        return self._message

    @js_property
    def error(self) -> Any:
        return self._error


MessageEventClass = MessageEvent.constructor
CloseEventClass = CloseEvent.constructor
ErrorEventClass = ErrorEvent.constructor
