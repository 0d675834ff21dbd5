"""Where each resource's file is and how it is opened. No tables and no queries."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: How long a writer waits for another process's transaction. Ours last milliseconds.
BUSY_TIMEOUT_S = 10.0


def database_path(state: Path, kind: str, identity: str) -> Path:
    """``<state>/<kind>/<identity>.sqlite``; an identity may hold any characters."""
    return state / kind / f"{quote(identity, safe=' ')}.sqlite"


def connect(path: Path) -> sqlite3.Connection:
    """Open or create the file in autocommit mode.

    What a statement or a transaction wrote survives the death of the process once it returned.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, cached_statements=256)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA temp_store = MEMORY")
    except BaseException:  # a file that is no database
        db.close()
        raise
    return db


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; inside another one, part of that."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
