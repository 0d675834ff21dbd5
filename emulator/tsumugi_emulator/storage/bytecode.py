"""How many rows a statement reads and writes, from its compiled program. Runs nothing.

Production counts in the engine, where its program moves a cursor or stores a row (ADR-0272). Which
instructions count is known from there; how often each of them ran is concluded from what SQLite
does tell: the rows that came back, the rows that changed, the steps of scans.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Instructions that count one row read each time they run.
_SEEKS = frozenset({"SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekRowid", "NotExists"})
#: They begin loops, which count them, or stand alone.
_BEGINS = frozenset({"Rewind", "Last"})
_NEXTS = frozenset({"Next", "Prev", "SorterNext", "VNext"})
_OPENS_TABLE = frozenset({"OpenRead", "OpenWrite"})
_STORES = frozenset({"Insert", "IdxInsert"})
_FILLS = _STORES | {"SorterInsert"}
#: What a loop does with rows that it is there for; without it, it looks something up.
_PASSES_ON = frozenset(
    {"AggStep", "IdxInsert", "Insert", "ResultRow", "RowSetAdd", "SorterInsert", "Yield"}
)
#: Flags: the row counts as changed, nothing is stored, the step is one of a scan.
_COUNTS = 1
_IS_NO_OP = 64
_SCANS = 1


class Op(NamedTuple):
    """A line of ``EXPLAIN``."""

    address: int
    code: str
    p1: int
    p2: int
    p3: int
    p5: int

    @property
    def counts(self) -> bool:
        """Whether it changes a row that counts as changed."""
        if self.code == "VUpdate":
            return True
        flags = self.p2 if self.code == "Delete" else self.p5 if self.code in _STORES else 0
        return bool(flags & _COUNTS)


#: Rows of ``EXPLAIN``: a program, then those of triggers.
type Lines = Sequence[Sequence[Any]]

_op_of_line = itemgetter(0, 1, 2, 3, 4, 6)
_shape_of_line = itemgetter(1, 3, 4, 6)


def shape_of(lines: Lines) -> tuple[Any, ...]:
    """The same for programs that differ in constants only."""
    return tuple(map(_shape_of_line, lines))


class Steps(NamedTuple):
    """What SQLite tells of a run."""

    #: How often scans went on to a next row.
    scans: int
    #: Instructions.
    all: int


class _Loop(NamedTuple):
    start: int
    end: int
    cursor: int
    #: Whether it passes all of a table.
    scans: bool
    #: Whether it starts at one end of a table, without a search.
    starts_at_end: bool
    passes_on: bool

    def holds(self, address: int) -> bool:
        return self.start <= address <= self.end


class Program:
    def __init__(self, lines: Lines) -> None:
        self._ops: list[Op] = []
        #: Of triggers and foreign keys.
        self._inner: list[Op] = []
        ops = self._ops
        for op in map(Op._make, map(_op_of_line, lines)):
            if op.code == "Insert" and op.p5 & _IS_NO_OP:
                op = op._replace(code="Noop")
            if ops and op.address < ops[-1].address:
                ops = self._inner
            ops.append(op)
        #: Cursors on tables and indexes, with their root pages.
        self._pages = {op.p1: op.p2 for op in self._ops if op.code in _OPENS_TABLE}
        #: What runs in the first round of a loop only.
        self._once = [range(op.address, op.p2) for op in self._ops if op.code == "Once"]
        self._loops = sorted(
            (self._loop(op) for op in self._ops if op.code in _NEXTS),
            key=lambda loop: (loop.start, -loop.end),  # as they run, outer ones first
        )
        self._scans = [loop for loop in self._loops if loop.scans]
        self._yields = any(op.code == "Yield" for op in self._ops)
        self._search = self._only_search()
        #: Whether figures depend on what is stored.
        self.asks_sizes = bool(self._scans) or any(op.code == "Count" for op in self._ops)
        #: Rows read and written, by what a run came to.
        self.figures: dict[tuple[int, int, Steps | None], tuple[int, int]] = {}

    def _loop(self, last: Op) -> _Loop:
        stored = last.p1 in self._pages
        body = self._ops[last.p2 : last.address]
        begun = any(op.code in _BEGINS and op.p1 == last.p1 for op in self._ops[: last.p2])
        return _Loop(
            last.p2,
            last.address,
            last.p1,
            scans=stored and bool(last.p5 & _SCANS),
            starts_at_end=stored and begun,
            passes_on=any(op.code in _PASSES_ON for op in body),
        )

    @property
    def tells_by_steps(self) -> bool:
        """Whether a traced run would tell more."""
        return bool(self._scans) or self._search is not None

    @property
    def reads(self) -> bool:
        """Whether it has anything to read rows from."""
        return bool(self._loops) or any(op.code in _SEEKS for op in self._ops)

    # -- Writing ----------------------------------------------------------------------------------

    def written(self, changes: int) -> int:
        """Rows and index entries stored, and rows deleted."""
        if not changes:
            return 0
        if any(op.code == "Clear" and op.p3 for op in self._ops):
            return changes
        stored = [op for op in self._ops if op.p1 in self._pages or op.code == "VUpdate"]
        changing = max(1, sum(op.counts for op in stored))
        entries = sum(op.code == "IdxInsert" and not op.counts for op in stored)
        # The last number of AUTOINCREMENT.
        once = sum(op.code == "Insert" and not op.counts for op in stored)
        inner = sum(op.code in _STORES or op.counts for op in self._inner)
        # Of an upsert one half runs: the mean of both, rounded up.
        return once + changes + changes * inner - (-changes * entries // changing)

    def created(self, size_of: Callable[[int], int]) -> tuple[int, int]:
        """Rows read and written by a CREATE; an index is filled from its table."""
        stored = [op for op in self._ops if op.p1 in self._pages]
        filled = [op.p2 for op in self._ops if op.code == "OpenRead"]
        written = sum(op.code == "Insert" for op in stored) + sum(map(size_of, filled))
        return self.read(rows=0, changes=0, steps=None, size_of=size_of), written

    # -- Reading ----------------------------------------------------------------------------------

    def read(
        self, *, rows: int, changes: int, steps: Steps | None, size_of: Callable[[int], int]
    ) -> int:
        """Rows and index entries visited; ``size_of`` counts what is stored under a root page."""
        passed = max(rows, changes)
        if steps is not None and self._search is not None:
            return self._searched(self._search, passed, steps.all)
        visits: dict[_Loop, int] = {}
        for loop in self._loops:
            visits[loop] = self._visits(loop, visits, passed, steps, size_of)
        read = sum(visits.values())
        begun = {loop.cursor for loop in self._loops}
        for op in self._ops:
            if op.code in _SEEKS:
                runs = self._runs(op, visits, passed)
                read += min(runs, passed) if self._is_exact(op) else runs
            elif op.code in _BEGINS and op.p1 not in begun:
                read += self._runs(op, visits, passed)
            elif op.code == "Last" and self._around(op.address):
                read += max(0, self._runs(op, visits, passed) - passed)  # sorts for a LIMIT
            elif op.code == "Count" and not op.p3:
                read += size_of(self._pages[op.p1])
        return read

    def _is_exact(self, op: Op) -> bool:
        """Whether it searches what is equal, and counts only if it finds it."""
        after = self._ops[op.address + 1] if op.address + 1 < len(self._ops) else op
        return after.code in ("IdxGT", "IdxLT") and (after.p1, after.p3) == (op.p1, op.p3)

    def _only_search(self) -> _Loop | None:
        """The loop of a program that does nothing but search one table or index."""
        if len(self._loops) != 1 or self._inner or self._yields or self._once:
            return None
        (loop,) = self._loops
        body = self._ops[loop.start : loop.end]
        plain = not any(op.code in _SEEKS or op.counts for op in body)
        return loop if plain and not loop.scans and loop.cursor in self._pages else None

    def _searched(self, loop: _Loop, passed: int, steps: int) -> int:
        """Visits of the only loop: as many as explain the instructions that ran."""
        body = self._ops[loop.start : loop.end + 1]
        steps -= len(self._ops) - len(body)
        if any(self._is_exact(op) for op in self._ops if op.code in _SEEKS):
            if steps <= 0:
                return 0
            steps += 1  # if it finds any, it skips the first look at whether it is still equal
        # How long a round is that gives no row, and one that finds the end.
        skips = [op.address for op in body if op.p2 == loop.end and op.address < loop.end]
        leaves = [op.address for op in body if op.p2 > loop.end]
        skipping = skips[0] - loop.start + 2 if skips else len(body)
        leaving = leaves[0] - loop.start + 1 if leaves else 0
        found = passed if any(op.code == "ResultRow" for op in body) else 0
        rest = max(0, steps - found * len(body))
        past_end = int(0 < leaving <= rest and (rest - leaving) % skipping == 0)
        return max(1, found + (rest - past_end * leaving) // skipping + past_end)

    def _visits(
        self,
        loop: _Loop,
        visits: dict[_Loop, int],
        passed: int,
        steps: Steps | None,
        size_of: Callable[[int], int],
    ) -> int:
        around = self._around(loop.start, loop)
        times = visits[around] if around is not None else 1
        if loop.scans:
            if steps is not None and len(self._scans) == 1:
                return steps.scans + times
            return times * max(1, size_of(self._pages[loop.cursor]))
        if loop.starts_at_end:
            return passed + 1 if loop.passes_on else 1
        if loop.cursor in self._pages:  # its first row is counted by the search
            alike = [
                other
                for other in self._loops
                if other.cursor in self._pages and not self._around(other.start, other)
            ]
            return passed if around is not None else passed // max(1, len(alike))
        filled = [op for op in self._ops if op.code in _FILLS and op.p1 == loop.cursor]
        given = sum(self._around(op.address) is None for op in filled)
        if not given and not self._gives(loop):
            around_fills = [self._around(op.address, loop) for op in filled]
            given = max((visits.get(fill, 0) for fill in around_fills if fill), default=0)
        return max(1, given or passed)

    def _gives(self, loop: _Loop) -> bool:
        return any(op.code in ("ResultRow", "Yield") for op in self._ops[loop.start : loop.end])

    def _around(self, address: int, inside: _Loop | None = None) -> _Loop | None:
        """The innermost loop that runs what is at a place again and again."""
        for loop in reversed(self._loops):
            if loop is inside or not loop.holds(address):
                continue
            if not any(address in once and loop.holds(once.start) for once in self._once):
                return loop
        return None

    def _runs(self, op: Op, visits: dict[_Loop, int], passed: int) -> int:
        around = self._around(op.address)
        if around is not None:
            return visits[around]
        return max(1, passed) if self._yields else 1
