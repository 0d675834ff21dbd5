"""The routes of messages: send, pull, acknowledge, look, remove, redrive."""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import TYPE_CHECKING, Any

import orjson

from tsumugi_emulator.queues import limits
from tsumugi_emulator.queues.errors import content_type_invalid, unpullable_content_type
from tsumugi_emulator.queues.messages import OutgoingMessage

from . import bodies, envelope, errors, views
from .endpoint import READ, WRITE, queue_id, route

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from tsumugi_emulator.queues.control import QueueControl


def routes(control: QueueControl) -> list[BaseRoute]:
    handlers = Messages(control)
    base = "/{queue_id}/messages"
    return [
        route(base, "POST", handlers.push, WRITE),
        route(f"{base}/batch", "POST", handlers.push_batch, WRITE),
        route(f"{base}/pull", "POST", handlers.pull, READ, WRITE),
        route(f"{base}/ack", "POST", handlers.ack, READ, WRITE),
        # Two generations of clients: preview with lease ids, peek with references.
        route(f"{base}/preview", "POST", handlers.peek, READ),
        route(f"{base}/preview/ack", "POST", handlers.remove_leased, READ, WRITE),
        route(f"{base}/peek", "POST", handlers.peek, READ),
        route(f"{base}/purge", "POST", handlers.remove_referenced, READ, WRITE),
        route(f"{base}/forward", "POST", handlers.forward, WRITE),
        route(f"{base}/redrive", "POST", handlers.redrive, READ, WRITE),
    ]


class Messages:
    def __init__(self, control: QueueControl) -> None:
        self._control = control

    async def push(self, request: Request) -> Response:
        body = await bodies.read_object(request)
        self._control.send(queue_id(request), [_outgoing(body, "")])
        return self._sent(request)

    async def push_batch(self, request: Request) -> Response:
        body = await bodies.read_object(request)
        if "messages" not in body:
            raise errors.invalid_body("must be an array", pointer="/messages")
        given = bodies.optional_list(body, "messages", limit=limits.MAX_SEND_BATCH_COUNT)
        messages = [_outgoing(entry, f"/messages/{n}") for n, entry in enumerate(given)]
        delay_s = _delay(body, "")
        if messages:
            self._control.send(queue_id(request), messages, delay_s=delay_s, as_batch=True)
        return self._sent(request)

    def _sent(self, request: Request) -> Response:
        figures = self._control.metrics(queue_id(request))
        return envelope.success({"metadata": {"metrics": views.metrics(figures)}})

    async def pull(self, request: Request) -> Response:
        body = await bodies.read_object(request, may_be_empty=True)
        # The older name means milliseconds as well.
        key = "visibility_timeout_ms" if "visibility_timeout_ms" in body else "visibility_timeout"
        timeout_ms = body.get(key)
        if timeout_ms is not None:
            timeout_ms = bodies.whole(timeout_ms, 0, limits.MAX_VISIBILITY_TIMEOUT_MS)
            if timeout_ms is None:
                raise errors.invalid_body(
                    f"must be a whole number from 0 to {limits.MAX_VISIBILITY_TIMEOUT_MS}",
                    pointer=f"/{key}",
                )
        pulled = self._control.pull(
            queue_id(request), size=_batch_size(body), timeout_ms=timeout_ms
        )
        return envelope.success(
            {
                "message_backlog_count": pulled.metrics.backlog_count,
                "messages": [
                    views.message(message, lease_id=lease_id)
                    for message, lease_id in pulled.messages
                ],
                "metadata": {"metrics": views.metrics(pulled.metrics)},
            }
        )

    async def ack(self, request: Request) -> Response:
        body = await bodies.read_object(request)
        acks = _names(body, "acks", "lease_id")
        retries: dict[str, int | None] = {}
        for number, entry in enumerate(_entries(body, "retries", "lease_id")):
            retries.setdefault(entry["lease_id"], _delay(entry, f"/retries/{number}"))
        if len(acks) + len(retries) > limits.MAX_ACKS:
            raise errors.too_many("acks and retries", len(acks) + len(retries), limits.MAX_ACKS)
        settled = self._control.settle(queue_id(request), acks, retries)
        return envelope.success(
            {
                "ackCount": settled.acked,
                "retryCount": settled.retried,
                "warnings": settled.warnings,
            }
        )

    async def peek(self, request: Request) -> Response:
        body = await bodies.read_object(request, may_be_empty=True)
        size = _batch_size(body) or limits.DEFAULT_PULL_BATCH_SIZE
        messages = [
            views.message(message, lease_id=ref, ref=ref)
            for message, ref in self._control.peek(queue_id(request), limit=size)
        ]
        return envelope.success({"messages": messages})

    async def remove_leased(self, request: Request) -> Response:
        return await self._remove(request, "acks", "lease_id")

    async def remove_referenced(self, request: Request) -> Response:
        return await self._remove(request, "refs", "ref")

    async def _remove(self, request: Request, key: str, name: str) -> Response:
        body = await bodies.read_object(request)
        warnings = self._control.remove_peeked(queue_id(request), _names(body, key, name))
        return envelope.success({"errors": [], "warnings": warnings})

    async def forward(self, request: Request) -> Response:
        """Not Cloudflare's: messages from another emulator, exactly as they were stored there."""
        body = await bodies.read_object(request)
        given = bodies.optional_list(body, "messages", limit=limits.MAX_SEND_BATCH_COUNT)
        messages = []
        for number, entry in enumerate(given):
            data = _decoded(entry.get("body")) if isinstance(entry, dict) else None
            if data is None or not isinstance(entry.get("content_type"), str):
                raise errors.invalid_body("is no message", pointer=f"/messages/{number}")
            delay_s = 0 if entry.get("was_delayed") else None
            messages.append(OutgoingMessage(data, entry["content_type"], delay_s))
        if messages:
            self._control.send(queue_id(request), messages, as_batch=True)
        return envelope.success({"forwarded": len(messages)})

    async def redrive(self, request: Request) -> Response:
        """Not Cloudflare's: move messages that wait here to another queue, some at a time."""
        body = await bodies.read_object(request)
        target = bodies.optional_text(body, "destination_queue")
        if not target:
            raise errors.invalid_body("must name a queue", pointer="/destination_queue")
        through = body.get("through")
        if through is not None:
            through = bodies.whole_or(through, 0, 2**62, errors.invalid_body, "through")
        moved, end = self._control.redrive(queue_id(request), target, through=through)
        return envelope.success({"moved": moved, "through": end})


def _outgoing(entry: Any, pointer: str) -> OutgoingMessage:
    if not isinstance(entry, dict):
        raise errors.invalid_body("must be an object", pointer=pointer)
    if "body" not in entry:
        raise errors.invalid_body("is required", pointer=f"{pointer}/body")
    body, content_type = entry["body"], entry.get("content_type")
    content_type = "json" if content_type is None else content_type
    data: bytes | None
    match content_type:
        case "json":
            data = orjson.dumps(body)
        case "text":
            data = body.encode() if isinstance(body, str) else None
        case "bytes":
            data = _decoded(body)
        case "v8":
            raise unpullable_content_type()
        case _:
            raise content_type_invalid(bodies.shown(content_type))
    if data is None:
        wanted = "a string" if content_type == "text" else "base64"
        raise errors.invalid_body(f"must be {wanted}", pointer=f"{pointer}/body")
    return OutgoingMessage(data, content_type, _delay(entry, pointer))


def _decoded(body: Any) -> bytes | None:
    try:
        return b64decode(body, validate=True) if isinstance(body, str) else None
    except (binascii.Error, ValueError):
        return None


def _delay(entry: dict[str, Any], pointer: str) -> int | None:
    value = entry.get("delay_seconds")
    if value is None:
        return None
    delay_s = bodies.whole(value, 0, limits.MAX_DELAY_S)
    if delay_s is None:
        raise errors.delay_invalid(
            bodies.shown(value), limits.MAX_DELAY_S, pointer=f"{pointer}/delay_seconds"
        )
    return delay_s


def _batch_size(body: dict[str, Any]) -> int | None:
    value = body.get("batch_size")
    if value is None:
        return None
    size = bodies.whole(value, 1, limits.MAX_PULL_BATCH_SIZE)
    if size is None:
        raise errors.batch_size_invalid(bodies.shown(value), limits.MAX_PULL_BATCH_SIZE)
    return size


def _entries(body: dict[str, Any], key: str, name: str) -> list[dict[str, Any]]:
    entries = bodies.optional_list(body, key, limit=limits.MAX_ACKS)
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get(name), str):
            raise errors.invalid_body(f"must have a string {name}", pointer=f"/{key}/{number}")
    return entries


def _names(body: dict[str, Any], key: str, name: str) -> list[str]:
    return [entry[name] for entry in _entries(body, key, name)]
