"""What production lets SQL do: limits, pragmas, functions, no transactions of its own.

The lists are workerd's (runtime reference section 4). Decides only; ``d1`` installs it.
"""

from __future__ import annotations

import re
import sqlite3

from tsumugi_emulator.storage.sql_text import MAX_PARAMETERS, MAX_SQL_BYTES

TRANSACTION_TEXT = (
    "To execute a transaction, please use the state.storage.transaction() or "
    "state.storage.transactionSync() APIs instead of the SQL BEGIN TRANSACTION or SAVEPOINT "
    "statements. The JavaScript API is safer because it will automatically roll back on "
    "exceptions, and because it interacts correctly with Durable Objects' automatic atomic write "
    "coalescing."
)

LIMITS = (
    # 2 MB as documented, and what a row needs beside its values.
    (sqlite3.SQLITE_LIMIT_LENGTH, 2_200_000),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES),
    (sqlite3.SQLITE_LIMIT_COLUMN, 100),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 5),
    (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 32),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
    (sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, MAX_PARAMETERS),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 10),
)

_NAME = re.compile(r"(?!_cf_).*", re.IGNORECASE | re.DOTALL)
_BOOLEAN = re.compile(r"(?:[01]|true|false|on|off|yes|no).*", re.IGNORECASE | re.DOTALL)
_NOTHING = re.compile(r"(?!)")
_MAY_READ = {
    "case_sensitive_like": _BOOLEAN,
    "data_version": _NOTHING,
    "defer_foreign_keys": _BOOLEAN,
    "foreign_key_check": _NAME,
    "foreign_keys": _BOOLEAN,
    "ignore_check_constraints": _BOOLEAN,
    "legacy_alter_table": _BOOLEAN,
    "optimize": re.compile(r"\s*[-+]?(?:0x[0-9a-f]{1,16}|\d{1,18})", re.IGNORECASE),
    "page_size": _NOTHING,
    "quick_check": _NAME,
    "recursive_triggers": _BOOLEAN,
    "reverse_unordered_selects": _BOOLEAN,
    "table_list": re.compile(r".*", re.DOTALL),
}
#: What a pragma's argument may be, as workerd 2026-11-17 was seen to take and refuse them.
#: Those of ``_MAY_READ`` are allowed without one, too; r-trees ask for ``page_size``.
_PRAGMAS = _MAY_READ | dict.fromkeys(
    (
        "foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_xinfo",
    ),
    _NAME,
)  # fmt: skip
#: All that workerd 2026-11-17 was asked for and refused; synonyms (``power``) are among them.
_NO_FUNCTIONS = frozenset(
    {
        "ceiling", "fts5", "fts5_get_locale", "fts5_insttoken", "fts5_locale", "fts5_source_id",
        "if", "json_array_insert", "json_error_position", "json_pretty", "jsonb_array_insert",
        "log10", "power", "rtreedepth", "rtreenode", "sqlite_compileoption_get",
        "sqlite_compileoption_used", "sqlite_log", "sqlite_offset", "sqlite_source_id",
        "sqlite_version", "subtype", "unistr", "unistr_quote",
    }
)  # fmt: skip
#: What SQLite has here and production's, which is built with less, does not know.
_UNKNOWN_FUNCTIONS = frozenset(
    {
        "fts3_tokenizer", "matchinfo", "median", "offsets", "optimize", "percentile",
        "percentile_cont", "percentile_disc",
    }
)  # fmt: skip
_UNKNOWN_PREFIX = "geopoly_"
_VIRTUAL_TABLES = frozenset({"fts5", "fts5vocab", "rtree", "rtree_i32"})
#: Names that belong to the platform.
_RESERVED = "_cf_"

_REFUSED = frozenset(
    {
        sqlite3.SQLITE_ATTACH,
        sqlite3.SQLITE_DETACH,
        sqlite3.SQLITE_CREATE_TEMP_INDEX,
        sqlite3.SQLITE_CREATE_TEMP_TABLE,
        sqlite3.SQLITE_CREATE_TEMP_TRIGGER,
        sqlite3.SQLITE_CREATE_TEMP_VIEW,
    }
)
_TRANSACTIONS = frozenset({sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT})
_NAMED = frozenset(
    {
        sqlite3.SQLITE_CREATE_INDEX,
        sqlite3.SQLITE_CREATE_TABLE,
        sqlite3.SQLITE_CREATE_TRIGGER,
        sqlite3.SQLITE_CREATE_VIEW,
    }
)


class Rules:
    """SQLite asks ``check`` about everything a statement does, once, when it is compiled."""

    def __init__(self) -> None:
        #: While a statement of the emulator's own is compiled.
        self.suspended = False
        self._refused_transaction = False

    def take_refused_transaction(self) -> bool:
        """Whether the last refusal was of BEGIN, COMMIT, SAVEPOINT and the like."""
        refused, self._refused_transaction = self._refused_transaction, False
        return refused

    def check(
        self,
        action: int,
        first: str | None,
        second: str | None,
        _database: str | None,
        _trigger: str | None,
    ) -> int:
        if self.suspended or self._allows(action, (first or "").lower(), second):
            return sqlite3.SQLITE_OK
        self._refused_transaction = action in _TRANSACTIONS
        return sqlite3.SQLITE_DENY

    def _allows(self, action: int, first: str, second: str | None) -> bool:
        if action == sqlite3.SQLITE_PRAGMA:
            return _allows_pragma(first, second)
        if action == sqlite3.SQLITE_FUNCTION:
            name = (second or "").lower()
            return name not in _NO_FUNCTIONS and not is_unknown_function(name)
        if action == sqlite3.SQLITE_CREATE_VTABLE:
            return (second or "").lower() in _VIRTUAL_TABLES and not first.startswith(_RESERVED)
        if action in _NAMED:
            return not first.startswith(_RESERVED)
        return action not in _REFUSED and action not in _TRANSACTIONS


def _allows_pragma(name: str, argument: str | None) -> bool:
    if argument is None:
        return name in _MAY_READ
    form = _PRAGMAS.get(name)
    return form is not None and form.fullmatch(argument) is not None


def is_unknown_function(name: str) -> bool:
    """Whether production's SQLite has no such function, although this one does."""
    return name in _UNKNOWN_FUNCTIONS or name.startswith(_UNKNOWN_PREFIX)
