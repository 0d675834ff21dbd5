"""The part of a D1 binding that the read model uses: one text in, at most one text out.

Results of other shapes would be converted value by value on their way from JavaScript.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from tsumugi.jobs.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Bytes of a value that D1 binds or keeps in a row.
VALUE_BYTES: Final = 2_000_000
#: What every statement here calls its only column.
ANSWER: Final = "answer"


class Statement(Protocol):
    """``D1PreparedStatement``. ``bind`` answers another one."""

    def bind(self, *values: Any) -> Statement: ...
    async def first(self, column: str) -> Any: ...


class Database(Protocol):
    """``D1Database``, as ``env`` holds it."""

    def prepare(self, sql: str) -> Statement: ...
    async def batch(self, statements: list[Statement]) -> Any: ...


async def ask(database: Database, sql: str, parameters: object) -> Any:
    """What a statement answers in its only row, with ``?1`` as JSON."""
    text = await database.prepare(sql).bind(dumps(parameters)).first(ANSWER)
    return loads(text)


async def ask_all(database: Database, statements: Sequence[tuple[str, object]]) -> list[Any]:
    """The same for several statements in one transaction; None for those that answer nothing."""
    prepared = [database.prepare(sql).bind(dumps(parameters)) for sql, parameters in statements]
    return [_answer(result["results"]) for result in await database.batch(prepared)]


def _answer(rows: Any) -> Any:
    if not len(rows):
        return None
    return loads(rows[0][ANSWER])
