"""``tsumugi queues consumer``: who takes a queue's messages. Words and flags are wrangler's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli.queues_connection import CommandError
from tsumugi_emulator.cli.table import table

if TYPE_CHECKING:
    from tsumugi_emulator.cli.queues_commands import Console
    from tsumugi_emulator.cli.queues_connection import Connection

_NOUNS = {None: "", "worker": "worker ", "http_pull": "HTTP pull "}


async def add(
    api: Connection,
    console: Console,
    queue: str,
    *,
    script: str | None,
    dead_letter_queue: str | None,
    settings: dict[str, Any],
) -> Any:
    """A Worker's consumer, or with no ``script`` that of pullers."""
    body: dict[str, Any] = {"type": "http_pull"}
    if script is not None:
        body = {"type": "worker", "script_name": script}
    console.say(f"Adding consumer to queue {queue}.")
    added = await api.on_queue(
        queue,
        "POST",
        "/consumers",
        json=body | {"settings": settings, "dead_letter_queue": dead_letter_queue},
    )
    console.say(f"Added consumer to queue {queue}.")
    return added


async def remove(api: Connection, console: Console, queue: str, *, script: str | None) -> Any:
    console.say(f"Removing consumer from queue {queue}.")
    for consumer in await api.on_queue(queue, "GET", "/consumers"):
        kind = "http_pull" if script is None else "worker"
        if consumer["type"] == kind and consumer.get("script") == script:
            await api.on_queue(queue, "DELETE", f"/consumers/{consumer['consumer_id']}")
            console.say(f"Removed consumer from queue {queue}.")
            return consumer
    if script is None:
        raise CommandError(f"No http_pull consumer exists for queue {queue}")
    raise CommandError(f"No worker consumer '{script}' exists for queue {queue}")


async def list_consumers(api: Connection, console: Console, queue: str, *, kind: str | None) -> Any:
    """Of one type, or all."""
    consumers = [
        consumer
        for consumer in await api.on_queue(queue, "GET", "/consumers")
        if kind in (None, consumer["type"])
    ]
    rows = [
        {
            "consumer_id": consumer["consumer_id"],
            "type": consumer["type"],
            **({"script": consumer["script"]} if "script" in consumer else {}),
            "dead_letter_queue": consumer["dead_letter_queue"] or "-",
            **consumer["settings"],
        }
        for consumer in consumers
    ]
    console.say(table(rows) or f'No {_NOUNS[kind]}consumers found for queue "{queue}".')
    return consumers
