"""The arguments of ``tsumugi jobs``. What the commands do is elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from tsumugi_emulator.cli.shared_options import AS_JSON, PLACE, place_of, with_options

if TYPE_CHECKING:
    from collections.abc import Callable

#: Milliseconds of a time in 1973: whoever gives less, but for 0, gave seconds.
_LEAST_MS = 100_000_000_000


def _moment(context: click.Context, option: click.Parameter, moment_ms: int | None) -> int | None:
    """Milliseconds since 1970. Seconds are told apart: they would be a time long past."""
    if moment_ms is None or moment_ms == 0 or moment_ms >= _LEAST_MS:
        return moment_ms
    fault = "is in 1970: these are milliseconds, not seconds" if moment_ms > 0 else "is before 1970"
    raise click.BadParameter(f"{moment_ms} {fault}.", context, option)


_COUNT = click.IntRange(min=1)
_STATES = click.Choice(
    ["SCHEDULED", "QUEUED", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "STALLED"],
    case_sensitive=False,
)
_SORTS = click.Choice(["updated_at", "created_at", "binding", "state", "priority", "attempts"])
_PROJECT = (*PLACE, AS_JSON)
_TARGET = (
    click.option("--url", help="A deployment, https://...; without it, what runs here."),
    click.option("--token", help="The API's token (or TSUMUGI_TOKEN; locally .dev.vars)."),
    click.option("-H", "--header", "headers", multiple=True, metavar="NAME:VALUE",
                 help="Send a header, such as those of a Cloudflare Access service token."),
    *_PROJECT,
)  # fmt: skip
_FILTER = (
    click.option("--binding", help="Only jobs of this binding."),
    click.option("--unique-key", help="Only jobs with this unique key."),
    click.option("--concurrency-key", help="Only jobs with this concurrency key."),
    click.option(
        "--created-from", type=int, callback=_moment, help="Milliseconds since 1970, inclusive."
    ),
    click.option(
        "--created-to", type=int, callback=_moment, help="Milliseconds since 1970, inclusive."
    ),
)
_FILTER_NAMES = ("binding", "unique_key", "concurrency_key", "created_from", "created_to")
_ALL = (
    click.option("--all", "everything", is_flag=True, help="All that match, instead of ids."),
    click.option("--yes", "-y", is_flag=True, help="Do not ask."),
)


def _run(options: dict[str, Any], work: Callable[[Any, Any], Any]) -> None:
    from tsumugi_emulator.cli import jobs_run
    from tsumugi_emulator.cli.jobs_connection import Target

    target = Target(
        place=place_of(options),
        url=options["url"],
        token=options["token"],
        headers=options["headers"],
    )
    raise SystemExit(jobs_run.run(target, work, as_json=options["as_json"]))


def _given(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: options[name] for name in names if options[name] is not None}


@click.group()
def jobs() -> None:
    """Look at jobs and control them, here or in a deployment (--url).

    Exit codes: 0 when all was done, 1 when anything was refused, 2 for arguments that mean
    nothing.
    """


@jobs.command("list")
@click.option("--state", "states", type=_STATES, multiple=True, help="May be repeated.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, help="Jobs to show [20].")
@click.option("--offset", type=click.IntRange(0), default=0, help="Jobs to skip [0].")
@click.option("--sort", type=_SORTS, default="updated_at", help="Order by [updated_at].")
@click.option("--order", type=click.Choice(["asc", "desc"]), default="desc", help="[desc]")
@with_options(_FILTER, _TARGET)
def list_(states: tuple[str, ...], **options: Any) -> None:
    """List jobs, the last changed first. The list is about a second behind."""
    from tsumugi_emulator.cli import jobs_commands as commands

    query = _given(options, *_FILTER_NAMES, "limit", "offset", "sort", "order")
    query |= {"state": list(states)} if states else {}
    _run(options, lambda api, console: commands.list_jobs(api, console, query))


@jobs.command()
@click.argument("job_id", metavar="ID")
@with_options(_TARGET)
def show(job_id: str, **options: Any) -> None:
    """Show a job as it is now, with its attempts and logs."""
    from tsumugi_emulator.cli import jobs_commands as commands

    _run(options, lambda api, console: commands.show(api, console, job_id))


@jobs.command()
@click.argument("binding")
@click.argument("payload", required=False)
@click.option("--priority", type=int, help="Larger goes first.")
@click.option("--max-attempts", type=_COUNT)
@click.option("--delay-ms", type=click.IntRange(min=0), help="Not before this has passed.")
@click.option(
    "--run-at", type=int, callback=_moment, help="Not before this time, in milliseconds since 1970."
)
@click.option("--timeout-ms", type=_COUNT, help="How long a report is awaited.")
@click.option("--guarantee", type=click.Choice(["at-least-once", "at-most-once"]))
@click.option("--concurrency-key", help="Serialises the jobs that have it.")
@click.option("--unique-key", help="If another job has it, nothing is enqueued.")
@click.option("--unique-for-ms", type=_COUNT, help="How long the unique key is taken.")
@click.option("--partition-key", help="Picks the shard.")
@click.option("--expires-in-ms", type=_COUNT, help="Cancel it if it has not started by then.")
@with_options(_TARGET)
def enqueue(binding: str, payload: str | None, **options: Any) -> None:
    """Enqueue a job of BINDING. PAYLOAD is JSON; - reads it from standard input; none is null."""
    from tsumugi_emulator.cli import jobs_commands as commands

    names = {
        "priority": "priority",
        "max_attempts": "maxAttempts",
        "delay_ms": "delayMs",
        "run_at": "runAt",
        "timeout_ms": "timeoutMs",
        "guarantee": "guarantee",
        "concurrency_key": "concurrencyKey",
        "unique_key": "uniqueKey",
        "unique_for_ms": "uniqueForMs",
        "partition_key": "partitionKey",
        "expires_in_ms": "expiresInMs",
    }
    given = {names[name]: value for name, value in _given(options, *names).items()}

    def work(api: Any, console: Any) -> Any:
        stdin = sys.stdin.read() if payload == "-" else None
        body = {"binding": binding, "payload": commands.payload_of(payload, stdin=stdin), **given}
        return commands.enqueue(api, console, body)

    _run(options, work)


def _control(action: str, ids: tuple[str, ...], state: str | None, options: dict[str, Any]) -> None:
    from tsumugi_emulator.cli import jobs_commands as commands

    wanted = _given(options, *_FILTER_NAMES) | ({"state": state} if state else {})
    if options["everything"] == bool(ids):
        raise click.UsageError(f"Name the jobs to {action}, or give --all (with filters).")
    if wanted and ids:
        raise click.UsageError("Filters go with --all, not with ids.")

    def work(api: Any, console: Any) -> Any:
        if ids:
            return commands.control(api, console, action, ids)
        return commands.control_all(api, console, action, wanted, yes=options["yes"])

    _run(options, work)


@jobs.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option(
    "--state", type=click.Choice(["FAILED", "STALLED"], case_sensitive=False), help="With --all."
)
@with_options(_ALL, _FILTER, _TARGET)
def retry(ids: tuple[str, ...], state: str | None, **options: Any) -> None:
    """Run jobs again that are FAILED or STALLED, afresh."""
    _control("retry", ids, state, options)


@jobs.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@with_options(_ALL, _FILTER, _TARGET)
def cancel(ids: tuple[str, ...], **options: Any) -> None:
    """Cancel jobs that are SCHEDULED."""
    _control("cancel", ids, None, options)


@jobs.command()
@click.argument("bindings", metavar="BINDING...", nargs=-1, required=True)
@with_options(_TARGET)
def pause(bindings: tuple[str, ...], **options: Any) -> None:
    """Start no more jobs of BINDING until it is resumed."""
    from tsumugi_emulator.cli import jobs_commands as commands

    _run(options, lambda api, console: commands.pause(api, console, bindings, paused=True))


@jobs.command()
@click.argument("bindings", metavar="BINDING...", nargs=-1, required=True)
@with_options(_TARGET)
def resume(bindings: tuple[str, ...], **options: Any) -> None:
    """Start jobs of BINDING again."""
    from tsumugi_emulator.cli import jobs_commands as commands

    _run(options, lambda api, console: commands.pause(api, console, bindings, paused=False))


@jobs.command()
@with_options(_TARGET)
def stats(**options: Any) -> None:
    """Count jobs by binding and state."""
    from tsumugi_emulator.cli import jobs_commands as commands

    _run(options, commands.stats)


@jobs.command()
@click.option("--database", default="TSUMUGI_DB", help="Its binding or name [TSUMUGI_DB].")
@with_options(_PROJECT)
def migrations(database: str, **options: Any) -> None:
    """Write the read model's missing migrations into the project."""
    from tsumugi_emulator.cli import jobs_migrations as commands

    raise SystemExit(
        commands.write_migrations(place_of(options), database, as_json=options["as_json"])
    )
