"""Names for the events of the host, by which Node says in which one its code runs."""

from __future__ import annotations

import contextvars
import itertools
import re
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.depth import _DEPTH
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.worker.gates import _SECTION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tsumugi_emulator.javascript.io_context import IoContext

#: Code that runs at import, in no event.
GLOBAL = ""

_SECTION_OF_NAME = re.compile(r"\.\d+")
#: All but the number of the event.
_BEYOND_EVENT = re.compile(r"[.~].*")


class Scopes:
    """A scope is an event, ``"12"``, or a critical section of an object's, ``"12.3"``.

    How many Workers stand behind its code belongs to it: ``"12~2"``, ``"12.3~2"``.
    """

    def __init__(self, on_end: Callable[[str, str], None]) -> None:
        """``on_end`` is told the name and the kind of an event that is over."""
        self._on_end = on_end
        self._numbers = itertools.count(1)
        self._events: dict[int, tuple[str, IoContext]] = {}
        self._contexts: dict[str, contextvars.Context] = {}

    def name(self) -> str:
        """Of what runs now."""
        event = io_context.current()
        if event is None:
            return GLOBAL
        known = self._events.get(id(event))
        if known is None:
            known = self._events[id(event)] = (str(next(self._numbers)), event)
            event.on_end.append(lambda: self._ended(event))
        passed = _DEPTH.get()
        depth = f"~{passed}" if passed else ""
        outside = known[0] + depth
        if outside not in self._contexts:
            context = self._contexts[outside] = contextvars.copy_context()
            context.run(_SECTION.set, None)
        section = _SECTION.get()
        if section is None:
            return outside
        name = f"{known[0]}.{id(section)}{depth}"
        self._contexts.setdefault(name, contextvars.copy_context())
        return name

    def context(self, name: str) -> contextvars.Context:
        """Where code of the scope runs; a section that is over leaves its event.

        Raises:
            JsException: production's error, when the event is over.
        """
        if name == GLOBAL:
            return contextvars.Context()
        found = self._contexts.get(name) or self._contexts.get(_SECTION_OF_NAME.sub("", name))
        if found is None:
            text = io_context.OTHER_REQUEST_TEXT.format(kind="IoContext")
            raise js_error("Error", text)
        return found.copy()

    def section_over(self, name: str) -> None:
        if "." in name:
            self._contexts.pop(name, None)

    def events(self) -> Iterator[IoContext]:
        return (event for _, event in list(self._events.values()))

    def _ended(self, event: Any) -> None:
        name, _ = self._events.pop(id(event))
        of_event = [key for key in self._contexts if _BEYOND_EVENT.sub("", key) == name]
        for key in of_event:
            del self._contexts[key]
            self._on_end(key, event.kind)
