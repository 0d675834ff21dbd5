"""What the user's SQL may do in an object's file: D1's rules, and none of the emulator's tables."""

from __future__ import annotations

import sqlite3

from tsumugi_emulator.storage.rules import Rules

_TOUCHES = frozenset(
    {
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_DROP_TABLE,
    }
)
_OWN_TABLES = "_cf_"


class ObjectRules(Rules):
    def _allows(self, action: int, first: str, second: str | None) -> bool:
        if action in _TOUCHES and first.startswith(_OWN_TABLES):
            return False
        return super()._allows(action, first, second)
