"""The arguments of ``tsumugi d1``. What the commands do is ``d1``, loaded when one runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tsumugi_emulator.cli.shared_options import PATH, PLACE, place_of, with_options

if TYPE_CHECKING:
    from pathlib import Path

_LOCAL = click.option("--local", is_flag=True, hidden=True, help="Always so; scripts may say it.")
_on_database = with_options((click.argument("database"), *PLACE, _LOCAL))


@click.group()
def d1() -> None:
    """Run SQL and migrations on local D1 databases."""


@d1.command()
@_on_database
@click.option("--command", help="The SQL to run.")
@click.option("--file", type=PATH, help="A file with the SQL to run.")
@click.option("--json", "as_json", is_flag=True, help="Print results as JSON.")
@click.option("-y", "--yes", is_flag=True, hidden=True, help="Nothing is asked.")
def execute(
    database: str, command: str | None, file: Path | None, as_json: bool, yes: bool, **options: Any
) -> None:
    """Run SQL on DATABASE (its name or binding), all or nothing."""
    from tsumugi_emulator.cli import d1 as commands

    raise SystemExit(
        commands.execute(place_of(options), database, command=command, file=file, as_json=as_json)
    )


@d1.group()
def migrations() -> None:
    """Keep the schema of a database in numbered SQL files."""


@migrations.command("list")
@_on_database
def list_(database: str, **options: Any) -> None:
    """Show migrations that DATABASE has not seen."""
    from tsumugi_emulator.cli import d1 as commands

    raise SystemExit(commands.list_migrations(place_of(options), database))


@migrations.command()
@_on_database
def apply(database: str, **options: Any) -> None:
    """Apply them in order."""
    from tsumugi_emulator.cli import d1 as commands

    raise SystemExit(commands.apply_migrations(place_of(options), database))


@migrations.command()
@_on_database
@click.argument("title", metavar="NAME")
def create(database: str, title: str, **options: Any) -> None:
    """Create an empty migration NAME for DATABASE."""
    from tsumugi_emulator.cli import d1 as commands

    raise SystemExit(commands.create_migration(place_of(options), database, title))
