"""Objects of Node's as the host's JavaScript sees them: Python objects, functions, streams.

Each is a number at Node; what is asked of it is asked there. Not here: how (``node_link``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.javascript.functions import JsFunction, js_class
from tsumugi_emulator.javascript.values import JsProxy, PyProxy, js_to_python
from tsumugi_emulator.javascript.web.streams import ReadableStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tsumugi_emulator.javascript.futures import PyodideFuture


class ForeignPort(Protocol):
    """Whoever reaches Node."""

    def call_foreign(self, number: int, args: list[Any]) -> Any:
        """Call a function: its JavaScript result, or a promise of it where Node is free."""

    def read_foreign(self, number: int, name: str) -> Any: ...

    def list_foreign(self, number: int) -> list[Any]: ...

    def pull_foreign(self, number: int) -> PyodideFuture:
        """The next chunk of a stream, null at its end."""

    def drop_foreign(self, number: int, reason: str) -> None:
        """Nobody reads the stream any more."""

    def let_go(self, number: int) -> None:
        """Nobody here holds the object any more, once."""


class Held:
    """Keeps one object of Node's alive."""

    __slots__ = ("number", "port")

    def __init__(self, number: int, port: ForeignPort) -> None:
        self.number = number
        self.port = port

    def __del__(self) -> None:
        self.port.let_go(self.number)


class ForeignObject:
    """A Python object inside Pyodide: what JavaScript makes of its proxy came with it."""

    def __init__(self, held: Held, text: str, json: str | None) -> None:
        self._held = held
        self._text = text
        #: ``JSON.stringify`` of it; None where that gives nothing.
        self._json_in_javascript = json

    def __str__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return js_to_python(self._held.port.read_foreign(self._held.number, name))

    def __iter__(self) -> Iterator[Any]:
        items = self._held.port.list_foreign(self._held.number)
        return iter([js_to_python(item) for item in items])


class ForeignFunction(ForeignObject):
    """A Python callable inside Pyodide."""

    def __call__(self, *args: Any) -> Any:
        return self._held.port.call_foreign(self._held.number, list(args))


_classes: dict[tuple[type, str], type[ForeignObject]] = {}


def python_object(held: Held, kind: str, name: str, text: str, json: str | None) -> PyProxy:
    """A proxy of it, whose object's class has the same name."""
    base = ForeignFunction if kind == "python function" else ForeignObject
    cls = _classes.get((base, name))
    if cls is None:
        cls = _classes[base, name] = type(name, (base,), {})
    return PyProxy(cls(held, text, json))


class NodeFunction(JsFunction):
    """A function of Node's own JavaScript."""

    __slots__ = ("_held", "_text")

    def __init__(self, held: Held, name: str, text: str) -> None:
        super().__init__(self._ask, name)
        self._held = held
        self._text = text

    def _ask(self, *args: Any) -> Any:
        return self._held.port.call_foreign(self._held.number, list(args))

    def _to_string(self) -> str:
        return self._text


@js_class("Object", constructible=False)
class NodeObject(JsProxy):
    """An instance of some class of Node's: opaque."""

    __slots__ = ("_held", "_name", "_text")

    def __init__(self, held: Held, name: str, text: str) -> None:
        self._held = held
        self._name = name
        self._text = text

    def _class_name(self) -> str:
        return self._name

    def _to_string(self) -> str:
        return self._text


def stream(number: int, length: int | None, port: ForeignPort) -> ReadableStream:
    """A stream whose chunks Node has."""
    made = ReadableStream._from_source(_chunks(number, port))
    made._expected_length = length
    # What it waits for is this event's own code: waiting for it is no I/O.
    made._context = None
    return made


async def _chunks(number: int, port: ForeignPort) -> AsyncIterator[bytes]:
    complete = False
    try:
        while True:
            chunk = await port.pull_foreign(number)
            if not isinstance(chunk, bytes):
                complete = True
                return
            yield chunk
    finally:
        if not complete:
            port.drop_foreign(number, "The other side has not read the body to its end.")
