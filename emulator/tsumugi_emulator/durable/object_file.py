"""One object's SQLite file: its transactions, its key-value records, its name, its alarm.

Values are bytes. Writes of one turn of the event loop share a transaction, which its owner commits
before anything leaves the object. Not here: the user's SQL (``object_sql``) and JavaScript values.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Protocol

import apsw

from tsumugi_emulator.durable.object_rules import ObjectRules
from tsumugi_emulator.storage.engine import open_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from tsumugi_emulator.storage.engine import Row

#: A write-ahead log this long is folded into the file when it is closed; shorter ones stay, so
#: that closing thousands of objects costs no disk flushes.
FOLD_LOG_BYTES = 4 * 1024 * 1024
#: How much of a file is kept in memory, as far as it is used. With SQLite's 2 MB, the indexes of an
#: object with some ten thousand rows are read and written again and again.
CACHE_KB = 8_000

_SCHEMA = (
    "CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
    "CREATE TABLE _cf_METADATA (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
)
#: Compiled statements are kept by their text and checked once: the comment keeps ours apart.
_BEGIN = "BEGIN /* emulator */"
_COMMIT = "COMMIT /* emulator */"
_ROLLBACK = "ROLLBACK /* emulator */"
_GET = "SELECT value FROM _cf_KV WHERE key = ? /* emulator */"
_PUT = "INSERT OR REPLACE INTO _cf_KV VALUES (?, ?) /* emulator */"
_DELETE = "DELETE FROM _cf_KV WHERE key = ? /* emulator */"
_FACTS = "SELECT key, value FROM _cf_METADATA /* emulator */"
_PUT_FACT = "INSERT OR REPLACE INTO _cf_METADATA VALUES (?, ?) /* emulator */"
_DELETE_FACT = "DELETE FROM _cf_METADATA WHERE key = ? /* emulator */"


class AlarmBook(Protocol):
    """Where the object tells that its alarm is about to change, and that it has."""

    def announce(self, due_ms: int) -> None:
        """Before the record is durable."""

    def settle(self, due_ms: int | None) -> None:
        """The record is durable: this is the alarm now."""


class ObjectFile:
    """Opened by the first use of anything in it."""

    def __init__(self, path: Path, *, on_write: Callable[[], None], alarms: AlarmBook) -> None:
        """``on_write`` runs when a transaction begins; somebody must ``commit`` it soon."""
        self.path = path
        self._on_write = on_write
        self._alarms = alarms
        self._db: apsw.Connection | None = None
        #: Runs the emulator's own statements.
        self._own: apsw.Cursor
        self._closed: BaseException | None = None
        self._savepoints = 0
        self._alarm_changed = False
        #: What its own records say, with what is not committed yet; None to be read again.
        self._known_facts: dict[str, Any] | None = None
        #: The name the object was first addressed by, to be kept once there is a file.
        self.name: str | None = None
        #: While its alarm runs, the object has none, unless the handler sets a new one.
        self.alarm_runs = False
        self.rules = ObjectRules()
        #: Whether the turn's transaction is open.
        self.writing = False
        #: Told when tables may have become others than statements were compiled for.
        self.on_schema_change: Callable[[], None] = lambda: None
        #: Told before a statement of the emulator's own.
        self.before_own: Callable[[], None] = lambda: None

    # -- The connection ---------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        return self._db is not None or self.path.exists()

    @property
    def db(self) -> apsw.Connection:
        return self._db if self._db is not None else self._open()

    def _open(self) -> apsw.Connection:
        if self._closed is not None:
            raise self._closed
        db = open_database(self.path)
        own = db.cursor()
        # The only process that has it open: no shared memory, fewer locks, fewer descriptors.
        own.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, True)
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
        try:
            facts: list[Row] = own.execute(_FACTS).fetchall()
        except apsw.SQLError:  # no such table
            self._create(own)
        else:
            self._known_facts = dict(facts)
            self.name = self.name or self._known_facts.get("name")
        own.execute("PRAGMA synchronous = NORMAL")
        own.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        db.authorizer = self.rules.check
        self._own = own
        self._db = db
        return db

    def _create(self, own: apsw.Cursor) -> None:
        # Nothing is lost that could be kept: the log is flushed before it is folded in.
        own.execute("PRAGMA synchronous = OFF")
        own.execute("PRAGMA journal_mode = WAL")
        own.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            own.execute(statement)
        if self.name is not None:
            own.execute(_PUT_FACT, ("name", self.name))
        own.execute("COMMIT")

    def _facts(self) -> dict[str, Any]:
        if self._db is None:
            self._open()
        if self._known_facts is None:
            self._known_facts = dict(self.own(_FACTS))
        return self._known_facts

    def close(self, error: BaseException) -> None:
        """Keep what was written; whoever uses the file from now on gets ``error``.

        A transaction of the user's that is still open is undone.
        """
        self._closed = error
        db, self._db = self._db, None
        if db is None:
            return
        if self.writing:
            self._db = db
            with contextlib.suppress(apsw.Error):  # then nothing of this turn is kept
                if self._savepoints:
                    self._undo()
                    self._tell_alarm()
                else:
                    self.commit()
            self._savepoints = 0
            self._db = None
        if _size_of(f"{self.path}-wal") > FOLD_LOG_BYTES:
            self.rules.suspended = True
            with contextlib.suppress(apsw.Error):  # then the log stays as it is
                self._own.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close(True)

    def own(self, sql: str, params: Sequence[Any] = ()) -> list[Any]:
        """A statement of the emulator's own: the user's restrictions do not apply."""
        if self._db is None:
            self._open()
        self.before_own()
        rules = self.rules
        rules.suspended = True
        try:
            return self._own.execute(sql, params).fetchall()
        finally:
            rules.suspended = False

    # -- Transactions -----------------------------------------------------------------------------

    def begin(self) -> None:
        """Before a write: open the turn's transaction unless it is open."""
        if not self.writing:
            self.own(_BEGIN)
            self.writing = True
            self._on_write()

    def look_again(self) -> None:
        """After a statement that failed, which may have undone more than itself."""
        if self._db is not None:
            self.writing = self._db.in_transaction
            self._known_facts = self._known_facts if self.writing else None

    def commit(self) -> None:
        """Make everything written so far durable, unless an explicit transaction is open.

        Raises:
            apsw.Error: it cannot be made durable; nothing of the turn was kept.
        """
        if not self.writing or self._savepoints:
            return
        try:
            self.own(_COMMIT)
            self.writing = False
        except apsw.Error:
            self._undo()
            raise
        finally:
            self._tell_alarm()

    def _undo(self) -> None:
        if self._db is not None and self._db.in_transaction:
            self.own(_ROLLBACK)
        self.writing = False
        self._forget()

    def _forget(self) -> None:
        """What was written is undone."""
        self._known_facts = None
        self.on_schema_change()

    def open_savepoint(self) -> str:
        self.begin()
        self._savepoints += 1
        name = f"_cf_savepoint_{self._savepoints}"
        self.own(f"SAVEPOINT {name}")
        return name

    def keep_savepoint(self, name: str) -> None:
        self.own(f"RELEASE {name}")
        self._end_savepoint()

    def undo_savepoint(self, name: str) -> None:
        self.own(f"ROLLBACK TO {name}")
        self.own(f"RELEASE {name}")
        self._forget()
        self._end_savepoint()

    def _end_savepoint(self) -> None:
        self._savepoints -= 1
        if not self._savepoints:
            self._on_write()  # its turn may have ended long ago, with nothing committed

    @property
    def in_savepoint(self) -> bool:
        return self._savepoints > 0

    # -- Key-value records ------------------------------------------------------------------------

    def get(self, key: str) -> bytes | None:
        rows = self.own(_GET, (key,))
        return rows[0][0] if rows else None

    def put(self, key: str, value: bytes) -> None:
        self.begin()
        self.own(_PUT, (key, value))

    def delete(self, key: str) -> bool:
        if self.get(key) is None:
            return False
        self.begin()
        self.own(_DELETE, (key,))
        return True

    def list(
        self,
        *,
        start: str | None = None,
        after: bool = False,
        end: str | None = None,
        prefix: str = "",
        reverse: bool = False,
        limit: int | None = None,
    ) -> Iterable[tuple[str, bytes]]:
        """Records in the order of their keys' UTF-8, from ``start`` (or after it) up to ``end``."""
        where, params = ["1"], []
        if start is not None:
            where.append("key > ?" if after else "key >= ?")
            params.append(start)
        if end is not None:
            where.append("key < ?")
            params.append(end)
        if prefix:
            where.append("key >= ? AND substr(key, 1, ?) = ?")
            params += [prefix, len(prefix), prefix]  # type: ignore[list-item]
            if (bound := _after_prefix(prefix)) is not None:
                where.append("key < ?")
                params.append(bound)
        order = "DESC" if reverse else "ASC"
        sql = f"SELECT key, value FROM _cf_KV WHERE {' AND '.join(where)} ORDER BY key {order}"
        if limit is not None:
            sql += f" LIMIT {limit}"
        return self.own(sql, params)

    def delete_all(self, *, with_alarm: bool) -> None:
        """Remove every record and every table, and the alarm if told to, all or nothing."""
        self.commit()
        self.own("PRAGMA foreign_keys = OFF")
        try:
            self.begin()
            for kind, name, sql in self.own(
                "SELECT type, name, sql FROM sqlite_schema "
                "WHERE type IN ('table', 'view') AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' "
                "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                "ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'"
            ):
                del sql
                quoted = name.replace('"', '""')
                self.own(f'DROP {kind.upper()} IF EXISTS "{quoted}"')
            self.own("DELETE FROM _cf_KV")
            if with_alarm:
                self.set_alarm(None)
            self.commit()
        finally:
            self.own("PRAGMA foreign_keys = ON")
            self.on_schema_change()

    # -- The alarm --------------------------------------------------------------------------------

    @property
    def recorded_alarm_ms(self) -> int | None:
        due_ms: int | None = self._facts().get("alarm")
        return due_ms

    @property
    def alarm_ms(self) -> int | None:
        """What ``getAlarm`` answers."""
        return None if self.alarm_runs else self.recorded_alarm_ms

    def set_alarm(self, due_ms: int | None) -> None:
        self.alarm_runs = False
        self.begin()
        facts = self._facts()
        if due_ms is None:
            self.own(_DELETE_FACT, ("alarm",))
            facts.pop("alarm", None)
        else:
            self._alarms.announce(due_ms)
            self.own(_PUT_FACT, ("alarm", due_ms))
            facts["alarm"] = due_ms
        self._alarm_changed = True

    def _tell_alarm(self) -> None:
        if self._alarm_changed:
            self._alarm_changed = False
            self._alarms.settle(self.recorded_alarm_ms)


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116  # a Path would cost more than the question
    except FileNotFoundError:
        return 0


def _after_prefix(prefix: str) -> str | None:
    """The first text after all that start with ``prefix``, if it is easy to say."""
    last = ord(prefix[-1])
    return prefix[:-1] + chr(last + 1) if last + 1 < 0xD800 else None
