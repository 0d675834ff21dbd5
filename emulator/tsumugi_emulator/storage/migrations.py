"""Migrations of a D1 database: which are pending, and applying one. Files are the caller's.

The table is wrangler's, so that a database it migrated is known here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tsumugi_emulator.storage.d1 import Query
from tsumugi_emulator.storage.sql_text import statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tsumugi_emulator.storage.d1 import D1Store

_NUMBER = re.compile(r"\d+")
NUMBER_DIGITS = 4


def applied(store: D1Store, table: str) -> list[str]:
    """Names of what was applied, in that order; the table is made if it is missing."""
    create = (
        f"CREATE TABLE IF NOT EXISTS {_quoted(table)}(\n"
        "\t\tid         INTEGER PRIMARY KEY AUTOINCREMENT,\n"
        "\t\tname       TEXT UNIQUE,\n"
        "\t\tapplied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL\n)"
    )
    store.run([Query(create)])
    (result,) = store.run([Query(f"SELECT name FROM {_quoted(table)} ORDER BY id")])
    return [row[0] for row in result.rows]


def pending(names: Iterable[str], done: Iterable[str]) -> list[str]:
    """Those not applied yet, by number, then by name."""
    return sorted(set(names) - set(done), key=lambda name: (_number(name), name))


def apply(store: D1Store, table: str, *, name: str, sql: str) -> None:
    """Run a migration and note it, or neither.

    Raises:
        D1Error: it failed.
    """
    note = Query(f"INSERT INTO {_quoted(table)} (name) VALUES (?)", (name,))
    store.run([*queries(sql), note])


def queries(sql: str) -> list[Query]:
    """The statements of a file. Dumps wrap theirs in a transaction, which ours replaces."""
    found = list(statements(sql))
    first = next((part for part in found if part.verb != "PRAGMA"), None)
    if first is not None and first.verb == "BEGIN" and found[-1].verb in ("COMMIT", "END"):
        found.remove(first)
        del found[-1]
    return [Query(part.text.strip()) for part in found]


def next_name(names: Iterable[str], title: str) -> str:
    """What a new migration's file is called."""
    number = max((_number(name) for name in names), default=0) + 1
    return f"{number:0{NUMBER_DIGITS}}_{title.replace(' ', '_')}.sql"


def _number(name: str) -> int:
    match = _NUMBER.match(name)
    return int(match[0]) if match else 0


def _quoted(table: str) -> str:
    return '"' + table.replace('"', '""') + '"'
