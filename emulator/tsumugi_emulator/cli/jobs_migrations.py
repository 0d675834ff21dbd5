"""``tsumugi jobs migrations``: write the read model's migrations into the project. Applies none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import tsumugi.jobs.read_model.schema as schema

from tsumugi_emulator.cli.configuration import load_configuration, show_loaded
from tsumugi_emulator.cli.terminal import Terminal
from tsumugi_emulator.paths import shown

if TYPE_CHECKING:
    from tsumugi_emulator.cli.resources import Place

SHIPPED = Path(schema.__file__).with_name("migrations")


def write_migrations(place: Place, name: str, *, as_json: bool) -> int:
    """Write what is missing. Files are known by what they do: they may have been renamed."""
    terminal = Terminal("error" if as_json else "info")
    loaded = load_configuration(place.config, place.environment, local_values=False)
    show_loaded(loaded, terminal)
    config = loaded.config
    if config is None:
        return 1
    databases = config.resources.d1_databases
    database = next((one for one in databases if name in (one.binding, one.name)), None)
    if database is None:
        terminal.log("error", _no_database(name, config.path.name))
        return 1
    directory = config.path.parent / database.migrations_dir
    written = _write_missing(directory, terminal)
    if written is None:
        return 1
    if as_json:
        terminal.write(json.dumps({"written": written}, indent=2))
    elif written:
        terminal.log("info", f"Apply them: tsumugi d1 migrations apply {database.binding}")
    else:
        terminal.log("info", f"All migrations of jobs are in {shown(str(directory))}.")
    return 0


def _no_database(name: str, file: str) -> str:
    return (
        f"No D1 database is called or bound as {name} in {file}. Add one under d1_databases: "
        f'{{"binding": "{name}", "database_name": "jobs", "database_id": "..."}}, or name another '
        "with --database."
    )


def _write_missing(directory: Path, terminal: Terminal) -> list[str] | None:
    """The files that were written; None after saying what is in the way."""
    directory.mkdir(parents=True, exist_ok=True)
    missing = [name for name in schema.MIGRATIONS if not _has(directory, name)]
    targets = [directory / f"{name}.sql" for name in missing]
    for target in targets:
        if target.exists():
            terminal.log(
                "error",
                f"{shown(str(target))} exists and is another migration: rename it, then repeat.",
            )
            return None
    for target in targets:
        target.write_bytes((SHIPPED / target.name).read_bytes())
        terminal.log("info", f"Wrote {shown(str(target))}")
    return [str(target) for target in targets]


def _has(directory: Path, migration: str) -> bool:
    """Whether any file in it is this migration, whatever it is called."""
    marker = f"INSERT INTO tsumugi_migrations (name) VALUES ('{migration}')"
    return any(
        marker in path.read_text("utf-8", "replace") for path in sorted(directory.glob("*.sql"))
    )
