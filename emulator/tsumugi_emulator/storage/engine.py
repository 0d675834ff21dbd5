"""The SQLite of D1 and Durable Objects: opening it as production does, and wording its refusals.

It is a SQLite of its own, as new as production's; the one that comes with Python may be years
older (ADR-0240). Not here: the emulator's own stores, which use Python's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import apsw

from tsumugi_emulator.storage.bytecode import Steps
from tsumugi_emulator.storage.rules import LIMITS, TRANSACTION_TEXT, is_unknown_function

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tsumugi_emulator.storage.rules import Rules

type Row = tuple[Any, ...]

#: One thread uses a connection: nothing needs a lock.
_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOMUTEX
#: Compiled statements kept; a Worker uses few different ones.
_STATEMENTS = 256
#: More columns than ``LIMITS`` allows the user's statements.
_COLUMNS = 2_000

_REFUSED_FUNCTION = "not authorized to use function: "
WRONG_BINDINGS = "Wrong number of parameter bindings for SQL query."
ONLY_LAST_BINDS = (
    "When executing multiple SQL statements in a single call, only the last statement can have "
    "parameters."
)

#: What running a statement or reading its rows may raise.
FAILURES = (apsw.Error, ValueError, OverflowError)


def open_database(path: Path) -> apsw.Connection:
    """Open or create the file in autocommit mode, with production's limits."""
    try:
        db = apsw.Connection(str(path), flags=_FLAGS, statementcachesize=_STATEMENTS)
    except apsw.CantOpenError:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = apsw.Connection(str(path), flags=_FLAGS, statementcachesize=_STATEMENTS)
    for limit, value in LIMITS:
        db.limit(limit, value)
    return db


def explained(error: Exception, rules: Rules, *, unbound: str = WRONG_BINDINGS) -> str:
    """A failure as production words it: SQLite's message, its place in the text, its code."""
    if rules.take_refused_transaction():
        return TRANSACTION_TEXT
    if isinstance(error, apsw.BindingsError):
        return unbound
    if not isinstance(error, apsw.Error):
        return f"{error}: SQLITE_ERROR"
    offset: int = getattr(error, "error_offset", -1)
    place = "" if offset < 0 else f" at offset {offset}"
    result: int = getattr(error, "result", apsw.SQLITE_ERROR)
    primary = apsw.mapping_result_codes.get(result, "SQLITE_ERROR")
    detail = apsw.mapping_extended_result_codes.get(getattr(error, "extendedresult", result))
    extended = "" if detail is None else f" (extended: {detail})"
    return f"{_message(str(error))}{place}: {primary}{extended}"


def _message(text: str) -> str:
    name = text.removeprefix(_REFUSED_FUNCTION)
    if name != text and is_unknown_function(name.lower()):
        return f"no such function: {name}"
    return text


def steps_of(profiles: Sequence[dict[str, Any]]) -> Steps | None:
    """What a traced statement took; None if it was not traced."""
    if not profiles:
        return None
    status = profiles[-1]["stmt_status"]
    return Steps(status["SQLITE_STMTSTATUS_FULLSCAN_STEP"], status["SQLITE_STMTSTATUS_VM_STEP"])


def storable(values: Sequence[Any]) -> Sequence[Any]:
    """Texts with halves of characters, as they are read back: the runtime stores their bytes."""
    return [_whole(value) if type(value) is str else value for value in values]


def _whole(value: str) -> str:
    joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return _HALF.sub("\ufffd\ufffd\ufffd", joined)


_HALF = re.compile("[\ud800-\udfff]")


def rows_of_any_text(
    db: apsw.Connection, query: str, params: Sequence[Any], *, columns: int
) -> list[Row]:
    """All rows of a query that holds texts which are no UTF-8, read as JavaScript reads them.

    Raises:
        apsw.Error: it is no query, or fails.
    """
    names = [f"c{number}" for number in range(columns)]
    picked = ", ".join(
        f"typeof({name}), iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})"
        for name in names
    )
    allowed = db.limit(apsw.SQLITE_LIMIT_COLUMN, _COLUMNS)
    try:
        wrapped = f"WITH _cf_rows({', '.join(names)}) AS ({query}\n) SELECT {picked} FROM _cf_rows"
        found: list[Row] = db.execute(wrapped, params).fetchall()
    finally:
        db.limit(apsw.SQLITE_LIMIT_COLUMN, allowed)
    return [
        tuple(
            value.decode("utf-8", "replace") if kind == "text" else value
            for kind, value in zip(row[::2], row[1::2], strict=True)
        )
        for row in found
    ]
