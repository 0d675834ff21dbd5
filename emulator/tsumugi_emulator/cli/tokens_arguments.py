"""``tsumugi tokens``: make, list and revoke tokens of the local queues API."""

from __future__ import annotations

import json
from typing import Any

import click

from tsumugi_emulator.cli.shared_options import AS_JSON, PLACE, place_of, with_options

_on_state = with_options(PLACE, (AS_JSON,))
SCOPES = ("queues:read", "queues:write")


def _tokens(options: dict[str, Any]) -> Any:
    from tsumugi_emulator.cli.queues_connection import CommandError, find_state
    from tsumugi_emulator.tokens import Tokens

    try:
        return Tokens(find_state(place_of(options))[0])
    except CommandError as error:
        raise click.ClickException(str(error)) from error


@click.group()
def tokens() -> None:
    """Manage tokens of the local queues API."""


@tokens.command()
@click.option("--name", default="token", help="What the list calls it.")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="[both] Repeatable."
)
@_on_state
def create(name: str, scopes: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Make a token and show it: this once."""
    from tsumugi_emulator.clock import SystemClock

    token, text = _tokens(options).create(name, scopes or SCOPES, now_ms=SystemClock().now_ms())
    if as_json:
        shown = {"id": token.id, "name": token.name, "scopes": token.scopes, "token": text}
        click.echo(json.dumps(shown, indent=2))
    else:
        click.echo(f"Created token '{token.name}' with {', '.join(token.scopes)}:\n{text}")


@tokens.command("list")
@_on_state
def list_(as_json: bool, **options: Any) -> None:
    """Show tokens, without their texts: those are not kept."""
    from tsumugi_emulator.cli.table import table

    rows = [
        {"id": token.id, "name": token.name, "scopes": ", ".join(token.scopes)}
        for token in _tokens(options).all()
    ]
    click.echo(json.dumps(rows, indent=2) if as_json else table(rows) or "No tokens.")


@tokens.command()
@click.argument("token", metavar="NAME_OR_ID")
@_on_state
def revoke(token: str, as_json: bool, **options: Any) -> None:
    """End a token at once, also for a `tsumugi dev` that runs."""
    revoked = _tokens(options).revoke(token)
    if as_json:
        click.echo(json.dumps([{"id": one.id, "name": one.name} for one in revoked], indent=2))
    elif revoked:
        click.echo(f"Revoked {len(revoked)} token{'s' if len(revoked) > 1 else ''}.")
    if not revoked:
        raise click.ClickException(f'no token has the name or id "{token}"')
