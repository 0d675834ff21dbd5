"""Estimates of the rows a statement read and wrote, from its plan and its results (ADR-0061).

SQLite does not tell Python how many rows it visited. A scan is counted as the whole table, a
search as the rows it gave; that is what finds a missing index, which is what people look for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.storage.sql_text import Statement

_SCAN = re.compile(r"SCAN (?P<table>[^\s(]+)(?: USING .*)?\Z")
_VISIT = re.compile(r"(?:SCAN (?!CONSTANT)|SEARCH )")
_INTO = re.compile(r"\bINTO\s+(?:\w+\s*\.\s*)?[\"`\[]?(?P<table>\w+)", re.IGNORECASE)
_LIMIT = re.compile(r"\bLIMIT\b", re.IGNORECASE)
_PLANNED = frozenset({"SELECT", "WITH", "UPDATE", "DELETE", "INSERT", "REPLACE"})
_INSERTS = frozenset({"INSERT", "REPLACE"})
#: Plans kept; a Worker with more different statements pays for planning again.
MAX_PLANS = 512

type Ask = Callable[[str, Any], list[Any]]


class _Plan(NamedTuple):
    scanned: tuple[str, ...]
    #: Whether rows come from tables at all.
    reads: bool
    #: Rows written for each changed one: itself and its index entries.
    weight: int


class Usage:
    """``ask`` runs a statement of the emulator's own and never raises."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._plans: dict[str, _Plan] = {}

    def forget(self) -> None:
        """The schema changed."""
        self._plans.clear()

    def of(self, statement: Statement, values: Any, *, rows: int, changes: int) -> tuple[int, int]:
        """Rows read and rows written."""
        if statement.verb not in _PLANNED:
            return 0, 0
        plan = self._plans.get(statement.text)
        if plan is None:
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            plan = self._plans[statement.text] = self._make(statement, values)
        read = rows if plan.reads else 0
        if statement.verb in ("UPDATE", "DELETE"):
            read = max(read, changes)
        if plan.scanned:
            read = max(read, sum(map(self._count, plan.scanned)))
        return read, changes * plan.weight

    def _make(self, statement: Statement, values: Any) -> _Plan:
        text = statement.text
        weight = 1
        if statement.verb in _INSERTS and (match := _INTO.search(text)):
            (indexes,) = self._ask(
                "SELECT count(*) FROM sqlite_schema"
                " WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE",
                (match["table"],),
            )
            weight += indexes[0]
            if "SELECT" not in text.upper():
                return _Plan((), reads=False, weight=weight)
        steps = [str(step[-1]) for step in self._ask(f"EXPLAIN QUERY PLAN {text}", values)]
        reads = any(_VISIT.match(step) for step in steps)
        if _LIMIT.search(text):
            # A scan that may stop early: the rows it gave must do.
            return _Plan((), reads=reads, weight=weight)
        names = [match["table"] for step in steps if (match := _SCAN.match(step))]
        scanned = tuple(name for name in names if self._is_table(name))
        return _Plan(scanned, reads=reads, weight=weight)

    def _is_table(self, name: str) -> bool:
        (known,) = self._ask(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE",
            (name,),
        )
        return bool(known[0])

    def _count(self, table: str) -> int:
        quoted = table.replace('"', '""')
        return int(self._ask(f'SELECT count(*) FROM "{quoted}"', ())[0][0])
