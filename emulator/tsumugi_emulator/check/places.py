"""Where things stand in a configuration file. Pure: it is given the parsed document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.check.facts import Spot
from tsumugi_emulator.config.environments import Environment, select
from tsumugi_emulator.config.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from tsumugi_emulator.check.facts import Suppression
    from tsumugi_emulator.config.document import Document, ValuePath

_START = Spot(1, 1)


class ConfigPlaces:
    """Answers with the start of the file for what it cannot find."""

    def __init__(
        self,
        path: Path,
        document: Document | None,
        environment: str | None,
        suppressions: tuple[Suppression, ...] = (),
    ) -> None:
        self.path = str(path)
        self.suppressions = suppressions
        self._document = document
        root = document.value if document is not None else None
        self._environment = (
            select(root, Report(path, document), name=environment)
            if isinstance(root, dict)
            else Environment({})
        )

    def consumer(self, queue: str) -> Spot:
        return self._entry("queues", "consumers", "queue", queue)

    def dead_letter_queue(self, queue: str) -> Spot:
        return self._entry("queues", "consumers", "dead_letter_queue", queue)

    def producer(self, queue: str) -> Spot:
        return self._entry("queues", "producers", "queue", queue)

    def durable_object(self, binding: str) -> Spot:
        return self._entry("durable_objects", "bindings", "name", binding)

    def crons(self) -> Spot:
        field = self._environment.get("triggers")
        return _START if field is None else self._spot(field[1])

    def _entry(self, field: str, inner: str, key: str, value: str) -> Spot:
        found = self._environment.get(field)
        if found is None:
            return _START
        block, at = found
        entries: Any = block.get(inner) if isinstance(block, dict) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and entry.get(key) == value:
                return self._spot((*at, inner, index, key))
        return self._spot(at)

    def _spot(self, at: ValuePath) -> Spot:
        position = self._document.value_position(at) if self._document is not None else None
        return _START if position is None else Spot(position.line, position.column)
