"""``tsumugi queues``: what its commands do and say, in wrangler's words where it has them.

Each takes the API and answers the value that ``--json`` prints; lines for people go to ``say``.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli.queues_connection import CommandError
from tsumugi_emulator.cli.table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.cli.queues_connection import Connection

MAX_BODY_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Console:
    """How a command talks to whoever runs it."""

    say: Callable[[str], None]
    #: An answer typed in; None when nobody is there to ask.
    ask: Callable[[str], str] | None


async def list_queues(api: Connection, console: Console, *, page: int) -> Any:
    queues = await api.ask("GET", params={"page": str(page)})
    rows = [
        {
            "id": queue["queue_id"],
            "name": queue["queue_name"],
            "created_on": queue["created_on"],
            "modified_on": queue["modified_on"],
            "producers": queue["producers_total_count"],
            "consumers": queue["consumers_total_count"],
        }
        for queue in queues
    ]
    console.say(table(rows) or "No queues.")
    return queues


async def info(api: Connection, console: Console, name: str) -> Any:
    queue = await api.queue(name)
    metrics = await api.ask("GET", f"/{queue['queue_id']}/metrics")
    producers = ", ".join(f"{p['type']}:{p['script']}" for p in queue["producers"])
    consumers = ", ".join(_consumer(consumer) for consumer in queue["consumers"])
    settings = queue["settings"]
    lines = [
        f"Queue Name: {queue['queue_name']}",
        f"Queue ID: {queue['queue_id']}",
        f"Created On: {queue['created_on']}",
        f"Last Modified: {queue['modified_on']}",
        f"Number of Producers: {queue['producers_total_count']}",
        *([f"Producers: {producers}"] if producers else []),
        f"Number of Consumers: {queue['consumers_total_count']}",
        *([f"Consumers: {consumers}"] if consumers else []),
        f"Delivery Delay: {settings['delivery_delay']} s",
        f"Message Retention: {settings['message_retention_period']} s",
        f"Delivery Paused: {'yes' if settings['delivery_paused'] else 'no'}",
        f"Backlog: {metrics['backlog_count']} messages, {metrics['backlog_bytes']} bytes",
        f"Delayed: {metrics['delayed_count']} messages",
    ]
    if any(consumer["type"] == "http_pull" for consumer in queue["consumers"]) and api.live:
        lines += ["Pull messages using:", _curl(api, queue)]
    console.say("\n".join(lines))
    return queue | {"metrics": metrics}


def _curl(api: Connection, queue: dict[str, Any]) -> str:
    return (
        f'curl "{api.url}/{queue["queue_id"]}/messages/pull" \\\n'
        '\t--header "Authorization: Bearer <add your api key here>" \\\n'
        '\t--header "Content-Type: application/json" \\\n'
        """\t--data '{ "visibility_timeout_ms": 10000, "batch_size": 2 }'"""
    )


def _consumer(consumer: dict[str, Any]) -> str:
    if consumer["type"] == "http_pull":
        return "HTTP Pull Consumer"
    return f"worker:{consumer['script']}"


async def create(api: Connection, console: Console, name: str, settings: dict[str, Any]) -> Any:
    console.say(f"🌀 Creating queue '{name}'")
    queue = await api.ask("POST", json={"queue_name": name, "settings": settings})
    console.say(f"✅ Created queue '{name}'")
    return queue


async def update(api: Connection, console: Console, name: str, settings: dict[str, Any]) -> Any:
    console.say(f"Updating queue {name}.")
    queue = await api.on_queue(name, "PATCH", json={"settings": settings})
    console.say(f"Updated queue {name}.")
    return queue


async def pause(api: Connection, console: Console, name: str, *, paused: bool) -> Any:
    doing, done = ("Pausing", "Paused") if paused else ("Resuming", "Resumed")
    console.say(f"{doing} message delivery for queue {name}.")
    queue = await api.on_queue(name, "PATCH", json={"settings": {"delivery_paused": paused}})
    console.say(f"{done} message delivery for queue {name}.")
    return queue


async def delete(api: Connection, console: Console, name: str, *, force: bool) -> Any:
    queue = await api.queue(name)
    metrics = await api.ask("GET", f"/{queue['queue_id']}/metrics")
    count = metrics["backlog_count"] + metrics["delayed_count"]
    if count and not force:
        _confirm(
            console,
            name,
            f"Queue {name} holds {count} message{'s' if count > 1 else ''}, which would be deleted"
            " with it.",
            "delete a Queue that holds messages",
        )
    console.say(f"Deleting queue {name}.")
    await api.ask("DELETE", f"/{queue['queue_id']}")
    console.say(f"Deleted queue {name}.")
    return {"deleted": name, "messages": count}


async def purge(api: Connection, console: Console, name: str, *, force: bool) -> Any:
    if not force:
        _confirm(
            console,
            name,
            f"This operation will permanently delete all the messages in Queue {name}.",
            "purge a Queue",
        )
    result = await api.on_queue(name, "POST", "/purge", json={"delete_messages_permanently": True})
    console.say(f"Purged Queue '{name}'")
    return result


def _confirm(console: Console, name: str, warning: str, what: str) -> None:
    if console.ask is None:
        raise CommandError(f"The --force flag is required to {what} in non-interactive mode")
    if console.ask(f"{warning} Type {name} to proceed.") != name:
        operation = what.split(" ", 1)[0]
        raise CommandError(f"Incorrect queue name provided. Skipping {operation} operation")


async def send(
    api: Connection,
    console: Console,
    name: str,
    text: str | None,
    *,
    content_type: str | None,
    delay_s: int | None,
) -> Any:
    """JSON if it is JSON, text otherwise, unless told."""
    if text is None:
        text = sys.stdin.read()
    body: Any = text
    if content_type != "text":
        try:
            body = json.loads(text)
        except ValueError:
            if content_type == "json":
                raise CommandError(
                    "the message is not JSON; send it with --content-type text"
                ) from None
            content_type = "text"
        else:
            content_type = "json"
    message = {"body": body, "content_type": content_type, "delay_seconds": delay_s}
    result = await api.on_queue(name, "POST", "/messages", json=message)
    console.say(f"Sent a {content_type} message to queue {name}.")
    return result


async def peek(api: Connection, console: Console, name: str, *, size: int) -> Any:
    peeked = await api.on_queue(name, "POST", "/messages/peek", json={"batch_size": size})
    messages = peeked["messages"]
    rows = [
        {
            "id": message["id"],
            "timestamp_ms": message["timestamp_ms"],
            "attempts": message["attempts"],
            "type": message["metadata"]["CF-Content-Type"],
            "body": _body(message),
        }
        for message in messages
    ]
    console.say(table(rows) or f'No messages are ready in queue "{name}".')
    return messages


def _body(message: dict[str, Any]) -> str:
    text: str = message["body"]
    if message["metadata"]["CF-Content-Type"] != "text":
        text = b64decode(text).decode("utf-8", "replace")
    return text if len(text) <= MAX_BODY_SHOWN else f"{text[: MAX_BODY_SHOWN - 1]}…"


async def redrive(api: Connection, console: Console, name: str, *, target: str | None) -> Any:
    """To the queue whose dead letters these are, unless told."""
    if target is None:
        target = await _dead_lettering(api, name)
    queue = await api.queue(name)
    moved, body = 0, {"destination_queue": target}
    while True:
        step = await api.ask("POST", f"/{queue['queue_id']}/messages/redrive", json=body)
        moved += step["moved"]
        if not step["moved"]:
            break
        body["through"] = step["through"]
    noun = "message" if moved == 1 else "messages"
    console.say(f"Moved {moved} {noun} from queue {name} to queue {target}.")
    return {"moved": moved, "destination_queue": target}


async def _dead_lettering(api: Connection, name: str) -> str:
    found = [
        queue["queue_name"]
        for queue in await _all_queues(api)
        for consumer in queue["consumers"]
        if consumer["dead_letter_queue"] == name
    ]
    if len(found) == 1:
        return str(found[0])
    which = "no queue has" if not found else f"{', '.join(found)} have"
    raise CommandError(f'{which} "{name}" as dead letter queue: say where to with --to')


async def _all_queues(api: Connection) -> list[dict[str, Any]]:
    queues: list[dict[str, Any]] = []
    page = 1
    while found := await api.ask("GET", params={"page": str(page), "per_page": "1000"}):
        queues += found
        page += 1
    return queues


async def tail(api: Connection, console: Console, name: str, *, as_json: bool) -> Any:
    """Until interrupted; each event is printed as it comes."""
    queue = await api.queue(name)
    if not api.live:
        raise CommandError("`tsumugi queues tail` shows what `tsumugi dev` does: start it first")
    if not as_json:
        console.say(f'Watching queue "{name}". Ctrl-C ends it.')
    async for line in api.lines(f"/{queue['queue_id']}/tail"):
        # Not by ``console``: with --json it says nothing.
        print(line if as_json else json.loads(line)["text"], flush=True)
    if not as_json:
        console.say("`tsumugi dev` has ended.")
    return None
