"""The routes of queues themselves: list, create, get, change, delete, metrics, purge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from tsumugi_emulator.queues import limits
from tsumugi_emulator.queues.messages import QueueSettings

from . import bodies, envelope, errors, views
from .endpoint import READ, WRITE, queue_id, route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from tsumugi_emulator.queues.control import QueueControl

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1_000
MAX_PAGE = 1_000_000
#: Names a client may ask for at once: what a configuration can name.
MAX_NAMES = 500


def routes(control: QueueControl) -> list[BaseRoute]:
    handlers = Queues(control)
    return [
        route("", "GET", handlers.list, READ),
        route("", "POST", handlers.create, WRITE),
        route("/{queue_id}", "GET", handlers.get, READ),
        route("/{queue_id}", "PUT", handlers.replace, WRITE),
        route("/{queue_id}", "PATCH", handlers.change, WRITE),
        route("/{queue_id}", "DELETE", handlers.delete, WRITE),
        route("/{queue_id}/metrics", "GET", handlers.metrics, READ),
        route("/{queue_id}/purge", "POST", handlers.purge, WRITE),
        route("/{queue_id}/tail", "GET", handlers.tail, READ),
        route("/{queue_id}/purge", "GET", handlers.purge_status, READ),
    ]


class Queues:
    def __init__(self, control: QueueControl) -> None:
        self._control = control

    async def list(self, request: Request) -> Response:
        names = [name for name in request.query_params.getlist("name") if name]
        if len(names) > MAX_NAMES:
            raise errors.too_many("names", len(names), MAX_NAMES)
        page = _query_number(request, "page", 1, MAX_PAGE)
        per_page = _query_number(request, "per_page", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
        total = self._control.count(names)
        found = self._control.page(names, limit=per_page, skip=(page - 1) * per_page)
        info = {
            "page": page,
            "per_page": per_page,
            "count": len(found),
            "total_count": total,
            "total_pages": -(-total // per_page),
        }
        return envelope.success([views.queue(view) for view in found], info=info)

    async def create(self, request: Request) -> Response:
        body = await bodies.read_object(request)
        name = bodies.optional_text(body, "queue_name")
        if not name:
            raise errors.invalid_body("must be a non-empty string", pointer="/queue_name")
        settings = _settings(body, QueueSettings(name))
        return envelope.success(views.queue(self._control.create(settings)))

    async def get(self, request: Request) -> Response:
        return envelope.success(views.queue(self._control.get(queue_id(request))))

    async def replace(self, request: Request) -> Response:
        """What is not given falls back to its default."""
        known = self._control.get(queue_id(request)).record
        return await self._update(request, QueueSettings(known.name))

    async def change(self, request: Request) -> Response:
        return await self._update(request, self._control.get(queue_id(request)).record.settings)

    async def _update(self, request: Request, base: QueueSettings) -> Response:
        body = await bodies.read_object(request)
        settings = _settings(body, base)
        return envelope.success(views.queue(self._control.change(queue_id(request), settings)))

    async def delete(self, request: Request) -> Response:
        self._control.delete(queue_id(request))
        return envelope.success(None)

    async def metrics(self, request: Request) -> Response:
        figures = views.metrics(self._control.metrics(queue_id(request)))
        delayed, leased = self._control.counts(queue_id(request))
        return envelope.success(figures | {"delayed_count": delayed, "leased_count": leased})

    async def tail(self, request: Request) -> Response:
        """Not Cloudflare's: what happens to the queue, a JSON object a line, until hung up."""
        events = self._control.follow(queue_id(request))

        async def lines() -> AsyncIterator[bytes]:
            async for event in events:
                yield views.event_line(event)

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def purge(self, request: Request) -> Response:
        body = await bodies.read_object(request, may_be_empty=True)
        if body.get("delete_messages_permanently") is not True:
            raise errors.invalid_body("must be true", pointer="/delete_messages_permanently")
        status = self._control.purge(queue_id(request))
        view = self._control.get(queue_id(request))
        return envelope.success(views.queue(view) | views.purge(status))

    async def purge_status(self, request: Request) -> Response:
        return envelope.success(views.purge(self._control.purge_status(queue_id(request))))


def _settings(body: dict[str, Any], base: QueueSettings) -> QueueSettings:
    """``base`` with what the body gives."""
    name = bodies.optional_text(body, "queue_name")
    if name == "":
        raise errors.invalid_body("must not be empty", pointer="/queue_name")
    given = bodies.optional_object(body, "settings")

    def number(key: str, lowest: int, highest: int, otherwise: int) -> int:
        if given.get(key) is None:
            return otherwise
        value = bodies.whole(given[key], lowest, highest)
        if value is None:
            raise errors.queue_settings_invalid(
                f"{key} {bodies.shown(given[key])} must be a whole number "
                f"from {lowest} to {highest}",
                pointer=f"/settings/{key}",
            )
        return value

    paused = given.get("delivery_paused")
    if paused is not None and not isinstance(paused, bool):
        raise errors.queue_settings_invalid(
            "delivery_paused must be true or false", pointer="/settings/delivery_paused"
        )
    return QueueSettings(
        name or base.name,
        delivery_delay_s=number("delivery_delay", 0, limits.MAX_DELAY_S, base.delivery_delay_s),
        retention_s=number(
            "message_retention_period",
            limits.MIN_RETENTION_S,
            limits.MAX_RETENTION_S,
            base.retention_s,
        ),
        paused=base.paused if paused is None else paused,
    )


def _query_number(request: Request, name: str, otherwise: int, highest: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return otherwise
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= highest):
        raise errors.query_invalid(name, text[:60], lowest=1, highest=highest)
    return int(text)
