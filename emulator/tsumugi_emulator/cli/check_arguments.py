"""The arguments of ``tsumugi check``. Imports what the command needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command()
@click.option(
    "-c",
    "--config",
    "configs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Path to a wrangler configuration; repeat it for Workers that belong together.",
)
@click.option("-e", "--env", "environment", help="Named environment to use (or CLOUDFLARE_ENV).")
@click.option("--json", is_flag=True, help="Print the findings as JSON.")
def check(**options: Any) -> None:
    """Say what will fail in production, without running anything.

    `# tsumugi: ignore[CODE]` on its line, or alone above it, hides what you know better.
    """
    from tsumugi_emulator.cli.check import CheckOptions, run

    raise SystemExit(run(CheckOptions(**options)))
