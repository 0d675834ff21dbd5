"""``Event``, ``CustomEvent`` and ``EventTarget``."""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import call_back
from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.strings import to_string, truthy
from tsumugi_emulator.javascript.values import JsProxy, jsnull
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.uncaught import report_uncaught


@js_class("Event")
class Event(JsProxy):
    __slots__ = ("_cancelable", "_prevented", "_stopped", "_target", "_type")

    def __init__(self, type_: str, *, cancelable: bool = False) -> None:
        self._type = type_
        self._cancelable = cancelable
        self._prevented = False
        self._stopped = False
        self._target: Any = jsnull

    @classmethod
    def _construct(cls, type_: Any = None, init: Any = None) -> Event:
        return cls(to_string(type_), cancelable=truthy(member(init, "cancelable")))

    @js_property
    def type(self) -> str:
        return self._type

    @js_property
    def target(self) -> Any:
        return self._target

    @js_property
    def currentTarget(self) -> Any:
        return self._target

    @js_property
    def cancelable(self) -> bool:
        return self._cancelable

    @js_property
    def defaultPrevented(self) -> bool:
        return self._prevented

    @js_method
    def preventDefault(self) -> None:
        self._prevented = self._cancelable

    @js_method
    def stopPropagation(self) -> None:
        return None

    @js_method
    def stopImmediatePropagation(self) -> None:
        self._stopped = True


@js_class("CustomEvent")
class CustomEvent(Event):
    __slots__ = ("_detail",)

    _detail: Any

    @classmethod
    def _construct(cls, type_: Any = None, init: Any = None) -> CustomEvent:
        made = cls(to_string(type_), cancelable=truthy(member(init, "cancelable")))
        detail = member(init, "detail")
        made._detail = jsnull if detail is None else detail
        return made

    @js_property
    def detail(self) -> Any:
        return self._detail


class _Listener:
    __slots__ = ("callback", "line", "once")

    def __init__(self, callback: Any, *, once: bool) -> None:
        self.callback = callback
        self.once = once
        #: Where it was added, for the report of a callback that died.
        self.line = io_context.user_line()


@js_class("EventTarget")
class EventTarget(JsProxy):
    __slots__ = ("_handlers", "_listeners")

    def __init__(self) -> None:
        self._listeners: dict[str, list[_Listener]] = {}
        #: ``target.onabort = f``
        self._handlers: dict[str, Any] = {}

    @classmethod
    def _construct(cls) -> EventTarget:
        return cls()

    @js_method
    def addEventListener(
        self, type_: Any = None, callback: Any = None, options: Any = None
    ) -> None:
        if callback is None or callback is jsnull:
            return
        listeners = self._listeners.setdefault(to_string(type_), [])
        if all(listener.callback is not callback for listener in listeners):
            listeners.append(_Listener(callback, once=truthy(member(options, "once"))))

    @js_method
    def removeEventListener(
        self, type_: Any = None, callback: Any = None, _options: Any = None
    ) -> None:
        listeners = self._listeners.get(to_string(type_), [])
        listeners[:] = [listener for listener in listeners if listener.callback is not callback]

    @js_method
    def dispatchEvent(self, event: Any = None) -> bool:
        if not isinstance(event, Event):
            raise type_error(
                "Failed to execute 'dispatchEvent' on 'EventTarget': parameter 1 is not of type "
                "'Event'."
            )
        self._dispatch(event)
        return not event._prevented

    def _dispatch(self, event: Event) -> None:
        """Call the listeners in order. What one raises is reported and does not stop the others."""
        event._target = self
        handler = self._handlers.get(event._type)
        if handler is not None and handler is not jsnull:
            _call(handler, event, "")
        listeners = self._listeners.get(event._type, [])
        for listener in list(listeners):
            if event._stopped:
                return
            if listener.once and listener in listeners:
                listeners.remove(listener)
            _call(listener.callback, event, listener.line)


def _call(callback: Any, event: Event, line: str) -> None:
    handle = member(callback, "handleEvent") if isinstance(callback, JsProxy) else None
    try:
        call_back(callback if handle is None else handle, event)
    except Exception as error:
        report_uncaught(error, line)


def event_handler(type_: str) -> js_property:
    """The accessor ``on<type>``."""

    def read(self: EventTarget) -> Any:
        return self._handlers.get(type_, jsnull)

    def write(self: EventTarget, value: Any) -> None:
        self._handlers[type_] = value

    read.__name__ = f"on{type_}"
    return js_property(read, write)


EventClass = Event.constructor
CustomEventClass = CustomEvent.constructor
EventTargetClass = EventTarget.constructor
