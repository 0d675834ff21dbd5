"""The argument tree. Commands import what they need when they run, so that all start fast."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from tsumugi import __version__

from tsumugi_emulator.cli.check_arguments import check
from tsumugi_emulator.cli.d1_arguments import d1
from tsumugi_emulator.cli.jobs_arguments import jobs
from tsumugi_emulator.cli.queues_arguments import queues
from tsumugi_emulator.cli.tokens_arguments import tokens

LOG_LEVELS = ("debug", "info", "log", "warn", "error", "none")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-v", "--version", prog_name="tsumugi")
def cli() -> None:
    """Cloudflare Python Workers on your machine, with durable queues."""


@cli.command()
@click.option(
    "-c",
    "--config",
    "configs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Path to a wrangler configuration; repeat it for several Workers, the primary one first.",
)
@click.option("-e", "--env", "environment", help="Named environment to use (or CLOUDFLARE_ENV).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on [8787].")
@click.option(
    "--api-port", type=click.IntRange(0, 65535), help="Port of the queues API [8788 or the next]."
)
@click.option("--ip", help="Address to listen on [localhost].")
@click.option("--var", "variables", multiple=True, metavar="KEY:VALUE", help="Set a variable.")
@click.option(
    "--env-file",
    "env_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Take secrets from this .env file beside the configuration, in place of the usual files; "
    "of several, the later ones win.",
)
@click.option(
    "--persist-to",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory for queues and other state [.wrangler/tsumugi beside the configuration].",
)
@click.option("--strict", is_flag=True, help="Raise what would fail in production.")
@click.option("--log-level", type=click.Choice(LOG_LEVELS), default="info", show_default=True)
@click.option(
    "--runtime",
    type=click.Choice(["cpython", "pyodide"]),
    default="cpython",
    show_default=True,
    help="What runs the Worker's Python: CPython, or the real Pyodide in Node.",
)
@click.option("--no-cron", is_flag=True, help="Do not fire cron triggers by themselves.")
@click.option("--no-reload", is_flag=True, help="Do not watch files.")
@click.pass_obj
def dev(early: Any, /, **options: Any) -> None:
    """Run the Worker locally; reload it as you edit."""
    from tsumugi_emulator.cli.dev import run
    from tsumugi_emulator.cli.dev_options import DevOptions

    raise SystemExit(run(DevOptions(**options), early))


@cli.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--template",
    type=click.Choice(["hello", "queue", "jobs"]),
    default="queue",
    show_default=True,
    help="What to start from.",
)
def init(directory: Path, template: str) -> None:
    """Create a deployable Python Worker in DIRECTORY."""
    from tsumugi_emulator.cli.init import run

    raise SystemExit(run(directory, template))


@cli.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "-c", "--config", type=click.Path(path_type=Path), help="Path to a wrangler configuration."
)
@click.option("-e", "--env", "environment", help="Named environment to use (or CLOUDFLARE_ENV).")
@click.option("--dry-run", is_flag=True, help="Only show what would be uploaded; works offline.")
@click.option(
    "--no-check",
    "check",
    is_flag=True,
    default=True,
    flag_value=False,
    help="Deploy whatever the check finds.",
)
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
def deploy(**options: Any) -> None:
    """Check the Worker and deploy it.

    pywrangler or wrangler does it, and gets all other options.
    """
    from tsumugi_emulator.cli.deploy import DeployOptions, run

    raise SystemExit(run(DeployOptions(**options)))


cli.add_command(check)
cli.add_command(d1)
cli.add_command(jobs)
cli.add_command(queues)
cli.add_command(tokens)
