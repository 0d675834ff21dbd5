"""The arguments of ``tsumugi queues``, named as wrangler's. What the commands do is elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tsumugi_emulator.cli.shared_options import AS_JSON, PLACE, place_of, with_options

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_COMMON = (*PLACE, AS_JSON)
_SETTINGS = (
    click.option("--delivery-delay-secs", type=int, help="Delay of messages, 0 to 86400."),
    click.option(
        "--message-retention-period-secs", type=int, help="How long to keep them, 60 to 1209600."
    ),
)
_RANGES = {"delivery_delay_secs": (0, 86_400), "message_retention_period_secs": (60, 1_209_600)}
_FORCE = click.option("--force", "-y", is_flag=True, help="Do not ask.")
_CONSUMER = (
    click.option("--batch-size", type=int, help="Messages in a batch, at most."),
    click.option("--message-retries", type=int, help="Retries of a message, at most."),
    click.option("--dead-letter-queue", help="Where messages go after the last retry."),
    click.option("--retry-delay-secs", type=int, help="Seconds before a retry."),
)


def _run(options: dict[str, Any], work: Callable[[Any, Any], Awaitable[Any]]) -> None:
    from tsumugi_emulator.cli import queues_run

    raise SystemExit(queues_run.run(place_of(options), work, as_json=options["as_json"]))


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    for name, (lowest, highest) in _RANGES.items():
        value = options[name]
        if value is not None and not lowest <= value <= highest:
            raise click.UsageError(
                f"Invalid --{name.replace('_', '-')} value: {value}. "
                f"Must be between {lowest} and {highest}"
            )
    return {
        "delivery_delay": options["delivery_delay_secs"],
        "message_retention_period": options["message_retention_period_secs"],
    }


@click.group()
def queues() -> None:
    """Manage local queues, whether `tsumugi dev` runs or not."""


@queues.command("list")
@click.option("--page", type=click.IntRange(1), default=1, help="Page of the list [1].")
@with_options(_COMMON)
def list_(page: int, **options: Any) -> None:
    """List queues."""
    from tsumugi_emulator.cli import queues_commands as commands

    _run(options, lambda api, console: commands.list_queues(api, console, page=page))


@queues.command()
@click.argument("name")
@with_options(_COMMON)
def info(name: str, **options: Any) -> None:
    """Show a queue, its settings and its backlog."""
    from tsumugi_emulator.cli import queues_commands as commands

    _run(options, lambda api, console: commands.info(api, console, name))


@queues.command()
@click.argument("name")
@with_options(_SETTINGS, _COMMON)
def create(name: str, **options: Any) -> None:
    """Create a queue."""
    from tsumugi_emulator.cli import queues_commands as commands

    settings = _settings(options)
    _run(options, lambda api, console: commands.create(api, console, name, settings))


@queues.command()
@click.argument("name")
@with_options(_SETTINGS, _COMMON)
def update(name: str, **options: Any) -> None:
    """Change a queue's settings; what is not named stays."""
    from tsumugi_emulator.cli import queues_commands as commands

    settings = _settings(options)
    _run(options, lambda api, console: commands.update(api, console, name, settings))


@queues.command()
@click.argument("name")
@_FORCE
@with_options(_COMMON)
def delete(name: str, force: bool, **options: Any) -> None:
    """Delete a queue; asks first if it holds messages."""
    from tsumugi_emulator.cli import queues_commands as commands

    _run(options, lambda api, console: commands.delete(api, console, name, force=force))


@queues.command()
@click.argument("name")
@_FORCE
@with_options(_COMMON)
def purge(name: str, force: bool, **options: Any) -> None:
    """Delete all messages of a queue, delayed ones as well."""
    from tsumugi_emulator.cli import queues_commands as commands

    _run(options, lambda api, console: commands.purge(api, console, name, force=force))


def _pausing(command: str, *, paused: bool) -> None:
    word = "Pause" if paused else "Resume"

    @queues.command(command, help=f"{word} message delivery for a queue.")
    @click.argument("name")
    @with_options(_COMMON)
    def toggle(name: str, **options: Any) -> None:
        from tsumugi_emulator.cli import queues_commands as commands

        _run(options, lambda api, console: commands.pause(api, console, name, paused=paused))


_pausing("pause-delivery", paused=True)
_pausing("resume-delivery", paused=False)
_pausing("pause", paused=True)
_pausing("resume", paused=False)


@queues.command()
@click.argument("name")
@click.argument("body", required=False)
@click.option("--content-type", type=click.Choice(["json", "text"]), help="[json if it is JSON]")
@click.option("--delay-secs", type=int, help="Seconds before it can be delivered.")
@with_options(_COMMON)
def send(
    name: str, body: str | None, content_type: str | None, delay_secs: int | None, **options: Any
) -> None:
    """Send BODY, or what comes on standard input, to a queue."""
    from tsumugi_emulator.cli import queues_commands as commands

    _run(
        options,
        lambda api, console: commands.send(
            api, console, name, body, content_type=content_type, delay_s=delay_secs
        ),
    )


@queues.command()
@click.argument("name")
@click.option("--batch-size", type=click.IntRange(1, 100), default=10, help="How many [10].")
@with_options(_COMMON)
def peek(name: str, batch_size: int, **options: Any) -> None:
    """Show the next messages.

    It leases none of them and counts no attempt.
    """
    from tsumugi_emulator.cli import queues_commands as commands

    _run(options, lambda api, console: commands.peek(api, console, name, size=batch_size))


@queues.command()
@click.argument("name")
@click.option("--to", "target", help="Queue to move them to [the one whose dead letters they are].")
@with_options(_COMMON)
def redrive(name: str, target: str | None, **options: Any) -> None:
    """Move a dead letter queue's messages back, as new ones."""
    from tsumugi_emulator.cli import queues_commands as commands

    _run(options, lambda api, console: commands.redrive(api, console, name, target=target))


@queues.command()
@click.argument("name")
@with_options(_COMMON)
def tail(name: str, **options: Any) -> None:
    """Show what happens to a queue, live."""
    from tsumugi_emulator.cli import queues_commands as commands

    as_json = options["as_json"]
    _run(options, lambda api, console: commands.tail(api, console, name, as_json=as_json))


@queues.group()
def consumer() -> None:
    """Configure who takes a queue's messages."""


@consumer.group()
def worker() -> None:
    """A Worker takes them."""


@consumer.group()
def http() -> None:
    """Clients pull them over HTTP."""


def _worker_add(group: click.Group) -> None:
    @group.command("add")
    @click.argument("queue_name")
    @click.argument("script_name")
    @click.option("--batch-timeout", type=float, help="Seconds to wait for a full batch.")
    @click.option("--max-concurrency", type=int, help="Batches at the same time.")
    @with_options(_CONSUMER, _COMMON)
    def add(queue_name: str, script_name: str, **options: Any) -> None:
        """Let a Worker consume a queue."""
        timeout_s = options["batch_timeout"]
        settings = _consumer_settings(options) | {
            "max_wait_time_ms": None if timeout_s is None else timeout_s * 1000,
            "max_concurrency": options["max_concurrency"],
        }
        _add(options, queue_name, script_name, settings)


def _worker_remove(group: click.Group) -> None:
    @group.command()
    @click.argument("queue_name")
    @click.argument("script_name")
    @with_options(_COMMON)
    def remove(queue_name: str, script_name: str, **options: Any) -> None:
        """End it."""
        _remove(options, queue_name, script_name)


for _group in (consumer, worker):
    _worker_add(_group)
    _worker_remove(_group)


@http.command("add")
@click.argument("queue_name")
@click.option("--visibility-timeout-secs", type=float, help="Seconds until a lease ends.")
@with_options(_CONSUMER, _COMMON)
def http_add(queue_name: str, **options: Any) -> None:
    """Let clients pull a queue's messages."""
    timeout_s = options["visibility_timeout_secs"]
    settings = _consumer_settings(options) | {
        "visibility_timeout_ms": None if timeout_s is None else timeout_s * 1000
    }
    _add(options, queue_name, None, settings)


@http.command("remove")
@click.argument("queue_name")
@with_options(_COMMON)
def http_remove(queue_name: str, **options: Any) -> None:
    """End it."""
    _remove(options, queue_name, None)


def _consumer_list(group: click.Group, kind: str | None) -> None:
    @group.command("list")
    @click.argument("queue_name")
    @with_options(_COMMON)
    def list_consumers(queue_name: str, **options: Any) -> None:
        """Show consumers and their settings."""
        from tsumugi_emulator.cli import consumer_commands as commands

        _run(
            options,
            lambda api, console: commands.list_consumers(api, console, queue_name, kind=kind),
        )


for _group, _kind in ((consumer, None), (worker, "worker"), (http, "http_pull")):
    _consumer_list(_group, _kind)


def _consumer_settings(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "batch_size": options["batch_size"],
        "max_retries": options["message_retries"],
        "retry_delay": options["retry_delay_secs"],
    }


def _add(options: dict[str, Any], queue: str, script: str | None, settings: dict[str, Any]) -> None:
    from tsumugi_emulator.cli import consumer_commands as commands

    _run(
        options,
        lambda api, console: commands.add(
            api,
            console,
            queue,
            script=script,
            dead_letter_queue=options["dead_letter_queue"],
            settings=settings,
        ),
    )


def _remove(options: dict[str, Any], queue: str, script: str | None) -> None:
    from tsumugi_emulator.cli import consumer_commands as commands

    _run(options, lambda api, console: commands.remove(api, console, queue, script=script))
