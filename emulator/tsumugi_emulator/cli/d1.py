"""``tsumugi d1``: run SQL and migrations on local databases, whether ``dev`` runs or not."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli.resources import Database, Place, open_database
from tsumugi_emulator.cli.table import table
from tsumugi_emulator.cli.terminal import Terminal
from tsumugi_emulator.clock import SystemClock
from tsumugi_emulator.paths import shown
from tsumugi_emulator.storage import migrations
from tsumugi_emulator.storage.d1 import D1Error
from tsumugi_emulator.storage.files import database_path
from tsumugi_emulator.storage.stores import Stores

if TYPE_CHECKING:
    from tsumugi_emulator.config.model import WorkerConfig
    from tsumugi_emulator.storage.d1 import Result

DEFAULT_DIRECTORY = "migrations"
#: Numbers below this one JavaScript writes with all their digits.
_IN_FULL = 1e21


def execute(
    place: Place, name: str, *, command: str | None, file: Path | None, as_json: bool
) -> int:
    """Run SQL from an argument or a file, all or nothing; the process's exit code."""
    terminal = Terminal("error" if as_json else "info")
    if (command is None) == (file is None):
        terminal.log("error", "Error: must provide --command or --file.")
        return 1
    sql = command if command is not None else _read(file, terminal)
    database = None if sql is None else open_database(place, name, terminal)
    if sql is None or database is None:
        return 1
    settings, where = database.settings, shown(str(database.directory))
    terminal.log(
        "info", f"🌀 Executing on local database {settings.name} ({settings.id}) from {where}:"
    )
    try:
        results = database.store.run(migrations.queries(sql))
    except D1Error as error:
        if as_json:
            terminal.write(_json({"error": {"text": error.message}}))
        else:
            terminal.log("error", error.message)
        return 1
    if as_json:
        terminal.write(_json([_as_json(result) for result in results]))
        return 0
    count = f"{len(results)} command{'' if len(results) == 1 else 's'}"
    terminal.log("info", f"🚣 {count} executed successfully.")
    for result in results:
        if text := table(_rows(result)):
            terminal.write(text)
    return 0


def _read(file: Path | None, terminal: Terminal) -> str | None:
    try:
        return Path(file or "").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        terminal.log(
            "error",
            f'Unable to read SQL text file "{file}". Please check the file path and try again.',
        )
        return None


def _rows(result: Result) -> list[dict[str, Any]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def _as_json(result: Result) -> dict[str, Any]:
    rows = [{name: _json_value(item) for name, item in row.items()} for row in _rows(result)]
    return {"results": rows, "success": True, "meta": {"duration": int(result.duration_ms)}}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _json_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, int | float):  # JavaScript has one kind of numbers
        number = float(value)
        if not math.isfinite(number):
            return None
        return int(number) if number.is_integer() and abs(number) < _IN_FULL else number
    return value


# -- Migrations -----------------------------------------------------------------------------------


def list_migrations(place: Place, name: str) -> int:
    terminal = Terminal()
    database = open_database(place, name, terminal)
    if database is None:
        return 1
    names = _pending(database, terminal)
    if names is None:
        return 1
    _tell_pending(names, terminal)
    return 0


def apply_migrations(place: Place, name: str) -> int:
    """Apply what is pending, in order; stops at the first that fails, which leaves no trace."""
    terminal = Terminal()
    database = open_database(place, name, terminal)
    if database is None:
        return 1
    names = _pending(database, terminal)
    if names is None:
        return 1
    _tell_pending(names, terminal)
    return 0 if _apply(database, names, terminal) else 1


def migrate_new(config: WorkerConfig, state: Path, terminal: Terminal) -> None:
    """Apply all migrations to the databases that have no file yet, as they are made.

    A database with data is left to ``migrations apply``: its owner decides when it changes.
    """
    for settings in config.resources.d1_databases:
        directory = config.path.parent / settings.migrations_dir
        if database_path(state, "d1", settings.id).exists() or not directory.is_dir():
            continue
        stores = Stores(state, SystemClock())
        database = Database(config, settings, stores.d1(settings.id), state / "d1")
        names = _pending(database, terminal) or []
        if _apply(database, names, terminal):
            terminal.log("info", f"Made the local database {settings.name}")
        stores.close()


def _apply(database: Database, names: list[str], terminal: Terminal) -> bool:
    settings, directory = database.settings, _directory(database)
    for migration in names:
        sql = _read(directory / migration, terminal)
        if sql is None:
            return False
        try:
            migrations.apply(database.store, settings.migrations_table, name=migration, sql=sql)
        except D1Error as error:
            text = f"Migration {migration} failed with the following errors:\n{error.message}"
            terminal.log("error", text)
            return False
        terminal.log("info", f"✅ {migration}")
    return True


def create_migration(place: Place, name: str, title: str) -> int:
    terminal = Terminal()
    database = open_database(place, name, terminal)
    if database is None:
        return 1
    directory = _directory(database)
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / migrations.next_name(_names(directory), title)
    number = file.name[: migrations.NUMBER_DIGITS]
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    file.write_text(f"-- Migration number: {number} \t {now}\n", encoding="utf-8")
    terminal.log(
        "info",
        f"✅ Successfully created Migration '{file.name}'!\n\n"
        f"The migration is available for editing here\n{shown(str(file))}",
    )
    return 0


def _directory(database: Database) -> Path:
    return database.config.path.parent / database.settings.migrations_dir


def _names(directory: Path) -> list[str]:
    return [entry.name for entry in directory.glob("*.sql")]


def _pending(database: Database, terminal: Terminal) -> list[str] | None:
    directory, settings = _directory(database), database.settings
    if not directory.is_dir():
        file = database.config.path.name
        hint = f" Set `migrations_dir` in your {file} file to choose a different path."
        unset = settings.migrations_dir == DEFAULT_DIRECTORY
        terminal.log("warn", f"No migrations folder found.{hint if unset else ''}")
        terminal.log("error", f"No migrations present at {directory}.")
        return None
    try:
        done = migrations.applied(database.store, settings.migrations_table)
    except D1Error as error:
        terminal.log("error", error.message)
        return None
    return migrations.pending(_names(directory), done)


def _tell_pending(names: list[str], terminal: Terminal) -> None:
    if not names:
        terminal.log("info", "✅ No migrations to apply!")
        return
    terminal.log("info", "Migrations to be applied:")
    terminal.write(table([{"Name": name} for name in names]))
