"""Options that several commands have. Knows no command, and loads nothing but click."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.cli.resources import Place

PATH = click.Path(path_type=Path)
#: Whose data the command is about: see ``place_of``.
PLACE = (
    click.option("-c", "--config", type=PATH, help="Path to a wrangler configuration."),
    click.option("-e", "--env", "environment", help="Named environment (or CLOUDFLARE_ENV)."),
    click.option("--persist-to", type=PATH, help="State directory, as given to `tsumugi dev`."),
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def with_options(*groups: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Give a command these options, in this order."""

    def add(function: Any) -> Any:
        for option in reversed([option for group in groups for option in group]):
            function = option(function)
        return function

    return add


def place_of(options: dict[str, Any]) -> Place:
    """What the options of ``PLACE`` were given."""
    from tsumugi_emulator.cli.resources import Place

    return Place(**{name: options[name] for name in ("config", "environment", "persist_to")})
