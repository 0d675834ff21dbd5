"""Rows that a statement read and wrote, as near as can be told to production's (ADR-0272).

Keeps compiled programs (``bytecode``) by their text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.storage.bytecode import Program, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.storage.bytecode import Lines, Steps
    from tsumugi_emulator.storage.sql_text import Statement

_COUNTED = frozenset({"SELECT", "VALUES", "WITH", "UPDATE", "DELETE", "INSERT", "REPLACE"})
_CREATES = "CREATE"
_ALTERS = "ALTER"
#: Programs kept; a Worker with more different statements pays for compiling again.
MAX_PROGRAMS = 512
#: Different outcomes of one program that are kept.
MAX_FIGURES = 64
#: The root page of the table of tables.
_SCHEMA_PAGE = 1

type Ask = Callable[[str, Any], list[Any]]


class Usage:
    """``ask`` runs a statement of the emulator's own and never raises."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        #: By text; texts of one shape share one.
        self._programs: dict[str, Program | None] = {}
        self._shapes: dict[tuple[Any, ...], Program] = {}

    def forget(self) -> None:
        """The schema changed."""
        self._programs.clear()
        self._shapes.clear()

    def tells_by_steps(self, statement: Statement, values: Any) -> bool:
        """Whether a traced run of it would tell more."""
        program = self._program(statement, values)
        return program is not None and program.tells_by_steps

    def reads(self, statement: Statement, values: Any) -> bool:
        """Whether there is anything it could read rows from."""
        program = self._program(statement, values)
        return program is not None and program.reads

    def of_schema_change(self, statement: Statement) -> tuple[int, int]:
        """Rows that it is going to read and write: afterwards it cannot be compiled any more."""
        if statement.verb != _CREATES:
            return 0, int(statement.verb == _ALTERS)
        lines = self._ask(f"EXPLAIN {statement.text}", ())
        return Program(lines).created(self._size_of) if len(lines) > 1 else (0, 0)

    def of(
        self,
        statement: Statement,
        values: Any,
        *,
        rows: int,
        changes: int,
        steps: Steps | None = None,
    ) -> tuple[int, int]:
        """Rows read and rows written."""
        program = self._program(statement, values)
        if program is None:
            return 0, 0
        run = (rows, changes, steps)
        figures = program.figures.get(run)
        if figures is None:
            read = program.read(rows=rows, changes=changes, steps=steps, size_of=self._size_of)
            figures = read, program.written(changes)
            if not program.asks_sizes:
                if len(program.figures) >= MAX_FIGURES:
                    program.figures.clear()
                program.figures[run] = figures
        return figures

    def _program(self, statement: Statement, values: Any) -> Program | None:
        if statement.verb not in _COUNTED:
            return None
        if statement.text not in self._programs:
            if len(self._programs) >= MAX_PROGRAMS:
                self._programs.clear()
            lines = self._ask(f"EXPLAIN {statement.text}", values)
            self._programs[statement.text] = self._shared(lines) if lines[1:] else None
        return self._programs[statement.text]

    def _shared(self, lines: Lines) -> Program:
        shape = shape_of(lines)
        found = self._shapes.get(shape)
        if found is None:
            if len(self._shapes) >= MAX_PROGRAMS:
                self._shapes.clear()
            found = self._shapes[shape] = Program(lines)
        return found

    def _size_of(self, page: int) -> int:
        table = "sqlite_schema"
        if page != _SCHEMA_PAGE:
            found = self._ask("SELECT tbl_name FROM sqlite_schema WHERE rootpage = ?", (page,))
            if not found or not isinstance(found[0][0], str):
                return 0
            table = found[0][0]
        quoted = table.replace('"', '""')
        return int(self._ask(f'SELECT count(*) FROM "{quoted}"', ())[0][0])
